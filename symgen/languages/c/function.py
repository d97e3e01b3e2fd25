"""The body of a C function: in one, or in static pieces that hand values on through a work
array."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from symgen.compiler.passes import distinct, flips, used
from symgen.compiler.value import Index, Ref
from symgen.languages.c.banks import WorkArraySegments, addressing_range, passed
from symgen.languages.c.dialect import INLINE, dialect, own_functions
from symgen.languages.c.options import COptions
from symgen.languages.c.piece import Piece, named, slot_names
from symgen.languages.c.text import (
    MARKS,
    NEWLINE,
    block,
    constant,
    declarator,
    join_wrapped,
    literal,
    with_restrict,
)
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.dialect import Dialect
from symgen.languages.local_names import Legend
from symgen.languages.module import Module
from symgen.languages.partition import WORK, Partition, live_counts, partition
from symgen.languages.writer import Step, blocks, signed, statements, variables, zeros
from symgen.numbers.operations import OPS

WHOLE: Final = 2.5
"""A function stays in one up to this many times the assignments of a piece, ..."""

HELD: Final = 1.12
"""... if it holds no more values at once than this part of them: 112 doubles and saved registers
fill a kilobyte."""

MANY_ZEROS: Final = 12

SAME: Final = 0.67
"""Up to this part of distinct entries, a sum of these costs less than a loop over all."""

_ORDER: Final = {"in": 0, "work": 1, "out": 2}


def _ordered(arrays: Iterable[Argument]) -> list[Argument]:
    return sorted(arrays, key=lambda a: _ORDER[a.direction])


@dataclass(frozen=True)
class CFunction:
    """A function of a module as C."""

    module: Module
    d: FunctionDescription

    @property
    def c(self) -> COptions:
        """The options of C."""
        return self.module[COptions]

    @property
    def full_name(self) -> str:
        return f"{self.module.name}_{self.d.name}"

    @property
    def template(self) -> str:
        """The template of the loops at its end, where it has some (`symgen.languages.c.loops`)."""
        return ""

    @cached_property
    def dialect(self) -> Dialect:
        """How its statements are written."""
        return dialect(self.module)

    @property
    def real(self) -> str:
        """The type of the entries of its arrays."""
        return f"{self.module.name}_real"

    @property
    def chunk(self) -> int:
        """Longest piece, in statements."""
        return self.c.chunk

    @cached_property
    def _steps(self) -> list[Step]:
        pivots = [ref.node for ref in self.d.pivots]
        return statements(
            self.d.program, self.dialect, [a.name for a in (*self.zeroed, *self.left_out)], pivots
        )

    @cached_property
    def _names(self) -> dict[Index, str]:
        return variables(self.d.program, self._steps)

    @property
    def left_out(self) -> list[Argument]:
        """Outputs whose structural zeros the caller writes once."""
        counted = zeros(self.d.program)
        return (
            [a for a in self.d.arguments if counted.get(a.name, 0)]
            if self.c.zeros == "once"
            else []
        )

    @property
    def unwritten(self) -> list[Argument]:
        """Outputs of which the caller writes every entry, since all vanish."""
        counted = zeros(self.d.program)
        return [a for a in self.left_out if counted[a.name] == a.size]

    @property
    def zeroed(self) -> list[Argument]:
        """Outputs with so many structural zeros that a loop writes them first."""
        counted = zeros(self.d.program)
        return [
            a
            for a in self.d.arguments
            if counted.get(a.name, 0) >= MANY_ZEROS and a not in self.left_out
        ]

    @property
    def zero(self) -> str:
        """The number zero."""
        return literal(0.0, self.c.scalar)

    @cached_property
    def _pieces(self) -> Partition | None:
        size = self.chunk
        assignments = sum(max(1, s.stores) for s in self._steps)
        fits = assignments <= WHOLE * size and max(live_counts(self._steps)) <= HELD * size
        return None if fits else partition(self._steps, size)

    @cached_property
    def work(self) -> int:
        """Entries of the work array, 0 where there is none."""
        return self._pieces.size if self._pieces else 0

    @cached_property
    def banks(self) -> WorkArraySegments:
        """The work array as pieces see it."""
        return WorkArraySegments(self.work, addressing_range(self.module))

    @cached_property
    def parts(self) -> int:
        """How many pieces, 0 where it is in one."""
        return len(self._pieces.pieces) if self._pieces else 0

    @property
    def arguments(self) -> list[Argument]:
        """Inputs, the work array if there is one, outputs."""
        array = Argument("work", WORK, (self.work,), "work array, contents do not matter", "")
        return _ordered([*self.d.arguments, *([array] if self.work else [])])

    @property
    def signature(self) -> str:
        """Declaration, without a semicolon."""
        return self.declaration(self.returns, self.full_name, self.arguments)

    def declaration(self, start: str, name: str, arguments: Sequence[Argument]) -> str:
        """A function's head with arrays as its parameters."""
        return declarator(f"{start} {name}", [self.parameter(a) for a in arguments])

    def part(self, k: int) -> str:
        """The name of a piece."""
        return f"part{k}"

    def passed(self, arguments: Sequence[Argument]) -> list[str]:
        """The arguments of a call of a function with these arrays."""
        return [passed(a.name) for a in arguments]

    def used(self, names: Collection[str]) -> list[Argument]:
        """The arrays of a piece that names these."""
        arrays = [*self.d.arguments, *self.banks.arguments]
        return _ordered(a for a in arrays if a.name in names)

    def parameter(self, a: Argument) -> str:
        """An array in a function's head."""
        return f"{constant(a)}{self.real} {a.name}[{a.size}]"

    def piece_head(self, start: str, name: str, arguments: Sequence[Argument]) -> str:
        """A piece's head; what overlaps nothing is declared so."""
        marks = MARKS if self.banks.apart else {"out": MARKS["out"]}
        texts = [with_restrict(self.parameter(a), self.module.name, marks, a) for a in arguments]
        return declarator(f"{start} {name}", texts)

    def static(self, returns: str) -> str:
        """How the head of a static function begins that compilers do not merge into others."""
        return f"static {self.module.name.upper()}_NOINLINE {returns}"

    @property
    def verdict(self) -> str:
        """The type of a piece's status."""
        return "int"

    @property
    def returns(self) -> str:
        """The return type: the status type for a function that can fail, else ``void``."""
        return self.status_type if self.d.pivots else "void"

    @property
    def status_type(self) -> str:
        """The type of the status of a function that can fail: the enumeration of the header;
        ``int`` for functions that no header of the module declares."""
        return f"{self.module.name}_status"

    @property
    def rounding(self) -> list[str]:
        """How far results of single precision are off, a text for each output; none in double
        precision."""
        return (
            [r.text for r in self.module.roundings[self.d.name]] if self.c.scalar == "float" else []
        )

    @property
    def uses_trig(self) -> bool:
        """Whether there is a sine or cosine."""
        return not used(self.d.program).isdisjoint(INLINE)

    @property
    def math(self) -> bool:
        """Whether C's math library may be needed: by ``--trig inline`` only for a square root."""
        brought = own_functions(self.module)
        return not brought or any(
            OPS[op].library for op in used(self.d.program).difference(brought)
        )

    @property
    def legend(self) -> list[str]:
        """The meaning of its local names."""
        defined = tuple(dict.fromkeys(self._names.values()))
        return Legend(defined, tuple(a.name for a in self.outputs)).lines()

    @cached_property
    def lines(self) -> list[list[str]]:
        """The body in blocks of lines, where the function is in one piece."""
        return [block(b) for b in blocks(self._steps, self._names, self.dialect)]

    @property
    def checks(self) -> list[str]:
        """Lines that return the status, where the function is in one piece."""
        return self.status(self._signed(self.d.pivots, self._names), self.finite, self.statuses)

    @property
    def finite(self) -> list[str]:
        """Calls that tell whether all outputs are finite: by a loop, or by a sum of few entries;
        none for an output that vanishes."""
        return [
            f"finite_sum({join_wrapped([f'{a.name}[{k}]' for k in places], ' + ')})"
            if len(places) <= SAME * a.size
            else f"all_finite({a.name}, {a.size})"
            for a in self.outputs
            if (places := distinct(self.d.program, a.name))
        ]

    @property
    def verdict_of_pieces(self) -> list[str]:
        """Lines that return the status, where the function is in pieces."""
        good = join_wrapped(["(bad == 0)", *self.finite], " && ")
        condition = f"({good})" if self.finite else good
        return f"return {condition} ? {' : '.join(self.statuses)};".split(NEWLINE)

    @property
    def outputs(self) -> list[Argument]:
        """The arrays that it writes."""
        return self.d.outs

    @property
    def statuses(self) -> tuple[str, str]:
        """The values that it returns on success and on failure."""
        if self.status_type == "int":
            return "0", "1"
        name = self.module.name.upper()
        return f"{name}_STATUS_OK", f"{name}_STATUS_SINGULAR"

    def status(
        self,
        pivots: Sequence[str],
        others: Sequence[str] = (),
        statuses: tuple[str, str] = ("0", "1"),
    ) -> list[str]:
        """The lines that return the first of `statuses` if all pivots are regular and all calls in
        `others` are true, else the second; none without pivots."""
        calls = join_wrapped([*(f"regular({x})" for x in pivots), *others], " && ")
        return f"return ({calls}) ? {' : '.join(statuses)};".split(NEWLINE) if pivots else []

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces, empty where the function is in one."""
        if self._pieces is None:
            return []
        where = self._names | (work := self.kept)
        return [
            self._piece(k, piece, where, work) for k, piece in enumerate(self._pieces.pieces, 1)
        ]

    @property
    def kept(self) -> dict[Index, str]:
        """The texts of values that are handed on through the work array."""
        slots = self._pieces.slots if self._pieces else {}
        return {k: f"{self.banks.at(slot)[0]}[{self._names[k]}]" for k, slot in slots.items()}

    @cached_property
    def flipped(self) -> Collection[Index]:
        """The nodes whose variables hold the negative."""
        return flips(self.d.program)

    def _signed(self, refs: Sequence[Ref], where: Mapping[Index, str]) -> list[str]:
        return signed(self.d.program, refs, where, self.flipped)

    def _slots(self, piece: Sequence[Step]) -> list[str]:
        """The names of the slots that a piece reads and writes."""
        assert self._pieces is not None
        return slot_names(piece, self._pieces.slots, self._names, self.banks)

    def _piece(
        self, k: int, piece: Sequence[Step], where: Mapping[Index, str], work: Mapping[Index, str]
    ) -> Piece:
        lines = blocks(list(piece), where, self.dialect, work)
        arguments = self.used(named(piece, where))
        name = self.part(k)
        nodes = {node for s in piece for node in s.makes}
        checks = self.status(self._signed([r for r in self.d.pivots if r.node in nodes], where))
        start = self.static(self.verdict if checks else "void")
        return Piece(
            self.piece_head(start, name, arguments),
            f"{name}({', '.join(self.passed(arguments))})",
            [self._slots(piece), *map(block, lines)],
            checks,
        )
