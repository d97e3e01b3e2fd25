"""The signs of products, which a tape pulls out, given back to their factors."""

from collections.abc import Callable, Sequence

from symgen.compiler.rows import Refs, signed

Ease = Callable[[Refs, Sequence[bool]], int]
"""How easily a row of factors takes signs, 0 where it cannot."""


def given_back(columns: Sequence[Refs], signs: Sequence[bool], ease: Ease) -> list[Refs] | None:
    """The factors of products, a row each, with the signs given to the one that takes them most
    easily; None where none does."""
    ranks = [ease(column, signs) for column in columns]
    best = max(range(len(columns)), key=lambda k: ranks[k])
    if not ranks[best]:
        return None
    pairs = zip(columns[best], signs, strict=True)
    turned = tuple(signed(ref, sign) for ref, sign in pairs)
    return [turned if k == best else column for k, column in enumerate(columns)]
