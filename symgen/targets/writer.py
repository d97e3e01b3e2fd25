"""From a tape to lines of code: what becomes a variable, what is written in place, in which order.

A value read once is written where it is read as long as the line stays short; every other value is a named
constant. Outputs are stored as soon as they are known, which keeps few values alive.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from symgen.compiler.passes import flips, live, names, operands, uses
from symgen.compiler.program import LEAVES, Index, Program, Ref
from symgen.targets.dialect import Dialect, Text, atom, negated

CONSTANT_ENTRIES = "constant entries"


@dataclass(frozen=True, slots=True)
class Statement:
    """A new variable for tape node `node`, or (None) a store to output entries, of the value `right`.

    Where there is a `cosine`, `node` is the sine beside it and `right` the angle of both.
    """

    section: str
    node: Index | None
    left: tuple[str, ...]
    right: Text
    cosine: Index | None = None

    @property
    def makes(self) -> tuple[Index, ...]:
        """The nodes that become variables."""
        return tuple(k for k in (self.node, self.cosine) if k is not None)


@dataclass(frozen=True, slots=True)
class Line:
    """A statement as code: ``left`` (several entries may share a value) becomes ``right``, which stands alone if
    there is none."""

    left: tuple[str, ...]
    right: str


@dataclass(slots=True)
class Block:
    """The lines of one step of the algorithm."""

    title: str
    lines: list[Line] = field(default_factory=list)


def statements(
    program: Program, dialect: Dialect, zeroed: Collection[str] = (), kept: Collection[Index] = ()
) -> list[Statement]:
    """What a program does, in order, before its variables have names; the nodes in `kept` become variables."""
    return _Writer(program, dialect, zeroed, kept).statements()


def zeros(program: Program) -> dict[str, int]:
    """How many structural zeros each output has."""
    return {out.name: sum(ref is None for ref in out.refs) for out in program.outputs}


def variables(program: Program, made: list[Statement]) -> dict[Index, str]:
    """A name for every variable: the algorithm's where its sign is right, else t1, t2, ..."""
    flipped = flips(program)
    good = {i: name for i, (name, negative) in names(program).items() if negative == (i in flipped)}
    defined = [node for s in made for node in s.makes]
    return {node: good.get(node) or f"t{k}" for k, node in enumerate(defined, 1)}


def signed(program: Program, refs: Iterable[Ref], where: Mapping[Index, str]) -> list[str]:
    """The text of each referred value, sign included."""
    flipped = flips(program)
    return [("-" if ref.negative != (ref.node in flipped) else "") + where[ref.node] for ref in refs]


def blocks(
    made: list[Statement], where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str] | None = None
) -> list[Block]:
    """Statements as code with each variable's text from `where`; those in `declared` are defined by that text."""
    result: list[Block] = []
    for s in made:
        if not result or result[-1].title != s.section:
            result.append(Block(s.section))
        right = "".join(t if isinstance(t, str) else where[t] for t in s.right.tokens)
        if s.cosine is not None:
            result[-1].lines += _both(s, right, where, dialect, declared or {})
        else:
            result[-1].lines.append(Line(s.left or (_definition(s.node, where, dialect, declared or {}),), right))
    return result


def _both(
    s: Statement, angle: str, where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str]
) -> Iterator[Line]:
    for node in s.makes:
        if node not in declared:
            yield Line((), dialect.reserve.format(name=where[node]))
    sine, cosine = (where[node] for node in s.makes)
    yield Line((), dialect.pair.format(angle=angle, sine=sine, cosine=cosine))


def _definition(node: Index | None, where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str]) -> str:
    assert node is not None  # a statement without entries to store defines a variable
    return declared.get(node) or dialect.declare.format(name=where[node])


class _Writer:
    def __init__(
        self, program: Program, dialect: Dialect, zeroed: Collection[str], kept: Collection[Index]
    ) -> None:
        self.program, self.dialect, self.zeroed, self.kept = program, dialect, zeroed, frozenset(kept)
        self.flipped = flips(program)
        self.uses = uses(program)
        self.inline: dict[Index, Text] = {}
        self.result: list[Statement] = []
        self.here = ""
        self.shapes = {out.name: out.shape for out in program.outputs}
        self.stores = self._stores()
        self.partners = _partners(program) if dialect.pair else {}

    def _stores(self) -> dict[Index, list[tuple[str, int, bool]]]:
        found = defaultdict(list)
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is not None:
                    found[ref.node].append((out.name, k, ref.negative))
        return found

    def statements(self) -> list[Statement]:
        for index in live(self.program):
            if self.program.nodes[index].op not in LEAVES:
                self._visit(index)
        self._constant_outputs()
        return self.result

    def _visit(self, index: Index) -> None:
        self.here = self.program.sections[index]
        reads_by_nodes = self.uses[index] - len(self.stores[index])
        if index in self.partners:
            self._define_both(index, self.partners[index])
        elif self.uses[index] == 1 and index not in self.kept:
            self.inline[index] = self._expression(index)
        else:
            self._define(index, self._expression(index))
        if not reads_by_nodes or self.uses[index] > 1:
            self._store(index)

    def _expression(self, index: Index) -> Text:
        """The node in terms of its operands; the longest operand gets a line of its own if this one is too long."""
        while True:
            text = self._combined(index)
            pending = [k for k in operands(self.program.nodes[index]) if k in self.inline]
            if text.length <= self.dialect.width or not pending:
                return text
            longest = max(pending, key=lambda k: self.inline[k].length)
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
            return atom(self.dialect.literal(node.a))
        if node.op == "input":
            return atom(self.dialect.input(node.a, node.b))
        return self.inline.get(index) or atom(index)

    def _define(self, index: Index, text: Text) -> None:
        self.result.append(Statement(self.here, index, (), text))

    def _define_both(self, index: Index, partner: Index) -> None:
        """Sine and cosine of one angle, at the first of the two."""
        if index < partner:
            node = self.program.nodes[index]
            sine, cosine = (index, partner) if node.op == "sin" else (partner, index)
            self.result.append(Statement(self.here, sine, (), self._text(node.a), cosine))

    def _store(self, index: Index) -> None:
        for wanted in (False, True):
            left = tuple(self._entry(array, k) for array, k, negative in self.stores[index] if negative == wanted)
            if left:
                self.result.append(Statement(self.here, None, left, self._signed(index, wanted)))

    def _entry(self, array: str, k: int) -> str:
        return self.dialect.entry(array, self.shapes[array], k)

    def _signed(self, index: Index, negative: bool) -> Text:
        text = self._text(index)
        return negated(text) if negative != (index in self.flipped) else text

    def _constant_outputs(self) -> None:
        """Structural zeros, and outputs that are inputs or numbers."""
        found: dict[Text, list[str]] = defaultdict(list)
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is None and out.name not in self.zeroed:
                    found[self.dialect.alone(atom(self.dialect.literal(0.0)))].append(self._entry(out.name, k))
                elif ref is not None and self.program.nodes[ref.node].op in LEAVES:
                    found[self._leaf(ref)].append(self._entry(out.name, k))
        self.result += [Statement(CONSTANT_ENTRIES, None, tuple(left), right) for right, left in found.items()]

    def _leaf(self, ref: Ref) -> Text:
        text = self._signed(*ref)
        return self.dialect.alone(text) if self.program.nodes[ref.node].op == "const" else text


def _partners(program: Program) -> dict[Index, Index]:
    """The cosine beside each sine of the same angle, and the other way round."""
    found = {(program.nodes[i].op, program.nodes[i].a): i for i in live(program)}
    other = {"sin": "cos", "cos": "sin"}
    pairs = {i: found.get((other[op], angle)) for (op, angle), i in found.items() if op in other}
    return {i: partner for i, partner in pairs.items() if partner is not None}


def _constants_first(text: Text) -> tuple[bool, int]:
    return not str(text.tokens[0])[:1].isdigit() or isinstance(text.tokens[0], int), -text.binding
