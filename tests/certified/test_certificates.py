"""Certified ranges and error bounds contain what is computed, and unsupported cases are refused."""

import json
import operator
import random
import re
from functools import cache

import numpy as np
import pytest

import symgen
from symgen.certified.certificate import certify
from symgen.certified.domain import (
    domain,
    evaluated_outputs,
    random_inputs,
    search_largest_outputs,
    validated_limits,
)
from symgen.certified.enclosures import (
    RULES,
    Arithmetic,
    Enclosure,
    enclosures,
    enclosures_by_norms,
)
from symgen.compiler.evaluate import levels, node_values
from symgen.jobs.job import Job
from symgen.languages.accuracy import QUANTUM
from symgen.languages.c.backend import certified_tolerances
from symgen.numbers.trig import TYPES
from tests.support.oracles import oracle
from tests.support.tools import invoke, robot_file

mpmath = pytest.importorskip("mpmath")

LIMITS = (("acceleration", 10.0), ("velocity", 3.0), ("position", 3.0))
BOXES = 256
ROBOTS = ("ur5", "panda_arm", "quadruped", "humanoid25")


@cache
def certified(robot, quantity, scalar="float", boxes=BOXES):
    """A traced function, its domain and its certificate."""
    made = symgen.Robot(robot_file(robot))
    function = made.trace(quantity)
    found = domain(made.model, function.program, validated_limits(made.model, LIMITS), quantity)
    return function, found, certify(function, found, Arithmetic(scalar, "inline"), boxes)


def entries(function, certificate, name):
    """A bound of all output entries but structural zeros."""
    return np.array(
        [
            x
            for out, made in zip(function.program.outputs, certificate.outputs, strict=True)
            for x, ref in zip(getattr(made, name), out.refs, strict=True)
            if ref is not None
        ]
    )[:, None]


def check_states(function, certificate, inputs, scalar):
    """No result is outside of its range, and no rounding error above its bound."""
    exact, computed = (
        evaluated_outputs(function.program, inputs, kind) for kind in ("double", scalar)
    )
    lower, upper, error = (
        entries(function, certificate, name) for name in ("lower", "upper", "error")
    )
    slack = 1e-12 * np.maximum(-lower, upper)  # the rounding errors of the run in double precision
    assert (exact >= lower - slack).all() and (exact <= upper + slack).all()
    if scalar == "float":
        assert (np.abs(computed - exact) <= error + slack).all()
    assert np.isfinite(error).all()


@pytest.mark.parametrize("robot", ROBOTS)
def test_random_states_are_within_the_bounds(robot):
    function, found, certificate = certified(robot, "inverse_dynamics")
    rng = np.random.default_rng(1)
    for _ in range(3):
        check_states(function, certificate, random_inputs(found, 10_000, rng), "float")


@pytest.mark.parametrize("quantity", ["gravity", "bias", "mass_matrix", "coriolis_matrix"])
def test_bounds_hold_for_other_quantities(quantity):
    function, found, certificate = certified("ur5", quantity)
    inputs = random_inputs(found, 20_000, np.random.default_rng(2))
    check_states(function, certificate, inputs, "float")


@pytest.mark.parametrize("scalar", ["float", "double"])
@pytest.mark.parametrize("controller", ["joint_impedance", "computed_torque"])
def test_forces_of_controllers_are_within_their_limits(controller, scalar):
    """The sign of a number near zero is uncertain, but not the clamp that is made of it."""
    robot = symgen.Robot(robot_file("ur5"))
    function = robot.trace(controller)
    gains = {"k_p": 100.0, "k_d": 20.0, "k_i": 5.0, "h": 0.01, "e_int": 1.0, "limit": 50.0}
    read = {name for name, _ in function.program.inputs}
    limits = [*LIMITS, *((name, x) for name, x in gains.items() if name in read)]
    found = domain(robot.model, function.program, validated_limits(robot.model, limits), controller)
    certificate = certify(function, found, Arithmetic(scalar, "inline"), 64)
    force = certificate.outputs[0]
    assert max(force.magnitude) <= 50.0
    assert max(force.error) <= {"float": 1e-2, "double": 1e-10}[scalar]
    inputs = random_inputs(found, 20_000, np.random.default_rng(7))
    check_states(function, certificate, inputs, scalar)


@pytest.mark.parametrize(
    "quantity",
    ["christoffel_symbols", "frame_pose:flange", "frame_jacobian_aligned:flange", "regressor"],
)
def test_bounds_exist_for_kinematics_and_regressors(quantity):
    function, found, certificate = certified("ur5", quantity, boxes=64)
    inputs = random_inputs(found, 5_000, np.random.default_rng(3))
    check_states(function, certificate, inputs, "float")


@pytest.mark.parametrize(
    ("robot", "size", "factor"), [("ur5", 2.5, 25.0), ("quadruped", 2.5, 25.0)]
)
def test_bounds_are_tight(robot, size, factor):
    """The ranges are at most 2.5 times what coordinate ascent reaches, and the error bounds at most
    25 times the largest error of random states."""
    function, found, certificate = certified(robot, "inverse_dynamics", boxes=16384)
    reached = search_largest_outputs(function.program, found, 20_000)
    ranges = np.maximum(
        -entries(function, certificate, "lower"), entries(function, certificate, "upper")
    )
    assert (reached <= ranges[:, 0] * (1 + 1e-12)).all()
    assert (ranges[:, 0] <= size * reached).all()
    inputs = random_inputs(found, 50_000, np.random.default_rng(4))
    exact, computed = (
        evaluated_outputs(function.program, inputs, kind) for kind in ("double", "float")
    )
    seen = np.abs(computed - exact).max(axis=1)
    assert (entries(function, certificate, "error")[:, 0] <= factor * seen).all()


@pytest.mark.parametrize("width", [0.05, 3.0])
@pytest.mark.parametrize("scalar", ["float", "double"])
@pytest.mark.parametrize("make", [enclosures, enclosures_by_norms])
def test_each_node_is_enclosed(make, scalar, width):
    """Every intermediate result, with mpmath's exact value as the independent reference."""
    robot = symgen.Robot(robot_file("ur5"))
    program = robot.trace("inverse_dynamics").program
    rng = np.random.default_rng(5)
    middle = {name: rng.uniform(-3, 3, (6, 8)) for name, _ in program.inputs}
    boxes = {name: (x - width, x + width) for name, x in middle.items()}
    found = make(program, boxes, Arithmetic(scalar, "inline"))
    at = levels(program)
    for _ in range(3):
        states = {
            name: rng.uniform(low, high).astype(TYPES[scalar])
            for name, (low, high) in boxes.items()
        }
        computed = node_values(program, states, scalar)
        with mpmath.workdps(40):
            for column in range(8):
                exact = exact_values(program, {n: x[:, column] for n, x in states.items()})
                for row, index in enumerate(at.indices.tolist()):
                    value = exact[index]
                    assert found.lower[row, column] <= value <= found.upper[row, column]
                    off = abs(mpmath.mpf(float(computed[row, column])) - value)
                    assert off <= found.error[row, column]


def exact_values(program, inputs):
    """The values of all nodes in the current precision of mpmath."""
    functions = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "sin": lambda a: mpmath.sin(a),
        "cos": lambda a: mpmath.cos(a),
    }
    values = []
    for op, a, b in program.nodes:
        if op == "input":
            values.append(mpmath.mpf(float(inputs[a][b])))
        elif op == "const":
            values.append(mpmath.mpf(a))
        else:
            values.append(functions[op](*(values[k] for k in (a, b) if k is not None)))
    return values


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "sqrt", "sin", "cos", "exp"])
def test_each_rule_agrees_with_mpmath(op):
    """The ranges contain those of mpmath's interval arithmetic and are hardly wider."""
    rng, two = random.Random(op), op in ("add", "sub", "mul", "div")
    for _ in range(200):
        ends = [sorted(rng.uniform(-7, 7) for _ in range(2)) for _ in range(1 + two)]
        if op in ("div", "sqrt"):
            ends[-1] = [0.1 + abs(x) for x in ends[-1]]
            ends[-1].sort()
        operands = [Enclosure(np.array([a]), np.array([b]), np.zeros(1)) for a, b in ends]
        made = RULES[op](*operands)
        function = getattr(operator, {"div": "truediv"}.get(op, op)) if two else None
        other = (function or getattr(mpmath.iv, op))(*map(mpmath.iv.mpf, ends))
        low, high = float(other.a), float(other.b)
        width = 1e-13 * max(1.0, abs(low), abs(high))
        tiny = 4e-16 * max(1.0, abs(low), abs(high))
        assert low - width <= made.lower[0] <= low + tiny
        assert high - tiny <= made.upper[0] <= high + width


def test_what_is_always_zero_has_no_sign():
    """The last joint of a UR5 carries no torque by gravity."""
    assert [str(x) for x in certified("ur5", "gravity")[2].outputs[0].magnitude][-1] == "0.0"


def test_an_angle_of_many_turns_has_the_bounds_of_one():
    robot = symgen.Robot(robot_file("ur5"))
    function = robot.trace("gravity")
    bounds = []
    for turns in (1.0, 20.0):
        limits = validated_limits(
            robot.model, [(f"{j}.position", 3.15 * turns) for j in robot.velocities]
        )
        found = domain(robot.model, function.program, limits, "gravity")
        bounds.append(certify(function, found, Arithmetic("float", "inline"), 512).outputs[0].error)
    assert bounds[0] == pytest.approx(bounds[1], rel=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--certify"], "has no acceleration limit"),
        (
            ["--certify", "--quantity", "forward_dynamics", "--limit", "effort=9"],
            "add --quantity forward_dynamics_residual",
        ),
        (
            ["--certify", "--quantity", "mass_matrix_inverse"],
            "a divisor may be zero; intervals cannot bound an elimination; remove mass_matrix_inv",
        ),
        (["--certify", "--limit", "accel=9"], "acceleration"),
        (["--certify", "--limit", "joint9.velocity=9"], "joint"),
        (["--certify", "--limit", "velocity=-9"], "not negative"),
        (["--certify", "--limit", "acceleration=1e38"], "may overflow in float"),
        (["--certify", "--limit", "acceleration"], "give NAME=VALUE"),
        (["--limit", "acceleration=9"], "only with --certify"),
        (["--certify-boxes", "9"], "only with --certify"),
        (["--certify", "--certify-boxes", "0"], "give a number from 1"),
    ],
)
def test_what_has_no_certificate_is_refused_in_one_sentence(tmp_path, options, words):
    command = ["generate", robot_file("ur5"), "-o", tmp_path / "out", "--scalar", "float"]
    run = invoke(*map(str, command), "--lang", "c", *options)
    assert run.exit_code == 2 and words in run.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit", "acceleration=9"], "only with --certify"),
        (["--certify"], "has no acceleration limit"),
    ],
)
def test_check_refuses_limits_that_are_missing_or_without_an_effect(options, words):
    run = invoke("check", robot_file("ur5"), *options)
    assert run.exit_code == 2 and words in run.output


def test_header_report_and_api_state_the_same_bounds(tmp_path):
    options = {"scalar": "float", "certify_boxes": 256, "certify_limits": LIMITS[:1]}
    robot = symgen.Robot(robot_file("ur5"))
    robot.generate(
        tmp_path, ["c"], quantities=("inverse_dynamics", "mass_matrix"), certify=True, **options
    )
    header = (tmp_path / "ur5.h").read_text(encoding="utf-8")
    report = json.loads((tmp_path / "ur5_report.json").read_text(encoding="utf-8"))["certified"]
    found = robot.certify("inverse_dynamics", "mass_matrix", **options)
    for name, certificate in found.items():
        assert json.loads(json.dumps(certificate.data())) == report[name]
    size = max(report["inverse_dynamics"]["outputs"]["tau"]["upper"][1:2])
    line = next(x for x in header.splitlines() if "|tau[1]| <= " in x)
    assert "N m, float error <= " in line and float(line.split("<= ")[1].split()[0]) >= size
    assert "|qdd[0..5]| <= 10.0" in " ".join(x.strip(" *") for x in header.splitlines())


def test_the_residual_of_forward_dynamics_is_within_its_certified_error(tmp_path):
    """Of what float forward dynamics computes, against Pinocchio's inverse dynamics in double."""
    pinocchio = oracle("pinocchio")
    wanted = ("forward_dynamics", "forward_dynamics_residual")
    options = {"scalar": "float", "certify_boxes": 256, "certify_limits": LIMITS[:1]}
    robot = symgen.Robot(robot_file("ur5"))
    robot.generate(tmp_path, ["c"], quantities=wanted, certify=True, **options)
    header = (tmp_path / "ur5.h").read_text(encoding="utf-8")
    report = json.loads((tmp_path / "ur5_report.json").read_text(encoding="utf-8"))["certified"]
    assert "Certified: no bound, as intervals" in header and report.keys() == {wanted[1]}
    code, rng = robot.compile(*wanted, scalar="float"), np.random.default_rng(8)
    model = pinocchio.buildModelFromUrdf(str(robot_file("ur5")))
    data, error = model.createData(), np.array(report[wanted[1]]["outputs"]["residual"]["error"])
    worst = np.zeros(6)
    for _ in range(100):
        q, qd, qdd = (rng.uniform(-x, x, 6).astype(np.float32) for x in (6.28, 3.14, 9.5))
        tau = pinocchio.rnea(model, data, *(x.astype(float) for x in (q, qd, qdd)))
        tau = tau.astype(np.float32)
        found = code.forward_dynamics(q, qd, tau)
        needed = pinocchio.rnea(model, data, *(x.astype(float) for x in (q, qd, found)))
        off = np.abs(code.forward_dynamics_residual(q, qd, found, tau) - (tau - needed))
        worst = np.maximum(worst, off)
    assert (worst <= error).all() and (worst[:5] > error[:5] / 1000).all()


def test_tolerances_of_the_self_test_are_at_most_the_certified_error(tmp_path):
    """Some entries of M and g have a smaller tolerance than without, and float C keeps all."""
    options = {"scalar": "float", "quantities": ("gravity", "mass_matrix"), "certify": True}
    job = Job.of(str(robot_file("ur5")), **options)
    module, tops, tighter = job.module(job.load()), [], []
    for f in module.functions:
        most = certified_tolerances(module, f)
        ((name, own),), ((_, usual),) = (module.allowed(f, limits=x).items() for x in (most, {}))
        codes = [np.array([*map(list, x.codes)], float) for x in (own, usual)]
        errors = [x.top * QUANTUM**c * (c < 255) for x, c in zip((own, usual), codes, strict=True)]
        assert (errors[0] <= errors[1] / QUANTUM).all()
        assert (errors[0][np.isfinite(most[name]).all(axis=1)] <= most[name].max() / QUANTUM).all()
        tighter.append(int((errors[0] < QUANTUM * errors[1]).sum()))
        tops.append(own.top)
    assert max(tighter) >= 5
    invoke("generate", robot_file("ur5"), "-o", tmp_path / "out", "--lang", "c", "--certify",
           "--scalar", "float", "--quantity", "gravity", "--quantity", "mass_matrix")  # fmt: skip
    text = (tmp_path / "out" / "ur5_selftest.c").read_text(encoding="ascii")
    assert f"MASS_MATRIX_M {tops[1]!r}f" in text and "within the limits of --certify" in text
    assert invoke("verify", tmp_path / "out").exit_code == 0


def test_forces_above_the_efforts_of_the_file_are_reported(tmp_path):
    """Each force is reached: it is below its certified bound and above the effort of the file."""
    options = ("--quantity", "inverse_dynamics", "--certify", "--limit", "acceleration=40")
    done = invoke("generate", robot_file("ur5"), "-o", tmp_path / "out", *options)
    assert done.exit_code == 0
    note = next(line for line in done.stderr.splitlines() if "that a search found" in line)
    needed = re.findall(r"'(\w+)' needs ([0-9.]+) of ([0-9.]+)", note)
    robot = symgen.Robot(robot_file("ur5"))
    certificates = robot.certify("inverse_dynamics", certify_limits={"acceleration": 40.0})
    bounds = certificates["inverse_dynamics"].outputs[0].magnitude
    checked = invoke("check", robot_file("ur5"), "--certify", "--limit", "acceleration=40")
    assert checked.exit_code == 0 and note in checked.stderr.splitlines()
    assert "that a search found" not in invoke("check", robot_file("ur5")).stderr
    names = robot.velocities
    assert {name for name, *_ in needed} >= {"joint2"}
    for name, largest, effort in needed:
        assert float(effort) < float(largest) < 1.01 * bounds[names.index(name)]


def test_a_force_that_is_always_zero_has_the_range_zero():
    """A slide along x and a vertical axis on it: without gravity about it, its bias vanishes."""
    arm = symgen.Builder("slide").link("base")
    six = (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)
    arm = arm.link("a", mass=1.0, inertia=six)
    arm = arm.link("b", mass=2.0, center_of_mass=(0.3, 0, 0), inertia=six)
    ends = {"lower": -1.0, "upper": 1.0, "velocity": 2.0}
    arm = arm.joint("s", "prismatic", "base", "a", axis=(1, 0, 0), **ends)
    arm = arm.joint("r", "revolute", "a", "b", **ends)
    (found,) = symgen.Robot(arm).certify("bias")["bias"].outputs
    assert found.lower[1] == found.upper[1] == found.error[1] == 0.0
    assert -2.4 * 1.01 < found.lower[0] <= -2.4 * 0.99  # 2 kg 0.3 m (2 rad/s)^2 at angle 0
