"""Fixed-point programs: no error is above its bound, the C has the bits of the run on integers,
and what has no fixed point is refused."""

import math
import random
import re
import subprocess
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symgen.certified.domain import evaluated_outputs
from symgen.certified.fixed_evaluation import APPROXIMATION_ERROR, COSINE, SINE, fixed_sines, run
from symgen.certified.fixed_functions import is_angle
from symgen.certified.fixed_point import FixedProgram
from symgen.certified.fixed_types import FIXED, MAX_INTEGER, SUM_SHIFT, finest_shift
from symgen.compiler.program import Program
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.languages.c.certified_code import fixed_functions_in_c, fixed_point
from symgen.languages.c.fixed_files import (
    compile_fixed_point,
    files,
    inputs_in_si,
    random_integers,
    run_functions,
)
from tests.support.tools import CC, STRICT_C, invoke, robot_file

LIMITS = {"acceleration": 10.0, "velocity": 3.0}
GANTRY = "scara"
"""A robot with angles and a prismatic joint."""


def module(robot, scalar, *quantities, **options):
    """A module in fixed point, with few boxes."""
    options = {"certify_limits": LIMITS, "certify_boxes": 256} | options
    job = Job.of(robot_file(robot), quantities=quantities, scalar=scalar, **options)
    return job.module(job.load())


MODULES = {
    scalar: module("pendulum", scalar, "inverse_dynamics", "gravity", "mass_matrix")
    for scalar in FIXED
}


@pytest.mark.parametrize("scalar", FIXED)
def test_sines_have_the_stated_error(scalar):
    """At random angles, and at all multiples of an eighth of a turn and their neighbours."""
    of, rng = fixed_sines(FIXED[scalar]), np.random.default_rng(0)
    step = 1 << (32 - FIXED[scalar].bits)
    special = [(k << 29) + d * step for k in range(8) for d in (-1, 0, 1)]
    angles = np.array([*special, *rng.integers(0, 2**32, 100_000)]) // step * step
    unit = 2.0**-of.fixed.kind.sine_shift
    for found, exact in zip(of(angles), (np.sin, np.cos), strict=True):
        error = np.abs(found * unit - exact(angles * (2 * math.pi / 2**32))).max()
        assert 0.7 * of.error < error <= of.error


@pytest.mark.parametrize("scalar", FIXED)
def test_polynomials_are_as_near_to_the_functions_as_stated(scalar):
    """On a grid; the derivative of the difference is below 1."""
    mpmath = pytest.importorskip("mpmath")
    z = np.linspace(0.0, 1.0, 4001)
    for coefficients, exact, odd in ((SINE, mpmath.sin, 1), (COSINE, mpmath.cos, 0)):
        powers = [mpmath.mpf(a) for a in coefficients[scalar]]
        off = [
            abs(
                sum(a * x ** (2 * k + odd) for k, a in enumerate(powers)) - exact(mpmath.pi / 4 * x)
            )
            for x in map(mpmath.mpf, z[::40])
        ]
        assert max(off) <= APPROXIMATION_ERROR[scalar]


def test_products_of_three_16_bit_products(tmp_path):
    """For processors without long products: the same laws; only the bounds are larger."""
    made = module("pendulum", "q31", "inverse_dynamics", target="cortex-m0plus")
    (one,), (other,) = fixed_point(made).values(), [fixed_point(MODULES["q31"])["inverse_dynamics"]]
    assert max(other.outputs[0].error) < max(one.outputs[0].error) < 2 * max(other.outputs[0].error)
    check_states(made, tmp_path)
    assert selftest(files(made), tmp_path, "-fsanitize=undefined") == 0


@pytest.mark.parametrize("scalar", FIXED)
def test_c_has_the_bits_of_the_run_and_errors_are_below_their_bounds(scalar, tmp_path):
    check_states(MODULES[scalar], tmp_path)


def check_states(made, tmp_path):
    for name, text in files(made).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    states = random_integers(made, 2000, "test")
    call, wanted, real = (
        compile_fixed_point(made, tmp_path),
        run_functions(made, states),
        inputs_in_si(made, states),
    )
    for f, function in zip(fixed_functions_in_c(made), made.functions, strict=True):
        found = call(f, states)
        exact = evaluated_outputs(function.program, real, "double")
        (name,) = found
        assert (found[name] == wanted[f.description.name][name]).all()
        off = np.abs(found[name] * 2.0 ** -f.fixed.outputs[name] - exact)
        bound = np.array(f.fixed_function.outputs[0].error)[:, None]
        assert (off <= bound).all()
        assert off.max() > 0.2 * bound.max()


def selftest(texts, folder, *flags):
    """The exit status of the self-test, compiled under strict warnings."""
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    sources = sorted(path.name for path in folder.glob("*.c"))
    subprocess.run([CC, *STRICT_C, *flags, *sources, "-o", "selftest"], cwd=folder, check=True)
    return subprocess.run([folder / "selftest"], check=False, stderr=subprocess.DEVNULL).returncode


@pytest.mark.parametrize("products", [64, 16])
@pytest.mark.parametrize("scalar", FIXED)
def test_the_self_test_passes_without_undefined_behaviour(scalar, products, tmp_path):
    checks = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
    flags = (f"-DPENDULUM_PRODUCTS={products}", *checks)
    assert selftest(files(MODULES[scalar]), tmp_path, *flags) == 0


@pytest.mark.parametrize(("scalar", "shift"), [("q31", "_mul_sub(s2, "), ("q15", "_round(")])
def test_a_wrong_shift_fails_the_self_test(scalar, shift, tmp_path):
    texts = files(MODULES[scalar])
    name = "pendulum_inverse_dynamics.c"
    found = re.search(rf"{re.escape(shift)}.*?, (\d+)\)", texts[name]) or re.search(
        r"_mul\w*\(.*?, (\d+)\)", texts[name]
    )
    changed = f"{texts[name][: found.start(1)]}{int(found[1]) - 1}{texts[name][found.end(1) :]}"
    assert selftest({**texts, name: changed}, tmp_path) == 1


def _random_program(rng):
    """A program of sums and products of three inputs and constants."""
    program = Program()
    values = list(program.input("x", (3,)))
    for _ in range(12):
        a, b = rng.sample(values, 2)
        values.append(
            rng.choice(
                (a + b, a - b, a * b, a * rng.uniform(-3.0, 3.0), a * b + rng.uniform(-1, 1))
            )
        )
    program.output("y", (2,), values[-2:])
    return program


@pytest.mark.parametrize("scalar", FIXED)
def test_random_programs_are_within_their_bounds_in_exact_arithmetic(scalar):
    """The exact values are fractions; magnitudes and bounds come from the box [-1, 1]."""
    from symgen.certified.enclosures import Arithmetic, enclosures

    rng, kind = random.Random(3), FIXED[scalar]
    for _ in range(20):
        program = _random_program(rng)
        box = {"x": (np.full((3, 1), -1.0), np.full((3, 1), 1.0))}
        exact = enclosures(program, box, Arithmetic("double", "inline"))
        sizes = exact.magnitude.max(axis=1) * 1.01 + 0.01
        shift = finest_shift(1.0, kind.largest)
        fixed = FixedProgram(program, kind, sizes, {"x": shift}, {"y": 8})
        errors = fixed.errors(exact).max(axis=1)
        fixed = replace(fixed, floored=fixed.choose_floored(errors, 0.3))
        bound = fixed.output_errors(fixed.errors(exact).max(axis=1))["y"]
        x = np.array([[rng.choice((-1, 1, rng.uniform(-1, 1))) * 2**shift for _ in range(40)]
                      for _ in range(3)]).astype(np.int64)  # fmt: skip
        y = run(fixed, {"x": x})["y"]
        for k in range(40):
            given = {"x": [Fraction(int(n), 2**shift) for n in x[:, k]]}
            true = _fractions(program, given)
            for found, value, most in zip(y[:, k], true, bound, strict=True):
                assert abs(Fraction(int(found), 2**8) - value) <= Fraction(most)


def _fractions(program, inputs):
    values = []
    for op, a, b in program.nodes:
        values.append(
            inputs[a][b] if op == "input" else Fraction(a) if op == "const"
            else values[a] + values[b] if op == "add"
            else values[a] - values[b] if op == "sub" else values[a] * values[b]
        )  # fmt: skip
    return [(-1 if ref.negative else 1) * values[ref.node] for ref in program.outputs[0].refs]


def test_no_value_overflows_and_terms_are_only_shifted_to_the_right():
    for made in MODULES.values():
        for one in fixed_point(made).values():
            fixed = one.fixed
            rows = [k for k in range(len(fixed.magnitudes)) if k not in fixed.angle_rows]
            sizes = fixed.magnitudes[rows] * np.exp2(np.array(fixed.shifts)[rows])
            assert sizes.max() <= MAX_INTEGER
            assert all(
                min((*step.operand_shifts, step.sum_shift), default=0) >= 0 for step in fixed.steps
            )
            assert all(SUM_SHIFT in s.floored or s.sum_shift <= 62 for s in fixed.steps)


def test_angles_wrap_and_prismatic_positions_have_a_scale():
    made = module(GANTRY, "q31", "gravity", "inverse_dynamics")
    kinds = {is_angle(made.robot.model, "q", k) for k in range(made.dof)}
    assert kinds == {True, False}
    header = files(made)[f"{made.name}.h"]
    assert "_Q_LINEAR_SCALE" in header
    assert "_Q_SCALE 1.4629180792671596e-09" in header


REFUSED = {
    "--quantity forward_dynamics --limit effort=50": "forward_dynamics has no fixed-point form: "
    "it has the operation 'div'; remove forward_dynamics or use float",
    "--lang python": "only C has fixed point; remove 'python' or use float",
    "--batch 4": "q15 and --batch: fixed-point code does not support this; remove one of them",
    "--glue fmi": "q15 and --glue fmi: these files need floating-point code",
    "--controller computed_torque": "computed_torque is a controller, which fixed point does not",
    "--parameters runtime": "reads inertial parameters at run time, which have no common scale",
    "--base floating --quantity gravity": "a joint with a quaternion, which fixed point does not",
    "--gravity runtime --quantity gravity": "the input 'g' of gravity has no range; give --limit",
    "--tune": "--tune and --scalar q15: fixed-point code is not timed; remove one of them",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_has_no_fixed_point_is_refused(options, tmp_path):
    given = [robot_file("pendulum"), "-o", tmp_path / "out", "--scalar", "q15"]
    limits = ["--limit", "acceleration=10", "--limit", "velocity=3"]
    result = invoke("generate", *given, *limits, *options.split())
    assert result.exit_code == 2
    assert REFUSED[options] in " ".join(result.output.split())


def test_only_c_is_compiled():
    import symgen

    with pytest.raises(OptionError, match=r"only C has fixed point; remove 'symgen.compile'"):
        symgen.compile(robot_file("pendulum"), "gravity", scalar="q31")


def test_bounds_in_python():
    import symgen

    robot = symgen.Robot(robot_file("pendulum"))
    found = robot.certify("gravity", scalar="q15")["gravity"]
    assert found.arithmetic.scalar == "q15"
    assert 1e-5 < max(found.outputs[0].error) < 0.1
