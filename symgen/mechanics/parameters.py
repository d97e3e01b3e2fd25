"""Inertial parameters: from the user's ten to the pseudo-inertia, moved to canonical frames and regrouped."""

from collections.abc import Mapping, Sequence

from symgen.mechanics.canonical import ROUNDING, CanonicalFrame, canonical_frames
from symgen.mechanics.joints import JOINT_TYPES
from symgen.mechanics.model import Model, Pose
from symgen.mechanics.spatial import NO_INERTIA, Angle, Inertia, Second, Turn, Vector
from symgen.mechanics.system import Placement, System, SystemBody
from symgen.scalar import ZERO, Scalar, structural

Parameters = Sequence[Scalar]
"""The ten of `PARAMETER_NAMES`, about the link origin in link axes."""


def pseudo_inertia(parameters: Parameters) -> Inertia:
    """m, h and S = ½ tr(I) 1 - I from the usual ten (design notes 2)."""
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = (structural(p) for p in parameters)
    half = 0.5 * (ixx + iyy + izz)
    s = Second(half - ixx, -ixy, -ixz, half - iyy, -iyz, half - izz)
    return Inertia(m, Vector(hx, hy, hz), s)


def seen_from(inertia: Inertia, pose: Pose) -> Inertia:
    """The inertia about the frame in which its present frame has `pose`."""
    r = [[structural(x) for x in row] for row in pose.rotation]
    p = Vector(*(structural(x) for x in pose.position))
    h = _times(r, inertia.h)
    half = [_times(r, Vector(*(inertia.s[i, j] for i in range(3)))) for j in range(3)]
    whole = [_times(r, Vector(*(half[j][i] for j in range(3)))) for i in range(3)]
    m, shifted = inertia.m, h + p.scaled(inertia.m)
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return Inertia(m, shifted, Second(*(whole[i][j] + h[i] * p[j] + p[i] * shifted[j] for i, j in pairs)))


def _times(rows: Sequence[Sequence[Scalar]], v: Vector) -> Vector:
    return Vector(*(row[0] * v.x + row[1] * v.y + row[2] * v.z for row in rows))


def system(
    model: Model,
    parameters: Mapping[str, Parameters] | None = None,
    gravity: Vector | None = None,
    regroup: bool = True,
) -> System:
    """The robot in canonical frames.

    `parameters` replaces the ten numbers of the links it names by other scalars; `gravity` likewise (free fall
    in root link axes). With `regroup` off each body keeps its full inertia, as link wrenches and energies need.
    """
    frames = canonical_frames(model)
    own = [_body_inertia(model, i, frames[i - 1].pose, parameters or {}) for i in range(1, model.dof + 1)]
    pull = {i: _base_gravity(model, i, frames[i - 1], gravity) for i in model.children(0)}
    placements = [_placement(model, i, frames[i - 1], pull) for i in range(1, model.dof + 1)]
    order = tuple(model.outward)
    inertias = _regrouped(model, order, placements, own) if regroup else own
    bodies = (
        SystemBody(b.parent, b.name, p, _cleaned(n))
        for b, p, n in zip(model.bodies, placements, inertias, strict=True)
    )
    return System(tuple(bodies), order, {i: g for i, (g, _) in pull.items()})


def _body_inertia(model: Model, i: int, frame: Pose, given: Mapping[str, Parameters]) -> Inertia:
    total, to_frame = NO_INERTIA, frame.inverse
    for link in model.body(i).links:
        ten = given.get(link.name, link.parameters)
        if ten is not None:
            total = total + seen_from(pseudo_inertia(ten), to_frame @ link.pose)
    return total


def _base_gravity(model: Model, i: int, frame: CanonicalFrame, runtime: Vector | None) -> tuple[Vector, Angle]:
    """Gravity in the axes from which base joint `i` turns, and the constant angle it still has from there."""
    axes = (model.body(i).pose @ frame.pose).inverse
    if runtime is not None:
        rows = [[_rounded(x, 1.0) for x in row] for row in axes.rotation]
        return _times(rows, runtime), Angle()
    size = max(abs(g) for g in model.gravity)
    here = Vector(*(_rounded(x, size) for x in axes.turn(model.gravity)))
    if JOINT_TYPES[model.body(i).joint.kind].fixed_axis and not (here.x is ZERO and here.y is ZERO):
        back = Vector(*(float(x) for x in here)).turned(Turn(2, Angle(ZERO, frame.theta0.c0, -frame.theta0.s0)))
        return Vector(*(_rounded(float(x), size) for x in back)), frame.theta0
    return here, Angle()


def _rounded(x: float, size: float) -> Scalar:
    return ZERO if abs(x) <= ROUNDING * size else x


def _placement(model: Model, i: int, frame: CanonicalFrame, pull: Mapping[int, tuple[Vector, Angle]]) -> Placement:
    kind = JOINT_TYPES[model.body(i).joint.kind]
    if i in pull:
        return Placement(frame.landing, pull[i][1], ZERO, kind)
    return Placement(frame.landing, frame.theta0, frame.r, kind)


def _regrouped(
    model: Model, order: Sequence[int], placements: Sequence[Placement], own: Sequence[Inertia]
) -> list[Inertia]:
    """Hand to the parent what no torque can tell apart, from the leaves to the base (Gautier & Khalil 1990)."""
    total = {0: NO_INERTIA} | dict(enumerate(own, 1))
    for i in reversed(order):
        placement, parent = placements[i - 1], model.body(i).parent
        total[i], handed = placement.joint.regrouped(total[i])
        for step in reversed(placement.steps(ZERO)):
            handed = handed.moved_in(step)
        total[parent] = total[parent] + handed
    return [total[i] for i in range(1, len(own) + 1)]


def _cleaned(inertia: Inertia) -> Inertia:
    """Numbers that are only what rounding left of a cancellation become structural zeros."""
    return Inertia(_clean((inertia.m,))[0], Vector(*_clean(inertia.h)), Second(*_clean(inertia.s)))


def _clean(numbers: Sequence[Scalar] | Vector | Second) -> list[Scalar]:
    values = list(numbers)
    size = max((abs(x) for x in values if isinstance(x, float)), default=0.0)
    return [ZERO if isinstance(x, float) and abs(x) <= ROUNDING * size else x for x in values]
