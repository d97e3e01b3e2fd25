"""Fixed-point functions of a module: their statements in C, states as integers, and the results of
these."""

import math
import random
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from symgen.certified.fixed_evaluation import fixed_sines, run
from symgen.certified.fixed_functions import FixedFunction, is_angle
from symgen.certified.fixed_point import FixedProgram
from symgen.certified.fixed_types import (
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
from symgen.languages.certified_bounds import fixed_point
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.module import Module
from symgen.numbers.types import AnyArray

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


def _is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses encloses a text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return k == len(text) - 1
    return False


def _without_parentheses(text: str) -> str:
    """A text without the parentheses that enclose it."""
    return text[1:-1] if _is_enclosed(text) else text


# -- states ----------------------------------------------------------------------------------------

INTEGER_BITS_OF_UNREAD: Final = 8
"""Bits before the point of an input that no function reads."""

Integers = dict[str, AnyArray]
"""Integers of inputs or outputs by name: entries x states."""


@lru_cache(maxsize=4)
def fixed_functions_in_c(module: Module) -> tuple[FixedCode, ...]:
    """The functions of a module as fixed-point C. Raises OptionError."""
    fixed_function = fixed_point(module)
    return tuple(FixedCode(module.name, d, fixed_function[d.name]) for d in descriptions(module))


def fixed_type(module: Module) -> FixedType:
    """The fixed-point type of a module."""
    return FixedType.of(module[COptions].scalar, module[COptions].target)


def scale_shift(module: Module, name: str) -> int:
    """The scale of an array, as a power of one half."""
    for fixed_function in fixed_point(module).values():
        for shifts in (fixed_function.fixed.inputs, fixed_function.fixed.outputs):
            if name in shifts:
                return shifts[name]
    return fixed_type(module).bits - INTEGER_BITS_OF_UNREAD


def inputs_in_si(module: Module, integers: Integers) -> Integers:
    """The values of inputs from their integers, in SI units."""
    unit, model = 2.0 * math.pi / 2.0 ** fixed_type(module).bits, module.robot.model
    return {
        name: np.stack(
            [
                x * (unit if is_angle(model, name, k) else 2.0 ** -scale_shift(module, name))
                for k, x in enumerate(rows)
            ]
        )
        for name, rows in integers.items()
    }


def random_integers(module: Module, count: int, seed: str) -> Integers:
    """Random integers of all inputs within their limits. Half of those of every second state are
    at their limits."""
    rng, fixed_function, states = random.Random(seed), fixed_point(module).values(), Integers()
    for name, size in input_sizes(module).items():
        states[name] = np.zeros((size, count), np.int64)
        for k in range(size):
            bounds_of_input = [one.integers(name, k) for one in fixed_function]
            low, high = (
                max(low for low, _ in bounds_of_input),
                min(high for _, high in bounds_of_input),
            )
            for state in range(count):
                limit = (
                    state % 2 and rng.random() < 0.5 and not is_angle(module.robot.model, name, k)
                )
                states[name][k, state] = (
                    rng.choice((low, high)) if limit else rng.randint(low, high)
                )
    return states


def input_sizes(module: Module) -> dict[str, int]:
    """The sizes of all inputs."""
    return {a.name: a.size for d in descriptions(module) for a in d.ins}


def run_functions(module: Module, integers: Integers) -> dict[str, Integers]:
    """The integers of the outputs of each function at some states within the limits."""
    sines = fixed_sines(fixed_type(module))
    return {f.description.name: run(f.fixed, integers, sines) for f in fixed_functions_in_c(module)}
