"""The shapes that a robot's file draws its links with: visual geometry of URDF, SDF and MJCF.

Dynamics never read geometry; the viewer does. A shape that cannot be read is left out, because a
picture is no reason to refuse a robot."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lxml import etree

from symgen.errors import SymgenError
from symgen.mechanics.pose import Pose, Triple
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.rotations import rotation_from_quaternion, rotation_from_rpy
from symgen.reading.sources import RobotSource, expanded_text, is_path
from symgen.reading.xacro.sandbox import Packages

Triangles = tuple[Sequence[Triple], Sequence[tuple[int, int, int]]]
"""Vertices (m) and the indices of the corners of each triangle."""

VISIBLE_GROUPS: Final = 3
"""MuJoCo's viewer shows the geoms of the groups below this one by default."""
SIZES: Final = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}
"""The attributes of a URDF shape that give its size."""
PACKAGE: Final = "package://"


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
    source: RobotSource, options: SourceOptions = NO_SOURCE_OPTIONS
) -> tuple[VisualShape, ...]:
    """The visual geometry of a robot's file; empty for a source that is no file or has none."""
    if not is_path(source):
        return ()
    path = Path(os.fspath(source))
    with suppress(SymgenError, OSError, etree.XMLSyntaxError):
        root = etree.fromstring(
            expanded_text(path, options), etree.XMLParser(resolve_entities=False)
        )
        reader = {"mujoco": _of_mjcf, "sdf": _of_sdf}.get(root.tag, _of_urdf)
        return tuple(reader(root, path))
    return ()


# -- XML -------------------------------------------------------------------------------------------


def _numbers(text: str | None, count: int) -> tuple[float, ...]:
    """The numbers in a text. Raises ValueError where there are not `count` finite ones."""
    values = tuple(map(float, (text or "").split()))
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError("numbers")
    return values


def _of_urdf(root: Any, path: Path) -> Iterator[VisualShape]:
    packages = Packages(path.absolute())
    colors = {material.get("name"): _urdf_color(material) for material in root.findall("material")}
    for link in root.findall("link"):
        for visual in link.findall("visual"):
            with suppress(ValueError, StopIteration):
                yield _urdf_shape(link.get("name", ""), visual, colors, path, packages)


def _urdf_color(material: Any) -> tuple[float, ...] | None:
    color = material.find("color")
    with suppress(ValueError):
        return None if color is None else _numbers(color.get("rgba"), 4)
    return None


def _urdf_shape(
    link: str, visual: Any, colors: dict[str, Any], path: Path, packages: Packages
) -> VisualShape:
    origin, material = visual.find("origin"), visual.find("material")
    pose, color = Pose(), None
    if origin is not None:
        pose = _pose(
            _numbers(origin.get("xyz", "0 0 0"), 3), _numbers(origin.get("rpy", "0 0 0"), 3)
        )
    if material is not None:
        color = _urdf_color(material) or colors.get(material.get("name"))
    return _shape(link, visual, lambda node, name: node.get(name), pose, color, path, packages)


def _pose(xyz: Sequence[float], rpy: Sequence[float]) -> Pose:
    x, y, z = xyz
    roll, pitch, yaw = rpy
    return Pose(rotation_from_rpy((roll, pitch, yaw)), (x, y, z))


def _shape(
    link: str,
    visual: Any,
    value: Callable[[Any, str], str | None],
    pose: Pose,
    color: tuple[float, ...] | None,
    path: Path,
    packages: Packages,
) -> VisualShape:
    """The shape in the <geometry> of a `visual`; `value` reads a value of the shape by its name.
    Raises ValueError for a shape that is not known or not complete."""
    shape = next(node for node in visual.find("geometry") if isinstance(node.tag, str))
    if shape.tag == "mesh":
        file = value(shape, "filename") or value(shape, "uri") or ""
        scale = _numbers(value(shape, "scale") or "1 1 1", 3)
        mesh = _mesh_path(file.strip(), path, packages)
        return VisualShape(link, "mesh", scale, pose, color, mesh)
    count = 3 if shape.tag == "box" else 1
    names = SIZES.get(shape.tag, ())
    size = tuple(x for name in names for x in _numbers(value(shape, name), count))
    if not size:
        raise ValueError(shape.tag)
    return VisualShape(link, shape.tag, size, pose, color)


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


def _of_sdf(root: Any, path: Path) -> Iterator[VisualShape]:
    packages = Packages(path.absolute())
    for link in root.iter("link"):
        outer = [node.get("name", "") for node in link.iterancestors("model")][:-1]
        name = "::".join([*reversed(outer), link.get("name", "")])
        for visual in link.findall("visual"):
            with suppress(ValueError, StopIteration):
                yield _sdf_shape(name, visual, path, packages)


def _sdf_shape(link: str, visual: Any, path: Path, packages: Packages) -> VisualShape:
    placed, color = visual.find("pose"), visual.findtext("material/diffuse")
    if placed is not None and placed.get("relative_to"):
        raise ValueError("a pose relative to another frame")
    six = _numbers(placed.text, 6) if placed is not None and placed.text else (0.0,) * 6
    rgba = _numbers(color, 4) if color else None
    return _shape(
        link,
        visual,
        lambda node, name: node.findtext(name),
        _pose(six[:3], six[3:]),
        rgba,
        path,
        packages,
    )


# -- MuJoCo ----------------------------------------------------------------------------------------


def _of_mjcf(root: Any, path: Path) -> Iterator[VisualShape]:
    """The geoms of a compiled model that MuJoCo's viewer shows."""
    import mujoco

    with suppress(ValueError, RuntimeError, mujoco.FatalError):
        model = mujoco.MjModel.from_xml_path(os.fspath(path))
        for geom in range(model.ngeom):
            if model.geom_group[geom] < VISIBLE_GROUPS:
                yield from _geom(mujoco, model, geom)


def _geom(mujoco: Any, model: Any, geom: int) -> Iterator[VisualShape]:
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
