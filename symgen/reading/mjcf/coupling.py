"""Equality constraints of MuJoCo: a joint that is tied to another linearly mimics it, every other
is left free, which is said."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from symgen.reading.description import JointElement, Mimic
from symgen.reading.mjcf.bodies import Compiled
from symgen.text import quoted, shown

LOOPS: Final = ("connect", "weld", "distance")
"""Constraints that close loops."""


def coupled(robot: Compiled, joints: Sequence[JointElement]) -> tuple[JointElement, ...]:
    """The joints, those that follow another included.

    MuJoCo's polynomial is about the positions of the file: y - y0 = a0 + a1 (x - x0) + ..."""
    follows: dict[str, Mimic] = {}
    left: dict[str, list[str]] = {}
    for i, kind in _active(robot):
        if kind == "joint":
            _tie(robot, i, follows)
        else:
            left.setdefault(kind, []).append(robot.model.equality(i).name or f"number {i}")
    for kind, names in left.items():
        what = "closes a loop, which is left open" if kind in LOOPS else "has no effect"
        _warn(robot, f"<{kind}> of <equality> ({quoted(names)}) {what}: the parts move freely")
    return tuple(replace(joint, mimics=follows.get(joint.name)) for joint in joints)


def _active(robot: Compiled) -> Iterator[tuple[int, str]]:
    """The constraints that hold from the start, and their kinds."""
    model, kinds, off = robot.model, robot.mujoco.mjtEq, 0
    disabled = model.opt.disableflags & robot.mujoco.mjtDisableBit.mjDSBL_EQUALITY
    for i in range(model.neq):
        if model.eq_active0[i] and not disabled:
            yield i, kinds(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
        else:
            off += 1
    if off:
        _note(robot, f"{off} of <equality> are not active, and not read")


def _tie(robot: Compiled, i: int, follows: dict[str, Mimic]) -> None:
    model = robot.model
    a0, a1, *rest = map(float, model.eq_data[i][:5])
    follower, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    name, y0 = robot.joints[follower], float(model.qpos0[model.jnt_qposadr[follower]])
    if leader < 0:
        _warn(
            robot,
            f"joint '{shown(name)}' is held by <equality>, here it moves; "
            f"--lock '{shown(name)}={y0 + a0:.12g}' holds it",
        )
    elif any(rest) or name in follows:
        why = "a second time" if name in follows else "by a polynomial that is not linear"
        _warn(robot, f"joint '{shown(name)}' is coupled {why}, which has no effect")
    else:
        x0 = float(model.qpos0[model.jnt_qposadr[leader]])
        line = robot.joint_line(follower)
        follows[name] = Mimic(line, robot.joints[leader], a1, y0 + a0 - a1 * x0)


def _warn(robot: Compiled, message: str) -> None:
    robot.root.called("<mujoco>").notice("warning", message)


def _note(robot: Compiled, message: str) -> None:
    robot.root.called("<mujoco>").notice("note", message)
