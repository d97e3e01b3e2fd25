"""Groups of sines and cosines that are computed in one loop over several angles, which compilers
vectorise.

UR5 inverse dynamics takes 0.5 to 0.65 times as long with it as with a call for each angle
(docs/benchmarks/one-call.md). Eight angles fill the longest vectors; more would only be live
longer."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from symgen.compiler.passes import cached_analysis, live_nodes
from symgen.compiler.program import LEAVES, Index, Program
from symgen.languages.dialect import Expression, Token
from symgen.numbers.operations import OPS

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
