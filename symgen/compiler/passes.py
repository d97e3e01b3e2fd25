"""Readings of a finished tape: live nodes, operation counts, names and signs. Nothing here
changes rounding."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from functools import wraps
from types import MappingProxyType
from typing import Concatenate, ParamSpec, TypeVar

from symgen.compiler.naming import named
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


Given = ParamSpec("Given")
Found = TypeVar("Found")


def cached_analysis(
    read: Callable[Concatenate[Program, Given], Found],
) -> Callable[Concatenate[Program, Given], Found]:
    """Done once for a tape that no longer grows, and each set of arguments: writers ask for every
    piece of a function."""

    @wraps(read)
    def again(program: Program, /, *given: Given.args, **others: Given.kwargs) -> Found:
        named = len(program.names), len(program.fallback_names)
        version = len(program.nodes), len(program.outputs), *named
        key = (read, given, *others.items())
        known = program.analysis_cache.get(key)
        if known is None or known[0] != version:
            known = program.analysis_cache[key] = version, read(program, *given, **others)
        result: Found = known[1]
        return result

    return again


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
    return tuple(index for index, wanted in enumerate(read) if wanted)


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
        if index in program.positive:
            signs[index] = program.positive[index]
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
def names(program: Program) -> Mapping[Index, tuple[str, bool]]:
    """Names by node with the sign they were given for: the algorithm's, those of joint angles, of
    entries of outputs, and of sums and products of what has a name (see `symgen.compiler.naming`).

    Each name is given once; a second node of that name stays anonymous.
    """
    return named(program, live_nodes(program), use_counts(program))


@cached_analysis
def negated_variables(program: Program) -> AbstractSet[Index]:
    """The nodes whose variable had better hold the negative, so that hardly any negation is ever
    written.

    Signs pass through products and odd functions; a sum of unlike signs is a difference, which may
    be written either way round: as its name wants it, or else as its first output wants it."""
    wanted_sign = {
        ref.node: ref.negative
        for out in reversed(program.outputs)
        for ref in out.refs
        if ref is not None
    }
    negated = (
        node.a for node in map(program.nodes.__getitem__, live_nodes(program)) if node.op == "neg"
    )
    wanted_sign |= dict.fromkeys(negated, True)
    wanted_sign |= {index: negative for index, (_, negative) in names(program).items()}
    flipped = set[Index]()
    for index in live_nodes(program):
        node = program.nodes[index]
        if node.op in LEAVES:
            continue
        if node.op == "mul":  # half of all, without calls
            negative = (node.a in flipped) != (node.b in flipped)
        else:
            signs = [k in flipped for k in operands(node)]
            negative = result_is_negated(node, signs, wanted_sign.get(index, False))
        if negative:
            flipped.add(index)
    return frozenset(flipped)


def result_is_negated(node: Node, signs: Sequence[bool], wanted: bool) -> bool:
    """Whether what is computed of operands, held as negatives or not, is the negative of a node;
    where it may be either, what is wanted."""
    if node.op in ("add", "sub"):
        like = signs[0] == (signs[1] != (node.op == "sub"))
        return signs[0] if like else wanted
    if node.op in LEAVES or OPS[node.op].parity != "odd":
        return False
    return bool(sum(signs, node.op == "neg") % 2)


def partial_sum_names(program: Program, wanted: Iterable[Index]) -> dict[Index, str]:
    """Names for those of the nodes `wanted` that have none and that only one node with a name is
    made of, each read once on the way there: M_0_0_p1 and M_0_0_p2 are parts of M_0_0, numbered in
    the order of `wanted`, whatever their signs."""
    known, readers = names(program), _readers(program)
    taken = {name for name, _ in known.values()}
    numbers = Counter[str]()
    named: dict[Index, str] = {}
    for index in wanted:
        at = readers.get(index)
        while at is not None and at not in known:
            at = readers.get(at)
        if at is not None and index not in known:
            numbers[known[at][0]] += 1
            named[index] = f"{known[at][0]}_p{numbers[known[at][0]]}"
    return {index: name for index, name in named.items() if name not in taken}


@cached_analysis
def _readers(program: Program) -> dict[Index, Index]:
    """The node that reads each node that is read once, and by no output."""
    times, nodes = use_counts(program), program.nodes
    return {
        k: index for index in live_nodes(program) for k in operands(nodes[index]) if times[k] == 1
    }
