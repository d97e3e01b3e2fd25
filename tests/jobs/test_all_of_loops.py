"""``--quantity all`` of a robot with closed loops: what is supported is generated, the rest named."""

from pathlib import Path

from symgen.algorithms import QUANTITIES
from tests.support.bars import CLOSED, DRAKE
from tests.support.tools import invoke


def generated(folder: Path, quantity: str) -> tuple[int, str, str]:
    robot = folder / "bars.urdf"
    robot.write_text(CLOSED.format(axis="0 0 1", loop=DRAKE), encoding="utf-8")
    done = invoke("generate", robot, "-o", folder / "out", "--quantity", quantity)
    header = folder / "out" / "bars.h"
    return done.exit_code, done.stderr, header.read_text() if header.exists() else ""


def test_what_is_not_supported_is_left_out_and_named(tmp_path: Path) -> None:
    status, messages, header = generated(tmp_path, "all")
    (sentence,) = [line for line in messages.splitlines() if "--quantity all:" in line]
    assert status == 0 and ": not supported for this robot and left out" in sentence
    names = {*sentence.split("--quantity all: ")[1].split(": not")[0].split(", ")}
    assert "joint_wrenches" in names and "forward_dynamics_vjp" not in names
    for name in (name.replace(":", "_") for name in QUANTITIES):
        assert (f" bars_{name}(" in header) is (name not in names), name


def test_what_is_named_is_refused(tmp_path: Path) -> None:
    status, messages, _ = generated(tmp_path, "joint_wrenches")
    assert status == 2 and not (tmp_path / "out").exists()
    assert "joint_wrenches: not supported for robots with closed loops" in messages
