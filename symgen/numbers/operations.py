"""The operations of the tape, one row each, and the functions that algorithms call.

A row is everything there is to know about an operation. The tape (`compiler.value.Value`), duals,
fixed-precision numbers, the evaluators, counts, derivatives, the tape's interpreter and every
language read it, so that a new function is a row here and its test::

    atan = _function("atan", "trig", ulp=2.0, partials=lambda a, v: (1.0 / (1.0 + a * a),), ...)

Its name is the one that Python's ``math`` and ``cmath``, NumPy, mpmath, SymPy and C have for it;
where one of them has another name or no such function, a column says what stands there."""

import cmath
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import numpy as np

from symgen.numbers.decimals import elementary_function
from symgen.numbers.scalar import ZERO, Scalar, structural
from symgen.numbers.trig import sincos

COUNTED: Final = ("add", "mul", "div", "trig")
"""The columns of an operation count."""


Cycles = Mapping[str, tuple[float, float]]
SUM_CYCLES: Final[Cycles] = {"host": (4.0, 0.5), "cortex-m": (2.0, 1.0)}
DIVISION_CYCLES: Final[Cycles] = {"host": (13.0, 4.0), "cortex-m": (14.0, 14.0)}
ROOT_CYCLES: Final[Cycles] = {"host": (18.0, 6.0), "cortex-m": (14.0, 14.0)}
SINE_CYCLES: Final[Cycles] = {"host": (40.0, 3.0), "cortex-m": (40.0, 30.0)}
"""Several at once in vectors, sine and cosine of an angle together."""
FUNCTION_CYCLES: Final[Cycles] = {"host": (60.0, 30.0), "cortex-m": (150.0, 150.0)}
NO_CYCLES: Final[Cycles] = {"host": (0.0, 0.0), "cortex-m": (0.0, 0.0)}


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation: how it is evaluated and differentiated, what it counts as, how signs pass
    through it, how it rounds and how languages write it. Called with scalars it is the function."""

    name: str
    evaluate: Callable[..., Scalar]
    """The operation on scalars of any kind."""
    counts_as: str
    """One of `COUNTED`, or empty where it is free. A sign counts as one addition, a square root as
    one division, which is what processors take for it, other functions as trig."""
    partials: Callable[..., tuple[Scalar, ...]]
    """The derivative in each operand, from the operands and then the result: what is there already
    is used again."""
    ulp: float
    """Largest error of the result in units in the last place: 0.5 where IEEE 754 fixes every bit,
    0 where nothing is rounded, else what good math libraries, and ours, stay within."""
    arity: int = 1
    parity: str = ""
    """``odd``: a sign of any operand is one of the result, ``even``: it vanishes; empty: neither,
    so that the operand is negated."""
    symbol: str = ""
    """How languages write it between its operands, or before its only one; empty for functions."""
    reproducible: Callable[[Any, str], Any] | None = None
    """A function on NumPy numbers of C's type ``double`` or ``float`` (its second argument), with
    the same bits on every machine; None where only the machine's math library has it."""
    c: str = "{name}{f}({a})"
    """A function in C: ``{a}`` is the operand, ``{f}`` the suffix of names for its type, ``{real}``
    the type, ``{zero}`` its zero."""
    numpy: str = ""
    """The name in NumPy where that is another one."""
    python_expression: str = ""
    """A function of Python's floats as an expression in ``x``, where ``math`` has none of that
    name."""
    cycles: Cycles = field(default_factory=lambda: FUNCTION_CYCLES)
    """For each kind of processor (`symgen.compiler.objective.MACHINES`) the cycles from operands to
    result, and those that the processor is busy with it."""
    analytic: bool = True
    """Whether it continues into the complex plane; what does not is a function of the real part."""

    def __call__(self, *operands: Scalar) -> Scalar:
        return self.evaluate(*operands)

    @property
    def portable(self) -> bool:
        """Whether its bits are the same on every machine."""
        return bool(self.symbol) or self.reproducible is not None

    @property
    def library(self) -> bool:
        """Whether C takes it from its math library."""
        return not self.symbol and "{name}" in self.c


OPS: Final[dict[str, Op]] = {}
"""Every operation by its name."""


def _register(op: Op) -> Op:
    assert op.name not in OPS
    assert not op.counts_as or op.counts_as in COUNTED
    OPS[op.name] = op
    return op


# -- arithmetic ------------------------------------------------------------------------------------


def _quotient(a: Scalar, b: Scalar, v: Scalar) -> tuple[Scalar, Scalar]:
    """1/b and -a/b², by one reciprocal."""
    r = 1.0 / b
    return r, -(v * r)


def _arithmetic(
    name: str,
    symbol: str,
    counts_as: str,
    cycles: Cycles,
    partials: Callable[..., tuple[Scalar, ...]],
    parity: str = "",
) -> None:
    """Add the row of an operation between two operands."""
    evaluate = getattr(operator, {"div": "truediv"}.get(name, name))
    _register(Op(name, evaluate, counts_as, partials, 0.5, 2, parity, symbol, cycles=cycles))


_arithmetic("add", "+", "add", SUM_CYCLES, lambda a, b, v: (1.0, 1.0))
_arithmetic("sub", "-", "add", SUM_CYCLES, lambda a, b, v: (1.0, -1.0))
_arithmetic("mul", "*", "mul", SUM_CYCLES, lambda a, b, v: (b, a), "odd")
_arithmetic("div", "/", "div", DIVISION_CYCLES, _quotient, "odd")
# A node only for the operand of a function that is neither odd nor even; written for nothing.
_register(
    Op(
        "neg",
        operator.neg,
        "",
        lambda a, v: (-1.0,),
        0.0,
        parity="odd",
        symbol="-",
        cycles=NO_CYCLES,
    )
)


# -- functions -------------------------------------------------------------------------------------


def _function(
    name: str,
    counts_as: str,
    *,
    partials: Callable[..., tuple[Scalar, ...]],
    ulp: float,
    numbers: Callable[[Any], Any] | None = None,
    **columns: Any,
) -> Op:
    """A row of a function of one scalar; `numbers` evaluates it on plain numbers where the
    libraries have no function of that name."""

    def evaluate(x: Any) -> Any:
        if x is ZERO:
            return structural(evaluate(0.0))
        if hasattr(x, "applied"):  # what carries operations out itself: tape values, duals, ...
            return x.applied(name)
        if isinstance(x, np.ndarray) and x.dtype == object:  # scalars of any kind
            with np.errstate(all="ignore"):
                return np.frompyfunc(evaluate, 1, 1)(x)
        if numbers is not None and _is_plain_number(x):
            return numbers(x)
        return _library_function(OPS[name], x)(x)

    return _register(Op(name, evaluate, counts_as, partials, ulp, **columns))


def _is_plain_number(x: Any) -> bool:
    """Whether `x` is a number or an array of numbers, not an expression."""
    kinds = (int, float, complex, Decimal, np.ndarray, np.generic)
    return isinstance(x, kinds) or hasattr(x, "context")


def _library_function(op: Op, x: Any) -> Callable[[Any], Any]:
    """The function in the library of x's kind."""
    if isinstance(x, (int, float)):
        return getattr(math, op.name)  # type: ignore[no-any-return]
    if isinstance(x, complex):
        return getattr(cmath, op.name)  # type: ignore[no-any-return]
    if isinstance(x, (np.ndarray, np.generic)):
        return getattr(np, op.numpy or op.name)  # type: ignore[no-any-return]
    if isinstance(x, Decimal):
        return lambda number: elementary_function(op.name, number)
    if hasattr(x, "context"):  # an mpmath number knows its precision
        return getattr(x.context, op.name)  # type: ignore[no-any-return]
    import sympy

    return getattr(sympy, op.name)  # type: ignore[no-any-return]


def _sign(x: Any) -> Any:
    """1, 0 or -1 as x is positive, zero or negative; of complex numbers that of the real part."""
    if isinstance(x, (complex, np.ndarray, np.generic)):
        x = np.real(x)
    if isinstance(x, np.ndarray):
        return np.sign(x)
    kind: type[Any] = Decimal if isinstance(x, Decimal) else float
    return kind(x > 0) - kind(x < 0)


def _root(x: Any, scalar: str) -> Any:
    """NumPy's, which is the processor's; NaN of negative numbers, as in C."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(x)


sin: Op = _function(
    "sin",
    "trig",
    parity="odd",
    ulp=2.0,
    partials=lambda a, v: (cos(a),),
    reproducible=lambda x, scalar: sincos(x, scalar)[0],
    cycles=SINE_CYCLES,
)

cos: Op = _function(
    "cos",
    "trig",
    parity="even",
    ulp=2.0,
    partials=lambda a, v: (-sin(a),),
    reproducible=lambda x, scalar: sincos(x, scalar)[1],
    cycles=SINE_CYCLES,
)

tanh = _function("tanh", "trig", parity="odd", ulp=3.0, partials=lambda a, v: (1.0 - v * v,))

exp = _function("exp", "trig", ulp=2.0, partials=lambda a, v: (v,))

atan = _function(
    "atan",
    "trig",
    parity="odd",
    ulp=2.0,
    partials=lambda a, v: (1.0 / (1.0 + a * a),),
    numpy="arctan",
)

sqrt = _function(
    "sqrt", "div", ulp=0.5, partials=lambda a, v: (0.5 / v,), reproducible=_root, cycles=ROOT_CYCLES
)

sign = _function(
    "sign",
    "add",
    parity="odd",
    ulp=0.0,
    partials=lambda a, v: (ZERO,),
    numbers=_sign,
    reproducible=lambda x, scalar: np.sign(x),
    c="((({a} > {zero}) ? ({real})1 : {zero}) - (({a} < {zero}) ? ({real})1 : {zero}))",
    python_expression="float((x > 0.0) - (x < 0.0))",
    cycles={"host": (8.0, 2.0), "cortex-m": (6.0, 6.0)},
    analytic=False,
)
