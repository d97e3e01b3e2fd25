"""Arithmetic that means the same for floats, complex numbers, SymPy expressions and tape
values.

An algorithm written with ``+ - * /`` and the functions of `symgen.numbers.operations` runs
unchanged on any of them. Structural zeros are the object `ZERO`, not the number 0.0: whatever must
vanish for every state of a robot stays recognisable, so every kind of scalar follows the same path
through an algorithm."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, Final, Protocol, TypeVar

from symgen.numbers.named import NamedNumber


class Scalar(Protocol):
    """A float, complex or decimal number, SymPy expression, tape value, dual, array of any of
    these, or `ZERO`: what has the arithmetic that algorithms use, and nothing else. It cannot be
    compared, and is no number for Python: generated code is straight-line.

    What kinds may meet is not said here; each refuses those that it does not know."""

    def __add__(self, other: Any, /) -> "Scalar": ...
    def __radd__(self, other: Any, /) -> "Scalar": ...
    def __sub__(self, other: Any, /) -> "Scalar": ...
    def __rsub__(self, other: Any, /) -> "Scalar": ...
    def __mul__(self, other: Any, /) -> "Scalar": ...
    def __rmul__(self, other: Any, /) -> "Scalar": ...
    def __truediv__(self, other: Any, /) -> "Scalar": ...
    def __rtruediv__(self, other: Any, /) -> "Scalar": ...
    def __neg__(self) -> "Scalar": ...


Coordinates = Sequence[Scalar]
"""Coordinates of a robot, or their rates, in the order of its joints."""


class Zero:
    """The structural zero: absorbs products, vanishes from sums."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy scalars defer to the methods below

    def __add__(self, other: Scalar) -> Scalar:
        return other

    __radd__ = __add__
    __rsub__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return -other

    def __mul__(self, other: Scalar) -> "Zero":
        return self

    __rmul__ = __mul__
    __truediv__ = __mul__

    def __rtruediv__(self, other: Scalar) -> "Zero":
        raise ZeroDivisionError(
            "division by an expression that is zero in every state of the robot"
        )

    def __neg__(self) -> "Zero":
        return self

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        """There is one of it, in every process."""
        return "ZERO"


ZERO: Final = Zero()


PRIME: Final = "'"
"""In a name for generated code: what is called so is on its way from one frame to another. It goes
by this name only where it has no other, and the prime is not written."""


def plain(x: Scalar) -> float:
    """The float that a constant of a model is, with its name where it has one
    (`symgen.numbers.named`). Raises TypeError for what has no value yet, such as tape values."""
    return x if isinstance(x, NamedNumber) else float(x)  # type: ignore[arg-type]


def structural(x: Scalar) -> Scalar:
    """`x`, or `ZERO` where `x` is the number zero: for constants of a model, which hold in every
    state."""
    return ZERO if isinstance(x, (int, float)) and x == 0 else x


def named(x: Scalar, name: str) -> Scalar:
    """`x` itself; a tape value remembers `name` for the generated code, unless it already has
    one."""
    label = getattr(x, "named", None)
    return x if label is None else label(name)


def labelled(x: Scalar, symbol: str, label: str) -> Scalar:
    """`x`, named by a symbol and a label where there is one."""
    return named(x, symbol + label) if label else x


def positive(x: Scalar) -> Scalar:
    """`x` itself, which must be positive; a tape remembers it as it remembers divisors, so that
    generated code can tell."""
    program = getattr(x, "program", None)
    if program is not None:
        program.positive_signs.setdefault(x.node, x.negative)  # type: ignore[attr-defined]
    return x


def by_columns(
    function: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]],
    shared: Sequence[Scalar],
    columns: Sequence[Sequence[Scalar]],
) -> list[Sequence[Scalar]]:
    """``function(shared, column)`` for each of `columns`; an expression graph records that the same
    operations compute all of them, so that generated code can have a loop."""
    results = [function(shared, column) for column in columns]
    program = next((p for x in shared if (p := getattr(x, "program", None)) is not None), None)
    if program is not None:
        program.add_column_loop(function, shared, columns, results)
    return results


def set_restart_point(solved: Iterable[Scalar], kept: Iterable[Scalar]) -> None:
    """Tell an expression graph that an algorithm starts again with the values `solved`, and that it
    reads those in `kept` again."""
    parts: list[list[Any]] = [[x for x in xs if hasattr(x, "node")] for xs in (solved, kept)]
    for program in {x.program for part in parts for x in part}:
        program.restart_point = tuple(frozenset(x.node for x in part) for part in parts)


FloatOrScalar = TypeVar("FloatOrScalar", float, Scalar)


def dot(a: Sequence[FloatOrScalar], b: Sequence[FloatOrScalar]) -> FloatOrScalar:
    """The sum of the products, entry by entry."""
    total: FloatOrScalar = sum_in_order((x * y for x, y in zip(a, b, strict=True)), ZERO)
    return total


def sum_in_order(terms: Iterable[Any], start: Any) -> Any:
    """`start` plus the terms, one addition after the other, as generated code adds. The built-in
    `sum` of floats compensates rounding errors since Python 3.12, so it has other last digits."""
    return reduce(add, terms, start)
