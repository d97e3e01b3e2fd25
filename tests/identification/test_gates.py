"""Channels that are not what they are taken for: each bad log ends in a sentence with its cure."""

import json
from functools import cache

import numpy as np
import pytest

from benchmarks.simulated_logs import Recipe, simulated, write
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

ARM = robot_file("ur5")
JOINTS = tuple(f"joint{k}" for k in range(1, 7))


@cache
def good():
    """Ten seconds at 200 Hz with friction and 1 % noise, without accelerations."""
    job = Job.of(ARM, friction="runtime:viscous,coulomb")
    rubbing = {f"viscous {j}": 3.0 for j in JOINTS} | {f"coulomb {j}": 4.0 for j in JOINTS}
    return simulated(job, job.load(), Recipe(duration=10.0, rate=200.0, friction=rubbing), False)


def of(*groups):
    return {f"{g}_{j}": good()[f"{g}_{j}"] for g in groups for j in JOINTS}


def exchanged(a, b, *groups):
    pairs = [(f"{g}_{a}", f"{g}_{b}") for g in groups]
    return {p: good()[q] for pair in pairs for p, q in (pair, pair[::-1])}


AMPERES = {
    f"tau_{j}": good()[f"tau_{j}"] / k
    for j, k in zip(JOINTS, (12.6, 12.6, 12.6, 9.3, 9.3, 9.3), strict=True)
}
BAD = {
    "amperes": (
        AMPERES,
        "of 5 joints are 0.0792 to 0.109 times the prediction from the robot file",
    ),
    "milli": ({n: 1e3 * x for n, x in of("tau").items()}, "give --unit tau=mNm"),
    "sign of the first": ({"tau_joint1": -good()["tau_joint1"]}, "--scale tau_joint1=-1"),
    "sign of the third": ({"tau_joint3": -good()["tau_joint3"]}, "--scale tau_joint3=-1"),
    "sign of the last": ({"tau_joint6": -good()["tau_joint6"]}, "--scale tau_joint6=-1"),
    "exchanged": (
        exchanged("joint2", "joint3", "tau"),
        "--column tau_joint2=tau_joint3 --column tau_joint3=tau_joint2",
    ),
    "one in another unit": (
        {"tau_joint3": 1e3 * good()["tau_joint3"]},
        "--scale tau_joint3=0.001",
    ),
    "late": ({n: np.roll(x, 4) for n, x in of("tau").items()}, "ms after the motion"),
    "early": ({n: np.roll(x, -2) for n, x in of("tau").items()}, "ms before the motion"),
    "sign of a position": (
        {"q_joint2": -good()["q_joint2"], "qd_joint2": -good()["qd_joint2"]},
        "--scale q_joint2=-1 --scale qd_joint2=-1",
    ),
    "positions exchanged": (
        exchanged("joint2", "joint3", "q", "qd"),
        "--column q_joint2=q_joint3 --column q_joint3=q_joint2",
    ),
}


def identified(folder, columns, *options):
    write(folder / "log.csv", columns)
    return invoke("identify", ARM, folder / "log.csv", "--friction", "viscous,coulomb", *options)


def test_a_good_log_is_not_suspected(tmp_path):
    done = identified(tmp_path, good())
    assert done.exit_code == 0 and "warning" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", BAD)
def test_a_bad_channel_is_told_with_its_cure(tmp_path, name):
    changes, said = BAD[name]
    done = identified(tmp_path, {**good(), **changes})
    assert "log.csv: warning: " in done.stderr and said in done.stderr, done.output


@pytest.mark.parametrize("name", ["sign of the third", "exchanged", "milli", "late"])
def test_the_cure_cures(tmp_path, name):
    changes, said = BAD[name]
    cure = ["--delay", "0.02"] if name == "late" else said.removeprefix("give ").split()
    done = identified(tmp_path, {**good(), **changes}, "--json", *cure)
    assert done.exit_code == 0 and "warning" not in done.stderr, done.stderr
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        if not parameter.startswith(("viscous", "coulomb")):
            error = max(row["standard_error"], 0.01 * abs(row["prior"]))
            assert abs(row["estimate"] - row["prior"]) < 6 * error, parameter


def test_a_dead_channel_is_refused(tmp_path):
    done = identified(tmp_path, {**good(), "tau_joint4": np.full(2000, 0.25)})
    assert done.exit_code == 2 and done.stdout == ""
    assert "'tau_joint4' is 0.25 in every row: the sensor is defective, or" in done.stderr


def test_an_encoder_that_stands_still_is_told(tmp_path):
    still = {"q_joint6": np.full(2000, 0.5), "qd_joint6": np.zeros(2000)}
    done = identified(tmp_path, {**good(), **still})
    assert done.exit_code == 2
    assert "'q_joint6' is 0.5 in every row: the joint does not move, or its" in done.stderr


def test_a_saturated_sensor_is_told_and_its_rows_left_out(tmp_path):
    top = 0.8 * np.abs(good()["tau_joint2"]).max()
    clipped = {"tau_joint2": np.clip(good()["tau_joint2"], -top, top)}
    done = identified(tmp_path, {**good(), **clipped}, "--json")
    assert done.exit_code == 0, done.output
    count = int((np.abs(clipped["tau_joint2"]) == top).sum())
    assert f"'tau_joint2' is saturated: {count} rows stay at" in done.stderr
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        if not parameter.startswith(("viscous", "coulomb")):
            assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], parameter


def test_positions_in_degrees_are_found_out_by_the_forces(tmp_path):
    """Without velocities and limits nothing else tells."""
    columns = {n: x for n, x in good().items() if not n.startswith("qd")}
    columns |= {n: np.degrees(x) for n, x in of("q").items()}
    done = identified(tmp_path, columns, "--trust-units")
    assert "give --unit q=deg" in done.stderr, done.output
