"""Free space of exciting motions: Pinocchio's kinematics and distances, at times between those that
symgen checks."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from symgen.identification.excitation.clearance import clearance, half_steps
from symgen.identification.excitation.motion_limits import ExcitationPlan
from symgen.jobs.job import Job
from symgen.reading.options import SourceOptions
from symgen.reading.visual_shapes import COLLISION, shapes
from symgen.tracing.robot import ParametricModel
from tests.support.excited import run
from tests.support.tools import robot_file

LINK = """<link name="{name}"><inertial><origin xyz="0.25 0 0"/><mass value="1"/>
 <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
 <collision><origin xyz="{x} 0 0" rpy="{turn}"/><geometry>{shape}</geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
 <origin xyz="{x} 0 0"/><axis xyz="{axis}"/><limit lower="-2.6" upper="2.6" effort="60" velocity="4"/>
 </joint>"""
LINKS = (
    ("base", -0.05, "0 0 0", '<box size="0.1 0.2 0.1"/>'),
    ("one", 0.25, "0 1.5707963267948966 0", '<cylinder radius="0.04" length="0.4"/>'),
    ("two", 0.25, "0 1.5707963267948966 0", '<cylinder radius="0.05" length="0.3"/>'),
    ("three", 0.2, "0 0 0", '<box size="0.3 0.06 0.06"/>'),
)
JOINTS = (
    ("a", "base", "one", 0.1, "0 0 1"),
    ("b", "one", "two", 0.5, "0 0 1"),
    ("c", "two", "three", 0.5, "0 0.6 0.8"),
)
ARM = "".join(
    [
        '<robot name="folding">',
        *(LINK.format(name=n, x=x, turn=turn, shape=shape) for n, x, turn, shape in LINKS),
        *(
            JOINT.format(name=n, parent=parent, child=child, x=x, axis=axis)
            for n, parent, child, x, axis in JOINTS
        ),
        "</robot>",
    ]
)
QUICK = ("--budget", "40", "--harmonics", "3", "--period", "4", "--rate", "250")
QUICKER = ("--budget", "8", *QUICK[2:])
"""Distances between links take much time."""


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "folding.urdf"
    path.write_text(ARM)
    return str(path)


def motion(file, folder, *options, quick=QUICK):
    """Positions of the motion and of the straight approach from its centre (the mean of a period),
    at times between those of the file too."""
    result = run(file, "-o", folder / "m.csv", *quick, *options)
    assert result.exit_code == 0, result.output
    rows = np.loadtxt(folder / "m.csv", delimiter=",", skiprows=1)
    n = (rows.shape[1] - 1) // 3
    q = rows[:, 1 : 1 + n]
    between = (q + np.roll(q, -1, axis=0)) / 2
    approach = q.mean(axis=0) + np.linspace(0, 1, 50)[:, None] * (q[0] - q.mean(axis=0))
    return q, np.vstack([approach, q, between]), result.output


def heights(file, q, link):
    """The positions of a link's origin by Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(file))
    data, frame = model.createData(), model.getFrameId(link)
    out = []
    for x in q:
        pin.framesForwardKinematics(model, data, x)
        out.append(data.oMf[frame].translation.copy())
    return np.array(out)


POSTURE = {"joint2": -1.6, "joint3": 1.5}
AROUND = [word for name, x in POSTURE.items() for word in ("--around", f"{name}={x}")]


def test_a_ur_keeps_above_its_table_around_a_posture(tmp_path):
    file = robot_file("ur5")
    q, whole, said = motion(file, tmp_path, *AROUND, "--keep-above", "0.3")
    for name, value in POSTURE.items():
        assert abs(q.mean(axis=0)[int(name[-1]) - 1] - value) < 1e-9
    for link in ("link3", "link4", "link5", "link6", "flange"):
        assert heights(file, whole, link)[:, 2].min() > 0.3
    assert "not checked: link1, link2." in said  # the shoulder stays at its height
    free, _, _ = motion(file, tmp_path, *AROUND)
    assert min(heights(file, free, link)[:, 2].min() for link in ("link3", "link4")) < 0.3


def test_a_ur_stays_in_a_box(tmp_path):
    file = robot_file("ur5")
    box = np.array([-0.6, 0.6, -0.7, 0.7, 0.05, 1.2])
    text = ",".join(map(str, box))
    _, whole, _ = motion(file, tmp_path, *AROUND, "--workspace", text)
    for link in ("link3", "link4", "link5", "link6", "flange"):
        at = heights(file, whole, link)
        assert (at > box[::2]).all() and (at < box[1::2]).all()


def distances(file, q):
    """The least distance of links that are no neighbours, by Pinocchio's geometry."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(file))
    geometry = pin.buildGeomFromUrdf(model, str(file), pin.GeometryType.COLLISION)
    order = [name for name, *_ in LINKS]
    places = [order.index(g.name.rpartition("_")[0]) for g in geometry.geometryObjects]
    for i in range(len(places)):
        for j in range(i):
            if abs(places[i] - places[j]) > 1:
                geometry.addCollisionPair(pin.CollisionPair(j, i))
    data, found = model.createData(), pin.GeometryData(geometry)
    least = []
    for x in q:
        pin.computeDistances(model, data, geometry, found, x)
        least.append(min(r.min_distance for r in found.distanceResults))
    return min(least)


def test_links_keep_their_distance(arm, tmp_path):
    pytest.importorskip("coal")
    folded = ("--around", "b=2.2", "--around", "c=2.0")
    _, whole, said = motion(arm, tmp_path, *folded, "--self-clearance", "0.12", quick=QUICKER)
    assert distances(arm, whole) > 0.12
    assert "stay in the free space" in said
    _, free, _ = motion(arm, tmp_path, *folded, quick=QUICKER)
    assert distances(arm, free) < 0.12


REFUSED = {
    "--around elbow: no joint is called so": ("--around", "elbow=1"),
    "--around b=2.6: the position must be between the limits -2.34": ("--around", "b=2.6"),
    "--workspace '1,2,3': give X0,X1,Y0,Y1,Z0,Z1 in m": ("--workspace", "1,2,3"),
    "the box is empty": ("--workspace", "1,0,0,1,0,1"),
    "--self-clearance -1: give a distance in m from 0 to 10": ("--self-clearance", "-1"),
    "the posture of --around leaves the free space by": (
        *("--around", "b=2.3", "--around", "a=0.1"),
        *("--workspace", "-2,2,-2,0.1,-2,2"),
    ),
    "m outside the box); give another posture": (
        *("--around", "b=2.3", "--around", "a=0.1", "--workspace", "-2,2,-2,0.1,-2,2"),
    ),
    "m apart); give another posture": (
        *("--around", "b=2.3", "--around", "c=2.3", "--self-clearance", "0.9"),
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_it_refuses(said, arm, tmp_path):
    result = run(arm, "-o", tmp_path / "m.csv", *QUICK, *REFUSED[said])
    assert result.exit_code == 2 and said in result.output, result.output
    assert result.output.count("\n") <= 2 and not (tmp_path / "m.csv").exists()


def test_a_missing_package_or_geometry_is_one_sentence(arm, tmp_path, monkeypatch):
    scara = robot_file("scara")
    pytest.importorskip("coal")
    result = run(scara, "-o", tmp_path / "m.csv", *QUICK, "--self-clearance", "0.01")
    assert result.exit_code == 2 and "collision geometry for less than two links" in result.output
    monkeypatch.setitem(sys.modules, "coal", None)
    result = run(arm, "-o", tmp_path / "m.csv", *QUICK, "--self-clearance", "0.01")
    assert result.exit_code == 2 and "needs coal; install it: pip install coal" in result.output


def test_the_least_distance_is_that_of_all_times_and_pairs(arm):
    """Times at which links cannot be nearer yet are skipped."""
    pytest.importorskip("coal")
    job = Job.of(arm)
    loaded = job.load()
    found = shapes(loaded.file, job[SourceOptions], COLLISION)
    postures = np.random.default_rng(0).uniform(-2.4, 2.4, (20, 3))
    plan = ExcitationPlan(self_clearance=0.9)
    free = replace(clearance(ParametricModel(loaded.model), found, plan, postures), ignored=set())
    turn = np.linspace(0, 2 * np.pi, 120)[:, None]
    q = 2.0 * np.sin(turn * [1.0, 2.0, 3.0])
    poses = free.poses(q)
    path = free._paths(poses)
    every = [
        free._measured(k, poses, t) - half_steps(path[i])[t] - half_steps(path[j])[t]
        for k, (i, j) in enumerate(free._pairs)
        for t in range(len(q))
    ]
    assert len(every) > 300 and free.nearest(q)[0] == pytest.approx(min(every), rel=1e-9)
    for shape, moved in zip(free.shapes, path, strict=True):
        rows, origin = poses[shape.body]
        at = shape.points @ rows.transpose(0, 2, 1) + origin[:, None]
        step = np.linalg.norm(np.diff(at, axis=0), axis=2).max(axis=1)
        assert (np.diff(moved) >= step - 1e-12).all()
