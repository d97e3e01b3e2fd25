"""Equality constraints and actuators of MuJoCo, which are linear in joint coordinates.

A joint that is coupled to others, by itself or by fixed tendons, follows them; a notice reports the
constraints that have no effect. Actuators are motors, whose angles are the lengths of their
transmissions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from symgen.numbers.decimals import exact
from symgen.reading.description import (
    JointElement,
    LinearFunction,
    LoopElement,
    Mimic,
    Motor,
    Transmission,
    with_mimics,
)
from symgen.reading.mjcf.compiled_model import CompiledMjcf, pose_of
from symgen.text import quoted, shown

LOOP_CUT_JOINTS: Final = {"connect": "ball", "weld": "fixed"}
"""The cut joint of a constraint between bodies or sites that closes a loop."""
LOOP_CONSTRAINTS: Final = (*LOOP_CUT_JOINTS, "distance")
"""Constraints that close loops."""
IDENTITY_QUATERNION: Final = (1.0, 0.0, 0.0, 0.0)
"""The quaternion of no rotation."""


def with_equality_constraints(
    robot: CompiledMjcf, joints: Sequence[JointElement]
) -> tuple[tuple[JointElement, ...], tuple[LoopElement, ...]]:
    """The joints, those that follow others included, and the points of bodies that stay together.

    MuJoCo's polynomial is about the positions of the file: y - y0 = a0 + a1 (x - x0) + ..., x and y
    coordinates of joints or lengths of fixed tendons."""
    follows: dict[str, Mimic] = {}
    unused: dict[str, list[str]] = {}
    loops = list[LoopElement]()
    for i, kind in _active_constraints(robot):
        ends = [int(ids[i]) for ids in (robot.model.eq_obj1id, robot.model.eq_obj2id)]
        if kind == "joint" and ends[1] >= 0 and robot.model.eq_data[i][2:5].any():
            loops.append(_polynomial(robot, i, *ends))
        elif kind == "joint" or (
            kind == "tendon"
            and all(fixed_tendon_length(robot, k) is not None for k in ends if k >= 0)
        ):
            _add_coupling(robot, i, kind, follows)
        elif kind in LOOP_CUT_JOINTS:
            loops.append(_loop(robot, i, kind))
        else:
            name = robot.name(robot.mujoco.mjtObj.mjOBJ_EQUALITY, i)
            unused.setdefault(kind, []).append(name)
    for kind, names in unused.items():
        effect = (
            "closes a loop, which is left open" if kind in LOOP_CONSTRAINTS else "has no effect"
        )
        _add_warning(
            robot, f"<{kind}> of <equality> ({quoted(names)}) {effect}: the parts move freely"
        )
    return with_mimics(joints, follows), tuple(loops)


def _loop(robot: CompiledMjcf, i: int, kind: str) -> LoopElement:
    """The loop of a constraint between frames of two bodies, or between two sites."""
    model, ends = robot.model, (robot.model.eq_obj1id, robot.model.eq_obj2id)
    first, second = (int(ids[i]) for ids in ends)
    name = robot.name(robot.mujoco.mjtObj.mjOBJ_EQUALITY, i)
    if model.eq_objtype[i] == robot.mujoco.mjtObj.mjOBJ_SITE:
        frames_of_ends = [(model.site_pos[k], model.site_quat[k]) for k in (first, second)]
        first, second = (int(model.site_bodyid[k]) for k in (first, second))
    elif kind == "connect":
        data = model.eq_data[i]
        frames_of_ends = [(data[:3], IDENTITY_QUATERNION), (data[3:6], IDENTITY_QUATERNION)]
    else:  # a weld: an anchor on the second body, and a relative pose of it on the first
        data = model.eq_data[i]
        frames_of_ends = [(data[3:6], data[6:10]), (data[:3], IDENTITY_QUATERNION)]
    links = robot.bodies[first], robot.bodies[second]
    frames = (pose_of(p, _floats(quaternion)) for p, quaternion in frames_of_ends)
    line, cut = robot.line(kind, name), LOOP_CUT_JOINTS[kind]
    return LoopElement.between(name, line, links, frames, optional=True, joint=cut)


def _polynomial(robot: CompiledMjcf, i: int, first: int, second: int) -> LoopElement:
    """A joint whose position is a polynomial of that of another one, about their positions in the
    file, here about 0 in the decimals of the file."""
    (name, _, y), (leader, _, x) = (_coordinate(robot, "joint", k) for k in (first, second))
    coefficients, zero = list[Any](), exact(0.0)
    for a in reversed(robot.model.eq_data[i][:5].tolist()):
        by_x, by_start = [zero, *coefficients], [*(exact(-x) * c for c in coefficients), zero]
        coefficients = [b + c for b, c in zip(by_x, by_start, strict=True)]
        coefficients[0] += exact(a)
    coefficients[0] += exact(y)
    label, nowhere = robot.name(robot.mujoco.mjtObj.mjOBJ_EQUALITY, i), (0.0, 0.0, 0.0)
    return LoopElement(
        label,
        robot.line("joint", label),
        (name, leader),
        (nowhere, nowhere),
        optional=True,
        joint="polynomial",
        polynomial=tuple(np.trim_zeros(_floats(coefficients), "b")),
    )


def _floats(values: Iterable[float]) -> list[float]:
    return [float(x) + 0.0 for x in values]


def _active_constraints(robot: CompiledMjcf) -> Iterator[tuple[int, str]]:
    """The constraints that hold from the start, and their kinds."""
    model, kinds, inactive = robot.model, robot.mujoco.mjtEq, 0
    disabled = model.opt.disableflags & robot.mujoco.mjtDisableBit.mjDSBL_EQUALITY
    for i in range(model.neq):
        if model.eq_active0[i] and not disabled:
            yield i, kinds(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
        else:
            inactive += 1
    if inactive:
        robot.root.with_label("<mujoco>").notice(
            "note", f"{inactive} constraints of <equality> are inactive and are ignored"
        )


def _add_coupling(robot: CompiledMjcf, i: int, kind: str, follows: dict[str, Mimic]) -> None:
    """A joint, or a fixed tendon, whose coordinate is linear in that of another or constant."""
    a0, a1, *higher = map(float, robot.model.eq_data[i][:5])
    first, second = int(robot.model.eq_obj1id[i]), int(robot.model.eq_obj2id[i])
    name, weights, right = _coordinate(robot, kind, first)
    subject = f"{kind} '{shown(name)}' is coupled"
    right += a0
    if second < 0 and kind == "joint":
        _add_warning(
            robot,
            f"joint '{shown(name)}' is locked by <equality> but moves freely here; use "
            f"--lock '{shown(name)}={right:.12g}' to lock it",
        )
        return
    if second >= 0 and any(higher):
        _add_warning(
            robot, f"{subject} by a polynomial that is not linear; the coupling is ignored"
        )
        return
    if second >= 0:
        _, others, at = _coordinate(robot, kind, second)
        right -= a1 * at
        for other, factor in others.items():
            weights[other] = weights.get(other, 0.0) - a1 * factor
    _add_follower(robot, LinearFunction(tuple(weights.items()), -right), follows, subject)


def _coordinate(robot: CompiledMjcf, kind: str, k: int) -> tuple[str, dict[str, float], float]:
    """The name of joint or tendon `k`, its coordinate as factors of joints' coordinates, and its
    value in the configuration of the file."""
    model = robot.model
    if kind == "joint":
        name = robot.joints[k]
        return name, {name: 1.0}, float(model.qpos0[model.jnt_qposadr[k]])
    weights = fixed_tendon_length(robot, k) or {}
    name = robot.name(robot.mujoco.mjtObj.mjOBJ_TENDON, k)
    return name, weights, float(model.tendon_length0[k])


def fixed_tendon_length(robot: CompiledMjcf, tendon: int) -> dict[str, float] | None:
    """The coefficients of joints' coordinates in the length of a fixed tendon, None of others."""
    model, joint = robot.model, int(robot.mujoco.mjtWrap.mjWRAP_JOINT)
    first, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    wraps = range(first, first + count)
    if any(int(model.wrap_type[k]) != joint for k in wraps):
        return None
    return {robot.joints[int(model.wrap_objid[k])]: float(model.wrap_prm[k]) for k in wraps}


def _add_follower(
    robot: CompiledMjcf, equation: LinearFunction, follows: dict[str, Mimic], subject: str
) -> None:
    """Solve an equation, a function that is 0, for the first of its joints that none of the others
    follows."""
    used = {name: factor for name, factor in equation.terms if factor}
    free = (k for k in used if k not in follows and not _follows(used, k, follows))
    follower = next(free, None) if len(used) > 1 else None
    if follower is None:
        _add_warning(
            robot,
            f"{subject} so that no dependent joint can be chosen; the coupling is ignored",
        )
        return
    law = LinearFunction(tuple(used.items()), equation.offset).solve_for(follower)
    follows[follower] = Mimic.of(robot.joint_line(robot.joints.index(follower)), law)


def _follows(leaders: Iterable[str], name: str, follows: dict[str, Mimic]) -> bool:
    """True if some of the joints `leaders` follow `name`, directly or through others."""
    waiting, visited = [leader for leader in leaders if leader != name], set[str]()
    for leader in waiting:
        mimic = follows.get(leader)
        if leader == name:
            return True
        if mimic is not None and leader not in visited:
            visited.add(leader)
            waiting += [far for far, _ in mimic.terms]
    return False


def _add_warning(robot: CompiledMjcf, message: str) -> None:
    robot.root.with_label("<mujoco>").notice("warning", message)


def transmissions(robot: CompiledMjcf) -> tuple[Transmission, ...]:
    """The joints that are moved by as many actuators with independent angles, by gears on joints
    and on fixed tendons."""
    groups: list[tuple[set[str], list[Motor]]] = []
    for motor in _motors(robot):
        names = {name for name, _ in motor.angle.terms}
        connected = [group for group in groups if group[0] & names]
        groups = [group for group in groups if group not in connected]
        groups.append(
            (names.union(*(n for n, _ in connected)), [m for _, ms in connected for m in ms])
        )
        groups[-1][1].append(motor)
    found = []
    for names, motors in groups:
        joints = tuple(sorted(names, key=robot.joints.index))
        independent = _independent(motors)
        if len(independent) == len(joints):
            line = robot.joint_line(robot.joints.index(joints[0]))
            found.append(Transmission(line, joints, tuple(independent)))
    return tuple(sorted(found, key=lambda tied: robot.joints.index(tied.joints[0])))


def _motors(robot: CompiledMjcf) -> Iterator[Motor]:
    model, kinds = robot.model, robot.mujoco.mjtTrn
    for i in range(model.nu):
        gear, at = float(model.actuator_gear[i][0]), int(model.actuator_trnid[i][0])
        actuator = int(robot.mujoco.mjtObj.mjOBJ_ACTUATOR)
        name = robot.mujoco.mj_id2name(model, actuator, i) or f"actuator{i}"
        kind, terms = int(model.actuator_trntype[i]), dict[str, float]()
        if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT) and robot.single(at):
            terms = {robot.joints[at]: 1.0}
        elif kind == kinds.mjTRN_TENDON:
            terms = fixed_tendon_length(robot, at) or {}
        scaled = tuple((joint, gear * factor) for joint, factor in terms.items() if gear * factor)
        if scaled:
            yield Motor(name, LinearFunction(scaled))


def _independent(motors: Iterable[Motor]) -> list[Motor]:
    """The motors whose angles are independent of those of the motors before them."""
    independent, laws = list[Motor](), dict[str, LinearFunction]()
    for motor in motors:
        rest, joint = motor.angle.pivot(laws)
        if joint:
            laws[joint] = rest.solve_for(joint)
            independent.append(motor)
    return independent
