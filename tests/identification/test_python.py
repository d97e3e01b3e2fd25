"""Identification from Python: logs in memory, and the result as an object."""

import json

import numpy as np
import pytest

import symgen
from benchmarks.simulated_logs import Recipe, simulated, write
from symgen.errors import SymgenError
from symgen.identification.data.open_log import open_log
from symgen.identification.data.text_log import TextLog
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

ARM = robot_file("scara")


@pytest.fixture(scope="module")
def logs():
    """Two logs of a SCARA with friction, at 200 Hz."""
    job = Job.of(ARM, friction="runtime:viscous,coulomb")
    robot = job.load()
    names = robot.model.joint_names
    rubbing = {f"{kind} {j}": 2.0 for kind in ("viscous", "coulomb") for j in names}
    return [
        simulated(job, robot, Recipe(6.0, 200.0, seed, friction=rubbing), False) for seed in (1, 2)
    ]


@pytest.fixture(scope="module")
def found(logs):
    return symgen.Robot(ARM).identify(logs[0], friction="viscous,coulomb")


def test_the_result_of_arrays_is_that_of_the_command(tmp_path, logs, found):
    write(tmp_path / "log.npz", logs[0])
    done = invoke("identify", ARM, tmp_path / "log.npz", "--friction", "viscous,coulomb", "--json")
    assert done.exit_code == 0
    by_name = json.loads(done.stdout)["parameters"]
    assert found.parameters == {name: row["estimate"] for name, row in by_name.items()}


def test_friction_errors_and_covariance(found):
    off = [(x - 2) / found.standard_errors[name] for name, x in found.friction.items()]
    assert len(off) == 8 and np.abs(off).max() < 5
    p = len(found.parameters)
    assert found.covariance.shape == (p, p)
    deviations = np.sqrt(np.diag(found.covariance))
    assert np.allclose(list(found.standard_errors.values()), deviations)


def test_the_model_file_makes_a_robot_that_predicts_as_the_estimate(tmp_path, logs, found):
    (tmp_path / "model.toml").write_bytes(found.model)
    robot, log = symgen.Robot(ARM, estimate=str(tmp_path / "model.toml")), logs[1]
    q, qd, qdd = (
        np.stack([log[f"{x}_{name}"] for name in robot.velocities], -1)[500]
        for x in ("q", "qd", "q")
    )
    compiled = symgen.Robot(ARM).compile("inverse_dynamics", "base_regressor")
    file = compiled.inverse_dynamics(q, qd, qdd)
    values = found.parameters
    base = [value for name, value in values.items() if " " not in name]
    expected = np.asarray(compiled.base_regressor(q, qd, qdd)) @ base
    joints = zip(robot.velocities, qd, strict=True)
    rubbing = [values[f"viscous {n}"] * v + values[f"coulomb {n}"] * np.sign(v) for n, v in joints]
    tau = robot.compile("inverse_dynamics").inverse_dynamics(q, qd, qdd)
    assert np.allclose(tau, expected + rubbing, rtol=1e-9)
    assert not np.allclose(file, expected + rubbing, rtol=1e-3)


def test_another_log_is_predicted(logs, found):
    assert found.score(logs[1]) > 0.999
    prediction = found.predict(logs[1])
    assert prediction["predicted"].shape == prediction["measured"].shape
    assert max(found.errors(logs[1]).values()) < 0.03
    wrong = {**logs[1], **{n: -x for n, x in logs[1].items() if n.startswith("tau")}}
    assert found.score(wrong) < 0


def test_the_urdf_has_the_estimated_base_parameters(tmp_path, found):
    path = tmp_path / "identified.urdf"
    path.write_bytes(found.to_urdf())
    again = symgen.Robot(str(path))
    q = np.full(len(again.velocities), 0.3)
    taus = [
        r.compile("inverse_dynamics").inverse_dynamics(q, q, q) for r in (again, symgen.Robot(ARM))
    ]
    assert np.allclose(*taus, rtol=0.02, atol=0.02)


def test_a_page_and_a_text_show_the_result(found):
    assert "<html" in found._repr_html_() and "residuals" in repr(found)


def test_tables_of_several_kinds_are_read(logs):
    pandas = pytest.importorskip("pandas")
    frame = symgen.read_log(pandas.DataFrame(logs[0]))
    (rows,) = frame.chunks(("t", "q_shoulder"))
    assert np.array_equal(rows[:, 1], logs[0]["q_shoulder"])


def test_arrays_with_two_axes_are_numbered_columns(logs):
    names = symgen.Robot(ARM).velocities
    stacked = {
        g: np.stack([logs[0][f"{g}_{j}"] for j in names], axis=1) for g in ("q", "qd", "tau")
    }
    result = symgen.Robot(ARM).identify({"t": logs[0]["t"], **stacked}, friction="viscous,coulomb")
    assert abs(result.friction[f"viscous {names[0]}"] - 2.0) < 0.1


@pytest.mark.parametrize(
    "table, text",
    [
        ({"t": [0.0, 1.0], "q_shoulder": [0.0]}, "different lengths"),
        ({"t": ["a", "b"]}, "the column 't' does not hold numbers"),
        ({"t": np.zeros((2, 2, 2))}, "has 3 axes"),
        (3.0, "is no log"),
    ],
)
def test_what_is_no_table_is_refused(table, text):
    with pytest.raises(SymgenError, match=text):
        symgen.read_log(table)


def test_an_unknown_option_is_refused(logs):
    with pytest.raises(TypeError, match="near names: 'friction'"):
        symgen.Robot(ARM).identify(logs[0], frictoin="viscous")


def test_a_motion_excites_the_robot():
    motion = symgen.Robot(ARM).excite(period=4.0, harmonics=2, limits={"shoulder.velocity": 0.5})
    assert np.abs(motion["qd_shoulder"]).max() <= 0.5 + 1e-9
    with pytest.raises(SymgenError):
        symgen.Robot(ARM).excite(limits={"joint9.velocity": 0.5})


def test_a_log_is_read_once(tmp_path, logs, monkeypatch):
    path, reads = tmp_path / "log.csv", []
    write(path, logs[0])
    chunks = TextLog.chunks

    def counted(self, names):
        reads.append(names)
        return chunks(self, names)

    monkeypatch.setattr(TextLog, "chunks", counted)
    symgen.Robot(ARM).identify(str(path), friction="viscous,coulomb")
    assert len(reads) == 1
    assert open_log(str(path)).rows == len(logs[0]["t"])
