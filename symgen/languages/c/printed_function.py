"""A function in a language of the C family: in one piece, or in static pieces that pass values on
through a work array. `CPrinter` states how C, vectors of C, CUDA and the C for CasADi differ."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from symgen.algorithms.controllers import ControllerType
from symgen.compiler.passes import distinct_entries, used_ops
from symgen.compiler.program import Index, Ref
from symgen.languages.c.certified_code import certified_lines
from symgen.languages.c.options import COptions
from symgen.languages.c.syntax import (
    NEWLINE,
    RESTRICT_MACROS,
    CPrinter,
    block_lines,
    const_qualifier,
    declarator,
    inline_functions,
    join_wrapped,
    with_restrict,
)
from symgen.languages.c.work_array import (
    WORK,
    Partition,
    WorkArraySegments,
    arrays_of,
    caller_argument,
    live_counts,
    partition,
    slot_names,
)
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.local_names import legend
from symgen.languages.module import Module
from symgen.languages.sines import INLINE_FUNCTIONS
from symgen.languages.writer import (
    FunctionBody,
    Step,
    code_blocks,
    function_body,
    structural_zero_counts,
)
from symgen.mechanics.body_tables import BodyTables
from symgen.numbers.operations import OPS

MAX_UNSPLIT_RATIO: Final = 2.5
"""A function stays in one piece up to this many times the assignments of a piece, ..."""

MAX_UNSPLIT_LIVE_RATIO: Final = 1.12
"""... if the number of its live values is at most this part of the assignments of a piece: 112
doubles and saved registers fill a kilobyte."""

MIN_ZEROS_FOR_LOOP: Final = 12
"""A loop writes the structural zeros of an output that has at least so many."""

_DIRECTION_ORDER: Final = {"in": 0, "work": 1, "out": 2}


def _ordered(arrays: Iterable[Argument]) -> list[Argument]:
    return sorted(arrays, key=lambda a: _DIRECTION_ORDER[a.direction])


@dataclass(frozen=True, slots=True)
class Piece:
    """A static function that does part of the work."""

    signature: str
    call: str
    lines: list[list[str]]
    status_lines: list[str]
    """Lines that return whether a pivot is not regular; empty if it tests none."""


class BodySizes(NamedTuple):
    """The sizes of the body of a function."""

    work: int
    """Entries of the work array, 0 if there is none."""
    parts: int
    """The number of pieces, 0 if the function is in one piece."""


@dataclass(frozen=True, eq=False)
class Loops:
    """Loops after straight-line code, printed by a template."""

    template: str
    text: str
    """What the loops compute, for the comment of the function."""
    static_functions: tuple["CFunction", ...]
    """The static functions that are called, the straight-line code first."""
    entries: int
    """Entries of the work array that the loops use, at its beginning."""
    controller: ControllerType | None = None
    """The controller whose algorithm has the loops."""
    looped: tuple[Argument, ...] = ()
    """The outputs whose columns are computed in a loop."""
    iterations: int = 0
    """The number of iterations of a loop that repeats the first static function."""
    passed: Mapping[str, str] = field(default_factory=dict)
    """The arrays of the function that static functions receive, by the names of their
    parameters where these differ."""

    @property
    def read(self) -> Argument:
        """The output of the straight-line code that is in the work array."""
        return self.static_functions[0].description.outs[-1]

    @property
    def rows(self) -> int:
        """The entries of a column."""
        return self.static_functions[-1].description.outs[0].size

    @property
    def work(self) -> int:
        """Entries of the work array: those of the loops, then those of the static functions."""
        return self.entries + max(f.work for f in self.static_functions)

    def call(self, k: int = 0) -> str:
        """The call of a static function."""
        function = self.static_functions[k]
        renamed = {**self.passed, self.read.name: WORK, WORK: f"&{WORK}[{self.entries}]"}
        arguments = ", ".join(renamed.get(a.name, a.name) for a in function.arguments)
        return f"{function.full_name}({arguments})"


@dataclass(frozen=True, eq=False)
class CFunction:
    """A function of a module in a language of the C family. Subclasses add declarations."""

    module: Module
    description: FunctionDescription
    printer: CPrinter
    loops: Loops | None = None
    bodies: BodyTables | None = None
    """The tables of a function that is loops over bodies (`symgen.languages.c.loops`)."""
    precomputed_sizes: "BodySizes | None" = None
    """The sizes of its body, if that was made in another process."""

    @property
    def c(self) -> COptions:
        """The options of C."""
        return self.module[COptions]

    @property
    def full_name(self) -> str:
        """The name of the function in C."""
        return self.printer.name.format(module=self.module.name, function=self.description.name)

    # -- statements and arrays --------------------------------------------------------------------

    @cached_property
    def body(self) -> FunctionBody:
        """The statements. Zeros that the caller or a loop writes have none."""
        omitted = [a.name for a in (*self.loop_zeroed, *self.caller_zeroed)]
        return function_body(
            self.description.program, self.printer.dialect, omitted, self.description.pivots
        )

    def _zeros(self) -> list[tuple[Argument, int]]:
        """The outputs with structural zeros, and their number."""
        counted = structural_zero_counts(self.description.program)
        return [(a, counted[a.name]) for a in self.description.arguments if counted.get(a.name, 0)]

    @property
    def caller_zeroed(self) -> list[Argument]:
        """Outputs whose structural zeros the caller writes once."""
        return [a for a, _ in self._zeros()] if self.printer.zeros_once else []

    @property
    def all_zero_outputs(self) -> list[Argument]:
        """Outputs of which the caller writes every entry, since all are zero in every state."""
        return [a for a, count in self._zeros() if self.printer.zeros_once and count == a.size]

    @property
    def loop_zeroed(self) -> list[Argument]:
        """Outputs with so many structural zeros that a loop writes them first."""
        many = [a for a, count in self._zeros() if count >= MIN_ZEROS_FOR_LOOP]
        return [] if self.printer.zeros_once else many

    @cached_property
    def partition(self) -> Partition | None:
        """The statements in pieces; None if the function is in one piece, or only loops."""
        steps, size = self.body.steps, self.printer.chunk
        if self.loops is not None and self.loops.looped:
            return None
        assignments = sum(max(1, s.stores) for s in steps)
        fits = (
            assignments <= MAX_UNSPLIT_RATIO * size
            and max(live_counts(steps)) <= MAX_UNSPLIT_LIVE_RATIO * size
        )
        return None if fits else partition(steps, size)

    @cached_property
    def sizes(self) -> BodySizes:
        """The sizes of its body."""
        if self.precomputed_sizes is not None:
            return self.precomputed_sizes
        parts = len(self.partition.pieces) if self.partition else 0
        if self.loops is not None:
            return BodySizes(self.loops.work, parts)
        return BodySizes(self.partition.size if self.partition else 0, parts)

    @property
    def work(self) -> int:
        """Entries of the work array, 0 if there is none."""
        return self.sizes.work

    @property
    def segments(self) -> WorkArraySegments:
        """The work array as pieces see it."""
        return WorkArraySegments(self.work, self.printer.segment)

    @property
    def outputs(self) -> list[Argument]:
        """The arrays that it writes."""
        return self.description.outs

    @property
    def arguments(self) -> list[Argument]:
        """Inputs, the work array if there is one, outputs."""
        array = Argument("work", WORK, (self.work,), "work array, contents do not matter", "")
        return _ordered([*self.description.arguments, *([array] if self.work else [])])

    # -- declarations -----------------------------------------------------------------------------

    @property
    def returns(self) -> str:
        """The return type with its specifiers: the status type for a function that can fail, else
        ``void``."""
        return self.printer.linkage + (self.printer.status if self.description.pivots else "void")

    @property
    def signature(self) -> str:
        """Declaration, without a semicolon."""
        parameters = [self.parameter(a) for a in self.arguments]
        return declarator(f"{self.returns} {self.full_name}", parameters)

    def parameter(self, a: Argument) -> str:
        """The declaration of an array as a parameter."""
        return self.printer.parameter.format(
            const=const_qualifier(a), real=self.printer.real, name=a.name, size=a.size
        )

    def piece_signature(self, start: str, name: str, arguments: Sequence[Argument]) -> str:
        """The declaration of a piece."""
        texts = [self.parameter(a) for a in arguments]
        if self.printer.restrict:
            marks = RESTRICT_MACROS if self.segments.restrict else {"out": RESTRICT_MACROS["out"]}
            pairs = zip(texts, arguments, strict=True)
            texts = [with_restrict(text, self.module.name, marks, a) for text, a in pairs]
        first = self.printer.first_parameter
        return declarator(f"{start} {name}", [first, *texts] if first else texts)

    # -- lines ------------------------------------------------------------------------------------

    @cached_property
    def lines(self) -> list[list[str]]:
        """The body in blocks of lines, if the function is in one piece."""
        body = self.body
        return [block_lines(b) for b in code_blocks(body.steps, body.names, self.printer.dialect)]

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces, empty if the function is in one piece."""
        if self.partition is None:
            return []
        spilled = {
            k: f"{self.segments.locate(slot)[0]}[{self.body.names[k]}]"
            for k, slot in self.partition.slots.items()
        }
        where = {**self.body.names, **spilled}
        return [
            self._piece(k, piece, where, spilled)
            for k, piece in enumerate(self.partition.pieces, 1)
        ]

    def _piece(
        self,
        k: int,
        piece: Sequence[Step],
        where: Mapping[Index, str],
        spilled: Mapping[Index, str],
    ) -> Piece:
        assert self.partition is not None
        printer, names = self.printer, arrays_of(piece, where)
        arrays = (*self.description.arguments, *self.segments.arguments)
        arguments = _ordered(a for a in arrays if a.name in names)
        nodes = {node for s in piece for node in s.defines}
        checks = self._status(
            [r for r in self.description.pivots if r.node in nodes], where, [], ("0", "1")
        )
        name, first = printer.piece.format(k), printer.first_argument
        values = [*([first] if first else []), *(caller_argument(a.name) for a in arguments)]
        returns = printer.piece_status if checks else "void"
        start = f"static {self.module.name.upper()}_NOINLINE {returns}"
        slots = slot_names(piece, self.partition.slots, self.body.names, self.segments)
        lines = code_blocks(piece, where, printer.dialect, spilled)
        return Piece(
            self.piece_signature(start, name, arguments),
            f"{name}({', '.join(values)})",
            [slots, *map(block_lines, lines)],
            checks,
        )

    def _status(
        self,
        pivots: Sequence[Ref],
        where: Mapping[Index, str],
        others: Collection[str],
        statuses: tuple[str, str],
    ) -> list[str]:
        """The lines that return the first of `statuses` if all pivots are regular and all calls in
        `others` are true, else the second; none without pivots."""
        if not pivots:
            return []
        texts = self.body.signed_texts(pivots, where)
        tests = [*map(self.printer.pivot_test.format, texts), *others]
        joined = join_wrapped(tests, self.printer.conjunction)
        return f"return {self.printer.result.format(joined, *statuses)};".split(NEWLINE)

    @property
    def status_lines(self) -> list[str]:
        """Lines that return the status, if the function is in one piece."""
        return self._status(
            self.description.pivots, self.body.names, self.finite_tests, self.printer.statuses
        )

    @property
    def status_lines_of_pieces(self) -> list[str]:
        """Lines that return the status, if the function is in pieces."""
        good = join_wrapped(["(bad == 0)", *self.finite_tests], " && ")
        condition = f"({good})" if self.finite_tests else good
        return f"return {condition} ? {' : '.join(self.printer.statuses)};".split(NEWLINE)

    @property
    def finite_tests(self) -> list[str]:
        """Calls that test whether all outputs are finite."""
        if self.bodies is not None:
            return [f"all_finite({a.name}, {a.size})" for a in self.outputs]
        tests = (
            self.printer.finite_tests(a, distinct_entries(self.description.program, a.name))
            for a in self.outputs
        )
        return [test for test in tests if test]

    # -- documentation ----------------------------------------------------------------------------

    @property
    def rounding(self) -> list[str]:
        """The errors of results in single precision, a text for each output; none in double
        precision and for loops over bodies."""
        single = self.c.scalar == "float" and self.bodies is None
        return [r.text for r in self.module.roundings[self.description.name]] if single else []

    @property
    def certified(self) -> list[str]:
        """The certified bounds of the results; none without ``--certify``."""
        return certified_lines(self.module, self.description)

    @property
    def has_sines(self) -> bool:
        """Whether there is a sine or cosine."""
        return not used_ops(self.description.program).isdisjoint(INLINE_FUNCTIONS)

    @property
    def math(self) -> bool:
        """Whether C's math library may be needed: by ``--trig inline`` only for a square root."""
        brought = inline_functions(self.module)
        return not brought or any(
            OPS[op].library for op in used_ops(self.description.program).difference(brought)
        )

    @cached_property
    def legend(self) -> list[str]:
        """The meaning of the local names; with loops over columns, of the straight-line code."""
        if self.bodies is not None:
            return []
        columns = self.loops is not None and self.loops.looped
        body = (
            self.loops.static_functions[0].body if self.loops is not None and columns else self.body
        )
        return legend(body.names.values(), (a.name for a in self.outputs))
