"""The shapes that a robot's file gives its links: visual and collision geometry of URDF, SDF, MJCF.

Dynamics never read geometry; the viewer and the planning of motions do. A visual shape that cannot
be read is left out, because a picture is no reason to refuse a robot; a collision shape is an
error."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from lxml import etree

from symgen.errors import SymgenError
from symgen.mechanics.spatial import Pose, Triple
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.rotations import rotation_from_quaternion, rotation_from_rpy
from symgen.reading.sources import RobotSource, expanded_text, is_path
from symgen.reading.xacro_sandbox import Packages

Triangles = tuple[Sequence[Triple], Sequence[tuple[int, int, int]]]
"""Vertices (m) and the indices of the corners of each triangle."""

VISIBLE_GROUPS: Final = 3
"""MuJoCo's viewer shows the geoms of the groups below this one by default."""
SIZE_ATTRIBUTES: Final = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}
"""The attributes of a URDF shape that give its size."""
PACKAGE: Final = "package://"
VISUAL: Final = "visual"
COLLISION: Final = "collision"
"""The elements of a link that contain shapes."""


@dataclass(frozen=True, slots=True)
class VisualShape:
    """A shape on a link.

    `pose` is the pose of the shape in the link frame. `kind` is ``box`` (`size`: lengths x, y, z in
    m), ``sphere`` (radius), ``cylinder`` or ``capsule`` (radius and length along z), or ``mesh``
    (`size`: scale factors x, y, z), whose triangles are in the file `mesh` or in `triangles`.
    `color` is red, green, blue, opacity from 0 to 1, None where the file gives none."""

    link: str
    kind: str
    size: tuple[float, ...]
    pose: Pose = Pose()
    color: tuple[float, ...] | None = None
    mesh: Path | None = None
    triangles: Triangles | None = None


def shapes(
    source: RobotSource, options: SourceOptions = NO_SOURCE_OPTIONS, element: str = VISUAL
) -> tuple[VisualShape, ...]:
    """The visual geometry of a robot's file, or with `element` ``collision`` its collision
    geometry; empty for a source that is no file or has none. Raises ValueError for collision
    geometry that cannot be read."""
    if not is_path(source):
        return ()
    path = Path(os.fspath(source))
    with suppress(SymgenError, OSError, etree.XMLSyntaxError):
        root = etree.fromstring(
            expanded_text(path, options), etree.XMLParser(resolve_entities=False)
        )
        if root.tag == "mujoco":
            return tuple(_mjcf_shapes(path, element))
        visuals = _sdf_visuals if root.tag == "sdf" else _urdf_visuals
        return tuple(_shapes(visuals(root, element), path, element))
    return ()


# -- XML -------------------------------------------------------------------------------------------


def _numbers(text: str | None, count: int) -> tuple[float, ...]:
    """The numbers in a text. Raises ValueError where there are not `count` finite ones."""
    values = tuple(map(float, (text or "").split()))
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError("numbers")
    return values


Visual = tuple[str, Any, str, str | None]
"""The name of a link, a <visual> of it, the six numbers of its pose (position in m, and roll, pitch
and yaw in rad), and the four of its color, if it has one."""


def _urdf_visuals(root: Any, element: str) -> Iterator[Visual]:
    colors = {row.get("name"): row.find("color") for row in root.findall("material")}
    for link in root.findall("link"):
        for visual in link.findall(element):
            origin, material = visual.find("origin"), visual.find("material")
            placed = {} if origin is None else origin.attrib
            place = f"{placed.get('xyz', '0 0 0')} {placed.get('rpy', '0 0 0')}"
            color = None if material is None else material.find("color")
            if color is None and material is not None:
                color = colors.get(material.get("name"))
            yield link.get("name", ""), visual, place, None if color is None else color.get("rgba")


def _sdf_visuals(root: Any, element: str) -> Iterator[Visual]:
    for link in root.iter("link"):
        outer = [node.get("name", "") for node in link.iterancestors("model")][:-1]
        name = "::".join([*reversed(outer), link.get("name", "")])
        for visual in link.findall(element):
            pose = visual.find("pose")
            if pose is None or not pose.get("relative_to"):  # else it is in another frame
                text = "" if pose is None else pose.text
                yield name, visual, text or "0 0 0 0 0 0", visual.findtext("material/diffuse")
            elif element == COLLISION:
                raise ValueError("a pose relative to another frame")


def _shapes(visuals: Iterable[Visual], path: Path, element: str) -> Iterator[VisualShape]:
    """The shapes of visual or collision elements. A visual one that is not known or not complete is
    left out; raises ValueError for such a collision shape."""
    packages = Packages(path.absolute())
    for link, visual, place, rgba in visuals:
        with suppress(ValueError) if element == VISUAL else nullcontext():
            x, y, z, roll, pitch, yaw = _numbers(place, 6)
            pose, color = Pose(rotation_from_rpy((roll, pitch, yaw)), (x, y, z)), None
            with suppress(ValueError):
                color = _numbers(rgba, 4)
            nodes = visual.iterfind("geometry/*")
            shape = next((node for node in nodes if isinstance(node.tag, str)), None)
            if shape is None:
                raise ValueError("geometry")
            if shape.tag == "mesh":
                file = _value(shape, "filename") or _value(shape, "uri") or ""
                scale = _numbers(_value(shape, "scale") or "1 1 1", 3)
                mesh = _mesh_path(file.strip(), path, packages)
                yield VisualShape(link, "mesh", scale, pose, color, mesh)
            elif shape.tag in SIZE_ATTRIBUTES:
                count = 3 if shape.tag == "box" else 1
                rows = [_numbers(_value(shape, name), count) for name in SIZE_ATTRIBUTES[shape.tag]]
                yield VisualShape(link, shape.tag, tuple(chain(*rows)), pose, color)
            else:
                raise ValueError(shape.tag)


def _value(shape: Any, name: str) -> str | None:
    """A value of a shape, which is an attribute in URDF and a child in SDF."""
    text: str | None = shape.get(name) or shape.findtext(name)
    return text


def _mesh_path(name: str, path: Path, packages: Packages) -> Path:
    """The file of a mesh. Raises ValueError where its package is not found."""
    for scheme in (PACKAGE, "model://"):
        if name.startswith(scheme):
            package, _, rest = name.removeprefix(scheme).partition("/")
            folder = packages.find(package)
            if folder is None:
                raise ValueError(name)
            return folder / rest
    return path.parent / name.removeprefix("file://")


# -- MuJoCo ----------------------------------------------------------------------------------------


def _mjcf_shapes(path: Path, element: str) -> Iterator[VisualShape]:
    """The geoms of a compiled model that MuJoCo's viewer shows, or those that collide."""
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(os.fspath(path))
    except (ValueError, RuntimeError, mujoco.FatalError):
        return
    for geom in range(model.ngeom):
        collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if collides if element == COLLISION else model.geom_group[geom] < VISIBLE_GROUPS:
            found = [*_geom_shapes(mujoco, model, geom)]
            if element == COLLISION and model.geom_bodyid[geom] and not found:
                raise ValueError("a geom that is no box, sphere, cylinder, capsule or mesh")
            yield from found


def _geom_shapes(mujoco: Any, model: Any, geom: int) -> Iterator[VisualShape]:
    kinds = mujoco.mjtGeom
    body = model.geom_bodyid[geom]
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body{body}"
    x, y, z = map(float, model.geom_pos[geom])
    pose = Pose(rotation_from_quaternion(*map(float, model.geom_quat[geom])), (x, y, z))
    size = tuple(map(float, model.geom_size[geom]))
    color = tuple(map(float, model.geom_rgba[geom]))
    kind = int(model.geom_type[geom])
    if kind == kinds.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        start, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        vertices = model.mesh_vert[first : first + count].tolist()
        corners = model.mesh_face[start : start + faces].tolist()
        yield VisualShape(name, "mesh", (1.0, 1.0, 1.0), pose, color, None, (vertices, corners))
    elif kind == kinds.mjGEOM_BOX:
        yield VisualShape(name, "box", tuple(2 * s for s in size), pose, color)
    elif kind == kinds.mjGEOM_SPHERE:
        yield VisualShape(name, "sphere", size[:1], pose, color)
    elif kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
        word = "cylinder" if kind == kinds.mjGEOM_CYLINDER else "capsule"
        yield VisualShape(name, word, (size[0], 2 * size[1]), pose, color)
