"""A scalar on a tape: a node with a sign in front.

Negation costs nothing and is never a node of its own."""

from typing import TYPE_CHECKING, NamedTuple

from symgen.numbers.scalar import ZERO, Scalar

if TYPE_CHECKING:
    from symgen.compiler.program import Program

Index = int
"""The place of a node on its tape."""


class Ref(NamedTuple):
    """A node with a sign in front."""

    node: Index
    negative: bool


class Value:
    """A scalar on a tape; arithmetic on it appends to the tape. Never changed once made, but by far
    the most frequent object: so without what a frozen dataclass does for each field."""

    __slots__ = ("negative", "node", "program")

    def __init__(self, program: "Program", node: Index, negative: bool = False) -> None:
        self.program = program
        self.node = node
        self.negative = negative

    @property
    def ref(self) -> Ref:
        """The node with the sign in front."""
        return Ref(self.node, self.negative)

    def __repr__(self) -> str:
        return f"Value(ref={self.ref!r})"

    def _with(self, other: Scalar) -> Ref | None:
        """`other` on this tape, None where it is of a kind that must do the operation itself."""
        return self.program.ref(other) if isinstance(other, (float, int)) else None

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is Value:
            return self.program.sum(self.node, other.node, self.negative, other.negative)
        if other is ZERO:
            return self
        ref = self._with(other)
        if ref is None:
            return NotImplemented
        return self.program.sum(self.node, ref[0], self.negative, ref[1])

    __radd__ = __add__

    def __neg__(self) -> "Value":
        return Value(self.program, self.node, not self.negative)

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is Value:
            return self.program.sum(self.node, other.node, self.negative, not other.negative)
        return self + -other

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if type(other) is Value:
            return self.program.mul(self.node, other.node, self.negative != other.negative)
        if other is ZERO:
            return ZERO
        ref = self._with(other)
        if ref is None:
            return NotImplemented
        return self.program.mul(ref[0], self.node, self.negative != ref[1])

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is Value:
            return self.program.div(self, other)
        if other is ZERO:
            return 1.0 / other  # raises
        ref = self._with(other)
        return NotImplemented if ref is None else self.program.div(self, Value(self.program, *ref))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        ref = self._with(other)
        return NotImplemented if ref is None else self.program.div(Value(self.program, *ref), self)

    def applied(self, op: str) -> "Value":
        """A function of the table."""
        return self.program.function(op, self)

    def named(self, name: str) -> "Value":
        """This value; it goes by `name` in generated code unless its node has a name already."""
        self.program.name(self, name)
        return self

    def _refuse(self, what: str) -> TypeError:
        return TypeError(
            f"a value of the expression graph has no {what}: generated code has no "
            "branches and cannot depend on data; use a condition on the structure of the "
            "robot instead"
        )

    def __bool__(self) -> bool:
        raise self._refuse("truth value")

    def __float__(self) -> float:
        raise self._refuse("number")

    def __eq__(self, other: object) -> bool:
        raise self._refuse("equality test")

    __hash__ = None  # type: ignore[assignment]
