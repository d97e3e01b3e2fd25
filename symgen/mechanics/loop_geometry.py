"""The geometry of closed loops from a model: of planar loops the chains of joints in the plane of
the loop with all joints at 0, of spatial loops chains of joints, each with the z axis along it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.mechanics.canonical_frames import pose_of_steps, tidy
from symgen.mechanics.elimination import Elimination
from symgen.mechanics.kinematic_loop import PARALLEL_TOLERANCE, LoopError
from symgen.mechanics.leg_positions import NewtonLoop, leg_of, tripod_of
from symgen.mechanics.model import Body, Closure, RigidBodyModel, paths_of
from symgen.mechanics.planar_loop import Chain, PlanarJoint, PlanarLoop, Plane
from symgen.mechanics.rigid_motion import Rows
from symgen.mechanics.spatial import IDENTITY, Matrix3, Pose, Rotation, Triple, Vector, axes_across
from symgen.mechanics.spatial_loop import (
    AXES,
    CutSides,
    SpatialChain,
    SpatialJoint,
    SpatialLoop,
)
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import ZERO, dot, plain


@dataclass(frozen=True)
class ChainAtZero:
    """A chain with all joints at 0, in the axes of the carrier: origins of the joints and the end
    of the chain, axes of the joints, and whether they slide."""

    bodies: list[int]
    points: list[Triple]
    axes: list[Triple]
    slides: list[bool]

    @classmethod
    def of(cls, model: RigidBodyModel, path: list[int], point: Triple) -> "ChainAtZero":
        """The chain of some bodies to a point on the last one, or of the carrier itself."""
        pose, points, axes, slides = Pose(), list[Triple](), list[Triple](), list[bool]()
        for i in path:
            body = model.body(i)
            pose = pose @ body.pose
            points.append(pose.position)
            axes.append(pose.rotate(body.axis))
            slides.append(body.freedom.turn is ZERO)
            check_one_motion(body)
        return cls(path, [*points, pose.transform(point)], axes, slides)


def check_one_motion(body: Body) -> None:
    """Raises LoopError for a joint that does not only turn or only slide."""
    turns, slides = (x is not ZERO for x in (body.freedom.turn, body.freedom.slide))
    if body.in_body_axes or turns == slides:
        raise LoopError(
            f"joint '{body.joint.name}' is {body.joint.kind}; the joints of a loop must be "
            "revolute or prismatic"
        )


def planar_loop(model: RigidBodyModel, closure: Closure) -> PlanarLoop:
    """The loop of a closure. Raises LoopError where its positions have no closed form."""
    if closure.joint not in PLANAR_CUT_JOINTS:
        raise LoopError(
            f"its cut joint has the type '{closure.joint}'; planar loops are closed by "
            f"{' and '.join(PLANAR_CUT_JOINTS)} joints"
        )
    sides = [
        ChainAtZero.of(model, path, point)
        for path, point in zip(paths_of(model, closure.bodies), closure.points, strict=True)
    ]
    turning = (a for side in sides for a, s in zip(side.axes, side.slides, strict=True) if not s)
    normal = next(turning, None)  # the axis of the first joint that turns
    if normal is None:
        raise LoopError("no joint of the loop turns; a loop needs joints that turn")
    x, y = axes_across(normal)
    size = max(norm(*p) for side in sides for p in side.points) or 1.0

    def flat(v: Triple, scale: float = size) -> Plane:
        return tidy(dot(v, x), scale), tidy(dot(v, y), scale)

    _check_planar(sides, normal, size)
    if closure.joint == "revolute":
        _check_cut_axis(model, closure, normal)
    chains = tuple(_chain(side, normal, flat) for side in sides)
    origins = [side.points[0] for side in sides]
    start = flat(_difference(origins[1], origins[0]))
    loop = PlanarLoop(closure, (chains[0], chains[1]), start)
    sine = loop.sine(loop.sample)
    return replace(loop, orientation=1 if sine > 0 else -1)


def _difference(a: Triple, b: Triple) -> Triple:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _check_planar(sides: Sequence[ChainAtZero], normal: Triple, size: float) -> None:
    """Raises LoopError if a joint moves its end out of the plane, or the two ends of the loop are
    in different planes."""
    for side in sides:
        for axis, slides in zip(side.axes, side.slides, strict=True):
            along = abs(dot(axis, normal))
            if (along if slides else 1 - along) > PARALLEL_TOLERANCE:
                raise LoopError(
                    "its joints do not all turn about parallel axes or slide across them, and two "
                    "dependent joints close planar loops only; --snap-angles makes nearly parallel "
                    "axes parallel"
                )
    heights = [dot(side.points[-1], normal) for side in sides]
    if abs(heights[0] - heights[1]) > PLANE_TOLERANCE * size:
        raise LoopError(
            f"its two points are in parallel planes {abs(heights[0] - heights[1]):.3g} m apart; "
            "correct one of them"
        )


def _check_cut_axis(model: RigidBodyModel, closure: Closure, normal: Triple) -> None:
    """Raises LoopError if a revolute cut joint does not turn about the normal of the loop."""
    for path, rotation in zip(paths_of(model, closure.bodies), closure.rotations, strict=True):
        pose = Pose()
        for i in path:
            pose = pose @ model.body(i).pose
        x, y, z = (row[2] for row in rotation)
        if 1 - abs(dot(pose.rotate((x, y, z)), normal)) > AXIS_TOLERANCE:
            raise LoopError(
                "the axis of its revolute cut joint is not parallel to those of its joints; "
                "correct the frames of the cut joint, or close it by a ball joint"
            )


PLANAR_CUT_JOINTS: Final = ("revolute", "ball")
"""The types of cut joints of planar loops."""
AXIS_TOLERANCE: Final = 1e-6
"""How far the cosine of the angle between the axis of a cut joint and the normal may be from 1."""
PLANE_TOLERANCE: Final = 1e-6
"""How far the ends of a loop may be apart along its normal, as a part of its size: digits that a
file leaves out. The loop moves as if they were in one plane."""


def _chain(side: ChainAtZero, normal: Triple, flat: Callable[..., Plane]) -> Chain:
    hinges = []
    for k, body in enumerate(side.bodies):
        arm = flat(_difference(side.points[k + 1], side.points[k]))
        if side.slides[k]:
            hinges.append(PlanarJoint(body, arm, direction=flat(side.axes[k], 1.0)))
        else:
            hinges.append(PlanarJoint(body, arm, 1 if dot(side.axes[k], normal) > 0 else -1))
    return tuple(hinges)


# -- spatial loops ---------------------------------------------------------------------------------

CARRIER: Final = Pose()
"""The axes of the carrier of a loop."""


def spatial_loop(model: RigidBodyModel, closures: Sequence[Closure]) -> SpatialLoop:
    """The loop of some closures that determine their joints together. Raises LoopError where their
    positions have no closed form."""
    cuts = tuple(cut_sides(model, closure) for closure in closures)
    if all(closure.newton for closure in closures):
        return with_elimination(NewtonLoop(cuts))
    turned = tuple(cut_sides(model, cut.closure, _axes_of_first_pivot(cut)) for cut in cuts)
    law = leg_of(turned[0]) if len(cuts) == 1 else tripod_of(cuts)
    return with_elimination(SpatialLoop(turned, law))


def _axes_of_first_pivot(cut: CutSides) -> Pose:
    """Axes of the carrier that have z along the first joint that turns on the side of a loop with
    most dependent joints: the velocities of its leg have zeros there."""
    dependent = {*cut.closure.dependent}
    side = max(cut.sides, key=lambda s: len({h.body for h in s.joints} & dependent))
    axes = Pose()
    for hinge in side.joints:
        axes = axes @ pose_of_steps((hinge.rotation,) if hinge.rotation else ())
        if not hinge.slides:
            return axes
    return Pose()


def with_elimination(loop: SpatialLoop) -> SpatialLoop:
    """A loop with the order of its elimination, from positions at which it closes."""
    x = {**loop.sample}
    if (
        SpatialLoop.sine(loop, x) <= DEAD_POINT_TOLERANCE
    ):  # gaps of equations that are left out do not count
        raise LoopError(
            "its dependent joints do not determine each other at positions 0 of the others; name "
            "other dependent joints"
        )
    matrix = loop.matrix(loop.columns({**x, **loop.positions(x)}))
    return replace(loop, elimination=Elimination.of(matrix))


DEAD_POINT_TOLERANCE: Final = 1e-6
"""The largest least singular value of a mechanism that is at a dead point."""
MIN_RELATIVE_SINGULAR_VALUE: Final = 3e-3
"""The least singular value, as a part of the largest, of joints that determine each other: digits
that a file leaves out are smaller."""


def newton_dependent(
    model: RigidBodyModel, closure: Closure, free: Sequence[int]
) -> tuple[int, ...]:
    """Of the `free` joints of a loop, the best ones first, as many as its equations determine where
    it closes near positions 0. Raises LoopError where it does not close."""
    cut = cut_sides(model, replace(closure, dependent=tuple(free)))
    loop = NewtonLoop((cut,))
    columns = loop.columns(loop.sample)
    matrix = np.array([[plain(e) for e in columns[i]] for i in free]).T
    largest, *_ = values = np.linalg.svd(matrix, compute_uv=False)
    rank, chosen = int((values > MIN_RELATIVE_SINGULAR_VALUE * largest).sum()), list[int]()
    for k in range(len(free)):
        trial = matrix[:, [*chosen, k]]
        least = np.linalg.svd(trial, compute_uv=False)[-1] if len(chosen) < rank else 0.0
        chosen += [k] if least > MIN_RELATIVE_SINGULAR_VALUE * largest else []
    return tuple(sorted(free[k] for k in chosen))


def cut_sides(model: RigidBodyModel, closure: Closure, axes: Pose = CARRIER) -> CutSides:
    """The two chains of a closure, in axes of its carrier. Raises LoopError for joints of several
    coordinates."""
    first, second = (
        _side(model, path, Pose(rotation, point), axes)
        for path, rotation, point in zip(
            paths_of(model, closure.bodies), closure.rotations, closure.points, strict=True
        )
    )
    return CutSides(closure, (first, second))


def _side(model: RigidBodyModel, path: Sequence[int], cut: Pose, axes: Pose) -> SpatialChain:
    hinges = list[SpatialJoint]()
    size = max((norm(*model.body(i).pose.position) for i in path), default=0.0)
    size = max(size, norm(*cut.position)) or 1.0
    for i in path:
        body = model.body(i)
        check_one_motion(body)
        placed = axes.inverse @ body.pose
        rotation = Pose(_with_z_along(placed.rotate(body.axis)))
        is_turned = rotation.rotation != IDENTITY
        turn = Rotation.by(_rows(rotation.rotation)) if is_turned else None
        hinges.append(
            SpatialJoint(i, _vector(placed.position, size), turn, body.freedom.turn is ZERO)
        )
        axes = Pose(Pose(placed.rotation).inverse.rotation) @ rotation
    end = axes.inverse @ cut
    return SpatialChain(tuple(hinges), _vector(end.position, size), _rows(end.rotation))


def _with_z_along(z: tuple[float, float, float]) -> Matrix3:
    """A rotation whose third column is an axis; the identity if that is z."""
    if norm(z[0], z[1]) <= AXIS_ROUNDING and z[2] > 0:
        return IDENTITY
    x, y = axes_across(z)
    a, b, c = zip(x, y, z, strict=True)
    return a, b, c


AXIS_ROUNDING: Final = 1e-12
"""How far an axis is from z by rounding errors of products of rotations."""


def _vector(v: Sequence[float], size: float) -> Vector:
    return Vector(*(tidy(x, size) for x in v))


def _rows(rotation: Matrix3) -> Rows:
    if rotation == IDENTITY:
        return AXES
    a, b, c = (_vector(row, 1.0) for row in rotation)
    return a, b, c
