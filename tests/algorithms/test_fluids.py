"""Forces of fluids against Fossen's vectorial equations of a vehicle, and against physics."""

import numpy as np
import pytest

import symgen
from symgen.jobs.job import Job
from tests.support.states import close, run
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
    compiled = symgen.compile(
        str(ROV),
        "forward_dynamics_derivatives",
        base="floating",
        fluid=True,
        thrusters=("hull:x:0.05", "hull:z"),
    )
    *_, by_thrust = compiled.forward_dynamics_derivatives(x["q"], x["qd"], x["tau"], push)
    columns = np.zeros((6, 2))
    columns[[0, 3, 2], [0, 0, 1]] = 1.0, 0.05, 1.0
    close((rigid() + M_A) @ by_thrust, columns, 1e-10)


def test_derivatives_are_those_of_fossen_s_equations(vehicle):
    """Those in velocities by central differences."""
    compiled = symgen.compile(str(ROV), "inverse_dynamics_derivatives", base="floating", fluid=True)
    x, h = state(3), 1e-6
    _, by_qd, mass = compiled.inverse_dynamics_derivatives(x["q"], x["qd"], x["qdd"])
    slopes = [
        (fossen(x["q"], x["qd"] + d, x["qdd"]) - fossen(x["q"], x["qd"] - d, x["qdd"])) / (2 * h)
        for d in h * np.eye(6)
    ]
    close(by_qd, np.array(slopes).T, 1e-8)
    close(mass, rigid() + M_A, 1e-12)


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
    for _ in range(50):
        x["q"], x["qd"] = run(hull, "step:rk4", x).values()
    assert abs(x["qd"] @ matrix @ x["qd"] / before - 1) < 1e-7


REFUSED = {
    "--fluid: computed_torque does not support": ({}, "--quantity computed_torque"),
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
