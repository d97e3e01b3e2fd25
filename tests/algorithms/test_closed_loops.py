"""Robots with closed loops: accelerations of Pinocchio's constrained dynamics, laws of physics, the
references in 75 digits, and operation counts."""

from functools import cache
from math import pi
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.mechanics.coupling import coupling_of
from symgen.proof.laws import LawEvaluator
from symgen.proof.state_generation import with_random_unit_quaternions
from tests.support.constrained import expanded, number
from tests.support.loops import LOOPS, SPATIAL, five_bar, four_bar
from tests.support.open_tree import OpenTree
from tests.support.oracles import oracle

oracle("pinocchio")
STATES = 3
ALL = LOOPS | SPATIAL


@cache
def robot(name: str) -> symgen.Robot:
    return symgen.Robot(four_bar(skew=True) if name == "skew" else ALL[name]())


@cache
def traced(name: str, quantity: str) -> Any:
    return robot(name).trace(quantity)


def states(name: str, count: int = STATES) -> list[dict[str, list[float]]]:
    """Random states at which all loops close."""
    rng, n = np.random.default_rng(3), robot(name).dof
    coupling = coupling_of(robot(name).model)
    rows = []
    for _ in range(count):
        row = {k: rng.normal(size=n).tolist() for k in ("qd", "qdd", "qddd", "dq", "dqd", "dqdd")}
        row |= {k: rng.normal(size=n).tolist() for k in ("dtau", "lam_tau", "lam_qdd")}
        row["tau"] = (5 * rng.normal(size=n)).tolist()
        rows.append(row | {"q": list(coupling.closing_positions(rng.uniform(-2, 2, n).tolist()))})
    return rows


def run(name: str, quantity: str, **inputs: Any) -> list[np.ndarray]:
    function = traced(name, quantity)
    outputs = function.run(**{k: list(inputs[k]) for k in function.inputs})
    return [np.array(list(map(float, outputs[out.name]))) for out in function.quantities[0].outputs]


PLANAR = [name for name in LOOPS if name not in ("four-bar", "engine")]


@pytest.mark.parametrize("name", PLANAR)
def test_accelerations_are_those_of_pinocchios_constrained_dynamics(
    name: str, tmp_path: Path
) -> None:
    """Of the planar loops that `test_mechanisms_of_loops` does not have."""
    symgen.Robot(ALL[name](closed=False)).write_urdf(tmp_path / "tree.urdf")
    tree = OpenTree.of(robot(name).model, tmp_path / "tree.urdf")
    for state in states(name):
        at = state["q"], state["qd"], state["tau"]
        wanted, _ = tree.constraint_dynamics(*at)
        (qdd,) = run(name, "forward_dynamics", **state)
        assert np.abs(qdd - wanted).max() <= 1e-9 * np.abs(wanted).max()


@pytest.mark.parametrize("name", [*ALL, "skew"])
def test_both_ends_of_a_loop_move_alike(name: str) -> None:
    """Positions, velocities and accelerations of the two points are equal, in the textbook's
    kinematics of the open tree, which knows nothing of loops."""
    from dataclasses import replace

    from symgen.mechanics.spatial import Vector
    from symgen.numbers.scalar import ZERO
    from symgen.proof.reference_kinematics import (
        JointPositions,
        JointTrajectory,
        body_motions,
        body_poses,
    )
    from symgen.proof.reference_model import reference_model

    model = robot(name).model
    with_loops = reference_model(model, float)
    free = [replace(body, follows=None) for body in model.bodies]
    tree = reference_model(replace(model, bodies=tuple(free), closures=()), float)
    for state in states(name):
        x, rates, g, k = expanded(coupling_of(model), state["q"], state["qd"])
        course = JointTrajectory(
            JointPositions(x.tolist()),
            rates.tolist(),
            (g @ state["qdd"] + k).tolist(),
            Vector(ZERO, ZERO, ZERO),
        )
        poses, motions = body_poses(tree, course.positions), body_motions(tree, course)
        for loop in with_loops.loops:
            points = loop.ends(poses)
            moved = []
            for body, point in zip(loop.bodies, points, strict=True):
                velocity = motions[body].w.cross(point - motions[body].origin)
                velocity = velocity + _velocity_of_origin(tree, poses, rates, body)
                moved.append([*point, *velocity, *motions[body].acceleration(point)])
            first, second = (np.array([float(e) for e in row]) for row in moved)
            assert np.abs(first - second).max() < 1e-13 * max(1.0, np.abs(first).max())


def _velocity_of_origin(tree: Any, poses: Any, rates: np.ndarray, body: int) -> Any:
    from symgen.mechanics.spatial import ZERO_VECTOR

    place = poses[body].origin
    parts = (poses[i].twist(place)[1].scaled(float(rates[i - 1])) for i in tree.path(body))
    return sum(parts, ZERO_VECTOR)


QUANTITIES = (
    *("inverse_dynamics", "mass_matrix", "gravity", "bias", "forward_dynamics"),
    "forward_dynamics_residual",
    *("mass_matrix_inverse", "kinetic_energy", "potential_energy", "com", "com_jacobian"),
    *("momentum", "centroidal_momentum_matrix", "composite_inertia", "regressor"),
    *("momentum_regressor", "base_regressor", "coriolis_matrix", "christoffel_symbols"),
    "coriolis_transpose_product",
    *("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "inverse_dynamics_jvp"),
    *("forward_dynamics_jvp", "inverse_dynamics_vjp", "forward_dynamics_vjp", "gravity_rate"),
    *("mass_matrix_rate", "inverse_dynamics_rate", "mass_matrix_gradient", "gravity_gradient"),
    *("christoffel_symbols_full", "frame_pose:{}", "frame_jacobian_body:{}"),
    *("frame_jacobian_world:{}", "frame_jacobian_rate_aligned:{}", "frame_acceleration_world:{}"),
    *("frame_velocity_body:{}", "frame_acceleration_classical:{}", "mass_matrix_by_parameters"),
)


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", ["bucket", "ankle"])
def test_quantities_equal_the_reference(name: str, quantity: str) -> None:
    """The reference finds positions by Newton's method and rates by least squares, and takes
    derivatives by steps in 75 digits."""
    link = robot(name).model.bodies[3].name
    function = traced(name, quantity.format(link))
    rows = states(name, 2)
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    judge = LawEvaluator(parameters, {k: [row[k] for row in rows] for k in rows[0]})
    wanted = judge.of(function.quantities[0])
    for k, row in enumerate(rows):
        found = run(name, quantity.format(link), **row)
        for out, values in zip(function.quantities[0].outputs, found, strict=True):
            exact = np.array(wanted[out.name][k]).astype(float).reshape(-1)
            assert np.abs(values - exact).max() <= 3e-14 * max(np.abs(exact).max(), 1e-3)


def test_energy_is_kept() -> None:
    """For a second; `benchmarks.loop_energy` has all robots and ten seconds."""
    pytest.importorskip("scipy")
    from benchmarks.loop_energy import motion

    assert motion(robot("four-bar"), seconds=1.0).lost < 1e-10


@pytest.mark.parametrize(
    ("name", "quantity", "operations"),
    [
        ("four-bar", "inverse_dynamics", 407),
        ("four-bar", "mass_matrix", 166),
        ("four-bar", "forward_dynamics", 492),
        ("four-bar", "forward_dynamics_vjp", 1192),
        ("skew", "forward_dynamics", 719),
        ("excavator", "inverse_dynamics", 342),
        ("excavator", "mass_matrix", 123),
        ("excavator", "forward_dynamics", 403),
        ("ankle", "inverse_dynamics", 741),
        ("ankle", "mass_matrix", 394),
        ("ankle", "forward_dynamics", 1051),
        ("3-RRR", "forward_dynamics", 640),
        ("delta", "inverse_dynamics", 960),
        ("delta", "mass_matrix", 814),
        ("delta", "forward_dynamics", 1386),
    ],
)
def test_operations_do_not_rise(name: str, quantity: str, operations: int) -> None:
    assert traced(name, quantity).counts.total <= operations


def test_inertia_of_a_drive_on_a_determined_joint() -> None:
    """The armature of the coupler's joint adds J G_3ᵀ G_3 to M and J G_3ᵀ k_3 to the bias."""
    plain, driven = (symgen.Robot(four_bar(armature=x)) for x in (None, 0.02))
    state = states("four-bar", 1)[0]
    _, _, g, k = expanded(coupling_of(plain.model), state["q"], state["qd"])
    for quantity, wanted in (
        ("mass_matrix", 0.02 * np.outer(g[2], g[2]).ravel()),
        ("bias", 0.02 * g[2] * k[2]),
    ):
        values = []
        for each in (plain, driven):
            function = each.trace(quantity)
            (out,) = function.run(**{name: state[name] for name in function.inputs}).values()
            values.append(np.array([float(x) for x in out]))
        assert values[1] - values[0] == pytest.approx(wanted, abs=1e-14)


def test_assembly_branch() -> None:
    """The two branches mirror the apex of the triangle at the line between its other corners."""
    model = symgen.Robot(five_bar()).model
    other = symgen.Robot(
        LOOPS["five-bar"](closed=False).close(
            "tip",
            "left_rod",
            "right_rod",
            (0.3, 0, 0.05),
            (0.28, 0.02, 0),
            branch=-model.closures[0].branch,
        )
    ).model
    q = coupling_of(model).closing_positions([0.4, -0.6])
    first, second = (
        [number(x) for x in coupling_of(m).body_positions(list(q))] for m in (model, other)
    )
    assert abs(first[1] - second[1]) > 0.1
    assert pi > abs(first[1])


def test_forces_of_springs_on_determined_joints_are_the_gradient_of_their_energy() -> None:
    """∂V/∂q with the spring's energy at the angle of the coupler, which the loop determines."""
    arm = symgen.Robot(four_bar(stiffness=3.0, reference=-0.4), springs=True)
    work = arm.compile("inverse_dynamics", "potential_energy")
    q, h, still = np.array([0.3, 0.4, -0.2]), 1e-6, np.zeros(3)
    slope = [
        (work.potential_energy(q + h * e) - work.potential_energy(q - h * e))[0] / (2 * h)
        for e in np.eye(3)
    ]
    assert work.inverse_dynamics(q, still, still) == pytest.approx(slope, abs=1e-7)
    plain = robot("four-bar").trace("inverse_dynamics").run(q=[*q], qd=[0.0] * 3, qdd=[0.0] * 3)
    assert abs(slope[1] - float(plain["tau"][1])) > 0.1


def test_a_loop_that_leaves_no_joint_is_refused() -> None:
    """Coupler and crank of a four-bar linkage, fixed to each other, make a rigid triangle."""
    bars = LOOPS["one side"](closed=False)
    ends = (0.21, 0, 0), (0.47, 0, 0)
    rigid = bars.close("loop", "crank", "coupler", *ends, joint="fixed", newton=True)
    with pytest.raises(symgen.SymgenError, match="leaves the robot without a joint that can move"):
        symgen.Robot(rigid).trace("gravity")


def test_unreachable_states_give_a_status() -> None:
    """Two rods that are too short to meet: no function that depends on the loop gives numbers."""
    least_squares = "recursive_least_squares"
    compiled = symgen.Robot(five_bar()).compile("inverse_dynamics", "mass_matrix", least_squares)
    assert coupling_of(robot("five-bar").model).sine([pi, 0.0]) == 0.0
    assert np.isfinite(compiled.mass_matrix([0.0, 0.0])).all()
    with pytest.raises(np.linalg.LinAlgError, match="mass_matrix"):
        compiled.mass_matrix([pi, 0.0])
    with pytest.raises(np.linalg.LinAlgError, match="inverse_dynamics"):
        compiled.inverse_dynamics([pi, 0.0], [0.0, 0.0], [0.0, 0.0])
    learning = compiled.recursive_least_squares
    motion, start, variances = np.zeros((3, 2)), np.zeros(7), np.eye(7)[np.tril_indices(7)]
    assert np.isfinite(learning([0.0, 0.0], *motion, start, variances, [0.99])[0]).all()
    with pytest.raises(np.linalg.LinAlgError, match=least_squares):
        learning([pi, 0.0], *motion, start, variances, [0.99])


@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics", "frame_jacobian_body:wrist"]
)
def test_a_loop_on_a_floating_base_equals_the_reference(quantity: str) -> None:
    arm = symgen.Robot(four_bar(), base="floating")
    coupling, rng, n = coupling_of(arm.model), np.random.default_rng(0), arm.dof
    drawn = rng.uniform(-1, 1, coupling.positions).tolist()
    state = {name: rng.normal(size=n).tolist() for name in ("qd", "qdd", "tau")}
    state["q"] = list(with_random_unit_quaternions(coupling, drawn, Random(1)))
    function = arm.trace(quantity)
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    judge = LawEvaluator(parameters, {name: [values] for name, values in state.items()})
    (out,) = function.quantities[0].outputs
    wanted = np.array(judge.of(function.quantities[0])[out.name]).astype(float).ravel()
    (found,) = function.run(**{name: state[name] for name in function.inputs}).values()
    assert [float(x) for x in found] == pytest.approx(wanted, rel=1e-13, abs=1e-14)


CONNECTED = """<mujoco><compiler angle="radian"/><worldbody>
<body name="crank" pos="0 0 0.1"><joint name="a" type="hinge" axis="0 1 0"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.01"/>
<body name="rod" pos="0.2 0 0"><joint name="b" type="hinge" axis="0 1 0" armature="0.01"/>
<inertial pos="0.2 0 0.01" mass="0.7" diaginertia="0.01 0.02 0.01"/></body></body>
<body name="rocker" pos="0.4 0 -0.1" euler="0 0.7 0"><joint name="c" type="hinge" axis="0 -1 0"/>
<inertial pos="0.1 0 0.02" mass="0.9" diaginertia="0.01 0.02 0.01"/></body>
</worldbody><equality><connect name="pin" body1="rod" body2="rocker" anchor="0.3 0 0.1"/></equality>
</mujoco>"""


def test_a_connection_of_mujoco_is_its_tree_projected() -> None:
    """M, bias forces and the two points of the connection by MuJoCo's own tree."""
    mujoco = oracle("mujoco")
    arm, model = symgen.Robot(CONNECTED), mujoco.MjModel.from_xml_string(CONNECTED)
    data, coupling = mujoco.MjData(model), coupling_of(arm.model)
    assert arm.velocities == ("a",)
    for y in (0.0, 0.3, -0.4):
        q, qd = coupling.closing_positions([y]), [1.3]
        x, rates, g, k = expanded(coupling, q, qd)
        links, n = slice(0, 3), model.nv
        data.qpos[:], data.qvel[:] = x[links], rates[links]
        mujoco.mj_forward(model, data)
        ends = [
            data.xpos[int(ids[0])] + data.xmat[int(ids[0])].reshape(3, 3) @ point
            for ids, point in (
                (model.eq_obj1id, model.eq_data[0][:3]),
                (model.eq_obj2id, model.eq_data[0][3:6]),
            )
        ]
        assert np.abs(ends[0] - ends[1]).max() < 1e-12
        full = np.zeros((n, n))
        mujoco.mj_fullM(model, data, full)
        g, k = g[links], k[links]
        for quantity, wanted in (
            ("mass_matrix", g.T @ full @ g),
            ("bias", g.T @ (data.qfrc_bias + full @ k)),
        ):
            function = arm.trace(quantity)
            state = {"q": list(q), "qd": qd}
            (out,) = function.run(**{name: state[name] for name in function.inputs}).values()
            found = np.array([float(v) for v in out])
            assert found == pytest.approx(wanted.ravel(), rel=1e-12, abs=1e-13)


def sliders(carrier: str, closed: bool = True) -> Any:
    """An arm whose end moves two sliding joints: one after the other, or one of them on the arm."""
    made: Any = symgen.Builder("sliders").link("base")
    for name in ("arm", "x", "y"):
        made = made.link(name, 1.0, (0.05, 0.02, 0.0), (0.01, 0.0, 0.0, 0.01, 0.0, 0.012))
    made = made.joint("q", "revolute", "base", "arm", axis=(0, 0, 1))
    made = made.joint("x", "prismatic", "base", "x", axis=(1, 0, 0))
    made = made.joint("y", "prismatic", carrier, "y", axis=(0, 1, 0))
    last, other = ("arm", "y") if carrier == "x" else ("y", "x")
    at = {"at_first": (0.3, 0.0, 0.0), "at_second": (0.0, 0.1, 0.0)}
    return made.close("pin", last, other, **at, dependent=("x", "y")) if closed else made


@pytest.mark.parametrize("carrier", ["x", "arm"])
def test_two_sliding_joints_follow_a_joint_that_turns(carrier: str, tmp_path: Path) -> None:
    arm = symgen.Robot(sliders(carrier))
    symgen.Robot(sliders(carrier, closed=False)).write_urdf(tmp_path / "tree.urdf")
    tree = OpenTree.of(arm.model, tmp_path / "tree.urdf")
    for q, qd, tau in ((0.4, 1.3, 0.2), (-0.9, 0.5, -2.0)):
        gaps, _, _ = tree.rows(tree.positions([q]), np.zeros(3))
        assert np.abs(gaps).max() < 1e-15
        wanted, _ = tree.constraint_dynamics([q], [qd], [tau])
        found = arm.trace("forward_dynamics").run(q=[q], qd=[qd], tau=[tau])["qdd"]
        assert float(found[0]) == pytest.approx(wanted[0], rel=1e-9)


def test_random_states_are_not_beyond_the_place_where_equal_links_fold() -> None:
    """Of a slider-crank with a crank and a rod of 0.2 m: beyond, the slider would stay at 0."""
    made: Any = symgen.Builder("equal").link("base")
    for name in ("crank", "rod", "slider"):
        made = made.link(name, 1.0, (0.1, 0.0, 0.0), (0.01, 0.0, 0.0, 0.01, 0.0, 0.01))
    made = made.joint("a", "revolute", "base", "crank", rpy=(0, 0, 0.5))
    made = made.joint("b", "revolute", "crank", "rod", (0.2, 0, 0), (0, 0, -1.0))
    made = made.joint("s", "prismatic", "base", "slider", (0.4 * np.cos(0.5), 0, 0), axis=(1, 0, 0))
    arm = symgen.Robot(made.close("pin", "rod", "slider", (0.2, 0, 0), (0, 0, 0)))
    coupling = coupling_of(arm.model)
    for q in (-3.0, 1.0, 2.0, 3.0):
        (found,) = coupling.closing_positions([q])
        slide = float(coupling.body_positions([found])[2]) + 0.4 * np.cos(0.5)
        assert slide == pytest.approx(0.4 * np.cos(0.5 + found), abs=1e-12) and slide > 0.01
