"""Cassie of the package example-robot-data: a floating base and four loops, of which two have no
closed form."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.kinematic_loop import as_number
from symgen.numbers.scalar import plain
from symgen.reading.assemble import load
from tests.support.oracles import oracle

pinocchio = oracle("pinocchio")
LOOPS = [f'name="{side}-pitch-rod-joint", newton=true' for side in ("left", "right")]
SNAP = 1e-3


@cache
def file() -> Path:
    """The file of the package; skips the test without it."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        listed = []
    found = [Path(str(x.locate())) for x in listed if x.name == "cassie_v2.sdf"]
    if not found:
        pytest.skip("example-robot-data is not installed")
    return found[0]


@cache
def robot() -> symgen.Robot:
    return symgen.Robot(file(), base="floating", loop=LOOPS, snap_angles=SNAP)


@cache
def forward_dynamics() -> Any:
    return robot().trace("forward_dynamics")


def snapped(match: re.Match[str]) -> str:
    angles = [float(x) for x in match[1].split()]
    right = [round(x / (pi / 2)) * (pi / 2) for x in angles]
    pairs = zip(angles, right, strict=True)
    return f'rpy="{" ".join(repr(b if abs(a - b) <= SNAP else a) for a, b in pairs)}"'


def tree(folder: Path) -> Any:
    """The open tree in Pinocchio, with the angles rounded as in symgen."""
    symgen.Robot(file(), base="fixed").write_urdf(folder / "tree.urdf")
    text = (folder / "tree.urdf").read_text(encoding="utf-8")
    text = re.sub(r"<loop .*?</loop>|<dynamics [^>]*/>", "", text, flags=re.DOTALL)
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    text = text.replace('type="continuous">', f'type="revolute">{limit}')
    text = re.sub(r'rpy="([^"]*)"', snapped, text)
    return pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())


def test_accelerations_are_those_of_pinocchios_constrained_dynamics(tmp_path: Path) -> None:
    """With μ > 0 and all twelve equations, of which ten are independent; and the projection of the
    open tree. The points of one loop are 2e-8 m apart along its normal in the file, and coincide
    here."""
    model, other = robot().model, tree(tmp_path)
    coupling, rng, data = coupling_of(model), np.random.default_rng(1), other.createData()
    joints, names = [*other.names][2:], [body.joint.name for body in model.bodies]
    q = coupling.normalized(rng.uniform(-0.4, 0.4, coupling.positions).tolist())
    qd, tau = rng.normal(size=18), 10 * rng.normal(size=18)
    at, x = coupling.at(q, qd.tolist())
    order = sorted(range(6), key=lambda k: coupling.drives[k].velocity_index)
    order += [names.index(name) for name in joints]
    place = np.array([*q[:7], *(as_number(x[names.index(name)]) for name in joints)])
    rates = np.array([plain(r) for r in at.body_rates(qd.tolist())])[order]
    g, k = at.velocity_matrix[order], np.array([plain(r) for r in at.rest])[order]
    forces = np.zeros(len(names))
    for i, drive in enumerate(coupling.drives):
        forces[i] = 0.0 if drive.follows or not drive.terms else tau[drive.velocity_index]
    forces = forces[order]
    (found,) = forward_dynamics().run(q=q, qd=qd.tolist(), tau=tau.tolist()).values()
    qdd = g @ np.array([float(a) for a in found]) + k

    m = pinocchio.crba(other, data, place)
    m = np.triu(m) + np.triu(m, 1).T
    bias = pinocchio.nle(other, data, place, rates)
    reduced = np.linalg.solve(g.T @ m @ g, g.T @ (forces - m @ k - bias))
    wanted = g @ reduced + k
    assert np.abs(qdd - wanted).max() < 1e-12 * np.abs(wanted).max()

    pinocchio.forwardKinematics(other, data, place)
    constraints = pinocchio.StdVec_RigidConstraintModel()
    kind, axes = pinocchio.ContactType.CONTACT_3D, pinocchio.ReferenceFrame.LOCAL
    for closure in model.closures:
        first, second = (1 if i <= 6 else other.getJointId(names[i - 1]) for i in closure.bodies)
        point = pinocchio.SE3(np.eye(3), np.array(closure.points[0]))
        same = data.oMi[second].actInv(data.oMi[first] * point)
        assert same.translation == pytest.approx(closure.points[1], abs=1e-7)
        ends = first, point, second, pinocchio.SE3(np.eye(3), same.translation)
        constraints.append(pinocchio.RigidConstraintModel(kind, other, *ends, axes))
    workspaces = pinocchio.StdVec_RigidConstraintData()
    workspaces.extend([c.createData() for c in constraints])
    pinocchio.initConstraintDynamics(other, data, constraints, workspaces)
    settings = pinocchio.ProximalSettings(1e-14, 1e-6, 100)
    wanted = pinocchio.constraintDynamics(
        other, data, place, rates, forces, constraints, workspaces, settings
    )
    assert np.abs(qdd - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_coordinates_and_operations() -> None:
    assert (robot().dof, len(robot().positions)) == (18, 25)
    assert forward_dynamics().counts.total <= 7102


def test_notes_give_redundant_equations_and_mobility() -> None:
    messages = [x.message for x in robot().loaded.notices]
    (text, *_) = [x for x in messages if "'left-crank-rod-joint'" in x]
    assert "2 of the 3 equations of its cut joint are independent" in text
    assert "the robot has 18 independent coordinates, and 16 by Grübler's formula" in text


def test_a_loop_without_a_closed_form_names_the_way_out() -> None:
    messages = [x.message for x in load(file(), base="fixed").notices if x.level == "warning"]
    assert any("""--loop 'name="left-pitch-rod-joint", newton=true'""" in x for x in messages)
