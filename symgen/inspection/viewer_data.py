"""Computations of the page of a robot while its sliders move: the robot's own JavaScript, and where
its bodies, joints and frames are drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import pi
from typing import Any, Final

from symgen.algorithms.registry import LINK_QUANTITIES, QUANTITIES
from symgen.inspection.visual_geometry import NO_GEOMETRY, RobotGeometry, inertia_ellipsoids
from symgen.languages.describe import descriptions
from symgen.languages.javascript import JAVASCRIPT
from symgen.languages.module import Module
from symgen.mechanics.canonical_frames import canonical_frames
from symgen.mechanics.joint_listing import ListedJoint, listed_joints
from symgen.mechanics.model import Limits, RigidBodyModel
from symgen.mechanics.parameters import lump_links
from symgen.mechanics.pose import Pose
from symgen.mechanics.user_coordinates import position_coordinates, quaternions_of
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace_all

Data = dict[str, Any]

LIVE: Final = ("gravity", "mass_matrix", "potential_energy", "com")
PLACES: Final = "places"
MOST_TIPS: Final = 8
"""Links at ends of chains whose Jacobians the page has."""


def live(module: Module, drawn: RobotGeometry = NO_GEOMETRY, motion: Data | None = None) -> Data:
    """The JavaScript program of a page and its data, which `live.js` reads.

    `drawn` are the shapes of the links; `motion` is a sampled motion to play (`times` in s,
    `positions` with a row for each time), or None."""
    model = module.robot.model
    joints = listed_joints(model)
    carrying = {model.body(joint.bodies[0]).parent for joint in joints}
    tips = [k for k, joint in enumerate(joints) if joint.bodies[-1] not in carrying][:MOST_TIPS]
    functions = tuple(trace_all(module.robot, _functions(model, joints, tips), {}))
    moving = replace(module, functions=functions)
    described = descriptions(moving)
    return {
        "program": JAVASCRIPT.files(moving)[f"{module.name}.mjs"].replace("</", "<\\/"),
        "scene": {
            "name": module.name,
            "bodies": list(_bodies(model, joints, drawn)),
            "base": _points(model, 0, joints),
            "baseShapes": list(drawn.shapes.get(0, ())),
            "motion": motion,
            "coordinates": list(_coordinates(model)),
            "effort": [model.limits[name].effort for name in model.joint_names],
            "joints": list(model.joint_names),
            "tips": [joints[k].body.name for k in tips],
            "inputs": {
                d.name: [argument.name for argument in d.arguments if argument.direction == "in"]
                for d in described
            },
            "free_fall": list(model.gravity),
        },
    }


def _functions(
    model: RigidBodyModel, joints: Sequence[ListedJoint], tips: Sequence[int]
) -> list[FunctionRequest]:
    """Poses of all bodies in one function, Jacobians of the tips, and `LIVE` as far as the robot
    has mass."""
    pose, jacobian = LINK_QUANTITIES["frame_pose"], LINK_QUANTITIES["frame_jacobian_aligned"]
    heavy = any(link.parameters and link.parameters[0] for b in model.bodies for link in b.links)
    return [
        FunctionRequest(PLACES, tuple(pose.of(joint.body.name) for joint in joints)),
        *(
            FunctionRequest(f"tip_{k}", (jacobian.of(joints[i].body.name),))
            for k, i in enumerate(tips)
        ),
        *(
            FunctionRequest(name, (QUANTITIES[name],))
            for name in LIVE
            if heavy or name == "mass_matrix"
        ),
    ]


def _bodies(
    model: RigidBodyModel, joints: Sequence[ListedJoint], drawn: RobotGeometry
) -> Iterator[Data]:
    """For each joint the body that it moves, in that body's own frame."""
    places = {joint.bodies[-1]: k for k, joint in enumerate(joints)}
    lumped = lump_links(model, [body.name for body in model.moving])
    canonical, ellipsoids = canonical_frames(model), list(inertia_ellipsoids(model))
    for joint in joints:
        i, body = joint.bodies[-1], joint.body
        frame = Pose() if body.in_body_axes else canonical[i - 1].pose
        ten = lumped.body(i).links[0].parameters or (0.0,) * 10
        yield {
            "name": body.name,
            "joint": joint.name,
            "kind": joint.kind,
            "parent": places.get(model.body(joint.bodies[0]).parent, -1),
            "axis": None if body.in_body_axes else list(body.axis),
            "mass": ten[0],
            "com": [h / ten[0] for h in ten[1:4]] if ten[0] else None,
            "points": _points(model, i, joints),
            "shapes": list(drawn.shapes.get(i, ())),
            "ellipsoid": ellipsoids[i - 1],
            "canonical": {
                "R": [list(row) for row in frame.rotation],
                "p": list(frame.position),
            },
        }


def _points(model: RigidBodyModel, i: int, joints: Sequence[ListedJoint]) -> list[list[float]]:
    """Where lines go to from a body's origin: joints that it carries, else the frames fixed to it,
    else its centre of mass."""
    carried = [model.body(joint.bodies[0]) for joint in joints]
    positions = [body.pose.position for body in carried if body.parent == i]
    if not positions and i:
        positions = [link.pose.position for link in model.body(i).links[1:]]
    return [list(point) for point in dict.fromkeys(positions)]


def _coordinates(model: RigidBodyModel) -> Iterator[Data]:
    """Every slider: a position with its limits, or one of three turns of a unit quaternion."""
    rows, quaternions = position_coordinates(model), quaternions_of(model)
    first = {four.start: four for four in quaternions}
    inside = {k for four in quaternions for k in range(four.start, four.stop)}
    for k, row in enumerate(rows):
        if k in first:
            yield {"name": row.name.rpartition(".")[0], "place": k, "quaternion": True}
        elif k not in inside:
            lower, upper = _range(model.limits.get(row.name, Limits()), row.unit)
            yield {"name": row.name, "place": k, "unit": row.unit, "lower": lower, "upper": upper}


def _range(limits: Limits, unit: str) -> tuple[float, float]:
    """Where a slider goes: within limits, or as far as anybody wants to look."""
    half, far = (pi, 20 * pi) if unit == "rad" else (1.0, 20.0)
    low = -half if limits.lower is None or limits.lower < -far else limits.lower
    high = half if limits.upper is None or limits.upper > far else limits.upper
    return (low, high) if low < high else (low - half, low + half)
