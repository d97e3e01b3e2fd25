"""Each row of the registry of joint-force laws: its formula, slope and dissipation, and the way from
an actuator file to C, Python, Rust, JAX, regressors, controllers and observers."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp

import symgen
from symgen.algorithms import QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS
from symgen.errors import OptionError, RobotError
from symgen.jobs.api import generate, trace
from symgen.jobs.verify import verify
from symgen.mechanics.joint_forces import (
    FRICTION,
    LAWS,
    SHAPE_PARAMETERS,
    JointForce,
    JointState,
)
from symgen.numbers.autodiff import derivative
from symgen.numbers.decimals import number
from tests.support.tools import ROOT, invoke, robot_file

pytestmark = pytest.mark.usefixtures("not_optimized")
PENDULUM = robot_file("pendulum")
SHAPE = dict.fromkeys(SHAPE_PARAMETERS, 0.5) | {"power_exponent": 2.0}
STATE = {"q": [0.3, -0.4], "qd": [0.7, -0.25], "qdd": [0.0, 0.0]}
COEFFICIENTS = (0.375, 0.25)

WRITTEN = {
    "viscous": lambda v, w: v,
    "coulomb": lambda v, w: mp.tanh(v / w) if w else mp.sign(v),
    "asymmetric": lambda v, w: abs(v),
    "stribeck": lambda v, w: WRITTEN["coulomb"](v, w) * mp.e ** (-((v / mp.mpf(0.5)) ** 2)),
    "power": lambda v, w: v * mp.sqrt(v * v + w * w),
    "saturating": lambda v, w: mp.tanh(v / mp.mpf(0.5)),
    "load": lambda v, w: 0 * v,
    "presliding": lambda v, w: 0 * v,
    "presliding_load": lambda v, w: 0 * v,
    "offset": lambda v, w: mp.mpf(1),
}
"""The friction of each law per unit of its coefficient, once more, for the shapes of `SHAPE`: 0.5 for
a new one."""

each_law = pytest.mark.parametrize("law", FRICTION)
IN_RATE = [law for law in FRICTION if not LAWS[law].reads]
"""The laws that depend on the rate alone."""
of_rate = pytest.mark.parametrize("law", IN_RATE)
each_width = pytest.mark.parametrize("width", [0.0, 0.125], ids=["sign", "smooth"])


def force(law, width, coefficient=1.0):
    return JointForce({law: coefficient}, {"width": width, "reference": 0.0, **SHAPE})


@pytest.fixture
def actuators(tmp_path):
    """An actuator file that gives both joints of the pendulum a law."""

    def write(*laws):
        rows = []
        for joint, coefficient in zip(("shoulder", "elbow"), COEFFICIENTS, strict=True):
            rows += [f"[joints.{joint}]", *(f"{law} = {coefficient}" for law in laws)]
            shapes = dict.fromkeys(p.name for law in laws for p in LAWS[law].shape)
            rows += [f"{name} = {SHAPE[name]}" for name in shapes]
        path = tmp_path / "drives.toml"
        path.write_text("\n".join(rows))
        return str(path)

    return write


def options(law, width):
    return {"friction_width": width} if LAWS[law].has_width else {}


def test_every_law_is_written_once_more_here():
    assert set(WRITTEN) == set(FRICTION)


def row_of_page(name, law):
    """The row of a law in the table of docs/friction.md."""
    shape = ", ".join(f"`{p.name}` ({p.unit})" for p in law.shape)
    marks = ["yes" if x else "" for x in (law.dissipates, law.has_width)]
    cells = [f"`{name}`", law.formula, law.unit, shape, *marks]
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def test_the_page_has_the_table_of_laws():
    page = (ROOT / "docs" / "friction.md").read_text().splitlines()
    start = next(k for k, line in enumerate(page) if line.startswith("| law | column |")) + 2
    rows = [row_of_page(name, law) for name, law in LAWS.items()]
    assert page[start : start + len(rows) + 1] == [*rows, ""]
    guide = (ROOT / "docs" / "identification.md").read_text()
    missing = [name for name in FRICTION if f"\n| `{name}` |" not in guide]
    assert not missing, f"add rows of {missing} to the table of docs/identification.md"


def test_the_page_states_what_each_quantity_supports():
    """The rows of quantities have "yes" where their `supports` has the field of the state; what
    has no row supports presliding alone."""
    text = (ROOT / "docs" / "friction.md").read_text()
    lines = text.partition("| | laws of q and q̇ |")[2].partition("\n\n")[0].splitlines()[2:]
    fields, stated = ("load", "presliding"), {}
    for name, _, *marks in (
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines
    ):
        marked = {field for field, mark in zip(fields, marks, strict=True) if mark == "yes"}
        stated |= dict.fromkeys(re.findall(r"`(\w+)`", name), marked)
    estimators = ("adaptive_slotine_li", "recursive_least_squares")
    others = [n for n, row in CONTROLLERS.items() if n not in estimators and not row.is_elastic]
    stated |= {name: {"load", "presliding"} for name in others}
    frictional = {name: q.supports for name, q in QUANTITIES.items() if "friction" in q.tags}
    wanted = {name: stated.get(name.partition(":")[0], {"presliding"}) for name in frictional}
    assert frictional == wanted


@each_law
@each_width
def test_formula_and_slope_in_40_digits(law, width):
    """The slope by duals is the difference quotient of the formula."""
    with mp.workdps(40):
        for rate in (-1.5, -0.125, 0.0625, 0.75):
            column = force(law, width).friction(number(rate))
            assert abs(column - WRITTEN[law](mp.mpf(rate), mp.mpf(width))) < 1e-35
            slope = mp.mpf(force(law, width, number(1.0)).rate_slope(number(rate)) + number(0.0))
            wanted = mp.diff(lambda v: WRITTEN[law](v, mp.mpf(width)), mp.mpf(rate))
            assert abs(slope - wanted) < 1e-16 * (1 + abs(wanted))


@each_law
@each_width
def test_force_and_slope_are_finite_at_rest(law, width):
    resting, loaded = force(law, width), JointState(0.0, 0.0, 0.0)
    assert np.isfinite(float(resting.column(law, loaded)))
    assert np.isfinite(float(resting.rate_slope(0.0) + 0.0))
    along_load = derivative(lambda x: resting.column(law, JointState(0.0, 0.5, x)), 0.0, 1.0)
    assert np.isfinite(float(along_load + 0.0))


@each_law
@each_width
def test_what_dissipates_takes_power_in_every_state(law, width):
    rates = np.linspace(-3, 3, 601)
    sliding = replace(force(law, width), presliding=-0.5)
    state = JointState(0.0, rates, load=-1.5, acceleration=1.0)
    power = sliding.column(law, state) * rates
    assert (power >= 0).all() == LAWS[law].dissipates


@pytest.mark.parametrize("law", [law for law, row in LAWS.items() if row.energy is not None])
def test_a_spring_is_the_gradient_of_its_energy(law):
    q, h = 0.8, 1e-6
    row, shape = LAWS[law], {"width": 0.0, "reference": 0.25}
    energy = [row.energy(JointState(x, 0.0), shape) for x in (q - h, q + h)]
    assert row.column(JointState(q, 0.0), shape) == pytest.approx(
        (energy[1] - energy[0]) / (2 * h), rel=1e-8
    )


@of_rate
@each_width
def test_from_an_actuator_file_to_joint_forces_and_regressor(law, width, actuators):
    chosen = options(law, width)
    given = {"actuators": actuators(law), "friction": law, **chosen}
    bare = trace(PENDULUM, "inverse_dynamics").run(**STATE)["tau"]
    tau = trace(PENDULUM, "inverse_dynamics", **given).run(**STATE)["tau"]
    columns = [
        float(WRITTEN[law](mp.mpf(v), chosen.get("friction_width", 0.0))) for v in STATE["qd"]
    ]
    wanted = np.array(COEFFICIENTS) * columns
    assert np.array(tau, float) - np.array(bare, float) == pytest.approx(wanted, rel=1e-12)
    rows = trace(PENDULUM, "base_regressor", **given).run(**STATE)["Y_b"]
    last = np.array(rows, float).reshape(2, -1)[:, -2:]
    assert last == pytest.approx(np.diag(columns), rel=1e-12)
    inputs = trace(PENDULUM, "inverse_dynamics", **given | {"friction": f"runtime:{law}"})
    again = inputs.run(**STATE, friction=list(COEFFICIENTS))["tau"]
    assert np.array(again, float) == pytest.approx(np.array(tau, float), rel=1e-12)


WANTED = (
    *("inverse_dynamics", "inverse_dynamics_jvp", "inverse_dynamics_rate"),
    *("forward_dynamics", "forward_dynamics_derivatives", "step:rk4"),
    *("inverse_dynamics_vjp", "inverse_dynamics_hessian", "base_regressor", "presliding_update"),
    *("gravity_compensation", "computed_torque", "joint_impedance", "momentum_observer"),
    *("adaptive_slotine_li", "recursive_least_squares"),
)


def supported(laws):
    """The names of `WANTED` that support laws."""
    needed = frozenset().union(*(LAWS[law].reads for law in laws))
    return [name for name in WANTED if needed <= QUANTITIES[name].supports]


def groups():
    """The laws that read the same parts of the state; each is verified as one friction."""
    reads = dict.fromkeys(LAWS[law].reads for law in FRICTION)
    return [[law for law in FRICTION if LAWS[law].reads == parts] for parts in reads]


@pytest.mark.parametrize("kind", ["", "runtime:"], ids=["file", "input"])
@pytest.mark.parametrize("laws", groups(), ids="-".join)
def test_c_and_python_with_controllers_are_verified(laws, kind, actuators, tmp_path):
    """Against the independent reference; that of the observer includes a zero residual in free
    motion."""
    has_width = any(LAWS[law].has_width for law in laws)
    generate(
        PENDULUM,
        tmp_path / "out",
        actuators=actuators(*laws),
        friction=kind + ",".join(laws),
        quantities=supported(laws),
        **({"friction_width": 0.125} if has_width else {}),
    )
    assert all(check.passed for check in verify(tmp_path / "out"))


@pytest.mark.parametrize("language", ["rust", "jax", "javascript", "casadi"])
def test_all_laws_in_other_languages(language, actuators, tmp_path):
    if language in ("jax", "casadi"):
        pytest.importorskip(language)
    tool = {"rust": "rustc", "javascript": "node"}.get(language)
    if tool and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    laws = [law for law in FRICTION if LAWS[law].reads <= QUANTITIES["forward_dynamics"].supports]
    generate(
        PENDULUM,
        tmp_path / "out",
        languages=(language,),
        actuators=actuators(*laws),
        friction=",".join(laws),
        friction_width=0.125,
        quantities=("inverse_dynamics", "forward_dynamics", "presliding_update"),
    )
    assert all(check.passed for check in verify(tmp_path / "out"))


def test_simulation_loses_the_energy_that_friction_takes(actuators):
    """With every law at once."""
    laws = ",".join(law for law in FRICTION if LAWS[law].dissipates)
    robot = symgen.Robot(
        PENDULUM, actuators=actuators(*laws.split(",")), friction=laws, friction_width=0.05
    )
    pytest.importorskip("scipy")
    run = robot.simulate(1.0, [1.0, 0.5], rtol=1e-6)
    of = robot.compile("kinetic_energy", "potential_energy")
    energy = of.kinetic_energy(run.q, run.qd) + of.potential_energy(run.q)
    assert (np.diff(energy) <= 1e-9).all() and energy[-1] < energy[0] - 0.1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stribeck = 1", "stribeck: has no effect without stribeck_velocity"),
        ("stribeck = 1\nstribeck_velocity = 0", "stribeck_velocity: is out of range"),
        ("power = 1\npower_exponent = 1.7", "power_exponent: is out of range; give one of"),
    ],
)
def test_a_law_without_its_shape_is_refused_at_its_line(text, said, tmp_path):
    path = tmp_path / "drives.toml"
    path.write_text(f"[joints.elbow]\n{text}\n")
    with pytest.raises(RobotError, match=rf"drives.toml:[23]: error: .*{said}"):
        trace(PENDULUM, "inverse_dynamics", actuators=str(path), friction="stribeck")


def test_options_that_do_not_fit_the_laws_are_refused(actuators, tmp_path):
    file = actuators("power", "viscous")
    with pytest.raises(OptionError, match="--friction stribeck: a robot file does not contain"):
        generate(PENDULUM, tmp_path / "out", friction="stribeck")
    with pytest.raises(OptionError, match="joint 'shoulder' has no stribeck_velocity"):
        generate(PENDULUM, tmp_path / "out", friction="runtime:stribeck", actuators=file)
    (tmp_path / "halves.toml").write_text("[joints.elbow]\npower = 1\npower_exponent = 0.5\n")
    done = invoke(
        "generate", PENDULUM, "-o", tmp_path / "out", "--friction", "power",
        "--actuators", tmp_path / "halves.toml",
    )  # fmt: skip
    assert done.exit_code == 2 and "add --friction-width" in done.stderr
    assert not (tmp_path / "out").exists()
