"""From a tape to lines of code: what becomes a variable, what is written in place, in which order.

A value read once is written where it is read as long as the line stays short; every other value is a named
constant. Outputs are stored as soon as they are known, which keeps few values alive.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from symgen.compiler.passes import flips, live, names, operands, uses
from symgen.compiler.program import LEAVES, Index, Program
from symgen.targets.dialect import ATOM, Dialect, Text, negated


@dataclass(frozen=True, slots=True)
class Line:
    """One statement: a new variable ``left[0]``, or several output entries, that become ``right``."""

    left: tuple[str, ...]
    right: str
    stores: bool


@dataclass(slots=True)
class Block:
    """The statements of one step of the algorithm."""

    title: str
    lines: list[Line] = field(default_factory=list)


def write(program: Program, dialect: Dialect) -> list[Block]:
    """The statements of a program, in blocks by step."""
    return _Writer(program, dialect).blocks()


class _Writer:
    def __init__(self, program: Program, dialect: Dialect) -> None:
        self.program, self.dialect = program, dialect
        named = names(program)
        self.flipped = flips(program, named)
        self.uses = uses(program)
        self.names = {i: name for i, (name, negative) in named.items() if negative == (i in self.flipped)}
        self.inline: dict[Index, Text] = {}
        self.variables: dict[Index, str] = {}
        self.result = [Block("")]
        self.here = ""
        self.shapes = {out.name: out.shape for out in program.outputs}
        self.stores = self._stores()

    def _stores(self) -> dict[Index, list[tuple[str, int, bool]]]:
        found = defaultdict(list)
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is not None:
                    found[ref.node].append((out.name, k, ref.negative))
        return found

    def blocks(self) -> list[Block]:
        for index in live(self.program):
            if self.program.nodes[index].op not in LEAVES:
                self._visit(index)
        self._constant_outputs()
        return [block for block in self.result if block.lines]

    def _visit(self, index: Index) -> None:
        self.here = self.program.sections[index]
        text = self._expression(index)
        reads_by_nodes = self.uses[index] - len(self.stores[index])
        if self.uses[index] == 1:
            self.inline[index] = text
        else:
            self._define(index, text)
        if not reads_by_nodes or self.uses[index] > 1:
            self._store(index)

    def _expression(self, index: Index) -> Text:
        """The node in terms of its operands; the longest operand gets a line of its own if this one is too long."""
        while True:
            text = self._combined(index)
            pending = [k for k in operands(self.program.nodes[index]) if k in self.inline]
            if len(text.code) <= self.dialect.width or not pending:
                return text
            longest = max(pending, key=lambda k: len(self.inline[k].code))
            self._define(longest, self.inline.pop(longest))

    def _combined(self, index: Index) -> Text:
        node = self.program.nodes[index]
        table = self.dialect.operations
        parts = [self._text(k) for k in operands(node)]
        signs = [k in self.flipped for k in operands(node)]
        if node.op not in ("add", "sub"):
            return table[node.op](*sorted(parts, key=_constants_first) if node.op == "mul" else parts)
        if signs[0] == (signs[1] != (node.op == "sub")):
            return table["add"](*sorted(parts, key=lambda t: t.binding))
        first_positive = signs[0] == (index in self.flipped)
        return table["sub"](*(parts if first_positive else reversed(parts)))

    def _text(self, index: Index) -> Text:
        """The node's variable (or its expression), which holds its negative where it is flipped."""
        node = self.program.nodes[index]
        if node.op == "const":
            return Text(self.dialect.literal(node.a), ATOM)
        if node.op == "input":
            return Text(self.dialect.input(node.a, node.b), ATOM)
        return self.inline.get(index) or Text(self.variables[index], ATOM)

    def _define(self, index: Index, text: Text) -> None:
        name = self.names.get(index) or f"t{len(self.variables) + 1}"
        self.variables[index] = name
        self._emit(Line((self.dialect.declare.format(name=name),), text.code, False))

    def _store(self, index: Index) -> None:
        for wanted in (False, True):
            left = tuple(self._entry(array, k) for array, k, negative in self.stores[index] if negative == wanted)
            if left:
                self._emit(Line(left, self._signed(index, wanted).code, True))

    def _entry(self, array: str, k: int) -> str:
        return self.dialect.entry(array, self.shapes[array], k)

    def _signed(self, index: Index, negative: bool) -> Text:
        text = self._text(index)
        return negated(text) if negative != (index in self.flipped) else text

    def _emit(self, line: Line) -> None:
        if self.result[-1].title != self.here:
            self.result.append(Block(self.here))
        self.result[-1].lines.append(line)

    def _constant_outputs(self) -> None:
        """Structural zeros, and outputs that are inputs or numbers."""
        found: dict[str, list[str]] = defaultdict(list)
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is None:
                    found[self.dialect.literal(0.0)].append(self._entry(out.name, k))
                elif self.program.nodes[ref.node].op in LEAVES:
                    found[self._signed(*ref).code].append(self._entry(out.name, k))
        lines = [Line(tuple(left), right, True) for right, left in found.items()]
        self.result.append(Block("constant entries", lines))


def _constants_first(text: Text) -> tuple[bool, int]:
    return not text.code[:1].isdigit(), -text.binding
