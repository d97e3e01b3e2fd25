"""Sines and cosines in generated code: which of them one loop computes, and the statements of a
sine and cosine of the code's own (``--trig inline``).

Compilers vectorise a loop over several angles. UR5 inverse dynamics takes 0.5 to 0.65 times as long
with it as with a call for each angle (docs/benchmarks/one-call.md). Eight angles fill the longest
vectors; more would only be live longer."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from symgen.compiler.passes import cached_analysis, live_nodes
from symgen.compiler.program import LEAVES, Index, Program
from symgen.languages.dialect import (
    Expression,
    Token,
)
from symgen.numbers.operations import OPS
from symgen.numbers.trig import SINES, SineCoefficients

MAX_LOOP_ANGLES: Final = 8

EARLY_OPS: Final = frozenset(op.name for op in OPS.values() if op.counts_as in ("add", "mul"))
"""Operations of angles that can be computed at the start of a function."""

Pair = tuple[Index | None, Index | None]
"""The nodes of the sine and of the cosine of an angle."""


@dataclass(frozen=True, slots=True)
class SineLoop:
    """A statement that computes the sines and cosines of `angles`, and defines a variable for every
    node in `pairs`."""

    section: str
    angles: tuple[Expression, ...]
    pairs: tuple[Pair, ...]

    @property
    def defines(self) -> tuple[Index, ...]:
        """The nodes that become variables."""
        return tuple(k for pair in self.pairs for k in pair if k is not None)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The pieces of its code, without the variables that it defines."""
        return tuple(t for angle in self.angles for t in angle.tokens)

    @property
    def reads(self) -> frozenset[Index]:
        """The nodes whose variables are read."""
        return frozenset[Index]().union(*(angle.reads for angle in self.angles))

    @property
    def stores(self) -> int:
        """How many entries of outputs are written."""
        return 0


@dataclass(frozen=True, slots=True)
class SineGroup:
    """Angles whose sines and cosines are computed together."""

    angles: tuple[Index, ...]
    pairs: tuple[Pair, ...]

    @property
    def in_loop(self) -> bool:
        """Whether there is a loop; a single pair has a call."""
        return len(self.angles) > 1


@cached_analysis
def sine_groups(program: Program, longest: int) -> Mapping[Index, SineGroup]:
    """The group of each sine or cosine, by node; a single one without its partner has none."""
    pairs = _sine_cosine_pairs(program)
    simple = _early_nodes(program)
    early = [angle for angle in pairs if angle in simple]
    single = [(angle,) for angle in pairs if angle not in simple]
    together = [tuple(early[k : k + longest]) for k in range(0, len(early), longest)]
    grouped = [
        SineGroup(angles, tuple(pairs[a] for a in angles)) for angles in (*together, *single)
    ]
    return MappingProxyType(
        {
            node: group
            for group in grouped
            if group.in_loop or None not in group.pairs[0]
            for pair in group.pairs
            for node in pair
            if node is not None
        }
    )


@dataclass(frozen=True, slots=True)
class SineUse:
    """How programs compute sines and cosines."""

    alone: frozenset[str]
    """Operations that are computed without another of the same angle, ``sin`` and ``cos`` among
    them."""
    paired: bool
    """Whether the sine and cosine of one angle are computed in one call."""
    together: bool
    """Whether the sines and cosines of several angles are computed in one call."""

    @property
    def some(self) -> bool:
        """Whether there is a sine or cosine."""
        return self.paired or self.together or not self.alone.isdisjoint(("sin", "cos"))


def sine_use(programs: Iterable[Program]) -> SineUse:
    """How some programs compute their sines and cosines if they are grouped."""
    alone, grouped = set[str](), list[SineGroup]()
    for program in programs:
        grouping = sine_groups(program, MAX_LOOP_ANGLES)
        grouped += grouping.values()
        alone.update(program.nodes[i].op for i in live_nodes(program) if i not in grouping)
    looped = {group.in_loop for group in grouped}
    return SineUse(frozenset(alone), paired=False in looped, together=True in looped)


def _sine_cosine_pairs(program: Program) -> dict[Index, Pair]:
    """The sine and cosine of each angle, in the order of first use."""
    by_angle: dict[Index, dict[str, Index]] = defaultdict(dict)
    for index in live_nodes(program):
        node = program.nodes[index]
        if node.op in ("sin", "cos"):
            by_angle[node.a][node.op] = index
    return {angle: (nodes.get("sin"), nodes.get("cos")) for angle, nodes in by_angle.items()}


def _early_nodes(program: Program) -> set[Index]:
    """The live nodes that are leaves, or made of leaves by sums and products alone."""
    simple: set[Index] = set()
    for index in live_nodes(program):
        op, a, b = program.nodes[index]
        if op in LEAVES or (op in EARLY_OPS and a in simple and (b is None or b in simple)):
            simple.add(index)
    return simple


# -- the module's own sine and cosine (--trig inline) ----------------------------------------------


SineStep = tuple[str, list[tuple[str, str]]]
"""A comment, and variables with their values."""


NumberFormat = Callable[[float], str]
"""How a number is written as a literal of the scalar type."""


SINE_LIMITS: Final = {
    "double": ("1.8e15", "2^-53", "2^16", 1),
    "float": ("3.3e6", "2^-24", "2^10", 0),
}
"""By scalar type: the angle (rad) beyond which results are NaN, the rounding unit, the bound of
`SINES`, the largest FLT_EVAL_METHOD allowed."""


INLINE_FUNCTIONS: Final = ("sin", "cos")
"""The functions of the tape that the header has."""


SINE_VECTORS: Final = (
    ("defined(__AVX__)", 32),
    ("defined(__SSE2__) || defined(__aarch64__)", 16),
)
"""By condition of the preprocessor: bytes of the vectors that sines are made in. Those of 32-bit
ARM have no double and take numbers near zero for zero."""


MAX_SINE_ULP: Final = 2
"""Largest error within the bound; 1.4 was seen."""


def definition_lines(step: SineStep) -> list[str]:
    """Definitions with their equals signs aligned."""
    width = max(len(name) for name, _ in step[1])
    return [f"{name:{width}} = {value};" for name, value in step[1]]


TURNS: Final = (
    (
        "k: the multiple of pi/2 nearest to x; m: k modulo 4. Adding a shift rounds to a whole "
        "number, or to a multiple of 4.",
        "t = x * {turns}; shifted = t + {shift}; k = shifted - {shift}; "
        "turned = t + {four_shift}; m = k - (turned - {four_shift})",
    ),
    (
        "Sine and cosine of k pi/2 for m = -2 ... 2; exact, with and without fused products.",
        "u = m * m; turn_c = ((u - {one}) * (u - {six})) * {sixth}; turn_s = (m * turn_c) + m",
    ),
)
"""The first steps: comments and definitions."""


def sine_steps(scalar: str, number: NumberFormat) -> list[SineStep]:
    """The arithmetic of `symgen.numbers.trig.sincos` for a scalar type, in its order; `number`
    writes literals."""
    n = SINES[scalar]
    values = {"one": 1.0, "six": 6.0, "sixth": 1 / 6, "turns": 2 / math.pi}
    values |= {"shift": n.shift, "four_shift": n.turns_shift}
    texts = {name: number(x) for name, x in values.items()}
    reduction = (
        "r + e = x - k pi/2, where e is the rounding error of r. If k is too large, `scaled` "
        "overflows and e is NaN."
    )
    return [
        *(
            (title, [row.partition(" = ")[::2] for row in rows.format(**texts).split("; ")])
            for title, rows in TURNS
        ),
        (reduction, _argument_reduction(n, number)),
        ("Sine and cosine of r + e.", _near_zero(n, number)),
    ]


def _argument_reduction(n: SineCoefficients, number: NumberFormat) -> list[tuple[str, str]]:
    first, *middle, last = (number(abs(part)) for part in n.half_pi)
    signs = ["-" if part > 0 else "+" for part in n.half_pi]
    end = len(n.half_pi) - 1
    names = {1: "r1", **{j: f"r{j}" for j in range(2, end)}, end: "r"}
    second = number(abs(n.half_pi[1]) / n.scale)
    products = [f"scaled * {second}", *(f"k * {part}" for part in middle[1:])]
    definitions = [("r1", f"x - (k * {first})"), ("scaled", f"k * {number(n.scale)}")]
    lost = ""
    for j, product in enumerate(products, 2):
        definitions += [(f"p{j}", product), (names[j], f"{names[j - 1]} {signs[j - 1]} p{j}")]
        rounding = f"({names[j - 1]} - {names[j]}) {signs[j - 1]} p{j}"
        definitions.append((f"e{j}", f"{lost} + ({rounding})" if lost else rounding))
        lost = f"e{j}"
    return [*definitions, ("e", f"{lost} {signs[end]} (k * {last})")]


def _near_zero(n: SineCoefficients, number: NumberFormat) -> list[tuple[str, str]]:
    """The polynomials, in two parts that do not wait for each other where they are long."""
    one, half = number(1.0), number(0.5)
    (s_low, s_high), (c_low, c_high) = n.split(n.sine), n.split(n.cosine)
    sine, cosine = "((r * z) * s0) + e", f"(z2 * c0) - (({half} * z) + (r * e))"
    low = [*_horner("s", s_low, number), *_horner("c", c_low, number)]
    start = [("z", "r * r"), ("z2", "z * z")]
    if not s_high:
        return [*start, *low, ("s", f"r + ({sine})"), ("c", f"{one} + ({cosine})")]
    return [
        *start,
        *low,
        *_estrin("s", s_high, number),
        *_estrin("c", c_high, number),
        ("s", f"r + (({sine}) + (((r * z) * z2) * s_high))"),
        ("c", f"{one} + (({cosine}) + ((z2 * z2) * c_high))"),
    ]


def _horner(
    name: str, coefficients: Sequence[float], number: NumberFormat, first: int = 0
) -> list[tuple[str, str]]:
    """A polynomial in z, the value of which is NAME and the number of its first coefficient."""
    *others, leading = coefficients
    accumulated, definitions = number(leading), []
    for k, c in reversed([*enumerate(others, first)]):
        definitions.append(
            (f"{name}{k}", f"({accumulated} * z) {'-' if c < 0 else '+'} {number(abs(c))}")
        )
        accumulated = f"{name}{k}"
    return definitions


def _estrin(
    name: str, coefficients: Sequence[float], number: NumberFormat
) -> list[tuple[str, str]]:
    """A polynomial whose coefficients are from the third on, the value of which is NAME_high: pairs
    of them side by side."""
    starts = range(0, len(coefficients), 2)
    definitions = [
        row
        for k in reversed(starts)
        for row in _horner(name, coefficients[k : k + 2], number, k + 2)
    ]
    total = f"{name}{starts[-1] + 2}"
    for k in reversed(starts[:-1]):
        total = f"({total} * z2) + {name}{k + 2}"
    return [*definitions, (f"{name}_high", total)]
