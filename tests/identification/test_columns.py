"""Logs as recorders and people write them: names, dialects, units, time."""

import json

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.identification.data.column_map import ColumnMap, NeededColumns, SensorColumns
from symgen.identification.data.column_mapping import guess_needed_columns, log_layout
from symgen.identification.data.dataset import dataset_of
from symgen.identification.data.log_file import LogError
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import open_log
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

ARM = robot_file("ur5")
ROWS = 40
T = np.arange(ROWS) * 0.01
Q = np.stack([np.sin(T), np.cos(2 * T), T**2], 1)
QD = np.stack([np.cos(T), -2 * np.sin(2 * T), 2 * T], 1)
TAU = 3 * Q + QD


def text(path, names, *blocks, delimiter=",", decimal=".", head=""):
    """A log as text."""
    rows = np.column_stack(blocks)
    lines = [delimiter.join(repr(x).replace(".", decimal) for x in row) for row in rows.tolist()]
    first = [delimiter.join(names)] if names else []
    path.write_text(head + "\n".join([*first, *lines]) + "\n")
    return path


def read(path, **options):
    """The samples of a log at all joints that it has."""
    log, column_map = open_log(str(path)), ColumnMap.of(LogOptions(**options))
    dataset = dataset_of(log, guess_needed_columns(log, column_map), None, column_map)
    rows = np.concatenate(
        [np.column_stack([part.t, part.rows]) for part in dataset.row_reader.usable()]
    )
    return dataset, rows


def numbered(*patterns, base=0):
    return [p.replace("{}", str(k + base)) for p in patterns for k in range(3)]


WHOLE = np.column_stack([T, Q, QD, TAU])
NAMES = ["t", *numbered("q_{}", "qd_{}", "tau_{}")]

KNOWN = {
    "own": ("t", "q_{}", "qd_{}", "tau_{}", 0, 1.0),
    "RTDE": ("timestamp", "actual_q_{}", "actual_qd_{}", "actual_current_{}", 0, 1.0),
    "libfranka": ("duration", "q[{}]", "dq[{}]", "tau_J[{}]", 0, 1e-3),
    "libfranka of today": ("time", "state.q[{}]", "state.dq[{}]", "state.tau_J[{}]", 0, 1e-3),
    "libfranka by hand": ("time", "q{}", "dq{}", "tau_J{}", 1, 1.0),
    "JointState": ("t", "position_{}", "velocity_{}", "effort_{}", 0, 1.0),
    "PlotJuggler": ("__time", "/js/{}/position", "/js/{}/velocity", "/js/{}/effort", 1, 1.0),
    "rostopic": ("%time", "field.position{}", "field.velocity{}", "field.effort{}", 0, 1e-9),
}


@pytest.mark.parametrize("name", KNOWN)
def test_names_of_recorders_are_known(tmp_path, name):
    time, q, qd, tau, base, unit = KNOWN[name]
    names = [time, *numbered(q, qd, tau, base=base)]
    _, rows = read(text(tmp_path / "log.csv", names, T / unit, Q, QD, TAU))
    assert np.allclose(rows, WHOLE, rtol=1e-12, atol=1e-12)


DIALECTS = {
    "semicolons and decimal commas": {"delimiter": ";", "decimal": ","},
    "tabs": {"delimiter": "\t"},
    "tabs and decimal commas": {"delimiter": "\t", "decimal": ","},
    "blanks": {"delimiter": "  "},
    "a comma and a blank": {"delimiter": ", "},
    "bars": {"delimiter": "|"},
    "comments before": {"head": "# recorded on a Monday\n# by hand\n\n"},
    "names in a comment": {"head": "# "},
    "a mark of byte order": {"head": "\ufeff"},
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_told_from_the_first_lines(tmp_path, name):
    _, rows = read(text(tmp_path / "log.csv", NAMES, WHOLE, **DIALECTS[name]))
    assert np.array_equal(rows, WHOLE)


@pytest.mark.parametrize("delimiter", [",", ";", " ", "\t"])
def test_without_names_columns_are_numbers(tmp_path, delimiter):
    path = text(tmp_path / "log.txt", [], WHOLE, delimiter=delimiter)
    said = (("t", "1"), ("q", "2-4"), ("qd", "5,6,7"), ("tau", "8-10"))
    _, rows = read(path, column=said)
    assert np.array_equal(rows, WHOLE)
    (tmp_path / "map.toml").write_text('t = 1\nq = [2, 3, 4]\nqd = "5-7"\ntau = ["8", 9, 10]\n')
    _, rows = read(path, columns=str(tmp_path / "map.toml"))
    assert np.array_equal(rows, WHOLE)


def test_units_of_groups_and_factors_of_columns(tmp_path):
    blocks = T * 1e3, np.degrees(Q), QD * 30 / np.pi, TAU * 100 * [1, 1, -1]
    path = text(tmp_path / "log.csv", NAMES, *blocks)
    units = (("t", "ms"), ("q", "deg"), ("qd", "rpm"), ("tau", "Ncm"))
    _, rows = read(path, unit=units, scale=(("tau_2", -1.0),))
    assert np.allclose(rows, WHOLE, rtol=1e-12, atol=1e-12)
    (tmp_path / "map.toml").write_text(
        '[unit]\nt = "ms"\nq = "deg"\nqd = "rpm"\ntau = "Ncm"\n[scale]\ntau_2 = -1.0\n'
    )
    _, rows = read(path, columns=str(tmp_path / "map.toml"))
    assert np.allclose(rows, WHOLE, rtol=1e-12, atol=1e-12)


def test_joints_may_stand_in_another_order(tmp_path):
    path = text(tmp_path / "log.csv", ["t", *numbered("q_{}", "tau_{}")], T, Q, TAU)
    dataset, _ = read(path, joints=("c", "a", "b"))
    assert [column.name for column in dataset.layout.q] == ["q_0", "q_1", "q_2"]
    wanted = NeededColumns(
        ("a", "b", "c"), ("rad",) * 3, ("a", "b", "c"),
        (SensorColumns("tau", ("a", "b", "c"), ("N m",) * 3),), False,
    )  # fmt: skip
    found = log_layout(
        open_log(str(path)), wanted, ColumnMap.of(LogOptions(joints=("c", "a", "b")))
    )
    assert [column.name for column in (*found.q, *found.measured)] == [
        *("q_1", "q_2", "q_0"),
        *("tau_1", "tau_2", "tau_0"),
    ]


def test_currents_become_torques_by_constants_and_ratios(tmp_path):
    path = text(tmp_path / "log.csv", ["t", *numbered("q_{}", "current_{}")], T, Q, TAU)
    names = ("0", "1", "2")
    sensed = (SensorColumns("tau", names, ("N m",) * 3),)
    wanted = NeededColumns(names, ("rad",) * 3, names, sensed, False)

    def factors(**options):
        found = log_layout(open_log(str(path)), wanted, ColumnMap.of(LogOptions(**options)))
        return [column.factor for column in found.measured]

    constants = tuple(zip(names, (10.0, 0.1, 2.0), strict=True))
    assert factors(torque_constant=constants, gear_ratio=(("1", 100.0),)) == [10.0, 10.0, 2.0]
    with pytest.raises(
        LogError, match="the log has currents but no torques; give --torque-constant"
    ):
        factors()


def test_a_rate_takes_the_place_of_time(tmp_path):
    path = text(tmp_path / "log.csv", numbered("q_{}", "tau_{}"), Q, TAU)
    _, rows = read(path, rate=100.0)
    assert np.allclose(rows[:, 0], T, atol=1e-12)
    assert "name the column of time" in invoke("log", path, "--robot", ARM).stderr
    path = text(tmp_path / "fast.csv", NAMES, T * 1e3, Q, QD, TAU)
    with pytest.raises(LogError, match="rows are 10 s apart in column 't', but --rate 100 means"):
        read(path, rate=100.0)


def test_stamps_that_are_coarser_than_the_rows_are_replaced(tmp_path):
    path = text(tmp_path / "log.csv", NAMES, np.floor(T / 0.05) * 0.05, Q, QD, TAU)
    dataset, rows = read(path)
    assert len(rows) == ROWS and np.allclose(np.diff(rows[:, 0]), dataset.step)
    assert dataset.step == pytest.approx(0.01, rel=0.15)
    assert "the resolution of the time stamps (0.05 s) is coarser than the" in dataset.notes[0]
    dataset, rows = read(path, rate=100.0)
    assert np.allclose(rows, WHOLE, atol=1e-12)


def test_a_recorder_that_begins_anew_begins_a_stretch(tmp_path):
    t = np.concatenate([T, T[:20]])
    twice = [np.concatenate([x, x[:20]]) for x in (Q, TAU)]
    dataset, rows = read(text(tmp_path / "log.csv", ["t", *NAMES[1:4], *NAMES[7:]], t, *twice))
    assert len(rows) == 60 and dataset.survey.segments == ((0, 40), (40, 60))


# -- the command -----------------------------------------------------------------------------------


def test_the_command_shows_what_was_understood(tmp_path):
    path = text(tmp_path / "log.csv", NAMES, WHOLE)
    done = invoke("log", path)
    assert done.exit_code == 0, done.output
    assert "40 rows, 40 of them usable; recorder: symgen" in done.stdout
    assert "q_0 (rad)" in done.stdout and "steps 10 ms (100 Hz)" in done.stdout
    data = json.loads(invoke("log", path, "--json").stdout)
    assert data["rows"] == 40 and list(data["joints"]) == ["0", "1", "2"]
    assert data["joints"]["2"]["speed"] == pytest.approx(2 * T[-6], rel=1e-3)


def test_its_picture_is_the_same_each_time(tmp_path):
    path = text(tmp_path / "log.csv", ["t", "q_0", "qd_0"], T, Q[:, 0], QD[:, 0])
    files = []
    for _ in range(2):
        done = invoke("log", path, "--plot", tmp_path / "log.png")
        assert done.exit_code == 0, done.output
        files.append((tmp_path / "log.png").read_bytes())
    assert files[0].startswith(b"\x89PNG") and files[0] == files[1]


def test_columns_that_are_not_used_are_said(tmp_path):
    """As those of a joint that an option holds still, but which moves in the log."""
    path = text(tmp_path / "log.csv", [*NAMES, "temperature"], WHOLE, T)
    said = " ".join(invoke("log", path).stderr.split())
    assert "note: 1 of 11 columns are not used: 'temperature'" in said
    said = " ".join(invoke("log", text(path, NAMES, WHOLE)).stderr.split())
    assert "not used" not in said


def test_the_command_holds_the_motion_against_the_robot(tmp_path):
    names = ["t", *(f"actual_q_{k}" for k in range(6))]
    path = text(tmp_path / "log.csv", names, T, np.tile(Q, 2))
    data = json.loads(invoke("log", path, "--robot", ARM, "--json").stdout)
    assert next(iter(data["joints"])) == "joint1"
    assert data["joints"]["joint1"]["columns"] == {"q": "actual_q_0"}
    done = invoke("log", path, "--robot", ARM, "--unit", "q=mm")
    assert done.exit_code == 0  # no joint of the arm slides


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--unit", "q=parsec"], "--unit q=parsec: use one of rad, deg"),
        (["--unit", "x=deg"], "unknown group; use one of t, q, qd"),
        (["--column", "x=deg"], "--column x: unknown group; use one of"),
        (["--column", "q"], "--column 'q': give GROUP=PATTERN"),
        (["--column", "q=wrong_{}"], "no columns of positions with known names"),
        (["--column", "tau=wrong_{}"], "has no column 'wrong_0'"),
        (["--rate", "-5"], "--rate -5: give a sample rate"),
        (["--columns", "none.toml"], "cannot be read"),
        (["--plot", "log.bmp"], "give a name that ends in .png, .svg or .pdf"),
    ],
)
def test_what_is_said_of_columns_and_cannot_be(tmp_path, options, said):
    done = invoke("log", text(tmp_path / "log.csv", NAMES, WHOLE), *options)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    assert said in done.stderr


@pytest.mark.parametrize(
    ("t", "said"),
    [
        (T * 0, "the time in column 't' does not increase; choose another column with --column"),
        (-T, "the time in column 't' does not increase"),
        (T * 1e3, "as with time in ms; give --unit t=ms"),
        (T * 1e6, "as with time in us; give --unit t=us"),
        (T * 1e9 + 1e18, "as with time in ns; give --unit t=ns"),
    ],
)
def test_a_time_that_is_none(tmp_path, t, said):
    path = text(tmp_path / "log.csv", NAMES[:4], t, Q)
    done = invoke("log", path, "--plot", tmp_path / "log.png")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and said in done.stderr
    assert not (tmp_path / "log.png").exists()


def test_a_log_that_is_too_short_to_be_drawn(tmp_path):
    path = text(tmp_path / "log.csv", NAMES[:4], T[:5], Q[:5])
    assert invoke("log", path).exit_code == 0
    done = invoke("log", path, "--plot", tmp_path / "log.png")
    assert done.exit_code == 2 and "has no segment without gaps that is long enough" in done.stderr


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--scale", "tau_elbo=-1"), "--scale tau_elbo: no column is called so; near names: "),
        (("--scale", "t=0.001"), "--scale t: give the unit of time, as in --unit t=ms"),
        (("--gear-ratio", "elbow=2"), "--gear-ratio needs --torque-constant, which it multiplies"),
    ],
)
def test_what_is_said_of_columns_and_used_nowhere_is_refused(tmp_path, option, said):
    path = tmp_path / "log.csv"
    names = [f"{p}_{j}" for p in ("q", "qd", "qdd", "tau") for j in ("shoulder", "elbow")]
    rows = [",".join(map(str, [0.01 * k, *[0.1 * k] * 8])) for k in range(20)]
    path.write_text("\n".join([",".join(["t", *names]), *rows]))
    done = invoke("identify", robot_file("pendulum"), path, *option)
    assert done.exit_code == 2 and said in done.stderr and done.stderr.count("\n") == 1
    done = invoke("log", path, "--robot", robot_file("pendulum"), "--scale", "tau_shoulder=-1")
    assert done.exit_code == 0, done.output


def test_a_log_of_a_part_of_a_robot_names_the_options(tmp_path):
    """The options are those to copy: with them the log is read."""
    robot = robot_file("humanoid25")
    model = Job.of(robot).load().model
    last = next(k for k in range(len(model.moving), 0, -1) if model.body(k).parent)
    first = model.body(last).parent
    names = [model.body(first).velocity, model.body(last).velocity]
    t = np.linspace(0, 4, 400)
    columns = {f"{g}_{n}": np.sin(t + k) for g in ("q", "tau") for k, n in enumerate(names)}
    write(tmp_path / "log.npz", {"t": t, **columns})
    done = invoke("log", tmp_path / "log.npz", "--robot", robot)
    assert done.exit_code == 2 and "more); name the columns" in done.stderr
    locks = done.stderr.partition("positions: ")[2].partition(", or keep")[0].split()
    assert invoke("log", tmp_path / "log.npz", "--robot", robot, *locks).exit_code == 0
    cut = done.stderr.partition("moves: ")[2].split()
    assert invoke("log", tmp_path / "log.npz", "--robot", robot, *cut).exit_code == 0
