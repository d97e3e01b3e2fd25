"""Rows of a log that are left out, and counted."""

import json

import numpy as np
import pytest

from tests.support.arm_logs import ARM, JOINT, but, good, lines, log, quick  # noqa: F401
from tests.support.tools import invoke


def changed(**changes):
    return {**good(), **{name: change(good()[name].copy()) for name, change in changes.items()}}


def put(row, value):
    def change(x):
        x[row] = value
        return x

    return change


def torn(line, change):
    """The lines of a good log with one of them changed."""
    text = lines()
    return [*text[:line], *change(text[line]), *text[line + 1 :]]


LEFT_OUT = {
    "NaN": (
        changed(**{f"q_{JOINT}": put(70, np.nan)}),
        "1 row with entries that are empty",
        "log.csv:72",
    ),
    "infinity": (
        changed(**{f"q_{JOINT}": put(7, np.inf)}),
        "1 row with entries that are empty, infinite",
        "log.csv:9",
    ),
    "beyond measure": (
        changed(**{f"q_{JOINT}": put(7, 1e300)}),
        "1 row with values that are too large to be measurements, such as 1e+300",
        "log.csv:9",
    ),
    "time back": (
        changed(t=lambda t: t[[*range(50), 45, *range(51, len(t))]]),
        "1 row with an earlier time than the row before",
        "log.csv:52",
    ),
    "double": (
        {k: np.insert(x, 60, x[60]) for k, x in good().items()},
        "1 row with the same time as the row before",
        "log.csv:63",
    ),
    "gap": (
        {k: np.delete(x, slice(90, 99)) for k, x in but("qdd").items()},
        "36 rows at the ends of 2 segments",
        "the longest gap is 0.05 s",
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_rows_that_cannot_be_used_are_left_out_and_counted(tmp_path, name):
    columns, reason, place = LEFT_OUT[name]
    done = invoke("identify", ARM, log(tmp_path, columns), "--json")
    assert done.exit_code == 0, done.output
    assert reason in done.stderr and place in done.stderr
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], parameter


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda line: [line.replace(line.split(",")[2], "abc", 1)],
            "1 row with entries that are empty, infinite or not",
        ),
        (
            lambda line: [line.replace(line.split(",")[2], "\udcff", 1)],
            "1 row with entries that are empty, infinite or not",
        ),
        (lambda line: [line.rpartition(",")[0]], "with 16 values instead of 17, the first in"),
        (lambda line: ["\udcb1" + line.rpartition(",")[0]], "with 16 values instead of 17"),
        (lambda line: [""], "1 row with entries that are empty"),
    ],
)
def test_lines_that_are_torn_are_left_out_and_counted(tmp_path, change, reason):
    text = "\n".join(torn(50, change)) + "\n"
    (tmp_path / "log.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    done = invoke("identify", ARM, tmp_path / "log.csv")
    assert done.exit_code == 0 and "399 of the 400 rows are used" in done.stderr, done.output
    assert reason in done.stderr and ("51" in done.stderr)


def test_a_measurement_that_is_missing_leaves_the_other_channels_theirs(tmp_path):
    columns = changed(**{f"tau_{JOINT}": put(slice(40, 60), np.nan)})
    done = invoke("identify", ARM, log(tmp_path, columns), "--json")
    assert done.exit_code == 0
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], parameter


MISSING = changed(**{f"tau_{JOINT}": put(slice(40, 400, 120), np.nan)})


def apart(tmp_path, name, columns):
    (tmp_path / name).mkdir()
    return log(tmp_path / name, columns)


def test_a_measurement_that_is_missing_is_counted_and_distorts_no_figure(tmp_path):
    logs = apart(tmp_path, "whole", good()), apart(tmp_path, "part", MISSING)
    done = [invoke("predict", ARM, path, "--json") for path in logs]
    said = f"log.csv: note: 'tau_{JOINT}' has no finite number in 3 of 400 rows; they are"
    assert said in done[1].stderr and said not in done[0].stderr
    for there, here in zip(*(json.loads(x.stdout)["channels"] for x in done), strict=True):
        for view in ("all", "moving", "filtered"):
            assert here[view]["relative"] == pytest.approx(there[view]["relative"], rel=0.3)
    looked = [json.loads(invoke("log", path, "--robot", ARM, "--json").stdout) for path in logs]
    there, here = (x["joints"][JOINT]["force"] for x in looked)
    assert here["rms"] == pytest.approx(there["rms"], rel=0.002)
    assert here["range"] == pytest.approx(there["range"], rel=0.02)


def test_many_missing_measurements_are_a_warning_and_none_at_all_an_error(tmp_path):
    half = changed(**{f"tau_{JOINT}": put(slice(0, 400, 2), np.inf)})
    done = invoke("identify", ARM, log(tmp_path, half))
    assert f"warning: 'tau_{JOINT}' has no finite number in 200 of 400" in done.stderr
    none = changed(**{f"tau_{JOINT}": put(slice(None), np.nan)})
    done = invoke("identify", ARM, log(tmp_path, none))
    assert done.exit_code == 2 and f"'tau_{JOINT}' has no finite number in any row" in done.stderr
