"""A C function with loops (``--optimize size``): the same operations as straight-line code, those
that several lanes do alike written once.

Each loop is a function of its own; what it reads and makes is where `languages.places` says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Final

from symgen.compiler.passes import flips, live
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.rolled import Loop
from symgen.compiler.rolling import rolled
from symgen.compiler.rows import NOTHING
from symgen.compiler.value import Index
from symgen.languages.c.banks import WorkArraySegments, addressing_range
from symgen.languages.c.function import CFunction
from symgen.languages.c.piece import Piece
from symgen.languages.c.text import block, literal, named_arrays, wrapped
from symgen.languages.dialect import ATOM, Dialect, Text, atom
from symgen.languages.partition import WORK, Partition, partition, spill_slots
from symgen.languages.places import LaneRow, Places, Pointer
from symgen.languages.sine_loops import SineGroup, before, groups
from symgen.languages.writer import Statement, Step, Writer, blocks, variables

LANE: Final = "k"
OUT: Final = "out"


@dataclass(slots=True, eq=False)
class Rolls(Statement):
    """The statement that is a loop, by the number of its step; its right side has the variables
    that are the same in all lanes."""

    number: int


class _Writer(Writer):
    """Writes a rolled program: loops in their places, and what they make as far as it is not
    written where it belongs already."""

    def __init__(
        self,
        places: Places,
        banks: WorkArraySegments,
        dialect: Dialect,
        zeroed: Sequence[str],
        kept: Sequence[Index],
    ) -> None:
        self.places, self.banks = places, banks
        super().__init__(places.program, dialect, zeroed, {*kept, *places.found}, places.flipped)
        self.single = {step for step in places.rolled.steps if not isinstance(step, Loop)}
        self.groups = dict(self._groups())

    def _groups(self) -> Iterator[tuple[Index, SineGroup]]:
        """Groups of sines, those of one angle where loops must make some of them first."""
        alone = groups(self.program, 1)
        for index, group in self.groups.items():
            needed = before(self.program, group)
            if self.single.issuperset(needed):
                yield index, group
            elif index in alone:
                yield index, alone[index]

    def needed(self, group: SineGroup) -> list[Index]:
        return [node for node in super().needed(group) if node in self.single]

    def _work(self, place: int) -> str:
        return self.banks.entry(WORK, place)

    @property
    def _nothing(self) -> Text:
        return atom(self.dialect.literal(0.0))

    def statements(self) -> list[Step]:
        if self.places.zero is not None:
            left = (self._work(self.places.zero),)
            self.result.append(Statement("", None, left, self._nothing))
        for number, step in enumerate(self.places.rolled.steps):
            if isinstance(step, Loop):
                self._roll(number, step)
            else:
                self.visit(step, self.program.sections[step])
        self.constant_outputs()
        return self.result

    def _roll(self, number: int, loop: Loop) -> None:
        first = next(ref for ref in loop.makes[0] if ref != NOTHING)
        self.here = self.program.sections[first.node]
        for place, ref in self.places.copies(number):
            text = self._nothing if ref == NOTHING else self._signed(*ref)
            self.result.append(Statement(self.here, None, (self._work(place),), text))
        read = (row[0].node for row in loop.reads if len(row) == 1)
        nodes = tuple(dict.fromkeys(k for k in read if self.program.nodes[k].op not in LEAVES))
        self.result.append(Rolls(self.here, None, (), Text(nodes, ATOM, 0), number))
        defined = (ref.node for row in loop.makes for ref in row if ref.node in self.places.home)
        for node in dict.fromkeys(defined):
            if node not in self.visited:
                self.visited.add(node)
                self.store(node)

    def entries(self) -> dict[Index, list[tuple[str, int, bool]]]:
        entries = super().entries()
        for node, at in self.places.found.items():
            if at.array != WORK:
                entries[node] = [e for e in entries[node] if e[:2] != (at.array, at.entry)]
        return entries


class _Body(Writer):
    """Writes the body of a loop, rows that are kept as negatives so."""

    def __init__(
        self, body: Program, dialect: Dialect, turned: Sequence[bool], given: Sequence[bool]
    ) -> None:
        self.turned = turned
        nodes = (k for k in live(body) if body.nodes[k].op == "input")
        signs = tuple((k, given[body.nodes[k].b]) for k in nodes)
        super().__init__(body, dialect, flipped=flips(body, signs))

    def entries(self) -> dict[Index, list[tuple[str, int, bool]]]:
        entries = super().entries()
        for node, stores in entries.items():
            entries[node] = [(array, k, minus != self.turned[k]) for array, k, minus in stores]
        return entries


@dataclass(frozen=True)
class RolledFunction(CFunction):
    """A function of a module as C with loops."""

    @cached_property
    def places(self) -> Places:
        """Where its loops keep what they read and make: behind what straight code hands on, which
        so lies in few banks; loops go by pointers anyway."""
        places = Places(rolled(self.d.program))
        _, handed_on = spill_slots(self._cut(self._statements(places)), places.found)
        return Places(places.rolled, handed_on)

    def _statements(self, places: Places) -> list[Step]:
        kept = [ref.node for ref in self.d.pivots]
        zeroed = [a.name for a in (*self.zeroed, *self.left_out)]
        return _Writer(places, self._banks(places), self.dialect, zeroed, kept).statements()

    def _banks(self, places: Places) -> WorkArraySegments:
        return WorkArraySegments(places.size, addressing_range(self.module))

    @cached_property
    def banks(self) -> WorkArraySegments:
        return self._banks(self.places)

    @cached_property
    def _steps(self) -> list[Step]:
        return self._statements(self.places)

    @cached_property
    def flipped(self) -> frozenset[Index]:
        return self.places.flipped

    @cached_property
    def _names(self) -> dict[Index, str]:
        return variables(self.d.program, self._steps, self.flipped) | self._placed

    @property
    def _placed(self) -> dict[Index, str]:
        places = self.places.found
        return {node: self.banks.entry(at.array, at.entry) for node, at in places.items()}

    def _cut(self, order: Sequence[Step]) -> tuple[tuple[Step, ...], ...]:
        """In pieces, loops by themselves."""
        pieces = list[tuple[Step, ...]]()
        for loop, group in groupby(order, key=lambda s: isinstance(s, Rolls)):
            steps = list(group)
            pieces += [(s,) for s in steps] if loop else partition(steps, self.chunk).pieces
        return tuple(pieces)

    @cached_property
    def _pieces(self) -> Partition:
        pieces = self._cut(self._steps)
        return Partition(pieces, spill_slots(pieces, self.places.found)[0], self.places.size)

    @property
    def kept(self) -> dict[Index, str]:
        return super().kept | self._placed

    def _piece(
        self, k: int, piece: Sequence[Step], where: Mapping[Index, str], work: Mapping[Index, str]
    ) -> Piece:
        (step, *_) = piece
        if not isinstance(step, Rolls):
            return super()._piece(k, piece, where, work)
        return self._loop(k, step, where)

    def _loop(self, k: int, step: Rolls, where: Mapping[Index, str]) -> Piece:
        loop = self.places.loops[step.number]
        pointer = self.places.pointers.get(step.number)
        texts, tables = self._texts(step.number, loop, where)
        lines = self._body(step.number, loop, texts, pointer)
        head = [] if pointer is None else self._out(pointer, tables)
        inside = [text for line in (head, *lines) for text in line]
        text = [f"for (int {LANE} = 0; {LANE} < {loop.count}; ++{LANE}) {{"]
        text += [f"    {line}" for line in inside] + ["}"]
        used = {a for line in (*tables, *text) for a in named_arrays(line)}
        arguments = self.used(used)
        name = self.part(k)
        slots = self._slots([step])
        return Piece(
            self.declaration(self.static("void"), name, arguments),
            f"{name}({', '.join(self.passed(arguments))})",
            [x for x in (slots, tables, text) if x],
            [],
        )

    def _texts(
        self, number: int, loop: Loop, where: Mapping[Index, str]
    ) -> tuple[list[tuple[str, bool]], list[str]]:
        """The text of each row that is read, and whether that is its negative; tables."""
        tables, rows = list[str](), list[tuple[str, bool]]()
        for j, row in enumerate(loop.reads):
            if len(row) == 1:
                node = self.d.program.nodes[row[0].node]
                text = (
                    self.dialect.input(node.a, node.b) if node.op == "input" else where[row[0].node]
                )
                rows.append((text, row[0].node in self.flipped))
                continue
            read = self.places.read(number, j)
            if read.numbers:
                name = f"c{len(tables) + 1}"
                numbers = [literal(x, self.c.scalar) for x in read.numbers]
                tables += wrapped(
                    f"static const {self.real} {name}[{loop.count}] = {{", numbers, "};"
                )
                rows.append((f"{name}[{LANE}]", False))
            else:
                rows.append((self._row(read, tables), read.negative))
        return rows, tables

    def _row(self, row: LaneRow, tables: list[str]) -> str:
        """The entry in lane k, behind the pointer that reaches the first of the row."""
        if row.array != WORK:
            return f"{row.array}[{self._at(row, tables)}]"
        low = min(row.places)
        bank, place = self.banks.at(low)
        nearer = tuple(k - low + place for k in row.places)
        return f"{bank}[{self._at(replace(row, places=nearer), tables)}]"

    def _at(self, row: LaneRow, tables: list[str]) -> str:
        """The place in lane k."""
        if row.step is not None and row.step > 0:
            lane = LANE if row.step == 1 else f"({row.step} * {LANE})"
            bare = row.step == 1 and not row.places[0]
            return lane if bare else f"{row.places[0]} + {lane}"
        kind = "unsigned char" if max(row.places) < 256 else "unsigned short"
        end = f"[{len(row.places)}] = {{{', '.join(map(str, row.places))}}};"
        if not any(line.endswith(end) for line in tables):
            tables.append(f"static const {kind} at{len(tables) + 1}{end}")
        line = next(line for line in tables if line.endswith(end))
        return f"{line.split()[4].split('[')[0]}[{LANE}]"

    def _out(self, pointer: Pointer, tables: list[str]) -> list[str]:
        """The pointer to a lane's results."""
        names = list(dict.fromkeys(pointer.arrays))
        at = self._at(LaneRow("", pointer.places), tables)
        text = f"&{names[-1]}[{at}]"
        for name in reversed(names[:-1]):
            last = max(k for k, array in enumerate(pointer.arrays) if array == name)
            text = f"({LANE} < {last + 1}) ? &{name}[{at}] : {text}"
        return [f"{self.real} *const {OUT} = {text};"]

    def _body(
        self,
        number: int,
        loop: Loop,
        texts: Sequence[tuple[str, bool]],
        pointer: Pointer | None,
    ) -> list[list[str]]:
        rows = {} if pointer is None else dict(pointer.rows)
        kept = [
            f"{OUT}[{rows[j][0]}]" if steps is None else self._row(steps, [])
            for j, steps in enumerate(self.places.made(number, j) for j in range(len(loop.makes)))
        ]
        turned = [rows[j][1] if j in rows else False for j in range(len(kept))]
        inner = replace(
            self.dialect,
            input=lambda _, j: texts[j][0],
            entry=lambda _, __, j: kept[j],
            pair="",
            loop=None,
        )
        writer = _Body(loop.body, inner, turned, [negative for _, negative in texts])
        steps = writer.statements()
        return [block(b) for b in blocks(steps, variables(loop.body, steps, writer.flipped), inner)]
