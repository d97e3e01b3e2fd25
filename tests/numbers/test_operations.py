"""Every row of the table of operations: on each kind of number, its derivative, its signs, in each
language. A new row is tried here by itself."""

import math
from decimal import Decimal

import numpy as np
import pytest
import sympy
from mpmath import mp

import symgen
from symgen.algorithms.registry import QUANTITIES, Array, quantity
from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import counts, dump, used_ops
from symgen.compiler.program import Program
from symgen.compiler.transforms import pullback
from symgen.errors import OptionError
from symgen.jobs.api import generate
from symgen.jobs.verify import verify
from symgen.languages import LANGUAGES
from symgen.native.library import NativeTape
from symgen.numbers.autodiff import Dual
from symgen.numbers.decimals import decimal_precision, number
from symgen.numbers.operations import OPS, cos, sin, sqrt
from symgen.numbers.scalar import ZERO
from symgen.proof.controller_simulation import machine_numbers
from tests.support.forward import pushforward
from tests.support.tools import robot_file

FUNCTIONS = [op for op in OPS.values() if not op.symbol]
X = 0.6875
"""Where every function has a value; short in binary."""

KINDS = {
    "float": lambda f: f(X),
    "integer": lambda f: f(1),
    "complex": lambda f: f(complex(X, 0.0)),
    "array": lambda f: f(np.array([X, X]))[1],
    "single": lambda f: f(np.float32(X)),
    "many digits": lambda f: f(number(X)),
    "decimal": lambda f: f(Decimal(X)),
    "sympy": lambda f: f(sympy.Symbol("x")).subs("x", X).evalf(20),
}

of_each = pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)


def truth(op, x=X):
    """By mpmath, in 40 digits."""
    with mp.workdps(40):
        return getattr(mp, op.name)(mp.mpf(x))


def slope(op, k, *operands):
    """The derivative in operand k, by mpmath."""
    with mp.workdps(60):
        at = [mp.mpf(x) for x in operands]
        return mp.diff(lambda x: op(*at[:k], x, *at[k + 1 :]), at[k])


def close(got, wanted, limit):
    got = got.real if isinstance(got, complex) else got
    return abs(mp.mpf(str(got)) - wanted) <= limit * abs(wanted) + mp.mpf(10) ** -45


@of_each
@pytest.mark.parametrize("kind", KINDS)
def test_a_function_on_each_kind_of_number(op, kind):
    digits = {"single": 2e-7, "many digits": 1e-38, "decimal": 1e-38}.get(kind, 1e-15)
    with decimal_precision(), mp.workdps(45):
        assert close(KINDS[kind](op), truth(op, 1 if kind == "integer" else X), digits)


@of_each
def test_the_zero_of_every_state(op):
    """It stays one exactly where the function is zero there."""
    wanted = truth(op, 0)
    assert op(ZERO) is ZERO if wanted == 0 else op(ZERO) == float(wanted)


@of_each
@pytest.mark.parametrize("scalar", ["double", "float"])
def test_arithmetic_of_the_generated_code(op, scalar):
    """Within the row's units in the last place, or refused."""
    (x,) = machine_numbers([X], scalar)
    if op.portable or scalar == "double":
        unit = {"double": 2.0**-52, "float": 2.0**-23}[scalar]
        assert close(float(op(x)), truth(op), op.ulp * unit)
    else:
        with pytest.raises(TypeError, match="bits depend on the machine"):
            op(x)


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_derivatives(op):
    """Forward, in reverse and by duals, against differences in 60 digits."""
    at = [X, 1.375][: op.arity]
    wanted = [float(slope(op, k, *at)) for k in range(op.arity)]
    duals = [
        op(*(Dual(x, 1.0 if i == k else ZERO) for i, x in enumerate(at))) for k in range(op.arity)
    ]
    assert [getattr(y, "d", 0.0) for y in duals] == pytest.approx(wanted, rel=1e-14)
    program = Program()
    x = program.input("x", (op.arity,))
    y = op(*x)
    back = pullback([(y, 1.0)], x)
    program.output("back", (op.arity,), back)
    ahead = [pushforward([y], [(each, 1.0)])[0] for each in x]
    program.output("ahead", (op.arity,), ahead)
    run = evaluate(program, {"x": at})
    for name in ("back", "ahead"):
        assert [float(d) for d in run[name]] == pytest.approx(wanted, rel=1e-14)


@of_each
def test_complex_steps(op):
    step = 1e-30
    got = complex(op(complex(X, step))).imag / step
    assert got == pytest.approx(float(slope(op, 0, X)), rel=1e-14)


def program_of(build, size=2):
    program = Program()
    x = program.input("x", (size,))
    made = build(*x)
    program.output("y", (len(made),), made)
    return program


@of_each
def test_signs(op):
    """Of odd and even functions they are moved, of others never lost, wherever the function has
    a value."""
    program = program_of(lambda a, b: [op(-a), op(b - a), op(a - b), op(-(a * b)), -op(-(a + b))])
    for a, b in ((-0.5, 0.25), (-0.25, -0.5), (0.25, -0.5)):
        wanted, tape = [], NativeTape.of(program)(np.array([[a, b]]))[0]
        for x, got in zip((-a, b - a, a - b, -(a * b), -(a + b)), tape, strict=True):
            value = mp.mpf("nan") if mp.im(truth(op, x)) else truth(op, x)
            wanted.append(float(value))
            assert math.isnan(value) or abs(got) == pytest.approx(abs(float(value)), rel=1e-15)
        if not any(map(math.isnan, wanted)):
            wanted[4] = -wanted[4]
            assert evaluate(program, {"x": [a, b]})["y"] == pytest.approx(wanted, rel=1e-15)
    assert ("neg" in used_ops(program)) == (not op.parity)


def test_the_sign_of_a_root_is_free_and_shown():
    program = program_of(lambda a, b: [sqrt(-a), sqrt(a - b)])
    assert dump(program).split("\n")[2:5] == [
        "  %2 = -x[0]",
        "  y_0 = sqrt(%2)",
        "  %4 = x[0] - x[1]",
    ]
    count = counts(program)
    assert (count.add, count.div, count.total) == (1, 2, 3)


def test_a_root_of_less_than_nothing_is_not_a_number():
    with pytest.raises(ValueError, match="domain"):
        sqrt(-1.0)
    assert math.isnan(float(sqrt(machine_numbers([-1.0], "double")[0])))
    assert math.isnan(
        NativeTape.of(program_of(lambda a, b: [sqrt(a)]))(np.array([[-1.0, 0.0]]))[0, 0]
    )


# -- in generated code -----------------------------------------------------------------------------


@pytest.fixture
def everything(monkeypatch):
    """A quantity that has every function, or only the portable ones, of what is read twice, of sums
    and differences either way round, and of a product."""
    rows = dict(QUANTITIES)

    def register(name, ops):
        @quantity(
            name,
            "y = f(q)",
            inputs=("q",),
            outputs=(Array(f"y_{len(ops)}", "values", "1", (4 * len(ops),)),),
            source="this test",
            needs_gravity=False,
            needs_inertia=False,
            regroupings=("minimal",),
        )
        def values(system, q):
            u, w = 0.25 * sin(q[0]), 0.5 + 0.125 * cos(q[1])
            return [op(x) for op in ops for x in (w, w - u, u + w, w * (w - u))]

    register("every_function", FUNCTIONS)
    register("portable_functions", [op for op in FUNCTIONS if op.portable])
    yield
    QUANTITIES.clear()
    QUANTITIES.update(rows)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("every_function", {}),
        ("every_function", {"scalar": "float"}),
        ("every_function", {"trig": "libm"}),
        ("every_function", {"trig": "libm", "scalar": "float"}),
        ("portable_functions", {"trig": "inline", "batch": "auto"}),
        ("portable_functions", {"trig": "inline", "scalar": "float", "batch": "4"}),
        ("portable_functions", {"trig": "inline", "chunk": 4, "glue": ("pkgconfig",)}),
    ],
)
def test_in_c_and_python(name, options, everything, tmp_path):
    """Self-test from 40 digits, C as the float run to the bit, Python beside it, lanes: all pass."""
    folder = tmp_path / "out"
    generate(robot_file("pendulum"), folder, quantities=(name,), **options)
    checks = list(verify(folder))
    judged = [check for check in checks if check.detail != "no independent reference"]
    assert len(judged) > 3 and not [check for check in judged if not check.passed]
    text = (folder / f"pendulum_{name}.c").read_text()
    assert "#include <math.h>" in text and "sqrt" in text
    if "glue" in options:
        assert "-lm" in (folder / "pendulum.pc").read_text()


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name not in ("c", "python")])
def test_in_every_other_language(language, everything, tmp_path):
    """What a language calls a function is in the row, or it has that function by its name."""
    folder = tmp_path / "out"
    options = {"quantities": ("every_function",), "languages": (language,)}
    generate(robot_file("pendulum"), folder, **options)
    checks = [check for check in verify(folder) if check.detail != "no independent reference"]
    if missing := [x.detail for x in checks if x.detail.endswith("must be installed")]:
        pytest.skip(missing[0])
    assert len(checks) > 1 and not [check for check in checks if not check.passed]


def test_in_closed_form(everything):
    """With SymPy's functions, signs of odd and even ones taken out, and what is left has the value."""
    robot, at = symgen.Robot(robot_file("pendulum")), {"q": [0.25, -0.75]}
    function = robot.trace("every_function")
    wanted = [float(x) for x in next(iter(function.run(**at).values()))]
    closed = robot.symbolic.quantity("every_function")
    values = dict(zip(robot.symbolic.inputs("every_function")["q"], at["q"], strict=True))
    got = [float(entry.subs(values)) for entry in closed]
    assert got == pytest.approx(wanted, rel=1e-12)
    functions = {type(x).__name__ for entry in closed for x in entry.atoms(sympy.Function)}
    assert functions >= {op.name for op in FUNCTIONS if op.name != "sqrt"}


def test_functions_of_the_machine_are_refused_of_vectors(everything, tmp_path):
    with pytest.raises(OptionError, match=r"every_function needs \w+, which has no vector version"):
        generate(
            robot_file("pendulum"), tmp_path / "x", quantities=("every_function",), batch="auto"
        )
