"""Operation counts never grow: the generated code is at most as long as it was when these were
measured."""

from pathlib import Path

import pytest

from symgen.compiler.passes import Counts
from symgen.jobs.job import Job
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_robots import example_robot

ROBOTS = Path(__file__).resolve().parents[2] / "robots"
FINGERS = [("panda_finger_joint1", 0.0), ("panda_finger_joint2", 0.0)]
UR5, PANDA = "ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"
TALOS = "talos_data/robots/talos_reduced.urdf"
ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"
COLUMNS = ("gravity", "bias", "inverse_dynamics", "mass_matrix")

CONSTANT = {
    UR5: (22, 224, 264, 145),
    PANDA: (105, 553, 578, 329),
    TALOS: (527, 2740, 2859, 2069),
    "snake16.urdf": (248, 967, 998, 1793),
}
"""All operations with the parameters of the file, by COLUMNS."""

RUNTIME = {"rx90.urdf": (458, 227), "puma560.urdf": (479, 259), UR5: (466, 249), PANDA: (578, 323)}
"""Products and sums with every body's parameters given at run time: inverse dynamics, mass
matrix."""

DERIVED = {
    UR5: {
        "mass_matrix_gradient": 314,
        "coriolis_matrix_gradient": 1258,
        "coriolis_matrix_rate": 1102,
        "coriolis_matrix_second_rate": 2253,
        "inverse_dynamics_second_derivatives": 2590,
    },
    "puma560.urdf": {"inverse_dynamics_hessian": 2023},
    PANDA: {
        "mass_matrix_gradient": 984,
        "coriolis_matrix_rate": 2870,
        "coriolis_matrix_second_rate": 5932,
    },
}
"""All operations of derivatives with the parameters of the file; for most there is a way by
Christoffel symbols."""

CONTRACTED = {
    UR5: (646, 1074, 555, 983, 1253, 3433),
    PANDA: (1406, 2434, 1272, 2306, 4444, 7449),
}
"""All operations of products with derivatives and contracted second ones, by CONTRACTIONS."""
CONTRACTIONS = (
    "inverse_dynamics_jvp",
    "forward_dynamics_jvp",
    "inverse_dynamics_vjp",
    "forward_dynamics_vjp",
    "inverse_dynamics_hessian",
    "forward_dynamics_hessian",
)

FLOATING = {TALOS: (3561, 3215, 11316, 8176), ANYMAL: (1373, 599, 2324, 2857)}
"""All operations of robots with a floating base: inverse dynamics, mass matrix, C, forward
dynamics."""

SECOND_FACTORIZATION = {UR5: 945, "ur5.urdf": 1031, "panda_arm.urdf": 1737, "snake16.urdf": 8070}
"""All operations of the Coriolis matrix with B = v x* I: one more recursion over composite bodies.
Pair by pair of each body's joints it took 1474, 3048 and 21003
of the last three."""

JACOBIAN_RATES = {"frame_jacobian_dot_aligned": 231, "frame_jacobian_ddot_aligned": 449}
"""All operations for the flange of a UR5."""

HANDS = "tiago_pro_description/robots/tiago_pro.urdf"


def robot(name: str, runtime: bool = False) -> ParametricModel:
    path = ROBOTS / name if (ROBOTS / name).exists() else example_robot(name)
    model = load(path, lock=FINGERS if name == PANDA else ()).model
    return ParametricModel(model, tuple(body.name for body in model.bodies) if runtime else ())


def counted(robot: ParametricModel, quantity: str) -> Counts:
    return trace(robot, FunctionRequest.parse(quantity)).counts


@pytest.mark.parametrize("name", CONSTANT)
def test_constant_parameters(name):
    arm = robot(name)
    totals = {quantity: counted(arm, quantity).total for quantity in COLUMNS}
    allowed = dict(zip(COLUMNS, CONSTANT[name], strict=True))
    assert all(totals[q] <= allowed[q] for q in COLUMNS), f"{totals} exceed {allowed}"


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives(name):
    arm = robot(name)
    totals = {quantity: counted(arm, quantity).total for quantity in DERIVED[name]}
    assert all(totals[q] <= most for q, most in DERIVED[name].items()), (
        f"{totals} exceed {DERIVED[name]}"
    )


@pytest.mark.parametrize("name", CONTRACTED)
def test_contractions(name):
    arm = robot(name)
    totals = tuple(counted(arm, quantity).total for quantity in CONTRACTIONS)
    assert all(t <= most for t, most in zip(totals, CONTRACTED[name], strict=True)), (
        f"{totals} exceed {CONTRACTED[name]}"
    )


@pytest.mark.parametrize("name", FLOATING)
def test_floating_bases(name):
    free = ParametricModel(load(example_robot(name), base="floating").model)
    quantities = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "forward_dynamics")
    totals = tuple(counted(free, quantity).total for quantity in quantities)
    assert all(t <= most for t, most in zip(totals, FLOATING[name], strict=True)), (
        f"{totals} exceed {FLOATING[name]}"
    )


@pytest.mark.parametrize("name", RUNTIME)
def test_runtime_parameters(name):
    arm = robot(name, runtime=True)
    found = [counted(arm, quantity) for quantity in ("inverse_dynamics", "mass_matrix")]
    totals = tuple(c.mul + c.add for c in found)
    assert all(t <= most for t, most in zip(totals, RUNTIME[name], strict=True)), (
        f"{totals} exceed {RUNTIME[name]}"
    )


@pytest.mark.parametrize("name", SECOND_FACTORIZATION)
def test_the_second_coriolis_matrix(name):
    total = counted(robot(name), "coriolis_matrix_newton_euler").total
    assert total <= SECOND_FACTORIZATION[name]


@pytest.mark.parametrize("name", JACOBIAN_RATES)
def test_rates_of_a_jacobian(name):
    assert counted(robot("ur5.urdf"), f"{name}:flange").total <= JACOBIAN_RATES[name]


def test_counting_twice_gives_the_same_program():
    first, second = (
        trace(robot("rx90.urdf"), FunctionRequest.parse("bias")).program for _ in range(2)
    )
    assert first.nodes == second.nodes and first.outputs == second.outputs


def test_hands_whose_fingers_follow_have_one_momentum_for_a_coordinate():
    hands = robot(HANDS)  # 3808 and 7672 with one momentum a body
    totals = tuple(
        counted(hands, quantity).total for quantity in ("mass_matrix", "forward_dynamics")
    )
    assert totals[0] <= 2370 and totals[1] <= 6234


def test_inverse_kinematics():
    """Of a UR5, as counted when it was written; the solution takes its iterations and two more
    evaluations of the pose."""
    arm = robot("ur5.urdf")
    most = {
        "inverse_kinematics_step": 805,
        "inverse_kinematics": 5372,  # 26 of them are its status
        "pose_error": 180,
        "singularity_distance": 541,
        "inverse_kinematics_status": 684,
    }
    counts = {name: counted(arm, f"{name}:flange").total for name in most}
    assert all(counts[name] <= most[name] for name in most), counts


FEATURES = {
    "a vehicle in water": (
        {"source": "rov.sdf", "base": "floating", "fluid": True},
        {
            "inverse_dynamics": 220,
            "forward_dynamics": 219,
            "inverse_dynamics_derivatives": 384,
            "forward_dynamics_derivatives": 507,
            "inverse_dynamics_vjp": 372,
            "forward_dynamics_vjp": 371,
            "step_jacobians:euler": 1586,
            "coriolis_force": 78,
            "joint_wrench:floating_base": 220,
            "gravity_compensation": 166,
            "computed_torque": 610,
            "joint_impedance": 734,
            "momentum_observer": 555,
            "kinetic_energy": 46,
            "potential_energy": 13,
        },
    ),
    "a stance foot": (
        {"source": "quadruped.urdf", "reroot": "fl_foot", "gravity": (0, 0, -9.81)},
        {"inverse_dynamics": 887, "mass_matrix": 525, "forward_dynamics": 1750},
    ),
    "a floating foot": (
        {"source": "quadruped.urdf", "reroot": "fl_foot", "base": "floating"},
        {"inverse_dynamics": 1171, "mass_matrix": 941, "forward_dynamics": 2620},
    ),
    "an arm on its flange": (
        {"source": "ur5.urdf", "reroot": "link6", "gravity": (0, 0, -9.81)},
        {"inverse_dynamics": 299, "mass_matrix": 143, "base_regressor": 636},
    ),
    "wrenches in joints": (
        {"source": "ur5.urdf"},
        {
            "joint_wrenches": 467,
            "joint_wrench:joint3": 374,
            "joint_wrench_aligned:joint3": 406,
            "joint_wrench_regressor:joint3": 800,
            "coriolis_force": 264,
        },
    ),
    "a kept fixed joint": (
        {"source": "ur5.urdf", "keep_fixed": ("flange_joint",)},
        {"inverse_dynamics": 315},
    ),
}
"""All operations of robots with some options, as counted when they were written."""


@pytest.mark.parametrize("name", FEATURES)
def test_features(name):
    options, most = FEATURES[name]
    given = {k: x for k, x in options.items() if k != "source"}
    job = Job.of(str(ROBOTS / str(options["source"])), **given)
    one = job.robot(job.load())
    counts = {quantity: counted(one, quantity).total for quantity in most}
    assert all(counts[quantity] <= most[quantity] for quantity in most), counts
