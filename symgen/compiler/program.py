"""The expression graph ("tape"): a straight-line program that shares equal subexpressions.

A `Value` is a signed reference: negation costs nothing and is never a node. Signs are pulled out of
products, differences and odd functions, so that a+(-b), -(b-a) and a-b meet in one node. What
cancels or is multiplied by the number zero becomes the number zero, not a structural one: an
algorithm takes the same path as on floats.

Every rewrite here is exact in IEEE arithmetic, with two stated exceptions: the sign of a zero, and
NaN or infinity through a product with the constant zero. What changes rounding is a named pass."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from symgen.numbers.decimals import DecimalFloat
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import PRIME, ZERO, NamedNumber, Scalar, no_value_error, plain

Index = int
"""The place of a node on its tape."""


class Ref(NamedTuple):
    """A node with a sign in front."""

    node: Index
    negative: bool


class Value:
    """A scalar of an expression graph; arithmetic on it appends to the graph. Immutable by
    convention: a frozen dataclass would be slower, and no object is more frequent."""

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

    def _ref_of(self, other: Scalar) -> Ref | None:
        """`other` in this graph; None if its type must carry out the operation."""
        return self.program.ref(other) if isinstance(other, (float, int)) else None

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is Value:
            return self.program.sum(self.node, other.node, self.negative, other.negative)
        if other is ZERO:
            return self
        ref = self._ref_of(other)
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
        ref = self._ref_of(other)
        if ref is None:
            return NotImplemented
        return self.program.mul(ref[0], self.node, self.negative != ref[1])

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if type(other) is Value:
            return self.program.div(self, other)
        if other is ZERO:
            return 1.0 / other  # raises
        ref = self._ref_of(other)
        return NotImplemented if ref is None else self.program.div(self, Value(self.program, *ref))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        ref = self._ref_of(other)
        return NotImplemented if ref is None else self.program.div(Value(self.program, *ref), self)

    def applied(self, op: str) -> "Value":
        """A function of the table."""
        return self.program.function(op, self)

    def named(self, name: str) -> "Value":
        """This value, which is called `name` in generated code unless its node has a name
        already."""
        self.program.name(self, name)
        return self

    def _type_error(self, what: str) -> TypeError:
        return TypeError(
            f"a value of the expression graph has no {what}: generated code has no "
            "branches and cannot depend on data; use a condition on the structure of the "
            "robot instead"
        )

    def __bool__(self) -> bool:
        raise self._type_error("truth value")

    def __float__(self) -> float:
        raise self._type_error("number")

    def __eq__(self, other: object) -> bool:
        raise self._type_error("equality test")

    __hash__ = None  # type: ignore[assignment]


class Node(NamedTuple):
    """One line of the tape: an operation on earlier nodes, an input or a positive constant."""

    op: str
    a: Any = None
    b: Any = None


class Output(NamedTuple):
    """An output array, row-major; None marks a structural zero."""

    name: str
    shape: tuple[int, ...]
    refs: tuple[Ref | None, ...]


class ColumnLoop(NamedTuple):
    """Columns that an algorithm computes by the same operations, such as the solutions of one
    system of equations for several right-hand sides.

    `body` computes the output ``column`` from the inputs ``shared``, which are the same for all
    columns, and ``given``. `reads` and `defines` are the entries of each column before and after,
    None for structural zeros. All columns are on the tape, too: a language may print the body in a
    loop or the tape."""

    body: "Program"
    shared: tuple[Ref, ...]
    reads: tuple[tuple[Ref | None, ...], ...]
    defines: tuple[tuple[Ref | None, ...], ...]


LEAVES: Final = ("input", "const")
"""The nodes that cost nothing: `a` is an input's array and `b` its position, or a number."""


class Program:
    """The tape of a function: its nodes so far, its inputs and its outputs."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.names: dict[Index, tuple[str, bool]] = {}
        self.fallback_names: dict[Index, tuple[str, bool]] = {}
        self.sections: list[str] = []
        self.outputs: list[Output] = []
        self.inputs: list[tuple[str, tuple[int, ...]]] = []
        self.divisors: dict[Index, Ref] = {}
        self.positive_signs: dict[Index, bool] = {}
        """The nodes that must be positive with a sign: True for a minus in front."""
        self.column_loops: list[ColumnLoop] = []
        self.restart_point: tuple[frozenset[Index], frozenset[Index]] | None = None
        """A point from which the algorithm continues with few values, such as solved
        accelerations: the nodes of these values, and the nodes before the point that are read again
        after it. All others may be computed again after the point instead of being kept live."""
        self.analysis_cache: dict[Any, tuple[Any, Any]] = {}
        self._index: dict[tuple[str, Any, Any], Index] = {}
        self._numbers: dict[Index, float] = {}
        self._zero_or_one_constants: set[Index] = set()  # those of them that are 0 or 1
        self._constants: dict[float, Ref] = {}
        self._section = ""

    def __getstate__(self) -> dict[str, Any]:
        """The state for copies and other processes, without the cache of analyses."""
        return {**self.__dict__, "analysis_cache": {}}

    def __repr__(self) -> str:
        """A summary; `symgen.compiler.passes` prints the operations."""
        outputs = ", ".join(out.name for out in self.outputs)
        return f"<Program of {len(self.nodes)} nodes with the outputs {outputs or 'none'}>"

    def input(self, name: str, shape: tuple[int, ...]) -> list[Value]:
        """The components of a new input array, row-major."""
        self.inputs.append((name, shape))
        return [Value(self, self._node(("input", name, k))) for k in range(math.prod(shape))]

    def output(self, name: str, shape: tuple[int, ...], values: Iterable[Scalar]) -> None:
        """Declare an output array, row-major; structural zeros are recorded as such."""
        self.outputs.append(Output(name, shape, self._refs(values)))

    def add_column_loop(
        self,
        function: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]],
        shared: Sequence[Scalar],
        columns: Sequence[Sequence[Scalar]],
        results: Sequence[Sequence[Scalar]],
    ) -> None:
        """Record that `results` are ``function(shared, column)`` for each of `columns`; numbers and
        structural zeros of `shared` are constants of the body."""
        body = Program()
        numbers = [self.constant(x) if isinstance(x, Value) else x for x in shared]
        varying = [k for k, number in enumerate(numbers) if number is None]
        entries = dict(zip(varying, body.input("shared", (len(varying),)), strict=True))
        values: list[Any] = [entries.get(k, number) for k, number in enumerate(numbers)]
        given = body.input("given", (len(columns[0]),))
        body.output("column", (len(results[0]),), function(values, given))
        reads, makes = (tuple(map(self._refs, rows)) for rows in (columns, results))
        refs = tuple(self.ref(shared[k]) for k in varying)
        self.column_loops.append(ColumnLoop(body, refs, reads, makes))

    def _refs(self, values: Iterable[Scalar]) -> tuple[Ref | None, ...]:
        return tuple(None if v is ZERO else self.ref(v) for v in values)

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        """A context whose new nodes belong to a step of the algorithm, a heading in generated
        code."""
        before, self._section = self._section, title
        try:
            yield
        finally:
            self._section = before

    def name(self, ref: "Ref | Value", name: str) -> None:
        """Call the referred value, sign included, `name`. The first name is kept; only in the
        section in which the node was created, a name of the node replaces one of its negative. A
        name with a `PRIME`, which is not written, is used only if there is no other."""
        if PRIME in name:
            self.fallback_names.setdefault(ref.node, (name.replace(PRIME, ""), ref.negative))
            return
        known, in_its_step = self.names.get(ref.node), self.sections[ref.node] == self._section
        first = known is None or (in_its_step and known[1] and not ref.negative)
        if first and self.nodes[ref.node].op not in LEAVES:
            self.names[ref.node] = name, ref.negative

    def value(self, x: Scalar) -> Value:
        """`x` on this tape; numbers become constants."""
        return x if isinstance(x, Value) else Value(self, *self.ref(x))

    def ref(self, x: Scalar) -> Ref:
        """The node of `x` on this tape with its sign; numbers become constants."""
        if type(x) is float or type(x) is DecimalFloat or type(x) is int:
            known = self._constants.get(x)
            if known is not None:
                return known
        elif isinstance(x, Value):
            return x.ref
        number = plain(x)
        if isinstance(number, NamedNumber):
            return self.symbolic_constant(number).ref
        index = self._node(("const", abs(number), None))
        self._numbers[index] = abs(number)
        if number in (0.0, 1.0, -1.0):
            self._zero_or_one_constants.add(index)
        ref = Ref(index, math.copysign(1.0, number) < 0)
        if number:  # zeros are equal, but have signs
            self._constants[number] = ref
        return ref

    def symbolic_constant(self, x: NamedNumber) -> Value:
        """The value of a symbolic number. Raises OptionError in graphs for generated code."""
        raise no_value_error(x)

    def constant(self, v: Value) -> float | None:
        """The number of a constant, None for other values."""
        return self._number(v.node, v.negative)

    def _number(self, i: Index, negative: bool) -> float | None:
        number = self._numbers.get(i)
        return -number if number is not None and negative else number

    def _node(self, node: tuple[str, Any, Any]) -> Index:
        index = self._index.get(node)
        return self._append(node) if index is None else index

    def _append(self, node: tuple[str, Any, Any]) -> Index:
        new = tuple.__new__(Node, node)  # Node(*node) without its Python
        index = self._index[new] = len(self.nodes)
        self.nodes.append(new)
        self.sections.append(self._section)
        return index

    def sum(self, i: Index, j: Index, negate_i: bool, negate_j: bool) -> Value:
        """The sum of the nodes `i` and `j`, each negated if its flag is True: a sum, a difference
        if the signs differ, or a folded constant."""
        neutral, numbers = self._zero_or_one_constants, self._numbers
        if i in neutral or j in neutral or (i in numbers and j in numbers):
            known = self._folded_sum(i, j, negate_i, negate_j)
            if known is not None:
                return known
        if i > j:
            i, j, negate_i, negate_j = j, i, negate_j, negate_i
        if i == j and negate_i != negate_j:
            return self.value(0.0)
        node = ("add" if negate_i == negate_j else "sub", i, j)
        index = self._index.get(node)  # as often as products, so without more calls
        return Value(self, self._append(node) if index is None else index, negate_i)

    def _folded_sum(self, i: Index, j: Index, negate_i: bool, negate_j: bool) -> Value | None:
        """The sum if constant folding or an operand 0 makes it free, else None."""
        a, b = self._number(i, negate_i), self._number(j, negate_j)
        if a is not None and b is not None:
            return self.value(OPS["add"].evaluate(a, b))
        return Value(self, j, negate_j) if a == 0 else Value(self, i, negate_i) if b == 0 else None

    def mul(self, i: Index, j: Index, negative: bool) -> Value:
        """The product of two nodes, with the sign moved out of it."""
        neutral, numbers = self._zero_or_one_constants, self._numbers
        if i in neutral or j in neutral or (i in numbers and j in numbers):
            known = self._folded_product(i, j, negative)
            if known is not None:
                return known
        node = ("mul", i, j) if i < j else ("mul", j, i)
        index = self._index.get(node)
        return Value(self, self._append(node) if index is None else index, negative)

    def _folded_product(self, i: Index, j: Index, negative: bool) -> Value | None:
        """The product if constant folding or a factor 0 or 1 makes it free, else None."""
        a, b = self._numbers.get(i), self._numbers.get(j)
        if a is not None and b is not None:
            return self.value(OPS["mul"].evaluate(a, -b if negative else b))
        size, other = (a, j) if b is None else (b, i)
        if size == 1.0:
            return Value(self, other, negative)
        return self.value(0.0) if size == 0 else None

    def div(self, x: Value, y: Value) -> Scalar:
        """x / y, with the sign moved out of it."""
        a, b = self.constant(x), self.constant(y)
        if a is not None and b is not None:
            return self.value(OPS["div"].evaluate(a, b))
        if b in (1.0, -1.0):
            return x if b == 1.0 else -x
        if a == 0:
            return self.value(0.0)
        quotient = Value(self, self._node(("div", x.node, y.node)), x.negative != y.negative)
        self.divisors.setdefault(quotient.node, y.ref)
        return quotient

    def function(self, op: str, x: Value) -> Value:
        """A one-operand function of the table: the sign of an odd or even one pulled out, that of
        another a node of its own."""
        row, c = OPS[op], self.constant(x)
        if c is not None:
            return self.value(row.evaluate(c))
        if x.negative and not row.parity:
            return Value(self, self._node((op, self._node(("neg", x.node, None)), None)))
        return Value(self, self._node((op, x.node, None)), x.negative and row.parity == "odd")


LOOPS_OVER_BODIES: Final = "loops over bodies"
"""What the code of a `LoopProgram` is, other than straight-line code."""


class LoopProgram(Program):
    """The program of a function whose code is loops, which no graph records: its inputs and
    outputs, and operations counted by formula. Its nodes only state which inputs are read and which
    functions are called: every entry of an output is the same sum.

    Errors of results are at most about `error_growth` roundings of the largest entry of an output.
    Straight-line code takes at most about `straight_line` operations."""

    def __init__(
        self, operations: Mapping[str, int], error_growth: float, straight_line: int
    ) -> None:
        super().__init__()
        self.operations = operations
        self.error_growth = error_growth
        self.straight_line = straight_line

    def declare(
        self, outputs: Iterable[tuple[str, tuple[int, ...]]], inputs: Iterable[Value]
    ) -> None:
        """Declare the outputs; `inputs` are entries that are read."""
        (first, *others) = inputs
        total: Any = first.applied("sin") + first.applied("cos")
        for value in others:
            total = total + value
        for name, shape in outputs:
            self.output(name, shape, [total] * math.prod(shape))
