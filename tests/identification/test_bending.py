"""Crosstalk of torque sensors: moments across an axis against Pinocchio, and found in a log."""

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Recipe, exact, moved, write
from symgen.identification.data.samples import Samples
from symgen.identification.estimation.run import identify
from symgen.identification.model.cross_axis_moments import bending
from symgen.identification.model.problem import problem, without_drives
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job

AXES = ("0 0 1", "0.6 0.8 0", "0 -1 0")
NAMES = ("a", "b", "c")
RECIPE = Recipe(duration=10.0, rate=200.0, seed=2, motion=Motion(frequency=0.2, reach=0.9))


def arm():
    """Three joints that turn, one of them about an oblique axis."""
    links = "".join(
        f'<link name="l{k}"><inertial><origin xyz="0.1 {0.05 * k} 0.{k}"/><mass value="{4 - k}"/>'
        f'<inertia ixx="0.1" iyy="0.12" izz="0.05" ixy="0.01" ixz="0" iyz="0.002"/></inertial></link>'
        f'<joint name="{name}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/>'
        f'<origin xyz="0.1 0 0.3" rpy="0.1 {0.2 * k} 0"/><axis xyz="{axis}"/>'
        '<limit lower="-2" upper="2" velocity="3" effort="100"/></joint>'
        for k, (name, axis) in enumerate(zip(NAMES, AXES, strict=True), 1)
    )
    return f'<robot name="arm"><link name="l0"/>{links}</robot>'


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(arm(), encoding="utf-8")
    job = Job.of(str(path))
    return job, job.load()


def across(pin, q, qd, qdd):
    """Moments (N x 3 x 2) by Pinocchio: what each joint carries, about two directions across its
    axis that the link before it keeps."""
    model = pin.buildModelFromXML(arm())
    data, found = model.createData(), []
    for state in zip(q, qd, qdd, strict=True):
        pin.rnea(model, data, *state)
        row = []
        for i, text in enumerate(AXES, 1):
            axis = np.array([float(x) for x in text.split()])
            turned = (model.jointPlacements[i].inverse() * data.liMi[i]).rotation
            first = np.eye(3)[int(np.argmin(np.abs(axis)))]
            first = (first - (first @ axis) * axis) / np.linalg.norm(first - (first @ axis) * axis)
            moment = turned @ data.f[i].angular
            row.append([first @ moment, np.cross(axis, first) @ moment])
        found.append(row)
    return np.array(found)


def test_moments_across_axes_are_those_of_pinocchio(robot):
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    job, loaded = robot
    random = np.random.default_rng(0)
    q, qd, qdd = random.uniform(-2, 2, (3, 20, 3))
    sought = problem(job, loaded, Settings())
    made = bending(without_drives(job), loaded, sought.mapping.prior)
    samples = Samples.of(np.arange(20.0), q, qd, qdd, 0 * q)
    assert made(samples, q) == pytest.approx(across(pin, q, qd, qdd), abs=1e-10)


@pytest.mark.parametrize("friction", ["viscous,crosstalk_x,crosstalk_y", "auto"])
def test_crosstalk_is_found_where_it_is(robot, tmp_path, friction):
    """Asked for, and with automatic friction, which has it at every joint, held to a size that is
    found: what is not there stays near 0, and no other term is taken for it."""
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    job, loaded = robot
    t = np.arange(round(RECIPE.duration * RECIPE.rate)) / RECIPE.rate
    q, qd, qdd = moved(loaded.model, RECIPE, t)
    tau = exact(job, loaded, RECIPE, q, qd, qdd)
    tau[:, 0] += 0.04 * across(pin, q, qd, qdd)[:, 0, 0]
    tau += np.random.default_rng(1).normal(size=tau.shape) * 0.01 * tau.std(0)
    columns = {"t": t}
    for prefix, rows in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau)):
        columns |= {f"{prefix}_{name}": x for name, x in zip(NAMES, rows.T, strict=True)}
    write(tmp_path / "log.npz", columns)
    found = identify(job, loaded, str(tmp_path / "log.npz"), Settings(friction=friction))
    names = found.estimate.names
    if friction == "auto":
        taken = {(trial.joint, trial.term) for trial in found.choice.trials if trial.taken}
        assert taken == set()
        (size,) = [x for name, x in found.choice.scales if name == "crosstalk"]
        assert 0.01 < size < 0.5 and any("crosstalk" in note for note in found.notes)
        none = [k for k, name in enumerate(names) if name in ("crosstalk_x b", "crosstalk_y c")]
        assert len(none) == 2 and np.abs(found.estimate.values[none]).max() < 0.01
    k = names.index("crosstalk_x a")
    assert abs(found.estimate.values[k] - 0.04) < 4 * found.estimate.standard_errors[k] < 0.02


def test_currents_do_not_feel_moments_across_axes(robot):
    job, loaded = robot
    assert problem(job, loaded, Settings()).bending is not None
    currents = Settings(torque_constant=tuple((name, 1.0) for name in NAMES))
    assert problem(job, loaded, currents).bending is None
