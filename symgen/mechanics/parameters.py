"""Inertial parameters: from the user's ten to the pseudo-inertia, moved to canonical frames and
regrouped."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from symgen.mechanics.canonical_frames import (
    CanonicalFrame,
    canonical_frames,
    exact_angle,
    longest_joint_distance,
    pose_of_steps,
    tidy,
)
from symgen.mechanics.canonical_model import CanonicalBody, CanonicalModel, LinkFrame
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.fluid import FluidOnBody
from symgen.mechanics.inertia import NO_INERTIA, NO_SECOND, Inertia, SecondMoment
from symgen.mechanics.joint_type import POINT, ROUND, Freedom
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.placement import Placement
from symgen.mechanics.spatial import ZERO_VECTOR, Angle, Pose, Turn, Vector
from symgen.numbers.decimals import norm, with_exact_floats
from symgen.numbers.scalar import ZERO, Scalar, plain, structural

Parameters = Sequence[Scalar]
"""The ten of `PARAMETER_NAMES`, about the link origin in link axes."""


def pseudo_inertia(parameters: Parameters) -> Inertia:
    """m, h and S = ½ tr(I) 1 - I from the usual ten (design notes 2)."""
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = (structural(p) for p in parameters)
    half = 0.5 * (ixx + iyy + izz)
    s = SecondMoment(half - ixx, -ixy, -ixz, half - iyy, -iyz, half - izz)
    return Inertia(m, Vector(hx, hy, hz), s)


def inertia_in_parent(inertia: Inertia, pose: Pose) -> Inertia:
    """The inertia about the frame in which its present frame has `pose`."""
    r = [[structural(x) for x in row] for row in pose.rotation]
    p = Vector(*(structural(x) for x in pose.position))
    h = _times(r, inertia.h)
    half = [_times(r, Vector(*(inertia.s[i, j] for i in range(3)))) for j in range(3)]
    turned = [_times(r, Vector(*(half[j][i] for j in range(3)))) for i in range(3)]
    m, shifted = inertia.m, h + p.scaled(inertia.m)
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return Inertia(
        m,
        shifted,
        SecondMoment(*(turned[i][j] + h[i] * p[j] + p[i] * shifted[j] for i, j in pairs)),
    )


def _times(rows: Sequence[Sequence[Scalar]], v: Vector) -> Vector:
    return Vector(*(row[0] * v.x + row[1] * v.y + row[2] * v.z for row in rows))


def canonical_model(
    model: RigidBodyModel,
    parameters: Mapping[str, Parameters] | None = None,
    gravity: Vector | None = None,
    regrouping: str = "minimal",
    frames: Sequence[CanonicalFrame] | None = None,
) -> CanonicalModel:
    """The robot in canonical frames with regrouped inertia. `parameters` replaces the ten
    parameters of the named links by other scalars, and `gravity` the free fall (root link axes).
    `regrouping` is a key of `REGROUPINGS`, or `WHOLE`. `frames` replaces the canonical frames."""
    frames, replaced = frames or canonical_frames(model), parameters or {}
    free_fall = {i: _base_gravity(model, i, frames[i - 1], gravity) for i in model.children(0)}
    numbers = range(1, model.size + 1)
    placements = [_placement(model, i, frames[i - 1], free_fall) for i in numbers]
    inertias = [_body_inertia(model, i, frames[i - 1].pose, replaced) for i in numbers]
    order = tuple(model.outward)
    if regrouping != WHOLE:
        inertias = _regrouped(model, order, placements, inertias, REGROUPINGS[regrouping])
    bodies = tuple(
        CanonicalBody(
            b.parent, _name(model, i), p, with_exact_floats(n), on_robot=b.joint.type.on_robot
        )
        for i, (b, p, n) in enumerate(zip(model.bodies, placements, inertias, strict=True), 1)
    )
    numbered = [*enumerate(model.bodies, 1)]
    roots, size = dict[int, Pose](), longest_joint_distance(model)
    for i in free_fall:  # the axes from which base joints start, in the root link's frame
        to_base = pose_of_steps(placements[i - 1].steps(ZERO)).inverse
        roots[i] = _tidied(model.body(i).pose @ frames[i - 1].pose @ to_base, size)
    falls = {i: with_exact_floats(g) for i, (g, _) in free_fall.items()}
    return CanonicalModel(
        bodies,
        order,
        falls,
        roots=roots,
        link_frames=_link_frames(model, frames),
        joint_frames=_joint_frames(model, frames),
        gravity_is_input=gravity is not None,
        coupling=coupling_of(model),
        link_bodies=tuple(i for i, b in numbered if b.links),
        rotors=tuple(i for i, b in numbered if b.spin),
        joint_bodies=_joint_bodies(model),
        friction_bodies=tuple(i for i, b in numbered if b.has_friction),
        spring_bodies=tuple(i for i, b in numbered if b.has_spring),
    )


def fluids_on_bodies(model: RigidBodyModel, layout: CanonicalModel) -> tuple[FluidOnBody, ...]:
    """The fluids around the moving links of a model, on the bodies of its canonical model."""
    size = longest_joint_distance(model)
    return tuple(
        FluidOnBody(i, _tidied(layout.link_frames[link.name].pose @ fluid.pose, size), fluid)
        for i, body in enumerate(model.bodies, 1)
        for link in body.links
        for fluid in link.fluids
    )


def _name(model: RigidBodyModel, i: int) -> str:
    """The name of a body. Bodies of one joint that move together are named by the link that they
    move."""
    body = model.body(i)
    if not body.in_body_axes or body.joint.type.is_rotor:
        return body.name
    return model.body(i - body.at + len(body.joint.type.velocities) - 1).name


def _joint_bodies(model: RigidBodyModel) -> dict[int, range]:
    """The bodies that stay together, by each of them."""
    runs = (
        range(i, i + len(joint.type.velocities))
        for i, joint in model.joints
        if model.body(i).in_body_axes
    )
    return {i: run for run in runs for i in run}


def _link_frames(model: RigidBodyModel, frames: Sequence[CanonicalFrame]) -> dict[str, LinkFrame]:
    fixed = {link.name: LinkFrame(0, link.pose) for link in model.base}
    size = longest_joint_distance(model)
    return fixed | {
        link.name: LinkFrame(i, _tidied(frames[i - 1].pose.inverse @ link.pose, size))
        for i, body in enumerate(model.bodies, 1)
        for link in body.links
    }


def _joint_frames(model: RigidBodyModel, frames: Sequence[CanonicalFrame]) -> dict[str, LinkFrame]:
    size = longest_joint_distance(model)
    last = {
        joint.name: i + len(joint.type.velocities) - 1
        for i, joint in model.joints
        if not joint.type.is_rotor
    }
    return {
        name: LinkFrame(i, _tidied(frames[i - 1].pose.inverse, size)) for name, i in last.items()
    }


def _tidied(pose: Pose, size: float) -> Pose:
    """The pose without what rounding left in it."""
    a, b, c = ((*(plain(tidy(x, 1.0)) for x in row),) for row in pose.rotation)
    x, y, z = (plain(tidy(p, size)) for p in pose.position)
    return Pose((a, b, c), (x, y, z))  # type: ignore[arg-type]


def gravity_by_base_joint(model: RigidBodyModel, gravity: Vector) -> Mapping[int, Vector]:
    """Free fall (root link axes, any scalars) in the axes from which each base joint starts."""
    frames = canonical_frames(model)
    return {i: _base_gravity(model, i, frames[i - 1], gravity)[0] for i in model.children(0)}


def _body_inertia(
    model: RigidBodyModel, i: int, frame: Pose, replaced: Mapping[str, Parameters]
) -> Inertia:
    body, to_frame = model.body(i), frame.inverse
    placed = ((replaced.get(x.name, x.parameters), to_frame @ x.pose) for x in body.links)
    return _total(placed, rotor_inertia(body.spin, body.freedom))


def _total(links: Iterable[tuple[Parameters | None, Pose]], total: Inertia = NO_INERTIA) -> Inertia:
    """The inertia of links by their parameters and poses, added to another one."""
    for ten, pose in links:
        if ten is not None:
            total = total + inertia_in_parent(pseudo_inertia(ten), pose)
    return total


def rotor_inertia(spin: Scalar, freedom: Freedom) -> Inertia:
    """The pseudo-inertia of a rotor: inertia about its z axis alone, or about all axes (kg m²), or
    a point mass (kg), as its freedom says."""
    if freedom.rotor_moment == POINT:
        return Inertia(structural(spin), ZERO_VECTOR, NO_SECOND)
    half = 0.5 * structural(spin)
    along_z = half if freedom.rotor_moment == ROUND else -half
    return Inertia(ZERO, ZERO_VECTOR, SecondMoment(half, ZERO, ZERO, half, ZERO, along_z))


def _base_gravity(
    model: RigidBodyModel, i: int, frame: CanonicalFrame, runtime: Vector | None
) -> tuple[Vector, Angle]:
    """Gravity in the axes from which base joint `i` turns, and the constant angle it still has from
    there."""
    axes = (model.body(i).pose @ frame.pose).inverse
    if not model.body(i).joint.type.on_robot:
        return ZERO_VECTOR, Angle()  # it stands for what only its joint moves, which has no weight
    if runtime is not None:
        rows = [[tidy(x, 1.0) for x in row] for row in axes.rotation]
        return _times(rows, runtime), Angle()
    size = max(abs(g) for g in model.gravity)
    fall = Vector(*(tidy(x, size) for x in axes.rotate(model.gravity)))
    turns = model.body(i).freedom.turn is not ZERO
    if turns and not (fall.x is ZERO and fall.y is ZERO):
        back = Vector(*(plain(x) for x in fall)).expressed_after(
            Turn(2, Angle(ZERO, frame.theta0.c0, -frame.theta0.s0))
        )
        return Vector(*(tidy(plain(x), size) for x in back)), frame.theta0
    return fall, Angle()


def _placement(
    model: RigidBodyModel,
    i: int,
    frame: CanonicalFrame,
    free_fall: Mapping[int, tuple[Vector, Angle]],
) -> Placement:
    body = model.body(i)
    theta0, r = (free_fall[i][1], ZERO) if i in free_fall else (frame.theta0, frame.r)
    constants = (with_exact_floats(x) for x in (frame.to_axis, theta0, r))
    return body.joint.type.placement(body.joint, body.at, *constants)


Balance = Callable[[Inertia, Pose, float], tuple[Inertia, Scalar]]
"""Splits a body's inertia, given its main child's pose and the robot's size, into what remains and
a mass that the child keeps."""


def _balanced(inertia: Inertia, child: Pose, size: float) -> tuple[Inertia, Scalar]:
    """Leave with the child the mass at its origin without which a first moment of the body
    vanishes.

    That mass costs the child three products (m a), and saves the body a column of U h and its share
    of h × a. A child too near would need a mass so large that its force, cancelled further in,
    takes digits with it."""
    for k in (1, 0):
        if inertia.h[k] is not ZERO and abs(child.position[k]) > 1e-3 * size:
            mass = inertia.h[k] / child.position[k]
            lighter = inertia + inertia_in_parent(Inertia(-mass, ZERO_VECTOR, NO_SECOND), child)
            return replace(lighter, h=lighter.h.without(k)), mass
    return inertia, ZERO


REGROUPINGS: Final[dict[str, Balance]] = {
    "minimal": lambda inertia, child, size: (inertia, ZERO),
    "balanced": _balanced,
}
"""How to use the freedom in regrouping: fewest parameters, or masses left where they cancel first
moments."""

WHOLE: Final = "whole"
"""No regrouping: every body keeps its own inertia, as energies, momenta and the centre of mass need
it."""


def _regrouped(
    model: RigidBodyModel,
    order: Sequence[int],
    placements: Sequence[Placement],
    inertias: Sequence[Inertia],
    balance: Balance,
) -> list[Inertia]:
    """Move parameters that joint forces cannot distinguish to the parent, from the leaves to the
    base (Gautier & Khalil 1990)."""
    total = {0: NO_INERTIA} | dict(enumerate(inertias, 1))
    for i in reversed(order):
        placement, parent = placements[i - 1], model.body(i).parent
        inertia, child = _cleaned(total[i]), _balancing_child(model, i)
        if child is not None:
            to_child = pose_of_steps(placements[child - 1].steps(ZERO))
            inertia, mass = balance(inertia, to_child, longest_joint_distance(model))
            total[child] = replace(total[child], m=total[child].m + mass)
            inertia = _cleaned(inertia)
        total[i], handed = placement.split_inertia(inertia)
        for step in reversed(placement.steps(ZERO)):
            handed = handed.to_parent(step)
        total[parent] = total[parent] + handed
    return [total[i] for i in range(1, len(inertias) + 1)]


def _balancing_child(model: RigidBodyModel, i: int) -> int | None:
    """The main child, where a point mass at its origin may belong to either body: on a hinge."""
    child = canonical_frames(model)[i - 1].main
    if child is None or model.body(child).in_body_axes:
        return None
    pivots = model.body(i).freedom.is_pure_rotation and model.body(child).freedom.is_pure_rotation
    return child if pivots else None


def _cleaned(inertia: Inertia) -> Inertia:
    """The inertia in which rounding errors of cancellations are structural zeros."""
    return Inertia(
        _clean((inertia.m,))[0], Vector(*_clean(inertia.h)), SecondMoment(*_clean(inertia.s))
    )


def _clean(numbers: Sequence[Scalar] | Vector | SecondMoment) -> list[Scalar]:
    values = list(numbers)
    size = max((abs(x) for x in values if isinstance(x, float)), default=0.0)
    return [tidy(x, size) if isinstance(x, float) else x for x in values]


def lump_links(model: RigidBodyModel, names: Sequence[str]) -> RigidBodyModel:
    """The model in which each body that `names` contains has the inertia of all its links on its
    first link."""
    return replace(
        model,
        bodies=tuple(_lumped_body(b) if b.links and b.name in names else b for b in model.bodies),
    )


def _lumped_body(body: Body) -> Body:
    total = _total((link.parameters, link.pose) for link in body.links)
    first = replace(body.links[0], parameters=inertial_parameters(total))
    return replace(
        body, links=(first, *(replace(link, parameters=None) for link in body.links[1:]))
    )


def inertial_parameters(inertia: Inertia) -> tuple[float, ...]:
    """The ten inertial parameters of a pseudo-inertia of numbers."""
    xx, xy, xz, yy, yz, zz = (plain(x) for x in inertia.s)
    h = (plain(x) for x in inertia.h)
    return (plain(inertia.m), *h, yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)


def parameter_blocks(model: RigidBodyModel, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The ten parameters of each named link of a `lumped` model, in the order of bodies and their
    links.

    A name that is a body's means the body with all that is fixed to it, another only that link.
    """
    links = (link for body in model.bodies for link in body.links if link.name in names)
    return {link.name: link.parameters or (0.0,) * 10 for link in links}


MIN_RELATIVE_MOMENT: Final = 1e-9
"""A first moment across the axis this small beside the whole has no direction of its own."""


@lru_cache(maxsize=8)
def tip_aligned_frames(model: RigidBodyModel) -> tuple[CanonicalFrame, ...]:
    """The canonical frames, where those of outermost revolute joints are rotated about their axes
    so that the first moment of mass has no y component.

    The canonical frame of a body that carries no other is fixed by its joint up to a constant angle
    about the axis. If h_y is 0, every recursion saves the products with h_y, for one addition q +
    θ₀. Functions that read ten parameters of a link or the place of a link would pay for the
    constant rotation, and so do parameters and wrenches that are inputs: these keep the canonical
    frames."""
    return tuple(_turned(model, i, frame) for i, frame in enumerate(canonical_frames(model), 1))


def _turned(model: RigidBodyModel, i: int, frame: CanonicalFrame) -> CanonicalFrame:
    body = model.body(i)
    inner = model.children(i) or not body.parent
    if inner or body.in_body_axes or body.spin or body.freedom.turn is ZERO:
        return frame
    x, y, z = (plain(component) for component in _body_inertia(model, i, frame.pose, {}).h)
    across = norm(x, y)
    if across <= MIN_RELATIVE_MOMENT * norm(across, z):
        return frame
    angle = exact_angle(x, y)
    if angle.c0 is ZERO or angle.s0 is ZERO:
        return frame
    return replace(
        frame, theta0=frame.theta0 + angle, pose=frame.pose @ pose_of_steps((Turn(2, angle),))
    )
