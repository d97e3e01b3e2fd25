"""Forces of fluids against Fossen's vectorial equations of a vehicle, and against physics."""

import math

import numpy as np
import pytest

import symgen
from symgen.algorithms.registry import INPUTS
from symgen.jobs.job import Job
from symgen.mechanics.parameters import WHOLE
from symgen.proof.laws import evaluate_law
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import Sizes
from symgen.tracing.trace import with_fluid_forces
from tests.support.states import close, functions, run
from tests.support.tools import ROOT, invoke, robot_file

ROV = ROOT / "robots" / "rov.sdf"
M_A = np.diag([5.5, 12.7, 14.57, 0.12, 0.12, 0.12])
M_A[1, 3] = M_A[3, 1] = -0.15
M_A[0, 4] = M_A[4, 0] = 0.1
LINEAR = np.array([4.03, 6.22, 5.18, 0.07, 0.07, 0.07])
QUADRATIC = np.array([18.18, 21.66, 36.99, 1.55, 1.55, 1.55])
CURRENT = np.array([0.2, -0.1, 0.05])
MASS, BUOYANT, G = 11.5, 1000 * 0.3 * 0.2 * 0.195033, 9.81
R_G = np.array([0.0, 0.0, -0.02])
"""As in the file."""


def skew(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rigid():
    """M_RB about the origin (Fossen 2021, eq. 3.56)."""
    s = skew(R_G)
    inertia = 0.16 * np.eye(3) - MASS * s @ s
    return np.block([[MASS * np.eye(3), -MASS * s], [MASS * s, inertia]])


def coriolis(m, nu):
    """C of a constant mass matrix (eq. 3.60; Sagatun & Fossen 1991)."""
    p, angular = m[:3] @ nu, m[3:] @ nu
    return np.block([[np.zeros((3, 3)), -skew(p)], [-skew(p), -skew(angular)]])


def rotation(q):
    v, w = np.asarray(q[3:6]), q[6]
    return np.eye(3) + 2 * w * skew(v) + 2 * skew(v) @ skew(v)


def fossen(q, nu, dnu):
    """M_RB ν̇ + C_RB ν + M_A ν̇_r + C_A(ν_r) ν_r + D(ν_r) ν_r + g(η) (eqs. 6.1 and 10.153), z up."""
    r = rotation(q)
    flow = np.r_[r.T @ CURRENT, np.zeros(3)]
    dflow = np.r_[-skew(nu[3:]) @ flow[:3], np.zeros(3)]
    rel = nu - flow
    up = r.T @ np.array([0.0, 0.0, 1.0])
    weight, lift = -MASS * G * up, BUOYANT * G * up
    restoring = -np.r_[weight + lift, np.cross(R_G, weight)]
    drag = LINEAR * rel + QUADRATIC * np.abs(rel) * rel
    added = M_A @ (dnu - dflow) + coriolis(M_A, rel) @ rel
    return rigid() @ dnu + coriolis(rigid(), nu) @ nu + added + drag + restoring


@pytest.fixture(scope="module")
def vehicle():
    job = Job.of(str(ROV), base="floating", fluid=True)
    return job.robot(job.load())


def state(seed=0):
    random = np.random.default_rng(seed)
    q = random.uniform(-1, 1, 7)
    q[3:] /= np.linalg.norm(q[3:])
    return {"q": q} | {k: random.uniform(-1, 1, 6) for k in ("qd", "qdd", "tau")}


def in_fluid(robot, name, inputs):
    """The outputs of a quantity in its first formulation that contains forces of fluids."""
    for one in functions(robot, name):
        quantity, formulation = one.parts[0]
        layout = robot.regroups[WHOLE].layout
        if formulation in with_fluid_forces(quantity, quantity.formulations, layout):
            found = one.run(**{k: inputs[k] for k in one.inputs})
            return {output: np.array(values, float) for output, values in found.items()}
    raise AssertionError(name)


@pytest.mark.parametrize("seed", range(5))
def test_a_vehicle_obeys_fossen_s_equations(vehicle, seed):
    x = state(seed)
    (tau,) = run(vehicle, "inverse_dynamics", x).values()
    close(tau, fossen(x["q"], x["qd"], x["qdd"]), 1e-11)
    (bias,) = run(vehicle, "bias", x).values()
    close(bias, fossen(x["q"], x["qd"], np.zeros(6)), 1e-11)
    (gravity,) = run(vehicle, "gravity", x).values()
    close(gravity, fossen(x["q"], np.zeros(6), np.zeros(6)), 1e-11)
    (mass,) = run(vehicle, "mass_matrix", x).values()
    close(mass.reshape(6, 6), rigid() + M_A, 1e-12)
    (qdd,) = run(vehicle, "forward_dynamics", x).values()
    close(fossen(x["q"], x["qd"], qdd), x["tau"], 1e-10)


def test_a_thruster_in_a_fluid_adds_its_force_to_fossen_s_equations():
    """A thrust F along x of the hull with the reaction moment r F: tau = Fossen - (F, 0, 0, r F, 0,
    0)."""
    job = Job.of(str(ROV), base="floating", fluid=True, thrusters=("hull:x:0.05", "hull:z"))
    driven, x = job.robot(job.load()), state(4)
    push = np.array([7.0, -3.0])
    wrench = np.array([push[0], 0.0, push[1], 0.05 * push[0], 0.0, 0.0])
    given = x | {"thrust": push}
    (tau,) = run(driven, "inverse_dynamics", given).values()
    close(tau, fossen(x["q"], x["qd"], x["qdd"]) - wrench, 1e-11)
    (qdd,) = run(driven, "forward_dynamics", given).values()
    close(fossen(x["q"], x["qd"], qdd), x["tau"] + wrench, 1e-10)
    *_, by_thrust = in_fluid(driven, "forward_dynamics_derivatives", given).values()
    columns = np.zeros((6, 2))
    columns[[0, 3, 2], [0, 0, 1]] = 1.0, 0.05, 1.0
    close((rigid() + M_A) @ by_thrust.reshape(6, 2), columns, 1e-10)


def test_derivatives_are_those_of_fossen_s_equations(vehicle):
    """Those in velocities by central differences."""
    x, h = state(3), 1e-6
    _, by_qd, mass = in_fluid(vehicle, "inverse_dynamics_derivatives", x).values()
    slopes = [
        (fossen(x["q"], x["qd"] + d, x["qdd"]) - fossen(x["q"], x["qd"] - d, x["qdd"])) / (2 * h)
        for d in h * np.eye(6)
    ]
    close(by_qd.reshape(6, 6), np.array(slopes).T, 1e-8)
    close(mass.reshape(6, 6), rigid() + M_A, 1e-12)


def test_adjoints_are_those_of_fossen_s_equations(vehicle):
    """λᵀ times derivatives by central differences, and times the mass."""
    x, h = state(5), 1e-6
    q, qd, qdd, lam = x["q"], x["qd"], x["qdd"], x["tau"]
    _, by_qd, by_qdd = in_fluid(vehicle, "inverse_dynamics_vjp", x | {"lam_tau": lam}).values()
    steps = h * np.eye(6)
    slopes = [lam @ (fossen(q, qd + d, qdd) - fossen(q, qd - d, qdd)) / (2 * h) for d in steps]
    close(by_qd, np.array(slopes), 1e-8)
    close(by_qdd, lam @ (rigid() + M_A), 1e-12)


def test_controllers_and_energies_contain_fossen_s_terms(vehicle):
    x, some = state(6), {"limit": np.full(6, 1e6), "h": [0.01], "e_int": np.zeros(6)}
    q, qd, still = x["q"], x["qd"], np.zeros(6)
    gains = {k: np.full(6, v) for k, v in (("k_p", 3.0), ("k_d", 2.0), ("k_i", 0.0))}
    (held,) = run(vehicle, "gravity_compensation", x | some | gains).values()
    close(held, fossen(q, still, still) - 2 * qd, 1e-11)
    wanted = {"q_ref": q, "qd_ref": qd, "qdd_ref": x["qdd"]}
    found = run(vehicle, "computed_torque", x | some | gains | wanted)
    close(found["u_computed"], fossen(q, qd, x["qdd"]), 1e-11)
    found = run(vehicle, "joint_impedance", x | some | gains | wanted)
    close(found["u_impedance"], fossen(q, qd, x["qdd"]), 1e-11)
    (energy,) = run(vehicle, "kinetic_energy", x).values()
    close(energy, np.array([qd @ (rigid() + M_A) @ qd / 2]), 1e-12)
    (energy,) = run(vehicle, "potential_energy", x).values()
    height = q[2] + (rotation(q) @ R_G)[2]
    close(energy, np.array([G * (MASS * height - BUOYANT * q[2])]), 1e-12)
    (wrench,) = run(vehicle, "joint_wrench:floating_base", x).values()
    close(wrench, fossen(q, qd, x["qdd"]), 1e-11)


ARM = """<mujoco><worldbody><body name="l1"><joint name="a" axis="0 1 0.2"/>
<geom size=".1" pos="0.1 0.2 0.3"/><body name="l2" pos="0.3 0 0.4" euler="10 20 30">
<joint name="b" axis="1 0 0"/><geom type="capsule" size="0.05 0.3" pos="0.1 0.2 0.3"/>
<body name="l3" pos="0.1 0.2 0.3"><joint name="c" type="slide" axis="1 0 1"/><geom size="0.1"/>
</body></body></body></worldbody></mujoco>"""
LAWFUL = (
    *("coriolis_force", "coriolis_transpose_product", "mass_matrix_rate", "mass_matrix_gradient"),
    *("gravity_rate", "gravity_second_rate", "gravity_gradient", "inverse_dynamics_rate"),
    *("inverse_dynamics_vjp", "forward_dynamics_vjp", "step_jacobians:euler", "com"),
    *("elastic_forward_dynamics", "potential_energy", "joint_impedance", "momentum_observer"),
    *("joint_wrenches", "joint_wrench_aligned:b", "joint_wrench_derivatives:b"),
    *("operational_space_bias:l3", "dynamically_consistent_inverse:l3", "cartesian_impedance:l3"),
)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """An arm of which each link has a random fluid around it."""
    pytest.importorskip("mujoco")
    random, path = np.random.default_rng(0), tmp_path_factory.mktemp("fluid") / "arm.toml"
    rows = []
    for name in ("l1", "l2", "l3"):
        half = random.uniform(-1, 1, (6, 6))
        mass = half @ half.T
        rows += [
            f"[links.{name}]\ndensity = 1000.0\nvolume = 0.0005\ncurrent = [0.2, -0.1, 0.3]",
            f"centre_of_buoyancy = {random.uniform(-1, 1, 3).tolist()}",
            f"added_mass = {[float(mass[i, j]) for i in range(6) for j in range(i, 6)]}",
            *(f"{k}_drag = {random.uniform(0, 1, 36).tolist()}" for k in ("linear", "quadratic")),
        ]
    path.write_text("\n".join(rows))
    job = Job.of(ARM, fluid=True, actuators=path)
    return job.robot(job.load())


@pytest.mark.parametrize("name", LAWFUL)
def test_quantities_in_a_fluid_have_their_laws(arm, name):
    (quantity,) = FunctionRequest.parse(f"f={name}").quantities
    regroup, random = arm.regroups[WHOLE], np.random.default_rng(2)
    x = {}
    for array in (INPUTS[k] for k in quantity.inputs):
        count = math.prod(k if isinstance(k, int) else Sizes(regroup)[k] for k in array.shape)
        x[array.name] = random.uniform(0.1, 1, count) / (100 if array.name == "h" else 1)
    if "quat_ref" in x:
        x["quat_ref"] = np.array([0.1, 0.5, 0.5, 0.7])
    wanted = evaluate_law(arm, quantity, {k: v[None] for k, v in x.items()})
    found = in_fluid(arm, name, x)
    for output, values in wanted.items():
        close(np.array(found[output], float).ravel(), values[0].astype(float).ravel(), 1e-10)


TABLE = """[links.hull]
added_mass = {added}
density = {density}
volume = 0.0115
centre_of_buoyancy = [0.0, 0.0, -0.02]
"""


def bare(folder, added="[5.5, 12.7, 14.57, 0.12, 0.12, 0.12]", density="1000.0"):
    """The hull as a URDF, and the file of its fluid."""
    robot, fluid = folder / "hull.urdf", folder / "fluid.toml"
    robot.write_text(
        '<robot name="hull"><link name="hull"><inertial><origin xyz="0 0 -0.02"/>'
        '<mass value="11.5"/><inertia ixx="0.16" ixy="0" ixz="0" iyy="0.16" iyz="0" izz="0.16"/>'
        "</inertial></link></robot>"
    )
    fluid.write_text(TABLE.format(added=added, density=density))
    return ["generate", str(robot), "--actuators", str(fluid), "--base", "floating", "--fluid"]


def test_a_neutral_vehicle_keeps_its_energy(tmp_path):
    """Without drag and current, ½ νᵀ (M_RB + M_A) ν is kept, and the vehicle is free of weight."""
    _, robot, _, fluid, *_ = bare(tmp_path)
    job = Job.of(robot, base="floating", fluid=True, actuators=fluid)
    hull = job.robot(job.load())
    x = state(1) | {"tau": np.zeros(6), "h": [0.01]}
    (gravity,) = run(hull, "gravity", x).values()
    assert np.abs(gravity).max() < 1e-12
    matrix = rigid() + np.diag([5.5, 12.7, 14.57, 0.12, 0.12, 0.12])
    before = x["qd"] @ matrix @ x["qd"]
    for _ in range(25):
        x["q"], x["qd"] = run(hull, "step:rk4", x).values()
    assert abs(x["qd"] @ matrix @ x["qd"] / before - 1) < 1e-7


SINKING = """<robot name="r"><link name="base"/><link name="carriage">{0}</link><link name="ball">
{0}</link><joint name="fall" type="prismatic"><parent link="base"/><child link="carriage"/>
<axis xyz="0 0 1"/><limit lower="-99" upper="9" effort="9" velocity="9"/></joint>
<joint name="mount" type="fixed"><parent link="carriage"/><child link="ball"/></joint></robot>"""
SOLID = """<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial>"""


def test_a_ball_sinks_at_the_speed_that_drag_allows(tmp_path):
    """In a simulation. Its mount then carries the weight of what stands on the ball, and no more;
    the joint along which it falls carries nothing along its axis."""
    path = tmp_path / "ball.toml"
    path.write_text(
        "[links.ball]\ndensity = 1000.0\nvolume = 0.001\nlinear_drag = [0, 0, 3, 0, 0, 0]\n"
        "quadratic_drag = [0, 0, 5, 0, 0, 0]\nadded_mass = [0, 0, 1, 0, 0, 0]\n"
    )
    robot = symgen.Robot(SINKING.format(SOLID), fluid=True, actuators=path, keep_fixed=("mount",))
    motion = robot.simulate(20.0, times=[0.0, 20.0], joint_wrenches=True)
    weight = (4 - 1) * G
    speed = (np.sqrt(9 + 4 * 5 * weight) - 3) / 10
    close(motion.qd[1], np.array([-speed]), 1e-7)
    names = [load.joint for load in motion.joint_loads]
    forces = motion.joint_wrenches[:, :, 2]
    close(forces[:, names.index("fall")], np.zeros(2), 1e-7)
    acceleration = -weight / (4 + 1)  # at the start; the ball and its added mass have 3 kg
    first = 3 * acceleration + (2 - 1) * G
    close(forces[:, names.index("mount")], np.array([first, -2 * G]), 1e-6)


REFUSED = {
    "--fluid: coriolis_matrix does not support": ({}, "--quantity coriolis_matrix"),
    "--fluid: regressor does not support": ({}, "--quantity a=bias+regressor"),
    "added_mass: has 5 numbers; give the diagonal (6)": ({"added": "[1, 2, 3, 4, 5]"}, ""),
    "added_mass: is not symmetric at row 1, column 2": (
        {"added": str([float(k) for k in range(36)])},
        "",
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_it_refuses(said, tmp_path):
    changes, options = REFUSED[said]
    done = invoke(*bare(tmp_path, **changes), "-o", tmp_path / "out", *options.split())
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_friction_that_depends_on_the_load_is_refused(tmp_path):
    fluid = tmp_path / "fluid.toml"
    fluid.write_text("[links.link3]\nlinear_drag = [1, 1, 1, 0, 0, 0]\n")
    options = ("--actuators", fluid, "--fluid", "--friction", "runtime:load")
    done = invoke("generate", robot_file("ur5"), *options, "-o", tmp_path / "out")
    assert done.exit_code == 2 and "--fluid and --friction load: remove one" in done.stderr


def test_a_robot_without_fluid_is_refused(tmp_path):
    done = invoke("generate", robot_file("ur5"), "--fluid", "-o", tmp_path / "out")
    assert (
        done.exit_code == 2 and "--fluid: no moving link of this robot has a fluid" in done.stderr
    )
