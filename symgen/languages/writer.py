"""From an expression graph to statements: the choice of variables, and the order.

A value that is read once is written in place as long as the line stays short; every other value is
a named constant. Outputs are stored as soon as they are known, so that few values are live."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from symgen.compiler.naming import distinct_in_lower_case
from symgen.compiler.objective import ADDITIVE_OPS
from symgen.compiler.passes import (
    cached_analysis,
    live_nodes,
    negated_variables,
    node_names,
    operands,
    partial_sum_names,
    result_is_negated,
    upstream,
    use_counts,
)
from symgen.compiler.program import LEAVES, Index, Node, Program, Ref
from symgen.languages.dialect import (
    COSINE_ARRAY,
    SINE_ARRAY,
    Dialect,
    Expression,
    Token,
    atom,
    negated,
)
from symgen.languages.sines import MAX_LOOP_ANGLES, SineGroup, SineLoop, sine_groups
from symgen.numbers.operations import OPS

CONSTANT_ENTRIES_TITLE = "constant entries"
SINES_TITLE = "sines and cosines"


@dataclass(slots=True, eq=False)
class Statement:
    """A new variable for tape node `node`, or (None) a store to output entries, of the value
    `right`. Immutable by convention: a frozen dataclass would be slower, and there are many."""

    section: str
    node: Index | None
    left: tuple[str, ...]
    right: Expression
    defines: tuple[Index, ...] = field(init=False)
    """The nodes that become variables."""
    reads: frozenset[Index] = field(init=False)
    """The nodes whose variables are read."""

    def __post_init__(self) -> None:
        self.defines = () if self.node is None else (self.node,)
        self.reads = self.right.reads

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The pieces of its code, without the variable that it defines."""
        return self.left + self.right.tokens

    @property
    def stores(self) -> int:
        """How many entries of outputs are written."""
        return len(self.left)


Step = Statement | SineLoop
"""A statement of a function."""


@cached_analysis
def structural_zero_counts(program: Program) -> Mapping[str, int]:
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

    def signed_texts(
        self, refs: Iterable[Ref], texts: Mapping[Index, str] | None = None
    ) -> list[str]:
        """The text of each referred value, sign included, with each variable's text from
        `texts`, by default its name."""
        negated, texts = negated_variables(self.program), texts or self.names
        return [("-" if r.negative != (r.node in negated) else "") + texts[r.node] for r in refs]


def function_body(
    program: Program, dialect: Dialect, omitted: Collection[str], pivots: Iterable[Ref]
) -> FunctionBody:
    """The statements of a program. Structural zeros of the outputs `omitted` are not stored, and
    `pivots` are variables."""
    steps = _StatementWriter(program, dialect, omitted, [ref.node for ref in pivots]).statements()
    return FunctionBody(program, tuple(steps), _variable_names(program, dialect, steps))


def _variable_names(program: Program, dialect: Dialect, steps: Sequence[Step]) -> dict[Index, str]:
    """A name for every variable: that of its node, neg_NAME if it holds the negative of the named
    value; else that of a partial sum; else t1, t2, ..."""
    negated, known = negated_variables(program), node_names(program)
    defined = [node for s in steps for node in s.defines]
    names = {i: f"t{k}" for k, i in enumerate(defined, 1)} | partial_sum_names(program, defined)
    for i in known.keys() & names.keys():
        name, negative = known[i]
        names[i] = name if negative == (i in negated) else f"neg_{name}"
    return names if dialect.case_sensitive else distinct_in_lower_case(program, names)


class _StatementWriter:
    """Writes the statements of a program; `negated` has the nodes whose variables hold the
    negative."""

    def __init__(
        self,
        program: Program,
        dialect: Dialect,
        omitted: Collection[str],
        always_named: Collection[Index],
    ) -> None:
        self.program, self.dialect, self.omitted = program, dialect, omitted
        self.always_named = frozenset(always_named)
        self.negated = negated_variables(program)
        self.uses = use_counts(program)
        self.texts: dict[Index, Expression] = {}
        self.inline: set[Index] = set()
        self.result: list[Step] = []
        self.current_section = ""
        self.visited: set[Index] = set()
        self.emitted_groups: set[SineGroup] = set()
        self.shapes = {out.name: out.shape for out in program.outputs}
        self.stores = defaultdict[Index, list[tuple[str, int, bool]]](list)
        """The entries of outputs that are equal to each node, each with its sign."""
        for out in program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is not None:
                    self.stores[ref.node].append((out.name, k, ref.negative))
        longest = MAX_LOOP_ANGLES if dialect.sincos_loop else 1
        self.groups = sine_groups(program, longest) if dialect.sincos_call else {}

    def statements(self) -> list[Step]:
        """All steps, in order."""
        for index in live_nodes(self.program):
            if self.program.nodes[index].op not in LEAVES:
                self._visit(index, self.program.sections[index])
        self._constant_outputs()
        return self.result

    def _visit(self, index: Index, section: str) -> None:
        """Write a node, unless a loop of sines needed it earlier, and store it in the entries of
        outputs that are equal to it."""
        if index in self.visited:
            return
        self.visited.add(index)
        group = self.groups.get(index)
        if group is not None:
            self._emit_sines(group, section)
        self.current_section = section
        if group is None:
            text = self._expression(index)
            if self.uses[index] == 1 and index not in self.always_named:
                self.texts[index] = text
                self.inline.add(index)
            else:
                self._define(index, text)
        for wanted in (False, True):
            stores = self.stores.get(index, ())
            left = [self._entry(array, k) for array, k, negative in stores if negative == wanted]
            if left:
                right = self._with_sign(index, wanted)
                self.result.append(Statement(section, None, tuple(left), right))

    def _emit_sines(self, group: SineGroup, section: str) -> None:
        """The loop that makes a group of sines and cosines, before the first of them is read."""
        if group not in self.emitted_groups:
            self.emitted_groups.add(group)
            title = SINES_TITLE if group.in_loop else section
            for node in upstream(self.program, group.angles):
                if self.program.nodes[node].op not in LEAVES:
                    self._visit(node, title)
            self.result.append(SineLoop(title, tuple(map(self._text, group.angles)), group.pairs))

    def _expression(self, index: Index) -> Expression:
        """The node in terms of its operands. While the line is too long, the longest operand
        becomes a variable."""
        node = self.program.nodes[index]
        while True:
            if node.op == "mul":
                text, negative = self._product(node)
            elif node.op in ADDITIVE_OPS:
                text, negative = self._sum(node, index in self.negated)
            else:
                text, negative = self._function(node)
            if negative != (index in self.negated):
                text = negated(text)
            if text.length <= self.dialect.width:
                return text
            pending = [k for k in operands(node) if k in self.inline]
            if not pending:
                return text
            longest = max(pending, key=lambda k: self.texts[k].length)
            self.inline.remove(longest)
            self._define(longest, self.texts.pop(longest))

    def _product(self, node: Node) -> tuple[Expression, bool]:
        """The product of two variables, and whether it is the negative of the node."""
        a, b = self._text(node.a), self._text(node.b)
        if _factor_order(b) < _factor_order(a):
            a, b = b, a
        negative = (node.a in self.negated) != (node.b in self.negated)
        return self.dialect.operations["mul"](a, b), negative

    def _sum(self, node: Node, wanted: bool) -> tuple[Expression, bool]:
        """The sum or difference of two variables, and whether it is the negative of the node; a
        difference has the `wanted` sign."""
        table, a, b = self.dialect.operations, self._text(node.a), self._text(node.b)
        first, second = node.a in self.negated, (node.b in self.negated) != (node.op == "sub")
        if first == second:
            return table["add"](*((a, b) if a.precedence <= b.precedence else (b, a))), first
        return table["sub"](*((a, b) if first == wanted else (b, a))), wanted

    def _function(self, node: Node) -> tuple[Expression, bool]:
        read = operands(node)
        parts, signs = [self._text(k) for k in read], [k in self.negated for k in read]
        negative = result_is_negated(node, signs, False)
        if node.op == "neg":
            return parts[0], negative
        if not OPS[node.op].parity:
            parts = [negated(p) if sign else p for p, sign in zip(parts, signs, strict=True)]
        return self.dialect.operations[node.op](*parts), negative

    def _text(self, index: Index) -> Expression:
        """The node's variable (or its expression), which holds its negative where it is flipped."""
        text = self.texts.get(index)
        if text is None:
            node = self.program.nodes[index]
            token: Token = index
            if node.op == "const":
                token = self.dialect.literal(node.a)
            elif node.op == "input":
                token = self.dialect.input(node.a, node.b)
            text = self.texts[index] = atom(token)
        return text

    def _define(self, index: Index, text: Expression) -> None:
        self.result.append(Statement(self.current_section, index, (), text))

    def _entry(self, array: str, k: int) -> str:
        return self.dialect.entry(array, self.shapes[array], k)

    def _with_sign(self, index: Index, negative: bool) -> Expression:
        text = self._text(index)
        return negated(text) if negative != (index in self.negated) else text

    def _constant_outputs(self) -> None:
        """Structural zeros, and outputs that are inputs or numbers."""
        entries: dict[Expression, list[str]] = defaultdict(list)
        zero = self.dialect.constant_entry(atom(self.dialect.literal(0.0)))
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is None and out.name not in self.omitted:
                    entries[zero].append(self._entry(out.name, k))
                elif ref is not None and self.program.nodes[ref.node].op in LEAVES:
                    text = self._with_sign(*ref)
                    constant = self.program.nodes[ref.node].op == "const"
                    text = self.dialect.constant_entry(text) if constant else text
                    entries[text].append(self._entry(out.name, k))
        self.result += [
            Statement(CONSTANT_ENTRIES_TITLE, None, tuple(left), right)
            for right, left in entries.items()
        ]


NUMERIC_LITERAL: Final = re.compile(r"([A-Za-z:]+\()?\d")
"""The beginning of a literal, also of one with a type conversion: ``Real(0.3)``."""


def _factor_order(text: Expression) -> tuple[bool, int]:
    first = text.tokens[0]
    return isinstance(first, int) or not NUMERIC_LITERAL.match(first), -text.precedence


class CodeLine(NamedTuple):
    """A statement as code: each of ``left`` is assigned the value ``right``; without ``left``,
    ``right`` is a complete line."""

    left: tuple[str, ...]
    right: str


@dataclass(slots=True)
class Block:
    """The lines of one step of the algorithm."""

    title: str
    lines: list[CodeLine] = field(default_factory=list)


def code_blocks(
    steps: Sequence[Step],
    texts: Mapping[Index, str],
    dialect: Dialect,
    targets: Mapping[Index, str] | None = None,
) -> list[Block]:
    """Statements as code with each variable's text from `texts`; those in
    `targets` are defined by that text."""
    result: list[Block] = []
    targets, loops = targets or {}, 0

    def target(node: Index) -> str:
        return targets.get(node) or dialect.declare.format(name=texts[node])

    for s in steps:
        if not result or result[-1].title != s.section:
            result.append(Block(s.section))
        lines = result[-1].lines
        if isinstance(s, Statement):
            left = s.left or tuple(map(target, s.defines))
            lines.append(CodeLine(left, _expression_text(s.right, texts)))
            continue
        angles = [_expression_text(angle, texts) for angle in s.angles]
        if len(angles) == 1:
            declaration = dialect.declare_uninitialized
            local = [node for node in s.defines if declaration and node not in targets]
            lines += [CodeLine((), declaration.format(name=texts[node])) for node in local]
            sine, cosine = (texts[node] for node in s.defines)
            call = dialect.sincos_call.format(angle=angles[0], sine=sine, cosine=cosine)
            lines.append(CodeLine((), call))
            continue
        loops += 1
        number = f"{loops}" if loops > 1 else ""
        assert dialect.sincos_loop is not None
        lines += [CodeLine((), line) for line in dialect.sincos_loop(angles, number)]
        lines += [
            CodeLine((target(node),), f"{array}{number}[{k}]")
            for k, pair in enumerate(s.pairs)
            for node, array in zip(pair, (SINE_ARRAY, COSINE_ARRAY), strict=True)
            if node is not None
        ]
    return result


def _expression_text(text: Expression, texts: Mapping[Index, str]) -> str:
    return "".join([t if isinstance(t, str) else texts[t] for t in text.tokens])
