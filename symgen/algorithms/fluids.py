"""Forces of fluids on links: added mass, drag, buoyancy and a constant current.

In the axes of a link, with ν_r its velocity relative to the fluid, the joints have to balance
M_A ν̇_r + C_A(ν_r) ν_r + D(ν_r) ν_r and the buoyancy (Fossen, Handbook of Marine Craft Hydrodynamics
and Motion Control, 2nd ed. 2021, eqs. 6.1, 6.44 and 8.1). `FORMULATIONS` names the algorithms that
contain them."""

from collections.abc import Sequence
from typing import Final

from symgen.algorithms.forward_kinematics import forward_kinematics, potential_per_mass
from symgen.algorithms.motion import twists, unit_twists
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.fluid import LinkFluid, QuadraticDrag
from symgen.mechanics.rigid_motion import (
    Motion,
    matvec,
    rotation_columns,
    transpose,
    twist_at_frame,
)
from symgen.mechanics.spatial import ZERO_FORCE, ZERO_VECTOR, Force, Twist, Vector
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot, structural

FORMULATIONS: Final = frozenset(
    (
        *("newton_euler", "composite", "composite_shared", "forward_dynamics", "steps"),
        *("products", "derivatives_by_directions"),
    )
)
"""The algorithms that contain the forces of fluids: titles of formulations before the slash."""
WITHOUT_FORCES: Final = frozenset(("kinematics", "task_space", "inverse_kinematics"))
"""The algorithms whose results do not depend on forces."""


def _constant(numbers: Sequence[float]) -> Vector:
    return Vector(*map(structural, numbers))


def _times(rows: Sequence[Sequence[float]], x: Twist) -> Force:
    """A constant 6 x 6 matrix times a twist of the link."""
    six = [*x.v, *x.w]
    p = [dot([structural(m) for m in row], six) for row in rows]
    return Force(Vector(*p[:3]), Vector(*p[3:]))


def _drag(fluid: LinkFluid, x: Twist) -> Force:
    """D(ν) ν."""
    six = [*x.v, *x.w]
    forces: list[Scalar] = [ZERO] * len(six)
    for part in fluid.quadratic_drag:
        forces[part.force] = forces[part.force] + _quadratic(part, six)
    quadratic = Force(Vector(*forces[:3]), Vector(*forces[3:]))
    return _times(fluid.drag_rows, x) + quadratic


def _quadratic(part: QuadraticDrag, six: Sequence[Scalar]) -> Scalar:
    speed = six[part.speed] if part.signed else sign(six[part.speed]) * six[part.speed]
    return structural(part.coefficient) * (six[part.velocity] * speed)


def fluid_forces(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, moving: dict[int, Motion]
) -> dict[int, Force]:
    """The forces on bodies, about the origins of their frames, that the joints must balance because
    of fluids; `moving` are the motions of the bodies, whose accelerations are less gravity."""
    if not system.fluids:
        return {}
    velocity, potential = twists(system, q, qd), potential_per_mass(system, q)
    flowing = sorted({x.body for x in system.fluids if any(x.fluid.current)})
    places = forward_kinematics(system, q, flowing)
    total: dict[int, Force] = {}
    for x in system.fluids:
        fluid, pose = x.fluid, x.pose
        at, motion = twist_at_frame(velocity[x.body], pose), moving[x.body].seen_in(pose)
        up = matvec(rotation_columns(pose), potential[x.body].slope)
        current = ZERO_VECTOR
        if x.body in places:
            rows = places[x.body].at(pose).rows
            current = matvec(transpose(rows), _constant(fluid.current))
        relative = Twist(at.w, at.v - current)
        change = Twist(motion.wd, motion.a - up - at.w.cross(at.v - current))
        p, rate = _times(fluid.mass_rows, relative), _times(fluid.mass_rows, change)
        inertial = Force(
            rate.linear + at.w.cross(p.linear),
            rate.angular + at.w.cross(p.angular) + relative.v.cross(p.linear),
        )
        sinking = up.scaled(structural(-fluid.displaced))
        weight = Force(sinking, _constant(fluid.centre).cross(sinking))
        force = (inertial + _drag(fluid, relative) + weight).placed(pose)
        total[x.body] = total.get(x.body, ZERO_FORCE) + force
    return total


def with_added_mass(system: CanonicalModel, q: Coordinates, matrix: list[Scalar]) -> list[Scalar]:
    """A mass matrix of the bodies (n x n, row-major) with the added mass of all links."""
    if not system.fluids:
        return matrix
    units, n, total = unit_twists(system, q), system.size, [*matrix]
    for x in system.fluids:
        columns = {j: twist_at_frame(u, x.pose) for j, u in units[x.body].items()}
        momenta = {j: _times(x.fluid.mass_rows, u) for j, u in columns.items()}
        for j, u in columns.items():
            for k, p in momenta.items():
                if k <= j:
                    entry = u.v.dot(p.linear) + u.w.dot(p.angular)
                    total[(j - 1) * n + k - 1] = total[(j - 1) * n + k - 1] + entry
                    if k < j:
                        total[(k - 1) * n + j - 1] = total[(k - 1) * n + j - 1] + entry
    return total
