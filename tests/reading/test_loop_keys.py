"""Every key of ``--loop`` and of ``[[loop]]``: the same note from both, and refusals in one
sentence."""

from pathlib import Path

import pytest

from symgen.reading.joint_couplings import LOOP_KEYS
from tests.support.bars import CLOSED
from tests.support.tools import invoke

TREE = CLOSED.format(axis="0 0 1", loop="")
PIN = ('name="pin"', 'first="rod"', 'second="rocker"', "at_first=[0.45, 0, 0]")
PIN = (*PIN, "at_second=[0.3, 0, 0]")
ROLL = "rpy_first=[0, 0, 0.3]"
NOTES = [
    ([], "planar loop that determines joints 'b' and 'c' from 'a' on branch +1"),
    (["branch=-1"], "on branch -1"),
    (['dependent=["a", "b"]'], "determines joints 'a' and 'b' from 'c'"),
    (['joint="revolute"', ROLL, "rpy_second=[0, 0, -1]"], "2 of the 5 equations"),
    (['joint="distance"', "length=0.1"], "joints 'c' from 'a' and 'b' on branch +1"),
    (['joint="distance"', "length=0.1", 'dependent="b"', "branch=-1"], "'b' from 'a' and 'c'"),
    (["newton=true"], "determines joints 'b' and 'c' from 'a'"),
    (["newton=true", 'joint="universal"', ROLL], "2 of the 4 equations"),
    (
        ["newton=true", 'joint="point_on_line"', "rpy_first=[0, 1.5707963267948966, 0]"],
        "1 of the 2",
    ),
]


def files(folder: Path, rows: list[str]) -> tuple[Path, str, Path]:
    """The tree with the text of an option, and a job file with the same loop."""
    tree, job = folder / "bars.urdf", folder / "job.toml"
    tree.write_text(TREE, encoding="utf-8")
    lines = ['file = "bars.urdf"', "[[loop]]", *PIN, *rows]
    job.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tree, ", ".join((*PIN, *rows)), job


@pytest.mark.parametrize(("rows", "words"), NOTES)
def test_a_key_has_the_same_effect_on_the_command_line_and_in_a_job_file(
    rows: list[str], words: str, tmp_path: Path
) -> None:
    tree, text, job = files(tmp_path, rows)
    one, other = invoke("check", tree, "--loop", text), invoke("check", job)
    assert (one.exit_code, other.exit_code) == (0, 0), one.stderr
    assert words in one.stderr
    message = one.stderr.partition("note: ")[2].replace("\n", " ")
    assert message == other.stderr.partition("note: ")[2].replace("\n", " ")


def test_every_key_is_tried() -> None:
    tried = {row.partition("=")[0] for rows, _ in NOTES for row in rows}
    tried |= {"polynomial"}  # of joints: tests/algorithms/test_polynomial_joints.py
    assert tried | {row.partition("=")[0] for row in PIN} == {*LOOP_KEYS}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["newton=1"], "newton is 1; give true or false"),
        (["branch=0"], "branch is 0; give 1, -1, 2 or -2"),
        (["branch=2"], "branch is 2; give 1 or -1"),
        (['dependent="x"'], "'x'"),
        (['dependent="a"'], "its positions have no closed form that is known"),
        (['joint="hinge"'], "joint is 'hinge'; give one of"),
        (['joint="universal"'], "planar loops are closed by revolute and ball joints"),
        (['joint="distance"'], "needs length, the constant distance"),
        (['joint="distance"', "length=-1"], "needs length, the constant distance"),
        (["length=0.1"], 'length is that of joint = "distance", not of ball'),
        (['joint="distance"', 'length="long"'], "length is 'long'; give a finite number"),
        (['joint="revolute"', "rpy_first=[1]"], "rpy_first is [1]; give three numbers"),
        (['joint="revolute"', "rpy_first=[0.5, 0, 0]"], "is not parallel to those of its joints"),
        (["rpy_second=[0.5, 0, 0]"], 'rpy_second has no effect for joint = "ball"'),
        (["size=1"], "no key is called 'size'"),
    ],
)
def test_what_a_key_cannot_be_is_refused(rows: list[str], words: str, tmp_path: Path) -> None:
    tree, text, job = files(tmp_path, rows)
    for done in (invoke("check", tree, "--loop", text), invoke("check", job)):
        (line,) = done.stderr.strip().splitlines()
        assert done.exit_code == 2 and words in line and "'pin'" in line
    assert "job.toml:2: error" in line
