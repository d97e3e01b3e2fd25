"""Values that several batches of states have in common."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

FLAT: Final[set[Any]] = set()
"""The terms of states that take no derivative by steps on the way."""

Flat = TypeVar("Flat")


def flat(term: Flat) -> Flat:
    """Register a term that takes no derivative by steps on the way."""
    FLAT.add(term)
    return term


class SharedValues:
    """Values that batches of states which come from one another have in common, computed once for
    the arrays that it is made from (for these themselves, not for what is in them)."""

    def __init__(self, keeps: bool = True) -> None:
        self._known: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self._keeps = keeps

    def once(self, kind: Any, sources: Sequence[Any], make: Callable[[], Any]) -> Any:
        """The value of that kind made of these sources, kept as long as they are."""
        key = (kind, *map(id, sources))
        if key in self._known:
            return self._known[key][1]
        value = make()
        if self._keeps:
            self._known[key] = sources, value  # as long as these are there, no others get their id
        return value
