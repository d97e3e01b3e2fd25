"""Several robots of one type: the bodies in common, friction and offsets of each."""

import json

import numpy as np
import pytest

import symgen
from benchmarks.simulated_logs import Motion, Recipe, simulated
from symgen.cli.identify import write_identification
from symgen.cli.options import named_logs
from symgen.errors import OptionError
from symgen.identification.estimation.log_groups import EliminatedColumns, means
from symgen.identification.estimation.triangular_factors import TriangularFactors, triangle
from symgen.identification.report.identification_report import tables
from symgen.identification.report.shaping import OutputRequest, estimate_outputs
from symgen.jobs.job import Job

ROBOT = "robots/scara.urdf"
JOB = Job.of(ROBOT)
LOADED = JOB.load(every_motor=True)
NAMES = LOADED.model.joint_names
LAWS = "viscous,coulomb,offset"
FACTORS = {"left": 0.6, "middle": 1.0, "right": 1.7}
"""The friction of each robot by 3 N m s/rad and 2 N m."""


@pytest.fixture(scope="module")
def logs():
    """Two logs of each robot, each with offsets of its own; the names are mixed."""
    found = []
    for k, name in enumerate([*FACTORS] * 2):
        log = simulated(JOB, LOADED, Recipe(6.0, 100.0, k, Motion(0.3)))
        for j, joint in enumerate(NAMES):
            rate = log[f"qd_{joint}"]
            log[f"tau_{joint}"] += FACTORS[name] * (3 * rate + 2 * np.sign(rate)) + 0.3 * (k + j)
        found.append((name, log))
    return found


@pytest.fixture(scope="module")
def found(logs):
    names, tables = zip(*logs, strict=True)
    return symgen.Robot(ROBOT).identify([*tables], robots=names, friction=LAWS, held_out=0.0)


def test_each_robot_has_its_own_friction_within_its_errors(found):
    assert [*found.robots] == [*FACTORS]
    off = []
    for name, robot in found.robots.items():
        for joint in NAMES:
            for law, size in (("viscous", 3), ("coulomb", 2)):
                key = f"{law} {joint}"
                error = robot.standard_errors[key]
                assert error < 0.1 * size
                off.append((robot.parameters[key] - FACTORS[name] * size) / error)
    assert np.max(np.abs(off)) < 4


def test_the_bodies_are_common_and_those_of_the_simulation(found):
    b = len(found.result.estimate.mapping)
    truth = found.result.estimate.mapping.base(found.result.estimate.mapping.prior)
    for robot in found.robots.values():
        np.testing.assert_array_equal(robot.result.estimate.base, found.result.estimate.base)
        np.testing.assert_allclose(
            robot.result.estimate.standard_errors[:b],
            found.result.estimate.standard_errors[:b],
            rtol=1e-6,
        )
    errors = found.result.estimate.standard_errors[:b]
    assert (np.abs(found.result.estimate.base - truth) < 4 * errors).all()


def test_ratios_are_those_of_the_friction(found):
    mean = np.mean([*FACTORS.values()])
    for name, robot in found.robots.items():
        np.testing.assert_allclose(robot.result.friction_ratios, FACTORS[name] / mean, rtol=0.1)


def test_own_friction_leaves_the_noise(found):
    for robot in found.robots.values():
        assert all(c.residual_rms < 0.02 * c.measured_rms for c in robot.result.estimate.channels)


def test_the_default_laws_are_selected_for_all_robots(logs):
    names, tables = zip(*logs, strict=True)
    found = symgen.Robot(ROBOT).identify([*tables], robots=names)
    shapes = [robot.result.estimate.shapes for robot in found.robots.values()]
    assert shapes[0] == shapes[1] == shapes[2] and any(shapes[0])
    ratios = [robot.result.friction_ratios for robot in found.robots.values()]
    assert (np.diff(ratios, axis=0) > 0).all()


def test_elimination_of_two_levels_is_least_squares_with_all_unknowns():
    """Logs have an unknown of their own (column 3), robots two (columns 1 and 2)."""
    random, support = np.random.default_rng(2), ((0, 1, 2, 3),)
    robots, count, size = 2, 2, 30
    a = random.normal(size=(robots, count, size, 4))
    y = random.normal(size=(robots, count, size)) + np.arange(robots)[:, None, None]
    parts, offsets, own = [], [], []
    for of_robot, measured in zip(a, y, strict=True):
        logs, levels = [], []
        for rows, values in zip(of_robot, measured, strict=True):
            factors = TriangularFactors((size,), (triangle(np.column_stack([rows, values])),))
            logs.append(EliminatedColumns.of(factors, support, {0: (3,)}, (), 4))
            levels.append(logs[-1].without(factors, support))
        total = levels[0].combined(levels[1])
        own.append(EliminatedColumns.of(total, support, {0: (1, 2)}, (), 4))
        parts += [own[-1].without(level, support) for level in levels]
        offsets += [log.given(own[-1]) for log in logs]
    mean = means(offsets, support).combined(means(own, support))
    assert mean.rows == (-3 - 2,)
    factors = np.concatenate([part.factors[0] for part in (*parts, mean)])
    values = np.linalg.lstsq(factors[:, :4], factors[:, 4], rcond=None)[0]
    wide = np.zeros((robots, count, size, 1 + 4 + 4))
    wide[..., 0] = a[..., 0]
    for r in range(robots):
        wide[r, :, :, 1 + 2 * r : 3 + 2 * r] = a[r, :, :, 1:3]
        for k in range(count):
            wide[r, k, :, 5 + 2 * r + k] = a[r, k, :, 3]
    direct = np.linalg.lstsq(wide.reshape(-1, 9), y.ravel(), rcond=None)[0]
    assert values[0] == pytest.approx(direct[0], rel=1e-10)
    for r in range(robots):
        rows = own[r].projections[0]
        np.testing.assert_allclose(
            rows[:, -1] - rows[:, 0] * values[0], direct[1 + 2 * r : 3 + 2 * r]
        )
    squares = np.square(a).sum(axis=2).reshape(-1, 4)[:, 3]
    assert values[3] == pytest.approx(direct[5:] @ squares / squares.sum(), rel=1e-10)


def test_the_generated_code_has_the_friction_of_its_robot(found, tmp_path):
    model = tmp_path / "model.toml"
    model.write_bytes(found.robots["right"].model)
    robot = symgen.compile(ROBOT, "inverse_dynamics", estimate=str(model))
    rest, slow = np.zeros((2, len(NAMES)))
    slow[0] = 1.0
    forces = [robot.inverse_dynamics(rest, rate, rest)[0] for rate in (rest, slow)]
    assert forces[1] - forces[0] == pytest.approx(5 * FACTORS["right"], rel=0.1)


def test_the_command_writes_a_folder_for_each_robot(found, tmp_path):
    request, silent = OutputRequest(folder=tmp_path), lambda step: None
    extra = estimate_outputs(request, found.job, found.loaded, found.result, silent)
    write_identification(found.result, tmp_path, extra, kind="")
    listing = json.loads((tmp_path / "identification.json").read_text())
    assert [*listing["robots"]] == [*FACTORS]
    for name, robot in listing["robots"].items():
        own = json.loads((tmp_path / name / "identification.json").read_text())
        assert own["parameters"] == robot["parameters"]
        assert (tmp_path / name / "model.toml").read_bytes() == found.robots[name].model
    titles = [table.title for table in tables(found.result)]
    assert "Errors of 3 robots, which have the bodies in common" in titles


def test_names_are_given_for_every_log_or_for_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert named_logs(["a=x.csv", "b=logs"]) == (["x.csv", "logs"], ["a", "b"])
    assert named_logs(["x.csv", "s3://bucket/a=b"]) == (["x.csv", "s3://bucket/a=b"], [])
    (tmp_path / "a=x.csv").touch()
    assert named_logs(["a=x.csv"]) == (["a=x.csv"], [])
    with pytest.raises(OptionError, match=r"y.csv: give the name of the robot"):
        named_logs(["b=x.csv", "y.csv"])
