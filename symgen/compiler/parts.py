"""Names for what is only on the way to something with a name: a long sum is written in several
lines, of which each is a part of it."""

from collections import Counter
from collections.abc import Iterable

from symgen.compiler.passes import live, names, operands, remembered, uses
from symgen.compiler.program import Program
from symgen.compiler.value import Index


def parts(program: Program, wanted: Iterable[Index]) -> dict[Index, str]:
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


@remembered
def _readers(program: Program) -> dict[Index, Index]:
    """The node that reads each node that is read once, and by no output."""
    times, nodes = uses(program), program.nodes
    return {k: index for index in live(program) for k in operands(nodes[index]) if times[k] == 1}
