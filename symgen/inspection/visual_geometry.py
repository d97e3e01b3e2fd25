"""The geometry of the viewer: shapes of links as few triangles, in the frames of bodies.

Meshes are read by trimesh (the extra ``view``). Vertices that lie in one cell of a grid are merged,
so that a page of a robot stays small (Rossignac and Borrel, Multi-resolution 3D approximations for
rendering complex scenes, 1993)."""

import base64
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import pi
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.algorithms.registry import LINK_QUANTITIES, QUANTITIES
from symgen.inspection.rendering import Data
from symgen.languages import JAVASCRIPT
from symgen.languages.describe import descriptions
from symgen.languages.module import Module
from symgen.mechanics.canonical_frames import canonical_frames
from symgen.mechanics.inertia import pseudo_inertia_matrix
from symgen.mechanics.joint_listing import (
    ListedJoint,
    listed_joints,
    position_coordinates,
    quaternions_of,
)
from symgen.mechanics.model import Limits, RigidBodyModel
from symgen.mechanics.parameters import lump_links
from symgen.mechanics.spatial import Pose
from symgen.numbers.scalar import AnyArray
from symgen.reading.visual_shapes import VisualShape
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace_all

MAX_TRIANGLES: Final = 4000
"""Triangles of one mesh after simplification: at this number a link fills a screen without visible
facets, and the page of an arm stays below 3 MB."""
MAX_GRID_CELLS: Final = 256
"""Cells of the grid along the longest side of a mesh, at most."""
MAX_VERTEX_LEVEL: Final = 32767
"""Vertices are stored as 16-bit integers within the bounding box of their mesh."""


@dataclass(frozen=True)
class RobotGeometry:
    """The shapes of a robot for the viewer, by body, and what could not be shown."""

    shapes: Mapping[int, Sequence[Data]] = field(default_factory=dict)
    """By number of the body; 0 is the base."""
    missing: tuple[str, ...] = ()
    """Names of mesh files that could not be read."""
    needs_trimesh: bool = False


NO_GEOMETRY: Final = RobotGeometry()


def geometry(model: RigidBodyModel, shapes: Sequence[VisualShape]) -> RobotGeometry:
    """The shapes on the links of a model, simplified, in the frames of the bodies that carry
    them."""
    poses = {link.name: (0, link.pose) for link in model.base}
    for i, body in enumerate(model.bodies, 1):
        poses |= {link.name: (i, link.pose) for link in body.links}
    meshes, found = _Meshes(), dict[int, list[Data]]()
    for shape in shapes:
        if shape.link in poses:
            body_number, pose = poses[shape.link]
            data = _shape_data(shape, pose @ shape.pose, meshes)
            if data is not None:
                found.setdefault(body_number, []).append(data)
    return RobotGeometry(found, tuple(sorted(meshes.missing)), meshes.needs_trimesh)


def _shape_data(shape: VisualShape, pose: Pose, meshes: "_Meshes") -> Data | None:
    data: Data = {
        "kind": shape.kind,
        "R": [x for row in pose.rotation for x in row],
        "p": list(pose.position),
        "color": None if shape.color is None else list(shape.color),
    }
    if shape.kind != "mesh":
        return data | {"size": list(shape.size)}
    packed = meshes.encoded(shape)
    return None if packed is None else data | packed


class _Meshes:
    """Meshes that are read and simplified, each file once."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self.needs_trimesh = False
        self._files: dict[Path, tuple[AnyArray, AnyArray] | None] = {}

    def encoded(self, shape: VisualShape) -> Data | None:
        """The triangles of a mesh as text, None where it cannot be read."""
        if shape.triangles is not None:
            vertices, faces = (np.array(x) for x in shape.triangles)
        else:
            read = self._of_file(shape.mesh)
            if read is None:
                return None
            vertices, faces = read
        if not len(faces):
            return None
        vertices, faces = simplified(vertices * np.array(shape.size), faces)
        return _encoded_mesh(vertices, faces)

    def _of_file(self, path: Path | None) -> tuple[AnyArray, AnyArray] | None:
        if path is None:
            return None
        if path not in self._files:
            self._files[path] = self._loaded(path)
            if self._files[path] is None and not self.needs_trimesh:
                self.missing.add(path.name)
        return self._files[path]

    def _loaded(self, path: Path) -> tuple[AnyArray, AnyArray] | None:
        """Vertices and faces of a file of any format that trimesh reads."""
        if not os.path.isfile(path):
            return None
        try:
            import trimesh
        except ImportError:
            self.needs_trimesh = True
            return None
        try:
            scene: Any = trimesh.load_scene(str(path))
            parts: list[Any] = scene.dump()
        except Exception:  # its loaders raise whatever the many formats make them
            return None
        whole = [part for part in parts if hasattr(part, "faces") and len(part.faces)]
        return _joined([(np.asarray(m.vertices), np.asarray(m.faces)) for m in whole])


def _joined(parts: Sequence[tuple[AnyArray, AnyArray]]) -> tuple[AnyArray, AnyArray] | None:
    if not parts:
        return None
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [corners + start for (_, corners), start in zip(parts, starts, strict=False)]
    return np.vstack([vertices for vertices, _ in parts]), np.vstack(faces)


def simplified(vertices: AnyArray, faces: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The mesh with at most `MAX_TRIANGLES` triangles, by merging the vertices of each cell of the
    finest grid that suffices."""
    fine = _clustered(vertices, faces, MAX_GRID_CELLS)
    if len(fine[1]) <= MAX_TRIANGLES:
        return fine
    best, low, high = _clustered(vertices, faces, 1), 1, MAX_GRID_CELLS
    while high - low > 1:
        middle = (low + high) // 2
        coarser = _clustered(vertices, faces, middle)
        if len(coarser[1]) > MAX_TRIANGLES:
            high = middle
        else:
            best, low = coarser, middle
    return best


def _clustered(vertices: AnyArray, faces: AnyArray, cells: int) -> tuple[AnyArray, AnyArray]:
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max()) or 1.0
    keys = np.floor((vertices - low) / size * cells).astype(np.int64)
    _, merged = np.unique(keys, axis=0, return_inverse=True)
    merged = merged.reshape(-1)
    count = np.bincount(merged)
    means = np.stack([np.bincount(merged, vertices[:, k]) / count for k in range(3)], axis=1)
    corners = merged[faces]
    distinct = (
        (corners[:, 0] != corners[:, 1])
        & (corners[:, 1] != corners[:, 2])
        & (corners[:, 2] != corners[:, 0])
    )
    return means, np.unique(corners[distinct], axis=0)


def _encoded_mesh(vertices: AnyArray, faces: AnyArray) -> Data:
    """Vertices as 16-bit integers in their bounding box, and corners, in base64."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    levels = np.round((vertices - low) / span * MAX_VERTEX_LEVEL).astype("<u2")
    wide = len(vertices) > np.iinfo(np.uint16).max
    corners = faces.astype("<u4" if wide else "<u2")
    return {
        "low": [float(f"{x:.6g}") for x in low],
        "span": [float(f"{x:.6g}") for x in span],
        "levels": MAX_VERTEX_LEVEL,
        "vertices": base64.b64encode(levels.tobytes()).decode("ascii"),
        "corners": base64.b64encode(corners.tobytes()).decode("ascii"),
        "wide": wide,
    }


def inertia_ellipsoids(model: RigidBodyModel) -> Iterator[Data | None]:
    """For each body the uniform ellipsoid with the mass and the moments of inertia of its links
    (semi-axes in m, pose in the body's frame); None for a body that has no such ellipsoid."""
    for body in lump_links(model, [body.name for body in model.moving]).bodies:
        parameters = body.links[0].parameters if body.links else None
        yield None if parameters is None else _ellipsoid(pseudo_inertia_matrix(parameters))


def _ellipsoid(total: AnyArray) -> Data | None:
    mass = total[3, 3]
    if mass <= 0:
        return None
    com = total[:3, 3] / mass
    central = total[:3, :3] / mass - np.outer(com, com)
    moments, axes = np.linalg.eigh(central)
    if moments[0] < 0:
        return None
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return {
        "R": [float(f"{x:.6g}") + 0.0 for x in axes.ravel()],
        "p": [float(f"{x:.6g}") + 0.0 for x in com],
        "size": [float(f"{x:.6g}") for x in np.sqrt(5 * np.maximum(moments, 0.0))],
    }


# -- data of the viewer ----------------------------------------------------------------------------


LIVE_QUANTITIES: Final = ("gravity", "mass_matrix", "potential_energy", "com")
POSES_FUNCTION: Final = "places"
MAX_TIPS: Final = 8
"""Links at ends of chains whose Jacobians the page has."""


def viewer_data(
    module: Module, drawn: RobotGeometry = NO_GEOMETRY, motion: Data | None = None
) -> Data:
    """The JavaScript program of a page and its data, which `live.js` reads.

    `drawn` are the shapes of the links; `motion` is a sampled motion to play (`times` in s,
    `positions` with a row for each time), or None."""
    model = module.robot.model
    joints = listed_joints(model)
    carrying = {model.body(joint.bodies[0]).parent for joint in joints}
    tips = [k for k, joint in enumerate(joints) if joint.bodies[-1] not in carrying][:MAX_TIPS]
    functions = tuple(trace_all(module.robot, _functions(model, joints, tips), {}))
    moving = replace(module, functions=functions)
    described = descriptions(moving)
    return {
        "program": JAVASCRIPT.files(moving)[f"{module.name}.mjs"].replace("</", "<\\/"),
        "scene": {
            "name": module.name,
            "bodies": list(_bodies(model, joints, drawn)),
            "base": _line_ends(model, 0, joints),
            "baseShapes": list(drawn.shapes.get(0, ())),
            "motion": motion,
            "coordinates": list(_sliders(model)),
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
    """Poses of all bodies in one function, Jacobians of the tips, and `LIVE_QUANTITIES` as far as
    the robot has mass."""
    pose, jacobian = LINK_QUANTITIES["frame_pose"], LINK_QUANTITIES["frame_jacobian_aligned"]
    has_mass = any(link.parameters and link.parameters[0] for b in model.bodies for link in b.links)
    return [
        FunctionRequest(POSES_FUNCTION, tuple(pose.of(joint.body.name) for joint in joints)),
        *(
            FunctionRequest(f"tip_{k}", (jacobian.of(joints[i].body.name),))
            for k, i in enumerate(tips)
        ),
        *(
            FunctionRequest(name, (QUANTITIES[name],))
            for name in LIVE_QUANTITIES
            if has_mass or name == "mass_matrix"
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
        parameters = lumped.body(i).links[0].parameters or (0.0,) * 10
        yield {
            "name": body.name,
            "joint": joint.name,
            "kind": joint.kind,
            "parent": places.get(model.body(joint.bodies[0]).parent, -1),
            "axis": None if body.in_body_axes else list(body.axis),
            "mass": parameters[0],
            "com": [h / parameters[0] for h in parameters[1:4]] if parameters[0] else None,
            "points": _line_ends(model, i, joints),
            "shapes": list(drawn.shapes.get(i, ())),
            "ellipsoid": ellipsoids[i - 1],
            "canonical": {
                "R": [list(row) for row in frame.rotation],
                "p": list(frame.position),
            },
        }


def _line_ends(model: RigidBodyModel, i: int, joints: Sequence[ListedJoint]) -> list[list[float]]:
    """Where lines go to from a body's origin: joints that it carries, else the frames fixed to it,
    else its centre of mass."""
    carried = [model.body(joint.bodies[0]) for joint in joints]
    positions = [body.pose.position for body in carried if body.parent == i]
    if not positions and i:
        positions = [link.pose.position for link in model.body(i).links[1:]]
    return [list(point) for point in dict.fromkeys(positions)]


def _sliders(model: RigidBodyModel) -> Iterator[Data]:
    """Every slider: a position with its limits, or one of three turns of a unit quaternion."""
    rows, quaternions = position_coordinates(model), quaternions_of(model)
    first = {four.start: four for four in quaternions}
    inside = {k for four in quaternions for k in range(four.start, four.stop)}
    for k, row in enumerate(rows):
        if k in first:
            yield {"name": row.name.rpartition(".")[0], "place": k, "quaternion": True}
        elif k not in inside:
            lower, upper = _slider_range(model.limits.get(row.name, Limits()), row.unit)
            yield {"name": row.name, "place": k, "unit": row.unit, "lower": lower, "upper": upper}


def _slider_range(limits: Limits, unit: str) -> tuple[float, float]:
    """Where a slider goes: within limits, or as far as anybody wants to look."""
    half, far = (pi, 20 * pi) if unit == "rad" else (1.0, 20.0)
    low = -half if limits.lower is None or limits.lower < -far else limits.lower
    high = half if limits.upper is None or limits.upper > far else limits.upper
    return (low, high) if low < high else (low - half, low + half)
