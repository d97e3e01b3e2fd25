"""Accelerations and forces at joint frames, which move with the parent: what derivatives of inverse
dynamics need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.algorithms.newton_euler import State, carried_out, inertial_force, moved
from symgen.mechanics.flow import carried
from symgen.mechanics.spatial import EZ, NO_FORCE, NULL, Force, Turn, Vector, along, axial
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]


@dataclass(frozen=True, slots=True)
class Motion:
    """How a body moves, and its joint frame, each in its own axes.

    Along a run of parallel joints, whose rates add up to `run`, wd = `base` + w × run z: what turns
    from joint to joint is then `base` alone, which mostly has zeros in the plane."""

    body: State = State()
    joint: State = State()
    base: Vector = NULL
    run: Scalar = ZERO


def motions(system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates) -> dict[int, Motion]:
    """The motion of every body as in inverse dynamics."""
    found = {0: Motion()}
    for i in system.outward:
        with system.section(i, "motion"):
            found[i] = _moved(system, i, found[system.body(i).parent], q, qd, qdd)
    return found


def _joint_motion(system: System, i: int, before: State) -> State:
    """The joint frame of `i`, which moves with the parent."""
    landing = system.body(i).placement.landing
    a = before.a + before.swirl @ landing.offset if system.body(i).parent else -system.gravity[i]
    turns = [step for step in landing.steps if isinstance(step, Turn)]
    return State(
        before.w.turned_all(turns), before.wd.turned_all(turns), a.turned_all(turns), f"j{i}"
    )


def _moved(
    system: System, i: int, before: Motion, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Motion:
    if system.body(i).free:
        return _drifting(system, i, before, q, qd, qdd)
    return _turning(system, i, before, q[i - 1], qd[i - 1], qdd[i - 1])


def _drifting(
    system: System, i: int, before: Motion, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Motion:
    """In a floating joint, whose frame is the body's, the joint's motion is that of what carries
    it."""
    first = system.body(i).free == 1
    carrier = carried_out(system, i, before.body if first else before.joint, q[i - 1])
    body = moved(system, i, before.body, q, qd, qdd)
    return Motion(body, carrier, body.wd)


def _turning(system: System, i: int, before: Motion, q: Scalar, qd: Scalar, qdd: Scalar) -> Motion:
    place, joint, at = (
        system.body(i).placement,
        system.body(i).joint,
        _joint_motion(system, i, before.body),
    )
    landing, own = (
        [s for s in steps if isinstance(s, Turn)] for steps in (place.landing.steps, place.own(q))
    )
    parallel = all(turn.axis == 2 for turn in landing)
    base, run = (before.base, before.run) if parallel else (before.body.wd, ZERO)
    base, run = axial(base.turned_all((*landing, *own)), joint.spin(qdd)), run + joint.spin(qd)
    w = axial(at.w, joint.spin(qd)).turned_all(own).named(f"w{i}")
    wd = (base + w.cross(EZ).scaled(run)).named(f"wd{i}")
    swirl = State(w, wd, label=f"{i}").swirl
    a = at.a.turned_all(own) + swirl @ along(2, place.slide(q)) + joint.thrust(w, qd, qdd)
    return Motion(State(w, wd, a.named(f"a{i}"), f"{i}"), at, base, run)


def loads(system: System, q: Coordinates, motion: Mapping[int, Motion]) -> dict[int, Force]:
    """The force on each body and all beyond it, in its joint frame (N, N m)."""
    total = dict.fromkeys(range(system.size + 1), NO_FORCE)
    found = {}
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "forces"):
            whole = (total[i] + inertial_force(body, motion[i].body)).named(f"{i}")
            found[i] = carried(whole, body.placement.own(q[i - 1]))
            total[body.parent] = total[body.parent] + carried(
                found[i], body.placement.approach(q[i - 1])
            )
    return found
