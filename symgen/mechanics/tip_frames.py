"""Frames of bodies that carry no other: their free x axis is laid along the first moment of mass.

The canonical frame of such a body is fixed by its joint up to a constant angle about the axis.
Turned until h_y vanishes it saves every recursion the products with h_y, for one addition q + θ₀.
What reads ten parameters a link, or where a link is, would pay for the constant turn instead, and
so do parameters and wrenches that come at run time: these keep the frames as they are."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

from symgen.mechanics.angle import Angle
from symgen.mechanics.canonical import CanonicalFrame, canonical_frames, exact_angle, pose_of
from symgen.mechanics.inertia import NO_INERTIA
from symgen.mechanics.model import Model
from symgen.mechanics.parameters import pseudo_inertia, seen_from
from symgen.mechanics.pose import Pose
from symgen.mechanics.spatial import Turn, Vector
from symgen.numbers.exact import norm
from symgen.numbers.scalar import ZERO, plain

NOTHING: Final = 1e-9
"""A first moment across the axis this small beside the whole has no direction of its own."""


@lru_cache(maxsize=8)
def turned_frames(model: Model) -> tuple[CanonicalFrame, ...]:
    """The canonical frames, those of the outermost revolute joints turned; `canonical_frames` where
    none is to be."""
    return tuple(_turned(model, i, frame) for i, frame in enumerate(canonical_frames(model), 1))


def _turned(model: Model, i: int, frame: CanonicalFrame) -> CanonicalFrame:
    body = model.body(i)
    inner = model.children(i) or not body.parent
    if inner or body.in_body_axes or body.spin or body.freedom.turn is ZERO:
        return frame
    angle = _towards(_first_moment(model, i, frame.pose))
    if angle.c0 is ZERO or angle.s0 is ZERO:
        return frame
    return replace(frame, theta0=frame.theta0 + angle, pose=frame.pose @ pose_of((Turn(2, angle),)))


def _first_moment(model: Model, i: int, frame: Pose) -> Vector:
    total = NO_INERTIA
    for link in model.body(i).links:
        if link.parameters is not None:
            total = total + seen_from(pseudo_inertia(link.parameters), frame.inverse @ link.pose)
    return total.h


def _towards(h: Vector) -> Angle:
    """The turn about z that brings x along `h`, none where that is not clear."""
    x, y, z = (plain(component) for component in h)
    across = norm(x, y)
    return exact_angle(x, y) if across > NOTHING * norm(across, z) else Angle()
