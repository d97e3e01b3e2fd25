"""C functions whose columns are alike, written as loops (``--optimize size``). Loaded for it alone,
as the search for loops is."""

from collections.abc import Sequence
from typing import Final

from symgen.compiler.passes import counts
from symgen.compiler.rolling import rolled
from symgen.languages.c.function import CFunction
from symgen.languages.c.rolled import RolledFunction

MOST: Final = 40_000
"""Operations of a function in which columns that are alike are looked for; what is known of each of
them takes a bit for each other."""


def with_rolls(plain: CFunction) -> CFunction:
    """The function with loops where columns are alike, unless it has loops of its own."""
    looked_for = type(plain) is CFunction and counts(plain.d.program).total <= MOST
    loops = looked_for and rolled(plain.d.program).loops
    return RolledFunction(plain.module, plain.d) if loops else plain


def remarks(functions: Sequence[CFunction]) -> list[str]:
    """Where loops may be missing: a line for functions that are too long, one for those that were
    not searched to the end."""
    plain = [f for f in functions if type(f) in (CFunction, RolledFunction)]
    long = [f.d.name for f in plain if counts(f.d.program).total > MOST]
    short = [f for f in plain if f.d.name not in long]
    cut = [f.d.name for f in short if rolled(f.d.program).cut]
    texts = (
        (
            long,
            f"no loops, because the search is limited to {MOST:,} operations",
        ),
        (
            cut,
            "the search for loops reached its limit; the code may have fewer loops than possible",
        ),
    )
    return [f"note: {', '.join(names)}: {text}" for names, text in texts if names]
