"""Caches of computed values, which live as long as the object that they belong to."""

from collections.abc import Callable, Hashable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def cached_method(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Cache the results of a method for each object and its arguments, which must be hashable.

    As with `functools.cached_property`, the object needs a ``__dict__``, and its cache is freed
    with it. A function whose first argument is such an object can be decorated, too."""

    @wraps(method)
    def cached(owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        results: dict[Any, Result] = vars(owner).setdefault("_cached_results", {})
        key = cached, args, tuple(kwargs.items())
        if key not in results:
            results[key] = method(owner, *args, **kwargs)
        return results[key]

    return cached


class IdentityCache:
    """Values by the objects that they are computed from.

    Objects are compared by identity, not by value, so that arrays and scalars of any type can be
    used. The cache keeps them alive, so that no other object gets their identity."""

    def __init__(self, stores: bool = True) -> None:
        self._values: dict[Any, tuple[Sequence[Any], Any]] = {}
        self._stores = stores

    def value(self, kind: Hashable, sources: Sequence[Any], compute: Callable[[], Any]) -> Any:
        """The value of a kind for these sources, computed at the first call. Every value is
        stored, unless the cache was made with ``stores=False``."""
        key = (kind, *map(id, sources))
        if key in self._values:
            return self._values[key][1]
        value = compute()
        if self._stores:
            self._values[key] = sources, value
        return value

    def latest(self, kind: Hashable, sources: Sequence[Any], compute: Callable[[], Any]) -> Any:
        """The same, where only the value for the latest sources of a kind is stored."""
        known, value = self._values.get(kind, (None, None))
        if (
            known is None
            or len(known) != len(sources)
            or any(a is not b for a, b in zip(known, sources, strict=True))
        ):
            value = compute()
            self._values[kind] = tuple(sources), value
        return value
