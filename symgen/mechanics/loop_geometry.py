"""The geometry of closed loops from a model: chains of joints in the plane of the loop, with all
joints at 0."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.mechanics.canonical_frames import tidy
from symgen.mechanics.closures import Chain, Hinge, PlanarLoop, Plane
from symgen.mechanics.kinematic_loop import LoopError
from symgen.mechanics.model import Body, Closure, RigidBodyModel, paths_of
from symgen.mechanics.pose import Pose, Triple
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import ZERO, dot


@dataclass(frozen=True)
class Reference:
    """A chain with all joints at 0, in the axes of the carrier: origins of the joints and the end
    of the chain, axes of the joints, and whether they slide."""

    bodies: list[int]
    points: list[Triple]
    axes: list[Triple]
    slides: list[bool]

    @classmethod
    def of(cls, model: RigidBodyModel, path: list[int], point: Triple) -> "Reference":
        """The chain of some bodies to a point on the last one, or of the carrier itself."""
        pose, points, axes, slides = Pose(), list[Triple](), list[Triple](), list[bool]()
        for i in path:
            body = model.body(i)
            pose = pose @ body.pose
            points.append(pose.position)
            axes.append(pose.turn(body.axis))
            slides.append(body.freedom.turn is ZERO)
            check_one_motion(body)
        return cls(path, [*points, pose.move(point)], axes, slides)


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
    if closure.joint not in PLANAR:
        raise LoopError(
            f"its cut joint has the type '{closure.joint}'; planar loops are closed by "
            f"{' and '.join(PLANAR)} joints"
        )
    sides = [
        Reference.of(model, path, point)
        for path, point in zip(paths_of(model, closure.bodies), closure.points, strict=True)
    ]
    normal = _normal(sides)
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


def _normal(sides: Sequence[Reference]) -> Triple:
    """The axis of the first joint that turns."""
    turning = (a for side in sides for a, s in zip(side.axes, side.slides, strict=True) if not s)
    found = next(turning, None)
    if found is None:
        raise LoopError("no joint of the loop turns; a loop needs joints that turn")
    return found


def axes_across(z: Triple) -> tuple[Triple, Triple]:
    """Two axes across a normal, those of the carrier where they are."""
    k = max(range(3), key=lambda i: (abs(z[i]), i))
    start = [0.0, 0.0, 0.0]
    start[(k + 1) % 3] = 1.0
    along = dot(start, z)
    x = [a - along * b for a, b in zip(start, z, strict=True)]
    length = norm(*x)
    unit = (x[0] / length, x[1] / length, x[2] / length)
    across = (
        z[1] * unit[2] - z[2] * unit[1],
        z[2] * unit[0] - z[0] * unit[2],
        z[0] * unit[1] - z[1] * unit[0],
    )
    return unit, across


def _check_planar(sides: Sequence[Reference], normal: Triple, size: float) -> None:
    """Raises LoopError if a joint moves its end out of the plane, or the two ends of the loop are
    in different planes."""
    for side in sides:
        for axis, slides in zip(side.axes, side.slides, strict=True):
            along = abs(dot(axis, normal))
            if (along if slides else 1 - along) > PARALLEL:
                raise LoopError(
                    "its joints do not all turn about parallel axes or slide across them, and two "
                    "dependent joints close planar loops only; --snap-angles makes nearly parallel "
                    "axes parallel"
                )
    heights = [dot(side.points[-1], normal) for side in sides]
    if abs(heights[0] - heights[1]) > SAME_PLANE * size:
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
        if 1 - abs(dot(pose.turn((x, y, z)), normal)) > SAME_AXIS:
            raise LoopError(
                "the axis of its revolute cut joint is not parallel to those of its joints; "
                "correct the frames of the cut joint, or close it by a ball joint"
            )


PLANAR: Final = ("revolute", "ball")
"""The types of cut joints of planar loops."""
PARALLEL: Final = 1e-12
"""How far the cosine of the angle between parallel axes is from 1, or between crossing ones from
0: rounding errors of products of rotations."""
SAME_AXIS: Final = 1e-6
"""How far the cosine of the angle between the axis of a cut joint and the normal may be from 1."""
SAME_PLANE: Final = 1e-6
"""How far the ends of a loop may be apart along its normal, as a part of its size: digits that a
file leaves out. The loop moves as if they were in one plane."""


def _chain(side: Reference, normal: Triple, flat: Callable[..., Plane]) -> Chain:
    hinges = []
    for k, body in enumerate(side.bodies):
        arm = flat(_difference(side.points[k + 1], side.points[k]))
        if side.slides[k]:
            hinges.append(Hinge(body, arm, direction=flat(side.axes[k], 1.0)))
        else:
            hinges.append(Hinge(body, arm, 1 if dot(side.axes[k], normal) > 0 else -1))
    return tuple(hinges)
