"""Functions as straight lines in a language that needs no more than that: no pieces, no loops, no
work arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgen.compiler.passes import used
from symgen.compiler.program import Program
from symgen.languages.conventions import ROWS, Entries, convention_lines
from symgen.languages.describe import Argument, FunctionDescription, descriptions, laid_out, tables
from symgen.languages.dialect import Dialect
from symgen.languages.local_names import legend, listed
from symgen.languages.module import Module
from symgen.languages.writer import Block, blocks, signed, statements, variables, zeros
from symgen.numbers.operations import OPS


@dataclass(frozen=True)
class FunctionBody:
    """The body of a function."""

    blocks: tuple[tuple[str, ...], ...]
    """Lines of code by step of the algorithm, each step with its heading."""
    reciprocals: tuple[str, ...]
    """What must be positive and finite, where a mass matrix is inverted."""
    zeros: Mapping[str, int]
    """How many structural zeros each output has, which no line writes."""
    work: int = 0
    """Entries of an array ``work`` that holds the variables, 0 where each is one of its own."""
    names: tuple[str, ...] = ()
    """The names of its variables, in the order of definition."""


@dataclass(frozen=True)
class TextBackend:
    """How a language writes lines, and texts that come from a robot's file."""

    dialect: Dialect
    comment: Callable[[str], str]
    """A text that may stand in a comment."""
    text: Callable[[str], str]
    """A name as a string literal."""
    index: Callable[[Argument], list[str]]
    """Lines of a function that tells where an entry of a packed array is."""
    heading: str = "// {}"
    """The comment of one line above a step."""
    chained: bool = True
    """Whether one statement may define several entries."""
    entries: Entries = ROWS
    """What is said of the entries of arrays."""
    max_locals: int | None = None
    """Variables that a function may have, as far as there is a limit."""

    def context(self, module: Module) -> dict[str, Any]:
        """The variables of the templates of every such language."""
        described = descriptions(module)
        bodies = {d.name: self.body(d) for d in described}
        names = [name for body in bodies.values() for name in body.names]
        return {
            "module": module,
            "functions": described,
            "bodies": bodies,
            "legend": legend(described, names, self.entries),
            "conventions": convention_lines(module, self.entries),
            "tables": tables(module, self.comment, self.entries.first),
            "comment": self.comment,
            "listed": listed,
            "text": self.text,
            "layouts": [self.index(a) for a in laid_out(described)],
        }

    def body(self, d: FunctionDescription) -> FunctionBody:
        """The body of a function."""
        empty = zeros(d.program)
        steps = statements(d.program, self.dialect, empty, [ref.node for ref in d.pivots])
        where = variables(d.program, steps)
        names = tuple(where.values())
        too_many = self.max_locals is not None and len(where) > self.max_locals
        if too_many:
            where = {node: f"work[{k}]" for k, node in enumerate(where)}
        written = blocks(steps, where, self.dialect, where if too_many else None)
        return FunctionBody(
            tuple(tuple(self._lines(block)) for block in written),
            tuple(signed(d.program, d.pivots, where)),
            empty,
            len(where) if too_many else 0,
            names,
        )

    def _lines(self, block: Block) -> list[str]:
        texts = [self.heading.format(self.comment(block.title))] if block.title else []
        for line in block.lines:
            if not line.left:
                texts.append(line.right)
                continue
            if self.chained or len(line.left) < 2:
                texts.append(f"{' = '.join(line.left)} = {line.right};")
                continue
            first, *others = line.left
            texts.append(f"{first} = {line.right};")
            texts += [f"{other} = {first};" for other in others]
        return texts


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
    names = frozenset[str]().union(*map(used, programs))
    return sorted(op.name for op in OPS.values() if not op.symbol and op.name in names)
