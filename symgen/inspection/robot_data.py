"""A robot as plain data, for researchers: ``symgen inspect --json`` prints it whole."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from symgen.inspection.command_reports import operations
from symgen.inspection.rendering import Data
from symgen.jobs.job import Job, RefusedInertia
from symgen.languages.module import Module
from symgen.mechanics.base_parameters import BaseParameters, base_parameters
from symgen.mechanics.canonical_frames import CanonicalFrame, canonical_frames
from symgen.mechanics.inertia import homogeneous_transform
from symgen.mechanics.inertia_checks import check_inertias
from symgen.mechanics.joint_listing import (
    ListedJoint,
    ListedLoop,
    carrying_link,
    gruebler_mobility,
    listed_joints,
    listed_loops,
    listed_motors,
    position_coordinates,
)
from symgen.mechanics.model import PARAMETER_NAMES, Body, RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model, inertial_parameters, lump_links
from symgen.mechanics.spatial import Pose, Vector
from symgen.numbers.scalar import plain
from symgen.reading.assemble import LoadedRobot


def inspect(job: Job, loaded: LoadedRobot) -> Data:
    """Everything about the robot of a job, as data for JSON (documented in docs/formats.md). Raises
    SymgenError."""
    robot = job.robot(loaded)
    model = lump_links(loaded.model, [body.name for body in loaded.model.moving])
    status = {v.name: v.status for v in check_inertias(loaded.model) if v.kind == "body"}
    gravity = Vector(1.0, 1.0, 1.0) if robot.runtime_gravity else None
    world: dict[int, Pose] = {0: Pose()}
    for i in model.outward:
        world[i] = world[model.body(i).parent] @ model.body(i).pose
    counts: Data = {}
    with suppress(RefusedInertia):  # which `pseudo_inertia` of the bodies shows
        counts = operations(job.module(loaded)).data["quantities"]
    return {
        "robot": model.name,
        "dof": model.dof,
        "positions": [row.name for row in position_coordinates(model)],
        "velocities": list(model.joint_names),
        "base": "root link" if model.base else "world",
        "gravity": "runtime" if robot.runtime_gravity else list(model.gravity),
        "bodies": [_body(model, row, world, status[row.body.name]) for row in listed_joints(model)],
        "closed_loops": [_loop(model, row) for row in listed_loops(model)],
        "gruebler_dof": gruebler_mobility(model),
        "rotors": _rotors(model),
        "motors": [
            {"name": row.name, "positions": list(row.positions), "velocities": list(row.velocities)}
            for row in listed_motors(model)
        ],
        "canonical_frames": _canonical(model),
        "base_parameters": _base(base_parameters(model, gravity)),
        "operations": counts,
    }


def _body(
    model: RigidBodyModel, joint: ListedJoint, world: Mapping[int, Pose], status: str
) -> Data:
    body, i = joint.body, joint.bodies[-1]
    ten = body.links[0].parameters or (0.0,) * 10
    parts = body.freedom.turn, body.freedom.slide
    screw = [plain(part) * x for part in parts for x in body.axis]  # angular, linear
    return {
        "index": i,
        "name": body.name,
        "parent": carrying_link(model, i),
        "joint": joint.name,
        "type": joint.kind,
        "unit": joint.unit,
        "positions": list(joint.positions),
        "velocities": list(joint.velocities),
        "follows": _follows(joint),
        "fixed_links": [link.name for link in body.links[1:]],
        "placement": homogeneous_transform(model.body(joint.bodies[0]).pose).tolist(),
        "transform_from_base": homogeneous_transform(world[i]).tolist(),
        "screw": screw if len(joint.bodies) == 1 else None,
        "mass": ten[0],
        "center_of_mass": [h / ten[0] for h in ten[1:4]] if ten[0] else None,
        "parameters": dict(zip(PARAMETER_NAMES, ten, strict=True)),
        "spatial_inertia": spatial_inertia(ten).tolist(),
        "pseudo_inertia": status,
    }


def _loop(model: RigidBodyModel, row: ListedLoop) -> Data:
    ends = row.closure.bodies
    return {
        "name": row.closure.name,
        "type": row.closure.joint,
        "links": [model.body(i).name if i else model.root for i in ends],
        "determines": list(row.dependent),
        "from": list(row.others),
        "branch": row.closure.branch,
        "equations": row.equations,
        "gaps": list(row.gaps),
    }


def _follows(joint: ListedJoint) -> Data | None:
    follow = joint.body.follows
    if follow is None:
        return None
    pairs = zip(joint.leaders, follow.terms, strict=True)
    rows: list[Data] = [{"joint": name, "factor": by} for name, (_, by) in pairs]
    if not rows:
        return {"joints": [], "loop": joint.follows}
    return (rows[0] if len(rows) == 1 else {"joints": rows}) | {"offset": follow.offset}


def _rotors(model: RigidBodyModel) -> list[Data]:
    """The rotors that turn, each a body of the model too; of one that turns with several joints
    lists of these and of ratios."""
    rotors = []
    for i, body in enumerate(model.bodies, 1):
        if body.spin:
            terms = body.follows.terms if body.follows else ((i, 1.0),)
            names, ratios = [model.body(k).joint.name for k, _ in terms], [by for _, by in terms]
            single = len(terms) == 1
            row: Data = {"index": i, "name": body.name, "parent": carrying_link(model, i)}
            row |= {
                "turns_with": names[0] if single else names,
                "ratio": ratios[0] if single else ratios,
            }
            rotors.append(row | {"inertia": body.spin})
    return rotors


def spatial_inertia(ten: Sequence[float]) -> npt.NDArray[np.float64]:
    """The 6 x 6 spatial inertia (angular first) of ten parameters about the same origin."""
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = ten
    cross = np.array([[0.0, -hz, hy], [hz, 0.0, -hx], [-hy, hx, 0.0]])
    tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    return np.block([[tensor, cross], [cross.T, m * np.eye(3)]])


def _canonical(model: RigidBodyModel) -> list[Data]:
    """The canonical frames and regrouped parameters of all bodies but rotors and those whose axes
    go with them, which have their link's frame."""
    layout = canonical_model(model, regrouping=WHOLE)
    rows = zip(model.bodies, canonical_frames(model), layout.bodies, strict=True)
    return [
        _frame(body, frame, inertial_parameters(system_body.inertia))
        for body, frame, system_body in rows
        if not body.in_body_axes and not body.joint.type.is_rotor
    ]


def _frame(body: Body, frame: CanonicalFrame, ten: Sequence[float]) -> Data:
    """The constants of Rot_z(gamma) Trans_z(b) Trans_x(d) Rot_x(alpha) Rot_y(beta) Rot_z(q +
    theta0) Trans_z(r), where the frame is on the body, and the ten of the body in it."""
    start = frame.to_axis
    angles = {
        "gamma": start.gamma,
        "alpha": start.alpha,
        "beta": start.beta,
        "theta0": frame.theta0,
    }
    lengths = {"b": start.b, "d": start.d, "r": frame.r}
    return {
        "body": body.name,
        **{name: math.atan2(plain(angle.s0), plain(angle.c0)) for name, angle in angles.items()},
        **{name: plain(x) for name, x in lengths.items()},
        "pose": homogeneous_transform(frame.pose).tolist(),
        "parameters": {name: x + 0.0 for name, x in zip(PARAMETER_NAMES, ten, strict=True)},
    }


def _base(base: BaseParameters) -> Data:
    return {
        "count": len(base),
        "smallest_kept": base.independent.smallest_kept,
        "largest_dropped": base.independent.largest_dropped,
        "groupings": dict(zip(base.columns, base.groupings, strict=True)),
        "links": dict(zip(base.columns, base.links, strict=True)),
        "parameters": base.reasons,
    }


def sparsity(module: Module) -> dict[str, npt.NDArray[np.bool_]]:
    """Which entries of each output are not structurally zero, by output name."""
    shapes = {out.name: out for f in module.functions for out in f.program.outputs}
    return {
        name: np.array([ref is not None for ref in out.refs]).reshape(out.shape)
        for name, out in shapes.items()
    }
