"""The backends of all languages but C, a module for each, imported when it is needed; and what most
of them share, the printer of functions that need no pieces, loops or work arrays (`TextBackend`).

A backend has ``files(module)`` and ``checks(target, progress)``. Its row is in
`symgen.languages`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from symgen.compiler.parallel import parallel_map
from symgen.compiler.passes import read_entries, used_ops
from symgen.compiler.program import Program
from symgen.languages.conventions import ROW_MAJOR, IndexConvention, convention_lines, wrapped_list
from symgen.languages.describe import (
    Argument,
    FunctionDescription,
    coordinate_tables,
    descriptions,
    packed_arrays,
)
from symgen.languages.dialect import Dialect
from symgen.languages.local_names import legend
from symgen.languages.module import Module
from symgen.languages.writer import (
    Block,
    FunctionBody,
    code_blocks,
    function_body,
    structural_zero_counts,
)
from symgen.numbers.operations import OPS


@dataclass(frozen=True)
class PrintedFunction:
    """The code of a function for a template."""

    blocks: list[list[str]]
    """Lines of code by step of the algorithm, each step with its heading."""
    reciprocals: tuple[str, ...]
    """The values that must be positive and finite, where a mass matrix is inverted."""
    zeros: dict[str, int]
    """The number of structural zeros of each output, which no line writes."""
    work: int
    """Entries of an array ``work`` that holds the variables, 0 if each is a local variable."""
    names: tuple[str, ...]
    """The names of its variables, in the order of definition."""


@dataclass(frozen=True)
class TextBackend:
    """How a language writes functions in one piece, and texts that come from a robot's file."""

    dialect: Dialect
    comment: Callable[[str], str]
    """Escapes a text for a comment."""
    text: Callable[[str], str]
    """A name as a string literal."""
    heading: str = "// {}"
    """The comment of one line above a step."""
    statement_end: str = ";"
    """The end of a statement."""
    chain_assignments: bool = True
    """Whether one statement may define several entries."""
    entries: IndexConvention = ROW_MAJOR
    """How arrays are indexed, for the documentation."""
    max_locals: int | None = None
    """The maximum number of local variables of a function, None if there is no limit."""
    tests_pivots: bool = True
    """Whether its functions report a mass matrix that is not positive definite."""
    make_blocks: Callable[[FunctionBody, Dialect], list[Block]] = lambda body, dialect: code_blocks(
        body.steps, body.names, dialect
    )
    """Makes the blocks of lines of a body, one for each step of the algorithm, unless it has more
    variables than `max_locals`."""

    def context(self, module: Module) -> dict[str, Any]:
        """The variables of the templates of every such language.

        A template prints `conventions`, `tables` and `legend` as comments, and for each
        of `functions` its head, its documentation and its `blocks` in `bodies`. Before the
        blocks, it fills outputs that have `zeros` and makes the array `work`.
        After them, it refuses `reciprocals` that are not positive and finite, if the function has
        `pivots`. It defines the index function of each of `layouts`, and the parameters of the file
        if the module has `regroup`."""
        described = descriptions(module)
        bodies = parallel_map(self.print_function, described)
        names = [name for body in bodies for name in body.names]
        return {
            "module": module,
            "functions": described,
            "bodies": dict(zip((d.name for d in described), bodies, strict=True)),
            "legend": legend(names, (a.name for d in described for a in d.outs), self.entries),
            "conventions": convention_lines(module, self.entries),
            "tables": coordinate_tables(module, self.comment, self.entries.first),
            "comment": self.comment,
            "listed": wrapped_list,
            "text": self.text,
            "layouts": packed_arrays(described),
            "unpacked": self._unpacking_target,
        }

    def print_function(self, d: FunctionDescription) -> PrintedFunction:
        """The code of a function; its structural zeros are left to the template."""
        empty = structural_zero_counts(d.program)
        pivots = d.pivots if self.tests_pivots else ()
        body = function_body(d.program, self.dialect, empty, pivots)
        where, work = body.names, 0
        if self.max_locals is None or len(where) <= self.max_locals:
            written = self.make_blocks(body, self.dialect)
        else:
            work = len(where)
            where = {node: self.entries.of("work", k) for k, node in enumerate(where)}
            written = code_blocks(body.steps, where, self.dialect, where)
        return PrintedFunction(
            [self._lines(block) for block in written],
            tuple(body.signed_texts(pivots, where)),
            dict(empty),
            work,
            tuple(body.names.values()),
        )

    def _lines(self, block: Block) -> list[str]:
        texts = [self.heading.format(self.comment(block.title))] if block.title else []
        for line in block.lines:
            if not line.left:
                texts.append(line.right)
                continue
            if self.chain_assignments or len(line.left) < 2:
                texts.append(f"{' = '.join(line.left)} = {line.right}{self.statement_end}")
                continue
            first, *others = line.left
            texts.append(f"{first} = {line.right}{self.statement_end}")
            texts += [f"{other} = {first}{self.statement_end}" for other in others]
        return texts

    def _unpacking_target(self, d: FunctionDescription, a: Argument) -> str:
        """Targets for the entries of an input array; entries that are not read become ``_``."""
        read = read_entries(d.program).get(a.name, ())
        names = [self.dialect.input(a.name, k) if k in read else "_" for k in range(a.size)]
        return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def signature(
    before: str, arguments: Sequence[str], after: str, width: int, indent: int = 4
) -> str:
    """The head of a function, a line for each argument where one is longer than `width`."""
    line = f"{before}({', '.join(arguments)}){after}"
    if len(line) <= width:
        return line
    return "\n".join([f"{before}(", *(f"{' ' * indent}{a}," for a in arguments), f"){after}"])


def called_functions(programs: Iterable[Program]) -> list[str]:
    """The functions of numbers that some programs use, by name."""
    names = frozenset[str]().union(*map(used_ops, programs))
    return sorted(op.name for op in OPS.values() if not op.symbol and op.name in names)
