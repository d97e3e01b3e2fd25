"""``symgen inspect``: its data against Pinocchio and the compiled functions."""

import json

import numpy as np
import pytest
import sympy

import symgen
from symgen.inspection.robot_report import REASON_MARKS
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.tracing.options import DEFAULT_QUANTITIES
from tests.support.inspected import PENDULUM, data
from tests.support.random_trees import rotation
from tests.support.shell import documented, keys
from tests.support.tools import invoke, robot_file

ROBOTS = ("pendulum", "scara", "ur5", "panda_arm", "quadruped")


robots = pytest.mark.parametrize("name", ROBOTS)


BY_NAME = {"groupings", "links", "parameters", "operations"}
"""Keys of objects from names to values."""


@robots
def test_every_key_is_documented(name):
    assert keys(data(name), BY_NAME) == documented("symgen inspect --json")


def test_the_same_input_gives_the_same_text():
    first, second = (invoke("inspect", PENDULUM, "--json").stdout for _ in range(2))
    assert first == second and first.isascii()


@robots
def test_names_and_tree(name):
    found, model = data(name), symgen.load(robot_file(name)).model
    assert (found["robot"], found["dof"], found["gravity"]) == (
        model.name,
        model.dof,
        [0.0, 0.0, -9.81],
    )
    assert [b["joint"] for b in found["bodies"]] == list(model.joint_names)
    assert [b["index"] for b in found["bodies"]] == list(range(1, model.dof + 1))
    for b, body in zip(found["bodies"], model.bodies, strict=True):
        carrier = model.body(body.parent).name if body.parent else model.base[0].name
        assert (b["name"], b["parent"], b["type"]) == (body.name, carrier, body.joint.kind)
        assert b["unit"] == {"revolute": "rad", "prismatic": "m"}[body.joint.kind]
        assert b["fixed_links"] == [link.name for link in body.links[1:]]
    assert [f["body"] for f in found["canonical_frames"]] == [b["name"] for b in found["bodies"]]


@robots
def test_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    judge = pin.buildModelFromUrdf(robot_file(name))
    seen = judge.createData()
    pin.forwardKinematics(judge, seen, pin.neutral(judge), np.zeros(judge.nv))
    flip = [3, 4, 5, 0, 1, 2]  # Pinocchio has the linear part first
    for b in data(name)["bodies"]:
        k = judge.getJointId(b["joint"])
        inertia = judge.inertias[k].matrix()[np.ix_(flip, flip)]
        assert b["placement"] == pytest.approx(judge.jointPlacements[k].homogeneous, abs=1e-9)
        assert b["transform_from_base"] == pytest.approx(seen.oMi[k].homogeneous, abs=1e-9)
        assert b["spatial_inertia"] == pytest.approx(inertia, abs=1e-9)
        assert b["screw"] == pytest.approx(seen.joints[k].S.ravel()[flip], abs=1e-12)
        assert b["mass"] == pytest.approx(judge.inertias[k].mass, rel=1e-14)
        assert b["center_of_mass"] == pytest.approx(judge.inertias[k].lever, abs=1e-9)


@robots
def test_parameters_are_those_of_the_spatial_inertia(name):
    for b in data(name)["bodies"]:
        ten, matrix = b["parameters"], np.array(b["spatial_inertia"])
        assert list(ten) == list(PARAMETER_NAMES) and (matrix == matrix.T).all()
        assert [matrix[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))] == list(
            ten.values()
        )[4:]
        assert (matrix[3, 3], matrix[2, 4], matrix[0, 5], matrix[1, 3]) == tuple(
            list(ten.values())[:4]
        )
        assert b["pseudo_inertia"] == "definite"


def steps(f):
    """The transform of a row of canonical constants at q = 0."""

    def turn(axis, angle):
        whole = np.eye(4)
        whole[:3, :3] = rotation(np.eye(3)[axis], angle)
        return whole

    def move(axis, length):
        whole = np.eye(4)
        whole[axis, 3] = length
        return whole

    return (
        turn(2, f["gamma"])
        @ move(2, f["b"])
        @ move(0, f["d"])
        @ turn(0, f["alpha"])
        @ turn(1, f["beta"])
        @ turn(2, f["theta0"])
        @ move(2, f["r"])
    )


@robots
def test_canonical_frames_lead_from_joint_axis_to_joint_axis(name):
    """Angle and distance between a joint's axis and its carrier's are those of the placements in
    the file."""
    axes, kinds = {}, {b["name"]: b["type"] for b in data(name)["bodies"]}
    for b, f in zip(data(name)["bodies"], data(name)["canonical_frames"], strict=True):
        place, screw = np.array(b["transform_from_base"]), np.array(b["screw"])
        axes[b["name"]] = place[:3, :3] @ (screw[:3] + screw[3:]), place[:3, 3]
        if b["parent"] in axes:
            at = steps(f)
            (z0, p0), (z1, p1) = axes[b["parent"]], axes[b["name"]]
            assert at[2, 2] == pytest.approx(z0 @ z1, abs=1e-9)
            if (
                b["type"] == kinds[b["parent"]] == "revolute"
            ):  # the axis of a slide has a direction, no place
                ours = apart(np.eye(3)[2], np.zeros(3), at[:3, 2], at[:3, 3])
                assert ours == pytest.approx(apart(z0, p0, z1, p1), abs=1e-9)


def apart(z0, p0, z1, p1):
    """Distance of two lines."""
    across = np.cross(z0, z1)
    size = np.linalg.norm(across)
    return np.linalg.norm(np.cross(p1 - p0, z0)) if size < 1e-6 else abs((p1 - p0) @ across) / size


@pytest.mark.parametrize(("name", "count"), [("ur5", 36), ("panda_arm", 43), ("pendulum", 6)])
def test_base_parameters(name, count):
    base = data(name)["base_parameters"]
    names = [f"{ten}_{k}" for k in range(1, data(name)["dof"] + 1) for ten in PARAMETER_NAMES]
    assert base["count"] == len(base["groupings"]) == count and list(base["parameters"]) == names
    assert base["smallest_kept"] > 1e8 * base["largest_dropped"] >= 0
    used = {str(s) for text in base["groupings"].values() for s in sympy.sympify(text).free_symbols}
    without = {name for name, reason in base["parameters"].items() if reason == "no effect"}
    assert used == set(names) - without
    assert all(reason.startswith(tuple(REASON_MARKS)) for reason in base["parameters"].values())


def test_operations_are_those_of_ops():
    ops = json.loads(invoke("ops", PENDULUM, "--json").stdout)
    assert (
        data("pendulum")["operations"] == ops["quantities"]
        and tuple(ops["quantities"]) == DEFAULT_QUANTITIES
    )


def test_options_shape_the_robot():
    found = json.loads(
        invoke(
            "inspect", robot_file("ur5"), "--json", "--tip", "link3", "--gravity", "runtime"
        ).stdout
    )
    assert (found["dof"], found["gravity"]) == (3, "runtime")
    still = json.loads(invoke("inspect", PENDULUM, "--json", "--gravity", "0,0,0").stdout)
    assert still["base_parameters"]["count"] < 6 and still["gravity"] == [0, 0, 0]
