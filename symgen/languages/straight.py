"""Functions as straight lines in a language that needs no more than that: no pieces, no loops, no
work arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from symgen.languages.blocks import Block, blocks
from symgen.languages.describe import Description
from symgen.languages.dialect import Dialect
from symgen.languages.writer import signed, statements, variables, zeros


@dataclass(frozen=True)
class Straight:
    """The body of a function."""

    blocks: tuple[tuple[str, ...], ...]
    """Lines of code by step of the algorithm, each step with its heading."""
    reciprocals: tuple[str, ...]
    """What must be positive and finite, where a mass matrix is inverted."""
    zeros: Mapping[str, int]
    """How many structural zeros each output has, which no line writes."""


@dataclass(frozen=True)
class Style:
    """How a language writes lines."""

    dialect: Dialect
    heading: Callable[[str], str]
    """A comment of one line."""
    chained: bool = True
    """Whether one statement may define several entries."""
    end: str = ";"

    def straight(self, d: Description) -> Straight:
        """The body of a function."""
        empty = zeros(d.program)
        made = statements(d.program, self.dialect, empty, [ref.node for ref in d.pivots])
        where = variables(d.program, made)
        return Straight(
            tuple(tuple(self._lines(block)) for block in blocks(made, where, self.dialect)),
            tuple(signed(d.program, d.pivots, where)),
            empty,
        )

    def _lines(self, block: Block) -> list[str]:
        found = [self.heading(block.title)] if block.title else []
        for line in block.lines:
            if self.chained or len(line.left) < 2:
                found.append(f"{' = '.join(line.left)} = {line.right}{self.end}")
                continue
            first, *others = line.left
            found.append(f"{first} = {line.right}{self.end}")
            found += [f"{other} = {first}{self.end}" for other in others]
        return found
