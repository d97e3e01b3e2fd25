"""Spatial closed loops from a model: chains of joints, each with the z axis along it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from symgen.mechanics.canonical_frames import pose_of_steps, tidy
from symgen.mechanics.elimination import Elimination
from symgen.mechanics.kinematic_loop import LoopError
from symgen.mechanics.leg_positions import leg_of
from symgen.mechanics.loop_geometry import axes_across, check_one_motion
from symgen.mechanics.model import Closure, RigidBodyModel, paths_of
from symgen.mechanics.newton_loop import NewtonLoop
from symgen.mechanics.pose import IDENTITY, Matrix3, Pose
from symgen.mechanics.rigid_motion import Rows
from symgen.mechanics.spatial import Rotation, Vector
from symgen.mechanics.spatial_loop import (
    AXES,
    CutSides,
    Side,
    SpatialHinge,
    SpatialLoop,
)
from symgen.mechanics.sphere_positions import tripod_of
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import ZERO, plain

CARRIER: Final = Pose()
"""The axes of the carrier of a loop."""


def spatial_loop(model: RigidBodyModel, closures: Sequence[Closure]) -> SpatialLoop:
    """The loop of some closures that determine their joints together. Raises LoopError where their
    positions have no closed form."""
    cuts = tuple(cut_sides(model, closure) for closure in closures)
    if all(closure.newton for closure in closures):
        return with_elimination(NewtonLoop(cuts))
    turned = tuple(cut_sides(model, cut.closure, _straight_axes(cut)) for cut in cuts)
    law = leg_of(turned[0]) if len(cuts) == 1 else tripod_of(cuts)
    return with_elimination(SpatialLoop(turned, law))


def _straight_axes(cut: CutSides) -> Pose:
    """Axes of the carrier that have z along the first joint that turns on the side of a loop with
    most dependent joints: the velocities of its leg have zeros there."""
    dependent = {*cut.closure.dependent}
    side = max(cut.sides, key=lambda s: len({h.body for h in s.hinges} & dependent))
    axes = Pose()
    for hinge in side.hinges:
        axes = axes @ pose_of_steps((hinge.rotation,) if hinge.rotation else ())
        if not hinge.slides:
            return axes
    return Pose()


def with_elimination(loop: SpatialLoop) -> SpatialLoop:
    """A loop with the order of its elimination, from positions at which it closes."""
    x = {**loop.sample}
    if SpatialLoop.sine(loop, x) <= DEAD:  # gaps of equations that are left out do not count
        raise LoopError(
            "its dependent joints do not determine each other at positions 0 of the others; name "
            "other dependent joints"
        )
    matrix = loop.matrix(loop.columns({**x, **loop.positions(x)}))
    return replace(loop, elimination=Elimination.of(matrix))


DEAD: Final = 1e-6
"""The largest least singular value of a mechanism that is at a dead point."""
INDEPENDENT: Final = 3e-3
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
    rank, chosen = int((values > INDEPENDENT * largest).sum()), list[int]()
    for k in range(len(free)):
        trial = matrix[:, [*chosen, k]]
        least = np.linalg.svd(trial, compute_uv=False)[-1] if len(chosen) < rank else 0.0
        chosen += [k] if least > INDEPENDENT * largest else []
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


def _side(model: RigidBodyModel, path: Sequence[int], cut: Pose, axes: Pose) -> Side:
    hinges = list[SpatialHinge]()
    size = max((norm(*model.body(i).pose.position) for i in path), default=0.0)
    size = max(size, norm(*cut.position)) or 1.0
    for i in path:
        body = model.body(i)
        check_one_motion(body)
        placed = axes.inverse @ body.pose
        rotation = Pose(_with_z_along(placed.turn(body.axis)))
        is_turned = rotation.rotation != IDENTITY
        turn = Rotation.by(_rows(rotation.rotation)) if is_turned else None
        hinges.append(
            SpatialHinge(i, _vector(placed.position, size), turn, body.freedom.turn is ZERO)
        )
        axes = Pose(Pose(placed.rotation).inverse.rotation) @ rotation
    end = axes.inverse @ cut
    return Side(tuple(hinges), _vector(end.position, size), _rows(end.rotation))


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
