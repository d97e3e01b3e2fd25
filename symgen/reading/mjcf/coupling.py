"""Equality constraints of MuJoCo: a joint that is tied to others linearly, by itself or by fixed
tendons, follows them; every other is left free, which is said."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from symgen.reading.description import JointElement, Mimic
from symgen.reading.mjcf.bodies import CompiledMjcf
from symgen.text import quoted, shown

LOOPS: Final = ("connect", "weld", "distance")
"""Constraints that close loops."""


def coupled(robot: CompiledMjcf, joints: Sequence[JointElement]) -> tuple[JointElement, ...]:
    """The joints, those that follow others included.

    MuJoCo's polynomial is about the positions of the file: y - y0 = a0 + a1 (x - x0) + ..., x and y
    coordinates of joints or lengths of fixed tendons."""
    follows: dict[str, Mimic] = {}
    unused: dict[str, list[str]] = {}
    for i, kind in _active(robot):
        if kind == "joint":
            _tie(robot, i, follows)
        elif kind == "tendon" and _fixed(robot, i):
            _tie_tendon(robot, i, follows)
        else:
            name = robot.name(robot.mujoco.mjtObj.mjOBJ_EQUALITY, i)
            unused.setdefault(kind, []).append(name)
    for kind, names in unused.items():
        effect = "closes a loop, which is left open" if kind in LOOPS else "has no effect"
        _warn(robot, f"<{kind}> of <equality> ({quoted(names)}) {effect}: the parts move freely")
    return tuple(replace(joint, mimics=follows.get(joint.name)) for joint in joints)


def _active(robot: CompiledMjcf) -> Iterator[tuple[int, str]]:
    """The constraints that hold from the start, and their kinds."""
    model, kinds, off = robot.model, robot.mujoco.mjtEq, 0
    disabled = model.opt.disableflags & robot.mujoco.mjtDisableBit.mjDSBL_EQUALITY
    for i in range(model.neq):
        if model.eq_active0[i] and not disabled:
            yield i, kinds(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
        else:
            off += 1
    if off:
        _note(robot, f"{off} constraints of <equality> are inactive and are ignored")


def _tie(robot: CompiledMjcf, i: int, follows: dict[str, Mimic]) -> None:
    model = robot.model
    a0, a1, *higher = map(float, model.eq_data[i][:5])
    follower, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    name, y0 = robot.joints[follower], float(model.qpos0[model.jnt_qposadr[follower]])
    if leader < 0:
        _warn(
            robot,
            f"joint '{shown(name)}' is locked by <equality> but moves freely here; use "
            f"--lock '{shown(name)}={y0 + a0:.12g}' to lock it",
        )
    elif any(higher):
        _warn(robot, f"joint '{shown(name)}' is coupled {CURVED}; the coupling is ignored")
    else:
        x0 = float(model.qpos0[model.jnt_qposadr[leader]])
        weights = {name: 1.0, robot.joints[leader]: -a1}
        _follow(robot, weights, y0 + a0 - a1 * x0, follows, f"joint '{shown(name)}' is coupled")


CURVED: Final = "by a polynomial that is not linear"


def _fixed(robot: CompiledMjcf, i: int) -> bool:
    """Whether the tendons of a constraint are sums of coordinates of joints."""
    model = robot.model
    ends = (int(model.eq_obj1id[i]), int(model.eq_obj2id[i]))
    return all(lengths(robot, tendon) is not None for tendon in ends if tendon >= 0)


def lengths(robot: CompiledMjcf, tendon: int) -> dict[str, float] | None:
    """The coefficients of joints' coordinates in the length of a fixed tendon, None of others."""
    model, joint = robot.model, int(robot.mujoco.mjtWrap.mjWRAP_JOINT)
    first, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    wraps = range(first, first + count)
    if any(int(model.wrap_type[k]) != joint for k in wraps):
        return None
    return {robot.joints[int(model.wrap_objid[k])]: float(model.wrap_prm[k]) for k in wraps}


def _tie_tendon(robot: CompiledMjcf, i: int, follows: dict[str, Mimic]) -> None:
    """A tendon of a length that is linear in that of another, or constant."""
    model, (a0, a1, *higher) = robot.model, map(float, robot.model.eq_data[i][:5])
    first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    tendon = robot.name(robot.mujoco.mjtObj.mjOBJ_TENDON, first)
    subject = f"tendon '{shown(tendon)}' is coupled"
    if any(higher) and second >= 0:
        _warn(robot, f"{subject} {CURVED}; the coupling is ignored")
        return
    weights, right = dict(lengths(robot, first) or {}), float(model.tendon_length0[first]) + a0
    if second >= 0:
        right -= a1 * float(model.tendon_length0[second])
        for name, by in (lengths(robot, second) or {}).items():
            weights[name] = weights.get(name, 0.0) - a1 * by
    _follow(robot, weights, right, follows, subject)


def _follow(
    robot: CompiledMjcf,
    weights: dict[str, float],
    right: float,
    follows: dict[str, Mimic],
    subject: str,
) -> None:
    """Solve Σ weights q = right for the first of the joints that none of the others follows."""
    used = {name: by for name, by in weights.items() if by}
    free = (k for k in used if k not in follows and not _led(used, k, follows))
    follower = next(free, None) if len(used) > 1 else None
    if follower is None:
        _warn(
            robot,
            f"{subject} so that no dependent joint can be chosen; the coupling is ignored",
        )
        return
    weight = used.pop(follower)
    (first, by), *also = ((name, -x / weight + 0.0) for name, x in used.items())
    line = robot.joint_line(robot.joints.index(follower))
    follows[follower] = Mimic(line, first, by, right / weight + 0.0, tuple(also))


def _led(leaders: Iterable[str], name: str, follows: dict[str, Mimic]) -> bool:
    """Whether some of these joints follow `name`, be it by way of others."""
    waiting, visited = [leader for leader in leaders if leader != name], set[str]()
    for leader in waiting:
        mimic = follows.get(leader)
        if leader == name:
            return True
        if mimic is not None and leader not in visited:
            visited.add(leader)
            waiting += [far for far, _ in mimic.terms]
    return False


def _warn(robot: CompiledMjcf, message: str) -> None:
    robot.root.called("<mujoco>").notice("warning", message)


def _note(robot: CompiledMjcf, message: str) -> None:
    robot.root.called("<mujoco>").notice("note", message)
