"""From a tape to lines of code: what becomes a variable, what is written in place, in which order.

A value read once is written where it is read as long as the line stays short; every other value is
a named constant. Outputs are stored as soon as they are known, which keeps few values alive."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from symgen.compiler.objective import SUMS
from symgen.compiler.passes import (
    cached_analysis,
    live_nodes,
    names,
    negated_variables,
    operands,
    partial_sum_names,
    result_is_negated,
    upstream,
    use_counts,
)
from symgen.compiler.program import LEAVES, Index, Node, Program, Ref
from symgen.languages.dialect import COSINE_ARRAY, SINE_ARRAY, Dialect, Text, Token, atom, negated
from symgen.languages.sine_loops import LONGEST, SineGroup, SineLoop, groups
from symgen.numbers.operations import OPS

CONSTANT_ENTRIES = "constant entries"
ANGLES = "sines and cosines"


@dataclass(slots=True, eq=False)
class Statement:
    """A new variable for tape node `node`, or (None) a store to output entries, of the value
    `right`. Never changed once made, but there are so many that it costs to have each field of
    them frozen."""

    section: str
    node: Index | None
    left: tuple[str, ...]
    right: Text
    makes: tuple[Index, ...] = field(init=False)
    """The nodes that become variables."""
    reads: frozenset[Index] = field(init=False)
    """The nodes whose variables are read."""

    def __post_init__(self) -> None:
        self.makes = () if self.node is None else (self.node,)
        self.reads = self.right.reads

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The pieces of its code, but for the variable that it makes."""
        return self.left + self.right.tokens

    @property
    def stores(self) -> int:
        """How many entries of outputs are written."""
        return len(self.left)


Step = Statement | SineLoop
"""What a function does one after the other."""


@cached_analysis
def zeros(program: Program) -> Mapping[str, int]:
    """How many structural zeros each output has."""
    return MappingProxyType({out.name: out.refs.count(None) for out in program.outputs})


@dataclass(frozen=True)
class FunctionBody:
    """A function as statements: the value that all backends print."""

    program: Program
    steps: tuple[Step, ...]
    """The statements in the order of execution."""
    names: Mapping[Index, str]
    """The variable of each node that has one, in the order of definition."""

    def signed(self, refs: Iterable[Ref], where: Mapping[Index, str] | None = None) -> list[str]:
        """The text of each referred value, sign included, with each variable's text from `where`,
        by default its name."""
        negated, where = negated_variables(self.program), where or self.names
        return [("-" if r.negative != (r.node in negated) else "") + where[r.node] for r in refs]


def function_body(
    program: Program, dialect: Dialect, omitted: Collection[str], pivots: Iterable[Ref]
) -> FunctionBody:
    """The statements of a program. Structural zeros of the outputs `omitted` are not stored, and
    `pivots` are variables."""
    steps = _Writer(program, dialect, omitted, [ref.node for ref in pivots]).statements()
    return FunctionBody(program, tuple(steps), _variables(program, steps))


def _variables(program: Program, steps: Sequence[Step]) -> dict[Index, str]:
    """A name for every variable, neg_NAME where it holds the negative of what is called so; else
    that of a part of what has one; else t1, t2, ..."""
    negated, known = negated_variables(program), names(program)
    defined = [node for s in steps for node in s.makes]
    named = {i: f"t{k}" for k, i in enumerate(defined, 1)} | partial_sum_names(program, defined)
    for i in known.keys() & named.keys():
        name, negative = known[i]
        named[i] = name if negative == (i in negated) else f"neg_{name}"
    return named


class _Writer:
    """Writes a program; what its variables hold the negative of is in `flipped`."""

    def __init__(
        self,
        program: Program,
        dialect: Dialect,
        zeroed: Collection[str],
        kept: Collection[Index],
    ) -> None:
        self.program, self.dialect, self.zeroed = program, dialect, zeroed
        self.kept = frozenset(kept)
        self.flipped = negated_variables(program)
        self.uses = use_counts(program)
        self.texts: dict[Index, Text] = {}
        self.inline: set[Index] = set()
        self.result: list[Step] = []
        self.here = ""
        self.visited: set[Index] = set()
        self.looped: set[SineGroup] = set()
        self.shapes = {out.name: out.shape for out in program.outputs}
        self.stores = defaultdict[Index, list[tuple[str, int, bool]]](list)
        """The entries of outputs that each node is, each with its sign."""
        for out in program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is not None:
                    self.stores[ref.node].append((out.name, k, ref.negative))
        self.groups = groups(program, LONGEST if dialect.loop else 1) if dialect.pair else {}

    def statements(self) -> list[Step]:
        """All steps, in order."""
        for index in live_nodes(self.program):
            if self.program.nodes[index].op not in LEAVES:
                self._visit(index, self.program.sections[index])
        self._constant_outputs()
        return self.result

    def _visit(self, index: Index, section: str) -> None:
        """A node, unless a loop of sines wanted it before its turn."""
        if index in self.visited:
            return
        self.visited.add(index)
        group = self.groups.get(index)
        if group is not None:
            self._loop(group, section)
        self.here = section
        if group is None:
            self._value(index)
        if index in self.stores:
            self._store(index)

    def _loop(self, group: SineGroup, section: str) -> None:
        """The loop that makes a group of sines and cosines, before the first of them is read."""
        if group not in self.looped:
            self.looped.add(group)
            title = ANGLES if group.looped else section
            for node in upstream(self.program, group.angles):
                if self.program.nodes[node].op not in LEAVES:
                    self._visit(node, title)
            self.result.append(SineLoop(title, tuple(map(self._text, group.angles)), group.pairs))

    def _value(self, index: Index) -> None:
        text = self._expression(index)
        if self.uses[index] == 1 and index not in self.kept:
            self.texts[index] = text
            self.inline.add(index)
        else:
            self._define(index, text)

    def _expression(self, index: Index) -> Text:
        """The node in terms of its operands; the longest operand gets a line of its own if this one
        is too long."""
        node = self.program.nodes[index]
        while True:
            text = self._combined(index, node)
            if text.length <= self.dialect.width:
                return text
            pending = [k for k in operands(node) if k in self.inline]
            if not pending:
                return text
            longest = max(pending, key=lambda k: self.texts[k].length)
            self.inline.remove(longest)
            self._define(longest, self.texts.pop(longest))

    def _combined(self, index: Index, node: Node) -> Text:
        if node.op == "mul":
            text, negative = self._product(node)
        elif node.op in SUMS:
            text, negative = self._sum(node, index in self.flipped)
        else:
            text, negative = self._function(node)
        return text if negative == (index in self.flipped) else negated(text)

    def _product(self, node: Node) -> tuple[Text, bool]:
        """A product of what variables hold, and whether it is the negative of the node."""
        a, b = self._text(node.a), self._text(node.b)
        if _constants_first(b) < _constants_first(a):
            a, b = b, a
        negative = (node.a in self.flipped) != (node.b in self.flipped)
        return self.dialect.operations["mul"](a, b), negative

    def _sum(self, node: Node, wanted: bool) -> tuple[Text, bool]:
        """A sum of what variables hold, or their difference, which may be had either way round."""
        table, a, b = self.dialect.operations, self._text(node.a), self._text(node.b)
        first, second = node.a in self.flipped, (node.b in self.flipped) != (node.op == "sub")
        if first == second:
            return table["add"](*((a, b) if a.binding <= b.binding else (b, a))), first
        return table["sub"](*((a, b) if first == wanted else (b, a))), wanted

    def _function(self, node: Node) -> tuple[Text, bool]:
        read = operands(node)
        parts, signs = [self._text(k) for k in read], [k in self.flipped for k in read]
        negative = result_is_negated(node, signs, False)
        if node.op == "neg":
            return parts[0], negative
        if not OPS[node.op].parity:
            parts = [negated(p) if sign else p for p, sign in zip(parts, signs, strict=True)]
        return self.dialect.operations[node.op](*parts), negative

    def _text(self, index: Index) -> Text:
        """The node's variable (or its expression), which holds its negative where it is flipped."""
        text = self.texts.get(index)
        if text is None:
            text = self.texts[index] = atom(self._token(index))
        return text

    def _token(self, index: Index) -> Token:
        node = self.program.nodes[index]
        if node.op == "const":
            return self.dialect.literal(node.a)
        return self.dialect.input(node.a, node.b) if node.op == "input" else index

    def _define(self, index: Index, text: Text) -> None:
        self.result.append(Statement(self.here, index, (), text))

    def _store(self, index: Index) -> None:
        """Write a node to the entries that it is."""
        stores = self.stores[index]
        for wanted in (False, True):
            left = [self._entry(array, k) for array, k, negative in stores if negative == wanted]
            if left:
                right = self._signed(index, wanted)
                self.result.append(Statement(self.here, None, tuple(left), right))

    def _entry(self, array: str, k: int) -> str:
        return self.dialect.entry(array, self.shapes[array], k)

    def _signed(self, index: Index, negative: bool) -> Text:
        text = self._text(index)
        return negated(text) if negative != (index in self.flipped) else text

    def _constant_outputs(self) -> None:
        """Structural zeros, and outputs that are inputs or numbers."""
        entries: dict[Text, list[str]] = defaultdict(list)
        zero = self.dialect.alone(atom(self.dialect.literal(0.0)))
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is None and out.name not in self.zeroed:
                    entries[zero].append(self._entry(out.name, k))
                elif ref is not None and self.program.nodes[ref.node].op in LEAVES:
                    text = self._signed(*ref)
                    constant = self.program.nodes[ref.node].op == "const"
                    text = self.dialect.alone(text) if constant else text
                    entries[text].append(self._entry(out.name, k))
        self.result += [
            Statement(CONSTANT_ENTRIES, None, tuple(left), right) for right, left in entries.items()
        ]


NUMBER: Final = re.compile(r"([A-Za-z:]+\()?\d")
"""How a literal begins, also one that is turned into the type at hand: ``Real(0.3)``."""


def _constants_first(text: Text) -> tuple[bool, int]:
    first = text.tokens[0]
    return isinstance(first, int) or not NUMBER.match(first), -text.binding


class CodeLine(NamedTuple):
    """A statement as code: ``left`` (several entries may share a value) becomes ``right``; without
    ``left``, that is a line as it stands."""

    left: tuple[str, ...]
    right: str


@dataclass(slots=True)
class Block:
    """The lines of one step of the algorithm."""

    title: str
    lines: list[CodeLine] = field(default_factory=list)


def blocks(
    steps: Sequence[Step],
    where: Mapping[Index, str],
    dialect: Dialect,
    declared: Mapping[Index, str] | None = None,
) -> list[Block]:
    """Statements as code with each variable's text from `where`; those in `declared` are defined by
    that text."""
    result: list[Block] = []
    declared, loops = declared or {}, 0
    for s in steps:
        if not result or result[-1].title != s.section:
            result.append(Block(s.section))
        if isinstance(s, Statement):
            left = s.left or (_definition(s.node, where, dialect, declared),)
            result[-1].lines.append(CodeLine(left, _code(s.right, where)))
        elif len(s.angles) == 1:
            result[-1].lines += _both(s, where, dialect, declared)
        else:
            result[-1].lines += _loop(s, loops, where, dialect, declared)
            loops += 1
    return result


def _code(text: Text, where: Mapping[Index, str]) -> str:
    return "".join([t if isinstance(t, str) else where[t] for t in text.tokens])


def _both(
    s: SineLoop, where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str]
) -> Iterator[CodeLine]:
    for node in s.makes:
        if dialect.reserve and node not in declared:
            yield CodeLine((), dialect.reserve.format(name=where[node]))
    sine, cosine = (where[node] for node in s.makes)
    yield CodeLine(
        (), dialect.pair.format(angle=_code(s.angles[0], where), sine=sine, cosine=cosine)
    )


def _loop(
    s: SineLoop,
    loops: int,
    where: Mapping[Index, str],
    dialect: Dialect,
    declared: Mapping[Index, str],
) -> Iterator[CodeLine]:
    """The loop, with arrays of its own, and the variables that it makes."""
    assert dialect.loop is not None
    number = f"{loops + 1}" if loops else ""
    yield from (
        CodeLine((), line)
        for line in dialect.loop([_code(angle, where) for angle in s.angles], number)
    )
    for k, pair in enumerate(s.pairs):
        for node, array in zip(pair, (SINE_ARRAY, COSINE_ARRAY), strict=True):
            if node is not None:
                yield CodeLine(
                    (_definition(node, where, dialect, declared),), f"{array}{number}[{k}]"
                )


def _definition(
    node: Index | None, where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str]
) -> str:
    assert node is not None  # a statement without entries to store defines a variable
    return declared.get(node) or dialect.declare.format(name=where[node])
