"""Rows of values, a lane each, and what they are made of."""

from dataclasses import dataclass
from typing import Final

from symgen.compiler.passes import live
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.value import Index, Ref

Refs = tuple[Ref, ...]
Nodes = tuple[Index, ...]

NOTHING: Final = Ref(-1, False)
"""The number zero in a lane that lacks a term which others have."""


@dataclass(frozen=True, slots=True)
class Same:
    """An operand that is the same in all lanes."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Local:
    """An operand that is a pack, by its number, or the negative of one."""

    pack: int
    negative: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """An operand that is a value of its own for each lane."""

    refs: Refs


Operand = Same | Local | Slot


@dataclass(frozen=True, slots=True)
class Pack:
    """Values, sign included, a lane each, and what they are made of; `op` is one of the tape's, of
    sums always ``add``."""

    refs: Refs
    op: str
    operands: tuple[Operand, ...]

    @property
    def nodes(self) -> Nodes:
        """The nodes by lane."""
        return tuple(ref.node for ref in self.refs)


def nodes_of(refs: Refs) -> Nodes:
    """The nodes of a row."""
    return tuple(ref.node for ref in refs)


def signed(ref: Ref, negative: bool) -> Ref:
    """A value, or its negative; that of zero is zero."""
    return ref if ref == NOTHING else Ref(ref.node, ref.negative != negative)


def turned(refs: Refs) -> bool:
    """The sign of the first value of a row that is none of its zeros."""
    return next(ref.negative for ref in refs if ref != NOTHING)


def plain(refs: Refs) -> Refs:
    """A row without the sign of its first value."""
    minus = turned(refs)
    return tuple(signed(ref, minus) for ref in refs)


def needs(program: Program) -> dict[Index, int]:
    """The nodes that each live node is computed from, itself included, as bits."""
    ancestors: dict[Index, int] = {}
    for index in live(program):
        op, a, b = program.nodes[index]
        bits = 1 << index
        if op not in LEAVES:
            bits |= ancestors[a] | (0 if b is None else ancestors[b])
        ancestors[index] = bits
    return ancestors
