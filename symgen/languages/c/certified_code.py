"""What is certified of a module: the bounds of its functions as texts of generated files, and its
functions in fixed point as C."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from symgen.certified.certificate import Certificate, CertifyOptions, rounded_up
from symgen.certified.domain import validated_limits
from symgen.certified.enclosures import Arithmetic
from symgen.certified.fixed_functions import FixedFunction, fixed_functions
from symgen.certified.fixed_point import FixedProgram
from symgen.certified.fixed_types import (
    FIXED,
    SUM_SHIFT,
    TURN_BITS,
    FixedType,
    IntegerStep,
    Signed,
    shifted_right,
)
from symgen.compiler.passes import node_names, use_counts
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import comment, declarator
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.module import Module

MAX_LISTED_ENTRIES: Final = 32
"""Entries of a vector that are stated one by one; of larger arrays the largest bounds are."""


UNBOUNDED: Final = (
    "no bound, as intervals cannot bound an elimination. The error of qdd",
    "is M^-1 times the residual, which a function here returns with a bound",
)
"""What the header says of forward dynamics."""


FIXED_POINT_BOX_DIVISOR: Final = 4
"""Functions in fixed point have one grid of boxes for all of their results, with fewer boxes."""


@lru_cache(maxsize=4)
def certificates(module: Module) -> Mapping[str, Certificate]:
    """The certificates of the functions by name; none without ``--certify``. Raises OptionError."""
    options = module[CertifyOptions]
    options.check_requested(module.arithmetic[0])
    if module.arithmetic[0] in FIXED:
        arithmetic = Arithmetic(*module.arithmetic)
        return {
            name: Certificate(name, arithmetic, f.boxes, f.domain, f.outputs, f.largest_value)
            for name, f in fixed_point(module).items()
        }
    if not options.certify:
        return {}
    model = module.robot.model
    return options.certificates(model, module.functions, Arithmetic(*module.arithmetic))


@lru_cache(maxsize=4)
def fixed_point(module: Module) -> Mapping[str, FixedFunction]:
    """The functions in fixed point by name. Raises OptionError."""
    options, model = module[CertifyOptions], module.robot.model
    limits = validated_limits(model, options.certify_limits)
    kind = FixedType.of(module.arithmetic[0], module.options["target"])
    boxes = max(options.certify_boxes // FIXED_POINT_BOX_DIVISOR, 1)
    return fixed_functions(model, module.functions, limits, kind, boxes)


def certified_lines(module: Module, d: FunctionDescription) -> list[str]:
    """The bounds of a function, a line each; none without a certificate."""
    found = certificates(module)
    certificate = found.get(d.name)
    if certificate is None:
        return [*UNBOUNDED] if found else []
    units = {a.name: "" if "|" in a.unit or "," in a.unit else f" {a.unit}" for a in d.outs}
    lines, scalar = list[str](), module.arithmetic[0]
    for out in certificate.outputs:
        places = map(str, range(len(out.error)))
        bounds = [*zip(places, out.magnitude, out.error, strict=True)]
        if len(out.shape) != 1 or len(out.error) > MAX_LISTED_ENTRIES:
            bounds = [("i", max(out.magnitude), max(out.error))]
        for k, size, error in bounds:
            most, unit = rounded_up(size, 3), units[out.name]
            lines.append(
                f"|{out.name}[{k}]| <= {most}{unit}, {scalar} error <= {rounded_up(error, 2)}{unit}"
            )
    return [*lines, f"no intermediate result is larger than {rounded_up(certificate.largest, 3)}"]


# -- functions in fixed point ----------------------------------------------------------------------


MAX_INLINE_LENGTH: Final = 48
"""Characters of an expression that is read once, up to which it is written where it is read."""


_WRAPPED: Final = textwrap.TextWrapper(
    116, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True, eq=False)
class FixedCode:
    """A function as C: `prefix` begins the names of the module."""

    prefix: str
    description: FunctionDescription
    fixed_function: FixedFunction

    work: int = 0
    """Entries of a work array, which there is none of."""

    @property
    def full_name(self) -> str:
        """The name of the C function."""
        return f"{self.prefix}_{self.description.name}"

    @property
    def fixed(self) -> FixedProgram:
        """The program."""
        return self.fixed_function.fixed

    @property
    def signature(self) -> str:
        """The declaration without a semicolon."""
        real = f"{self.prefix}_{self.fixed.kind.name}"
        parts = [
            f"{'const ' * (a.direction == 'in')}{real} {a.name}[{a.size}]"
            for a in self.description.arguments
        ]
        return declarator(f"void {self.full_name}", parts)

    @cached_property
    def lines(self) -> list[str]:
        """The statements of the body, with comments on the steps of the algorithm."""
        writer = FixedWriter(self.prefix, self.fixed, self.fixed_function.bounds)
        statements = [*writer.statements()]
        heading = ["/* inputs */"] if statements else []
        lines = [*heading, *statements, *writer.results()]
        return [part for line in lines for part in (_WRAPPED.wrap(line) or [""])]

    @property
    def unread(self) -> list[str]:
        """The inputs that the function does not read."""
        return self.description.unused


class FixedWriter:
    """The statements of a fixed-point program. `bounds` are the least and largest integers of its
    inputs; those that the type cannot exceed need no clamp."""

    def __init__(
        self,
        prefix: str,
        fixed: FixedProgram,
        bounds: Mapping[tuple[str, int], tuple[int, int]] | None = None,
    ) -> None:
        self.prefix, self.fixed, self.bounds = prefix, fixed, bounds or {}
        self.texts: dict[int, str] = {}
        self.numbers: dict[int, int] = {}
        self.uses = use_counts(fixed.program)
        self.named = node_names(fixed.program)

    def statements(self) -> Iterator[str]:
        """The definitions of all variables."""
        section, pairs = "", set[int]()
        for step in self.fixed.steps:
            index = int(self.fixed.at.indices[step.row])
            if step.op in ("sin", "cos"):
                if step.operands[0] not in pairs:
                    yield from self._sincos_statements(step.operands[0])
                pairs.add(step.operands[0])
                continue
            text, name = self._text(step), self._name(index)
            simple = "const" in step.op or (
                self.uses[index] == 1 and len(text) <= MAX_INLINE_LENGTH
            )
            if simple and step.op not in ("input", "angle input"):
                self.texts[step.row] = text
                continue
            title = self.fixed.program.sections[index]
            if title != section and step.op not in ("input", "angle input"):
                section = title
                yield from ("", f"/* {comment(title)} */")
            integer = "uint32_t" if step.op.startswith("angle") else "int32_t"
            yield f"const {integer} {name} = {_without_parentheses(text)};"
            self.texts[step.row] = name

    def _name(self, index: int) -> str:
        name, negative = self.named.get(index, ("", True))
        node = self.fixed.program.nodes[index]
        if node.op == "input":
            return f"{node.a}_{node.b}"
        return f"n{index}" if negative or not name else name

    def _sincos_statements(self, angle: int) -> Iterator[str]:
        """The statements of the sine and cosine of an angle."""
        found = dict[str, str]()
        for row, operands in enumerate(self.fixed.operands):
            op = self.fixed.at.nodes[row].op
            if op in ("sin", "cos") and operands[0] == angle:
                found[op] = self.texts[row] = self._name(int(self.fixed.at.indices[row]))
        for op in ("sin", "cos"):
            found.setdefault(op, f"unused{angle}_{op}")
            yield f"int32_t {found[op]};"
        yield f"{self.prefix}_sincos({self.texts[angle]}, &{found['sin']}, &{found['cos']});"

    def _text(self, step: IntegerStep) -> str:
        """The expression of a step."""
        node, parts = self.fixed.at.nodes[step.row], [self.texts[k] for k in step.operands]
        if step.op == "const":
            self.numbers[step.row] = step.number
            return _integer_literal(step.number)
        if step.op == "angle const":
            return f"{step.number % 2**TURN_BITS}U"
        if step.op == "angle input":
            shift = TURN_BITS - self.fixed.kind.bits
            return (
                f"((uint32_t){node.a}[{node.b}] << {shift})"
                if shift
                else (f"(uint32_t){node.a}[{node.b}]")
            )
        if step.op == "input":
            return self._input(node.a, node.b)
        shifted = [
            _integer_literal(shifted_right(self.numbers[row], shift)) if row in self.numbers
            else self.shifted(text, shift, rounds_down)
            for text, (row, shift, rounds_down) in zip(parts, step.shifted_operands(), strict=True)
        ]  # fmt: skip
        products, terms = step.addends(shifted)
        if products:
            terms = [(products[0][0], self._product_sum(step, products)), *terms]
        zero = "0U " if step.op != "sum" else ""
        first, *others = sorted(terms, key=lambda term: -term[0])
        text = first[1] if first[0] > 0 else f"{zero}-{first[1]}"
        text += "".join(f" {'+' if sign > 0 else '-'} {term}" for sign, term in others)
        return text if text == first[1] else f"({text})"

    def _input(self, array: str, k: int) -> str:
        """An entry of an input, kept within its limits."""
        kind = self.fixed.kind
        limit = 2 ** (kind.bits - 1)
        low, high = self.bounds.get((array, k), (-limit, limit - 1))
        text = f"{array}[{k}]"
        if (low, high) == (-limit, limit - 1):
            return text
        return f"{self.prefix}_clamp({text}, {low}, {high})"

    def _product_sum(self, step: IntegerStep, products: Sequence[Signed[tuple[str, str]]]) -> str:
        """The sum of products, shifted to the right; the negative of it where all are negative."""
        rounds_down, (first_sign, (a, b)) = SUM_SHIFT in step.floored, products[0]
        if self.fixed.kind.bits < TURN_BITS:
            return self.shifted(f"({a} * {b})", step.sum_shift, rounds_down)
        a, b = _without_parentheses(a), _without_parentheses(b)
        if len(products) == 1:
            return f"{self.prefix}_mul{'_floor' * rounds_down}({a}, {b}, {step.sum_shift})"
        text = f"{self.prefix}_first({a}, {b})"
        for sign, (a, b) in products[1:]:
            name = "plus" if sign == first_sign else "minus"
            factors = f"{_without_parentheses(a)}, {_without_parentheses(b)}"
            text = f"{self.prefix}_{name}({text}, {factors})"
        return f"{self.prefix}_narrow({text}, {int(not rounds_down)}, {step.sum_shift})"

    def shifted(self, text: str, shift: int, rounds_down: bool = False) -> str:
        """An expression shifted to the right."""
        if shift >= TURN_BITS:
            return "0"
        name = "floor" if rounds_down else "round"
        return f"{self.prefix}_{name}({_without_parentheses(text)}, {shift})" if shift else text

    def results(self) -> Iterator[str]:
        """The statements that write the outputs."""
        kind = self.fixed.kind
        yield from ("", "/* results */")
        for out in self.fixed.program.outputs:
            for k, ref in enumerate(out.refs):
                text = "0"
                if ref is not None:
                    row = int(self.fixed.at.row[ref.node])
                    shift = self.fixed.shifts[row] - self.fixed.outputs[out.name]
                    text = self.shifted(self.texts[row], shift)
                    text = f"-{text}" if ref.negative else text
                cast = f"({self.prefix}_{kind.name})" if kind.bits < TURN_BITS else ""
                text = (
                    f"{cast}({_without_parentheses(text)})"
                    if cast and ref is not None
                    else _without_parentheses(text)
                )
                yield f"{out.name}[{k}] = {text};"


def _integer_literal(number: int) -> str:
    return f"({number})" if number < 0 else str(number)


def _without_parentheses(text: str) -> str:
    """A text without the parentheses that enclose it."""
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if k and k == len(text) - 1 else text
    return text


@lru_cache(maxsize=4)
def fixed_functions_in_c(module: Module) -> tuple[FixedCode, ...]:
    """The functions of a module as fixed-point C. Raises OptionError."""
    fixed_function = fixed_point(module)
    return tuple(FixedCode(module.name, d, fixed_function[d.name]) for d in descriptions(module))


def fixed_type(module: Module) -> FixedType:
    """The fixed-point type of a module."""
    return FixedType.of(module[COptions].scalar, module[COptions].target)
