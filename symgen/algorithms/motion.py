"""How bodies move: the one outward pass, which gives what any algorithm may read.

Symbols (Featherstone 2008, F08): w angular velocity, v velocity of a frame's origin, wd the rate of
w, a acceleration of the origin less gravity, all in the frame's own axes. Every joint is asked for
its steps and for the twist of its body against the parent (`CanonicalModel.relative_twist`),
nothing else. What a single body's motion is and how it is carried from frame to frame is in
`symgen.mechanics.rigid_motion`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from symgen.mechanics.canonical_model import CanonicalModel, cached_by_positions
from symgen.mechanics.rigid_motion import Motion
from symgen.mechanics.spatial import ZERO_TWIST, Twist
from symgen.numbers.scalar import Coordinates, Scalar

# -- velocities ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Velocity:
    """The twists of a body, of its joint frame, and of what carries its joint, each in that
    frame's axes: `carrier` is the parent's motion seen at the joint frame, `joint` that of the
    joint frame, which is one or the other's; `relative` is body against carrier at the joint frame.
    """

    body: Twist = ZERO_TWIST
    joint: Twist = ZERO_TWIST
    carrier: Twist = ZERO_TWIST
    relative: Twist = ZERO_TWIST

    def scaled(self, k: Scalar) -> "Velocity":
        """This motion `k` times as fast."""
        body, joint, carrier = (x.scaled(k) for x in (self.body, self.joint, self.carrier))
        return Velocity(body, joint, carrier, self.relative.scaled(k))


def velocities(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> dict[int, Velocity]:
    """The velocity of every body at the rates `qd`; 0 is the base, at rest."""
    moving = {0: Velocity()}
    for i in system.outward:
        with system.section(i, "velocity"):
            moving[i] = _next_velocity(system, i, moving[system.body(i).parent], q[i - 1], qd)
    return moving


def _next_velocity(
    system: CanonicalModel, i: int, parent: Velocity, q: Scalar, qd: Coordinates
) -> Velocity:
    place = system.body(i).placement
    approach, relative = place.to_joint_frame(q), system.relative_twist(i, qd)
    at_joint = parent.body.to_child(approach)
    body = (at_joint.to_child(place.to_body(q)) + relative).named(f"{i}")
    if system.same_joint_as_parent(i):
        carrier, relative = (x.to_child(approach) for x in (parent.carrier, parent.relative))
    else:
        carrier = at_joint
    return Velocity(body, place.select_by_axes(parent=carrier, body=body), carrier, relative)


def next_twist(
    system: CanonicalModel, i: int, parent: Twist, q: Coordinates, qd: Coordinates
) -> Twist:
    """The twist of body `i` from that of its parent."""
    steps = system.steps(i, q)
    return parent.to_child(steps) + system.relative_twist(i, qd)


def twists(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> dict[int, Twist]:
    """The twist of every body at the rates `qd`."""
    return {i: x.body for i, x in velocities(system, q, qd).items()}


@cached_by_positions
def unit_twists(system: CanonicalModel, q: Coordinates) -> dict[int, dict[int, Twist]]:
    """For every body its twist at unit rate of each joint on its path, outermost joint first.

    They start as floats, since kept exact the constants that gather on a path become long decimals,
    of which fewer are equal."""
    return _of_path(system, q, lambda i: system.body(i).S.scaled(1.0), "unit twists")


def unit_twist_rates(
    system: CanonicalModel, q: Coordinates, moving: Mapping[int, Twist]
) -> dict[int, dict[int, Twist]]:
    """For every body the rates at which the unit twists of the joints on its path change in space
    where bodies move at the twists `moving`, outermost joint first: that of joint j, fixed to body
    j, is v_j × S_j."""
    return _of_path(
        system, q, lambda i: moving[i].cross(system.body(i).S), "rates of unit twists", "d"
    )


def _of_path(
    system: CanonicalModel,
    q: Coordinates,
    of_joint: Callable[[int], Twist],
    step: str,
    letter: str = "",
) -> dict[int, dict[int, Twist]]:
    """For every body a twist of each joint on its path as seen from it, outermost joint first: that
    `of_joint`, in the body that it moves, carried outward."""
    seen: dict[int, dict[int, Twist]] = {0: {}}
    for i in system.outward:
        steps = system.steps(i, q)
        with system.section(i, step):
            before = seen[system.body(i).parent].items()
            carried = {j: x.to_child(steps).named(f"{letter}{i}_{j}") for j, x in before}
            seen[i] = {i: of_joint(i)} | carried
    return seen


# -- accelerations ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JointMotion:
    """The motion of a body, and of a frame fixed to what carries its joint (the parent, or that of
    the first of the bodies that stay together), which at this moment is its joint frame."""

    body: Motion = Motion()
    carrier: Motion = Motion()


def motions(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    qd_r: Coordinates | None = None,
) -> dict[int, Motion]:
    """The motion of every body; with reference velocities `qd_r`, `qdd` are their rates."""
    moving = {0: Motion()}
    for i in system.outward:
        with system.section(i, "motion"):
            parent = moving[system.body(i).parent]
            moving[i] = next_motion(system, i, parent, (q, qd, qdd), qd_r)
    return moving


def next_motion(
    system: CanonicalModel,
    i: int,
    parent: Motion,
    state: Sequence[Coordinates],
    qd_r: Coordinates | None = None,
) -> Motion:
    """The motion of body `i` from that of its parent, at (q, q̇, q̈)."""
    (q, qd, qdd), place = state, system.body(i).placement
    at = start_of(system, i, parent).fixed_to(place.to_body_axes(q[i - 1]), f"o{i}")
    return _moving(system, i, at, q, qd, qdd, qd_r)


def joint_motions(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> dict[int, JointMotion]:
    """The motion of every body and of what carries its joint; bodies are computed by way of their
    joint frames."""
    joints: dict[int, JointMotion] = {}
    bodies = {0: Motion()}
    for i in system.outward:
        with system.section(i, "motion"):
            place = system.body(i).placement
            start = start_of(system, i, bodies[system.body(i).parent])
            at = replace(start.fixed_to(place.transforms(q[i - 1])), label=f"j{i}")
            turned = at.turned(at.a, place.turns(q[i - 1]))
            bodies[i] = _moving(system, i, turned, q, qd, qdd, None)
            if system.same_joint_as_parent(i):
                first = joints[system.body(i).parent].carrier
                at = first.fixed_to(place.transforms(q[i - 1]))
            joints[i] = JointMotion(bodies[i], at)
    return joints


def start_of(system: CanonicalModel, i: int, parent: Motion) -> Motion:
    """The motion that body `i` starts from: its parent's; that of the base is free fall turned
    round."""
    return parent if system.body(i).parent else Motion(a=-system.gravity[i])


def _moving(
    system: CanonicalModel,
    i: int,
    at: Motion,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    qd_r: Coordinates | None,
) -> Motion:
    """The motion of body `i`, whose frame but for a shift along its axis would move like `at` if
    its joint stood still."""
    rate, change = system.relative_twist(i, qd), system.relative_twist(i, qdd)
    reference = rate if qd_r is None else system.relative_twist(i, qd_r)
    shift = system.body(i).placement.shift(q[i - 1])
    return at.moving(rate, reference, change, shift, f"{i}").named(f"{i}")
