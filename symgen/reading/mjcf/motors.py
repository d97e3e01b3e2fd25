"""Actuators of MuJoCo as motors: their lengths, which are linear in coordinates of joints, and the
forces along these."""

from collections.abc import Iterator

from symgen.reading.description import Motor, Transmission
from symgen.reading.mjcf.bodies import CompiledMjcf
from symgen.reading.mjcf.coupling import lengths


def transmissions(robot: CompiledMjcf) -> tuple[Transmission, ...]:
    """The joints that as many actuators move, by gears on joints and on fixed tendons, each with
    the first of its actuators that tell its joints apart."""
    groups: list[tuple[set[str], list[Motor]]] = []
    for motor in _motors(robot):
        names = {name for name, _ in motor.terms}
        near = [group for group in groups if group[0] & names]
        groups = [group for group in groups if group not in near]
        groups.append((names.union(*(n for n, _ in near)), [m for _, ms in near for m in ms]))
        groups[-1][1].append(motor)
    tied_joints = []
    for names, motors in groups:
        joints = tuple(sorted(names, key=robot.joints.index))
        telling = _telling(joints, motors)
        if len(telling) == len(joints):
            line = robot.joint_line(robot.joints.index(joints[0]))
            tied_joints.append(Transmission(line, joints, tuple(telling)))
    return tuple(sorted(tied_joints, key=lambda tied: robot.joints.index(tied.joints[0])))


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
            terms = lengths(robot, at) or {}
        scaled = tuple((joint, gear * by) for joint, by in terms.items() if gear * by)
        if scaled:
            yield Motor(name, scaled)


def _telling(joints: tuple[str, ...], motors: list[Motor]) -> list[Motor]:
    """The motors whose rows are independent of the rows before, by elimination."""
    telling, rows = list[Motor](), list[tuple[int, list[float]]]()
    for motor in motors:
        row = [dict(motor.terms).get(joint, 0.0) for joint in joints]
        size = max(map(abs, row))
        for at, other in rows:
            by = row[at] / other[at]
            row = [x - by * y for x, y in zip(row, other, strict=True)]
        pivot = max(range(len(row)), key=lambda k: abs(row[k]))
        if abs(row[pivot]) > SMALL * size:
            rows.append((pivot, row))
            telling.append(motor)
    return telling


SMALL = 1e-9
"""The part of a row that is left of one that depends on those before it."""
