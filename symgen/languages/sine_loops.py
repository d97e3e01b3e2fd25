"""Sines and cosines taken together: in one loop over several angles, which compilers turn into
vectors.

UR5 inverse dynamics takes 0.5 to 0.65 times as long with it as with a call an angle
(docs/benchmarks/one-call.md). Eight angles fill the longest vectors there are; more at once would
only be held longer."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from symgen.compiler.passes import cached_analysis, live_nodes
from symgen.compiler.program import LEAVES, Index, Program
from symgen.languages.dialect import Text, Token
from symgen.numbers.operations import OPS

LONGEST: Final = 8

SIMPLE: Final = frozenset(op.name for op in OPS.values() if op.counts_as in ("add", "mul"))
"""What an angle may be made of to be known at the start of a function."""

Pair = tuple[Index | None, Index | None]
"""The nodes of the sine and of the cosine of an angle."""


@dataclass(frozen=True, slots=True)
class SineLoop:
    """A statement that makes the sines and cosines of `angles`: a variable for every node in
    `pairs`."""

    section: str
    angles: tuple[Text, ...]
    pairs: tuple[Pair, ...]

    @property
    def makes(self) -> tuple[Index, ...]:
        """The nodes that become variables."""
        return tuple(k for pair in self.pairs for k in pair if k is not None)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The pieces of its code, but for the variables that it makes."""
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
    """Angles whose sines and cosines are made together."""

    angles: tuple[Index, ...]
    pairs: tuple[Pair, ...]

    @property
    def looped(self) -> bool:
        """Whether there is a loop; a single pair has a call."""
        return len(self.angles) > 1


@cached_analysis
def groups(program: Program, longest: int) -> Mapping[Index, SineGroup]:
    """The group that each sine or cosine is made in, by node; one that is alone and half of a pair
    has none."""
    pairs = _pairs(program)
    simple = _simple(program)
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
            if group.looped or None not in group.pairs[0]
            for pair in group.pairs
            for node in pair
            if node is not None
        }
    )


@dataclass(frozen=True, slots=True)
class Forms:
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


def forms(programs: Iterable[Program]) -> Forms:
    """How some programs compute their sines and cosines if they are grouped."""
    alone, grouped = set[str](), list[SineGroup]()
    for program in programs:
        grouping = groups(program, LONGEST)
        grouped += grouping.values()
        alone.update(program.nodes[i].op for i in live_nodes(program) if i not in grouping)
    looped = {group.looped for group in grouped}
    return Forms(frozenset(alone), paired=False in looped, together=True in looped)


def _pairs(program: Program) -> dict[Index, Pair]:
    """The sine and cosine of each angle, in the order of first use."""
    by_angle: dict[Index, dict[str, Index]] = defaultdict(dict)
    for index in live_nodes(program):
        node = program.nodes[index]
        if node.op in ("sin", "cos"):
            by_angle[node.a][node.op] = index
    return {angle: (nodes.get("sin"), nodes.get("cos")) for angle, nodes in by_angle.items()}


def _simple(program: Program) -> set[Index]:
    """The live nodes that are leaves, or made of leaves by sums and products alone."""
    simple: set[Index] = set()
    for index in live_nodes(program):
        op, a, b = program.nodes[index]
        if op in LEAVES or (op in SIMPLE and a in simple and (b is None or b in simple)):
            simple.add(index)
    return simple
