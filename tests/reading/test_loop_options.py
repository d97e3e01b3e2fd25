"""Loops of job files and of --loop, and the coordinates that --independent keeps."""

from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError, RobotError
from symgen.reading.assemble import load
from tests.support.bars import ANKLE, CLOSED, DRAKE, PLUS, ROD
from tests.support.tools import invoke

TREE = CLOSED.format(axis="0 0 1", loop="")
PIN = {
    "name": "pin",
    "first": "rod",
    "second": "rocker",
    "at_first": [0.45, 0, 0],
    "at_second": (0.3, 0, 0),
}
TEXT = 'name="pin", first="rod", second="rocker", at_first=[0.45, 0, 0], at_second=[0.3, 0, 0]'


def test_a_loop_of_an_option_is_that_of_the_file() -> None:
    wanted = load(CLOSED.format(axis="0 0 1", loop=DRAKE)).model.closures
    assert load(TREE, loop=[PIN]).model.closures == wanted
    assert load(TREE, loop=[TEXT]).model.closures == wanted


def test_a_loop_of_an_option_replaces_the_one_of_the_file() -> None:
    file = CLOSED.format(axis="0 0 1", loop=DRAKE)
    (closure,) = load(file, loop=[{**PIN, "at_second": [0.31, 0, 0]}]).model.closures
    assert closure.points[1] == (0.31, 0.0, 0.0)


def test_an_option_without_links_changes_the_loop_of_the_file() -> None:
    file = CLOSED.format(axis="0 0 1", loop=DRAKE)
    (own,) = load(file).model.closures
    for text, field in ((f"branch = {-own.branch}", "branch"), ("newton = true", "newton")):
        (closure,) = load(file, loop=[f'name = "{own.name}", {text}']).model.closures
        assert closure.points == own.points
        assert getattr(closure, field) != getattr(own, field)
    (closure,) = load(file, loop=[{"name": own.name, "dependent": ["a", "b"]}]).model.closures
    assert closure.dependent == (1, 2)


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_each_joint_can_be_the_independent_one(name: str) -> None:
    robot = symgen.Robot(TREE, loop=[PIN], independent=[name])
    assert robot.velocities == (name,)
    note = next(n for n in load(TREE, loop=[PIN], independent=[name]).notices if n.level == "note")
    assert f"from '{name}'" in note.message
    assert "2 of the 3 equations of its cut joint are independent" in note.message
    assert "the robot has 1 independent coordinate, and 0 by Grübler's formula" in note.message


def test_flags_of_urdf_plus_choose_the_independent_joint(tmp_path: Path) -> None:
    """joints b and a have independent="false"; `symgen convert` writes these flags."""
    text = CLOSED.format(axis="0 0 1", loop=PLUS.format("revolute", "rocker"))
    for name in ("a", "b"):
        text = text.replace(f'joint name="{name}"', f'joint name="{name}" independent="false"')
    assert load(text).model.joint_names == ("c",)
    bars = symgen.Builder("bars").link("base")
    for link in ("crank", "rod", "rocker"):
        bars = bars.link(link, 1.0, (0.1, 0, 0), (0.1, 0, 0, 0.1, 0, 0.1))
    bars = bars.joint("a", "revolute", "base", "crank")
    bars = bars.joint("b", "revolute", "crank", "rod", (0.2, 0, 0))
    bars = bars.joint("c", "revolute", "base", "rocker", (0.4, 0, 0))
    bars.close(**PIN, dependent=("a", "b"))  # type: ignore[arg-type]
    symgen.Robot(bars).write_urdf(tmp_path / "out.urdf")
    assert load(tmp_path / "out.urdf").model.joint_names == ("c",)


@pytest.mark.parametrize(
    ("loop", "independent", "words"),
    [
        ([PIN], ["x"], "--independent 'x': it is no joint of a closed loop; name joints of"),
        ([], ["a"], "--independent 'a': it is no joint of a closed loop; remove the option"),
        ([PIN], ["a", "b"], "loop 'pin' determines 2 of its joints"),
        ([PIN, PIN], [], "--loop 'pin': given twice"),
        ([{**PIN, "second": "rockr"}], [], "--loop 'pin': no link is called 'rockr'"),
        ([{**PIN, "second": 3}], [], "--loop 'pin': needs second, the name of a link"),
        ([{"first": "rod"}], [], "--loop: needs name, the name of the loop"),
        ([{**PIN, "at": 3}], [], "--loop 'pin': no key is called 'at'"),
        ([{**PIN, "branch": 2}], [], "--loop 'pin': branch is 2; give 1 or -1"),
        ([{**PIN, "at_first": [0, 1]}], [], "at_first is .* give three numbers"),
        ([{**PIN, "dependent": 3}], [], "--loop 'pin': dependent is 3; give a list"),
        ([{**PIN, "at_first": [9, 0, 0]}], [], "--loop 'pin': its links are too short or too long"),
        ([{**PIN, "joint": "distance"}], [], "--loop 'pin': needs length, the constant distance"),
        ([{**PIN, "length": 0.2}], [], 'length is that of joint = "distance", not of ball'),
        ([{**PIN, "joint": "hinge"}], [], "--loop 'pin': joint is 'hinge'; give one of"),
        (['name = "pin", newton = true'], [], "--loop 'pin': needs first, the name of a link"),
        (["name = pin"], [], "--loop .*name = pin.*: give entries of TOML"),
    ],
)
def test_loops_that_are_none_are_refused(loop: list, independent: list, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        load(TREE, loop=loop, independent=independent)


@pytest.mark.parametrize(
    ("more", "off"), [(", newton=true", "0.1"), ("", "0.00025")], ids=["newton", "closed form"]
)
def test_the_gap_of_an_equation_that_is_left_out_has_its_size(
    tmp_path: Path, more: str, off: str
) -> None:
    """The rocker's end, out of the plane of the loop; in the note, the report and the header."""
    (tmp_path / "bars.urdf").write_text(TREE, encoding="utf-8")
    place = f"at_second=[0.3, 0, {float(off) / 1e3}]"
    loop = TEXT.replace("at_second=[0.3, 0, 0]", place) + more
    words = f", the others are {off} mm off"
    inspected = invoke("inspect", tmp_path / "bars.urdf", "--loop", loop)
    assert f"2 of 3{words}" in " ".join(inspected.stdout.split())
    options = ("--quantity", "gravity", "-o", tmp_path / "bars")
    made = invoke("generate", tmp_path / "bars.urdf", "--loop", loop, *options)
    assert f"are independent{words}" in " ".join(made.stderr.split())
    header = (tmp_path / "bars" / "bars.h").read_text(encoding="utf-8")
    assert f"2 count{words}" in " ".join(header.replace("*", " ").split())


def test_job_files_close_loops(tmp_path: Path) -> None:
    """Errors name the line of the table in the job file."""
    (tmp_path / "bars.urdf").write_text(TREE, encoding="utf-8")
    job = tmp_path / "job.toml"
    rows = ['file = "bars.urdf"', 'independent = ["c"]', "[[loop]]", *TEXT.split(", at")[0:1]]
    rows[3] = "\n".join(rows[3].split(", "))
    job.write_text("\n".join([*rows, "at_first = [0.45, 0, 0]", "at_second = [0.3, 0, 0]"]))
    assert symgen.Robot(job).velocities == ("c",)
    done = invoke("check", job)
    assert done.exit_code == 0 and "determines joints 'a' and 'b' from 'c'" in done.stderr
    job.write_text(job.read_text().replace('"rod"', '"rad"'))
    done = invoke("check", job)
    assert done.exit_code == 2 and "job.toml:3: error: --loop 'pin': no link" in done.stderr
    job.write_text(job.read_text().replace('"rad"', "{x = 1}"))
    with pytest.raises(RobotError, match="expected a list of tables"):
        symgen.Robot(job)


def test_the_rods_of_an_ankle_are_options(tmp_path: Path) -> None:
    """The rods keep their lengths, the motors are determined, and the C is verified."""
    (tmp_path / "ankle.urdf").write_text(ANKLE)
    rods = [ROD.format("left", 0.25, 0.04), ROD.format("right", 0.2, -0.04)]
    functions = ("forward_dynamics", "ankle=transmission:motor_left+transmission:motor_right")
    words = [word for rod in rods for word in ("--loop", rod)]
    words += [word for name in functions for word in ("--quantity", name)]
    done = invoke("generate", tmp_path / "ankle.urdf", "-o", tmp_path / "c", *words)
    assert done.exit_code == 0 and "2 independent coordinates" in done.stderr
    done = invoke("verify", tmp_path / "c")
    assert done.exit_code == 0 and "FAILED" not in done.stdout
    robot = symgen.compile(ANKLE, [functions[1]], loop=rods)
    pitch, roll = 0.3, -0.2
    left, _, _, right, _, _ = robot.ankle([pitch, roll], [0.0, 0.0])
    cosines, sines = np.cos([pitch, roll]), np.sin([pitch, roll])
    for motor, y, height, length in ((left, 0.04, 0.25, 0.25), (right, -0.04, 0.2, 0.2)):
        crank = np.array([-0.05 * np.cos(motor[0]), y, height + 0.05 * np.sin(motor[0])])
        across, up = y * cosines[1], y * sines[1]
        foot = np.array(
            [-0.05 * cosines[0] + up * sines[0], across, 0.05 * sines[0] + up * cosines[0]]
        )
        assert abs(np.linalg.norm(crank - foot) - length) < 1e-12
