"""Analyses of a complete program: live nodes, operation counts, names and signs; and its text.

The text is what `symgen dump` prints, one operation a line::

    input q[2]
    input qd[2]

    body 1, upper: motion
      c1 = cos(q[0])
      %7 = c1 * 0.5
      a1_x = qd[1] - %7

    output tau[2]
      tau[0] = -a1_x
      tau[1] = 0

Operations stand in the order of the tape, dead ones left out, under the step of the algorithm that
they were born in. ``%7`` is node 7 of the tape; where the algorithm named a value, sign included,
that name stands for it, and signs are moved within the line, which is exact, so that no operand
needs one. Constants print as the shortest decimal that reads back as the same double, structural
zeros as ``0``."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from functools import wraps
from itertools import product
from types import MappingProxyType
from typing import Concatenate, ParamSpec, TypeVar

from symgen.compiler.naming import assign_names
from symgen.compiler.program import LEAVES, Index, LoopProgram, Node, Program, Ref
from symgen.numbers.operations import COUNTED, OPS


def operands(node: Node) -> tuple[Index, ...]:
    """The nodes that `node` is computed from."""
    if node.op in LEAVES:
        return ()
    return (node.a,) if node.b is None else (node.a, node.b)


def upstream(program: Program, roots: Iterable[Index]) -> list[Index]:
    """The nodes that `roots` are computed from, and these, in the order of computation."""
    visited, waiting = set[Index](), [*roots]
    while waiting:
        index = waiting.pop()
        if index not in visited:
            visited.add(index)
            waiting += operands(program.nodes[index])
    return sorted(visited)


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def cached_analysis(
    analysis: Callable[Concatenate[Program, Arguments], Result],
) -> Callable[Concatenate[Program, Arguments], Result]:
    """Cache the results of an analysis for each set of arguments, until the program grows: writers
    ask for every piece of a function."""

    @wraps(analysis)
    def cached(program: Program, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        named = len(program.names), len(program.fallback_names)
        version = len(program.nodes), len(program.outputs), *named
        key = (analysis, args, *kwargs.items())
        entry = program.analysis_cache.get(key)
        if entry is None or entry[0] != version:
            entry = program.analysis_cache[key] = version, analysis(program, *args, **kwargs)
        result: Result = entry[1]
        return result

    return cached


@cached_analysis
def live_nodes(program: Program) -> tuple[Index, ...]:
    """The nodes that some output depends on, in the order of computation."""
    nodes = program.nodes
    read = bytearray(len(nodes))
    for out in program.outputs:
        for ref in out.refs:
            if ref is not None:
                read[ref.node] = 1
    for index in range(len(nodes) - 1, -1, -1):
        if read[index]:
            op, a, b = nodes[index]
            if op not in LEAVES:  # the operands, without a call for each node of every tape
                read[a] = 1
                read[a if b is None else b] = 1
    return tuple(index for index, is_read in enumerate(read) if is_read)


@cached_analysis
def read_entries(program: Program) -> Mapping[str, AbstractSet[int]]:
    """The entries of each input that some output depends on."""
    entries = defaultdict[str, set[int]](set)
    for op, a, b in map(program.nodes.__getitem__, live_nodes(program)):
        if op == "input":
            entries[a].add(b)
    return MappingProxyType(entries)


@cached_analysis
def operation_counts(program: Program) -> Mapping[str, int]:
    """How many operations of each name the outputs need."""
    numbers = Counter(program.nodes[i].op for i in live_nodes(program))
    return MappingProxyType({op: n for op, n in numbers.items() if op not in LEAVES})


@cached_analysis
def use_counts(program: Program) -> Mapping[Index, int]:
    """How often each live node is read, by later nodes and by outputs."""
    reads = list[Index]()
    for op, a, b in map(program.nodes.__getitem__, live_nodes(program)):
        if op not in LEAVES:  # the operands, without a call for each node
            reads += (a,) if b is None else (a, b)
    counter = Counter(reads)
    counter.update(ref.node for out in program.outputs for ref in out.refs if ref is not None)
    return MappingProxyType(counter)


def distinct_entries(program: Program, output: str) -> list[int]:
    """One entry for each value of an output that is computed or an input."""
    out = next(out for out in program.outputs if out.name == output)
    first: dict[Index, int] = {}
    for k, ref in enumerate(out.refs):
        if ref is not None and program.nodes[ref.node].op != "const":
            first.setdefault(ref.node, k)
    return list(first.values())


def pivots(program: Program, divisions: bool = True) -> tuple[Ref, ...]:
    """The values that must be positive and finite for every division to be one by a positive number
    that has a reciprocal, and what an algorithm itself requires to be positive; the latter alone
    without `divisions`. Divisors that are inputs are the caller's, whatever their sign.

    Of a reciprocal that is the reciprocal itself (infinite where the divisor is zero, zero where it
    is infinite), of another quotient the divisor; with the sign that the divisor has for the
    algorithm."""
    signs = {}
    for index in live_nodes(program):
        node = program.nodes[index]
        divisor = program.divisors[index] if node.op == "div" and divisions else None
        if divisor is not None and program.nodes[divisor.node].op not in LEAVES:
            reciprocal = program.nodes[node.a].op == "const"
            signs[index if reciprocal else divisor.node] = divisor.negative
        if index in program.positive_signs:
            signs[index] = program.positive_signs[index]
    return tuple(
        Ref(k, negative) for k, negative in signs.items() if program.nodes[k].op not in LEAVES
    )


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations of a program; additions include subtractions, negation is free."""

    add: int
    mul: int
    div: int
    trig: int

    @property
    def total(self) -> int:
        """All operations."""
        return self.add + self.mul + self.div + self.trig

    def as_dict(self) -> dict[str, int]:
        """The counts by name, and their total."""
        return {**asdict(self), "total": self.total}


@cached_analysis
def used_ops(program: Program) -> frozenset[str]:
    """The operations that the outputs need, by name."""
    return frozenset(operation_counts(program))


@cached_analysis
def counts(program: Program) -> Counts:
    """The operations that the outputs need."""
    if isinstance(program, LoopProgram):
        return Counts(**program.operations)
    counter = Counter[str]()
    for op, times in operation_counts(program).items():
        counter[OPS[op].counts_as] += times
    return Counts(**{column: counter[column] for column in COUNTED})


@cached_analysis
def node_names(program: Program) -> Mapping[Index, tuple[str, bool]]:
    """Names by node with the sign they were given for: the algorithm's, those of joint angles, of
    entries of outputs, and of sums and products of what has a name (see `symgen.compiler.naming`).

    Each name is given once; a second node of that name stays anonymous.
    """
    return assign_names(program, live_nodes(program), use_counts(program))


@cached_analysis
def negated_variables(program: Program) -> AbstractSet[Index]:
    """The nodes whose variables hold the negative, chosen so that hardly any negation is written.

    Signs pass through products and odd functions. A sum of terms with different signs is a
    difference, which may have either sign: that of its name, or else that of its first output."""
    preferred_sign = {
        ref.node: ref.negative
        for out in reversed(program.outputs)
        for ref in out.refs
        if ref is not None
    }
    negated = (
        node.a for node in map(program.nodes.__getitem__, live_nodes(program)) if node.op == "neg"
    )
    preferred_sign |= dict.fromkeys(negated, True)
    preferred_sign |= {index: negative for index, (_, negative) in node_names(program).items()}
    negated_nodes = set[Index]()
    for index in live_nodes(program):
        node = program.nodes[index]
        if node.op in LEAVES:
            continue
        if node.op == "mul":  # half of all, without calls
            negative = (node.a in negated_nodes) != (node.b in negated_nodes)
        else:
            signs = [k in negated_nodes for k in operands(node)]
            negative = result_is_negated(node, signs, preferred_sign.get(index, False))
        if negative:
            negated_nodes.add(index)
    return frozenset(negated_nodes)


def result_is_negated(node: Node, signs: Sequence[bool], preferred: bool) -> bool:
    """Whether an operation on variables yields the negative of a node, given which of the
    variables hold the negatives of the operands; `preferred` if a difference may be either."""
    if node.op in ("add", "sub"):
        equal = signs[0] == (signs[1] != (node.op == "sub"))
        return signs[0] if equal else preferred
    if node.op in LEAVES or OPS[node.op].parity != "odd":
        return False
    return bool(sum(signs, node.op == "neg") % 2)


def partial_sum_names(program: Program, nodes: Iterable[Index]) -> dict[Index, str]:
    """Names for those of `nodes` that have none and are terms of one node with a name, with every
    value between the two read once: M_0_0_p1 and M_0_0_p2 are partial sums of M_0_0, numbered in
    the order of `nodes`, whatever their signs."""
    known, readers = node_names(program), _single_readers(program)
    taken = {name for name, _ in known.values()}
    numbers = Counter[str]()
    names: dict[Index, str] = {}
    for index in nodes:
        at = readers.get(index)
        while at is not None and at not in known:
            at = readers.get(at)
        if at is not None and index not in known:
            numbers[known[at][0]] += 1
            names[index] = f"{known[at][0]}_p{numbers[known[at][0]]}"
    return {index: name for index, name in names.items() if name not in taken}


@cached_analysis
def _single_readers(program: Program) -> dict[Index, Index]:
    """The node that reads each node that is read once, and by no output."""
    times, nodes = use_counts(program), program.nodes
    return {
        k: index for index in live_nodes(program) for k in operands(nodes[index]) if times[k] == 1
    }


# -- text ------------------------------------------------------------------------------------------


INFIX_SYMBOLS = {"mul": "*", "div": "/", "neg": ""}
NodeNames = Mapping[Index, tuple[str, bool]]


def dump(program: Program) -> str:
    """The live part of a program in the format of this module, without a final newline."""
    names = node_names(program)
    parts = ["\n".join(f"input {name}{_indices(shape)}" for name, shape in program.inputs)]
    parts += _section_texts(program, names)
    for out in program.outputs:
        lines = [f"output {out.name}{_indices(out.shape)}"]
        for place, ref in zip(product(*map(range, out.shape)), out.refs, strict=True):
            lines.append(f"  {out.name}{_indices(place)} = {_output_text(program, names, ref)}")
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part)


def _section_texts(program: Program, names: NodeNames) -> Iterator[str]:
    """The operations, in runs of one section."""
    title, lines = "", list[str]()
    for index in live_nodes(program):
        if program.nodes[index].op in LEAVES:
            continue
        if program.sections[index] != title:
            yield "\n".join(lines)
            title = program.sections[index]
            lines = [title] if title else []
        lines.append(f"  {_operation_line(program, names, index)}")
    yield "\n".join(lines)


def _operation_line(program: Program, names: NodeNames, index: Index) -> str:
    """One line: the node's name, or its negative's, and what it is."""
    node = program.nodes[index]
    name, negative = names.get(index, (f"%{index}", False))
    operand_texts = [_operand_text(program, names, k) for k in operands(node)]
    texts, signs = [text for text, _ in operand_texts], [sign for _, sign in operand_texts]
    if node.op in ("add", "sub"):
        turned = signs[0] != negative  # a difference with a sign in front is turned round
        if (signs[0] != signs[1]) != (node.op == "sub"):
            return f"{name} = {' - '.join(reversed(texts) if turned else texts)}"
        return f"{name} = {f'-{texts[0]} - {texts[1]}' if turned else ' + '.join(texts)}"
    if node.op in INFIX_SYMBOLS:
        sign = sum(signs, negative != (node.op == "neg")) % 2
        return f"{name} = {'-' * sign}{f' {INFIX_SYMBOLS[node.op]} '.join(texts)}"
    (sign,), parity = signs, OPS[node.op].parity
    inner, outer = sign and not parity, negative != (sign and parity == "odd")
    return f"{name} = {'-' * outer}{node.op}({'-' * inner}{texts[0]})"


def _operand_text(program: Program, names: NodeNames, index: Index) -> tuple[str, bool]:
    """The text that stands for a node, and whether that is its negative."""
    node = program.nodes[index]
    if node.op in LEAVES:
        return (f"{node.a}[{node.b}]" if node.op == "input" else repr(node.a)), False
    return names.get(index, (f"%{index}", False))


def _output_text(program: Program, names: NodeNames, ref: Ref | None) -> str:
    if ref is None:
        return "0"
    text, negative = _operand_text(program, names, ref.node)
    return f"{'-' * (ref.negative != negative)}{text}"


def _indices(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]" if shape else ""
