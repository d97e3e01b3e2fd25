"""MJCF, the format of MuJoCo, read as MuJoCo compiles it, with includes, defaults and the inertia
that it infers from geometry; and compiled models in Python.

Positions are MuJoCo's `qpos`, `ref` included, with two differences: quaternions are x, y, z, w here
and w, x, y, z there, and the linear velocity of a free joint is along the axes of the body here and
along those of the world there."""

import hashlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lxml import etree

from symgen.errors import OptionError
from symgen.reading.description import RobotDescription
from symgen.reading.mjcf.compiled_model import DOFS, JOINT_WORDS, CompiledMjcf, elements, fluids
from symgen.reading.mjcf.couplings import transmissions, with_equality_constraints
from symgen.reading.plausibility import check
from symgen.reading.xml_reader import IgnoredElement, XmlFile, XmlNode, notice_ignored
from symgen.reading.xml_text import file_bytes
from symgen.text import install, shown

FREE: Final = JOINT_WORDS.index("floating")
"""MuJoCo's number of free joints."""


def _any_nonzero(*rows: Any) -> bool:
    """True if an entry of the arrays is not 0."""
    return any(bool((row != 0).any()) for row in rows)


def _joint_names(robot: CompiledMjcf, has: Callable[[int, slice], bool]) -> Iterator[str]:
    """The joints for which `has` is true of their number and their degrees of freedom."""
    for joint, name in enumerate(robot.joints):
        first = int(robot.model.jnt_dofadr[joint])
        if has(joint, slice(first, first + DOFS[robot.model.jnt_type[joint]])):
            yield name


def _names(robot: CompiledMjcf, kind: str, count: int) -> Iterator[str]:
    """The names of all elements of a kind (mjtObj)."""
    return (robot.name(getattr(robot.mujoco.mjtObj, kind), i) for i in range(count))


def _tendons(robot: CompiledMjcf) -> Iterator[str]:
    """The tendons with passive forces or limits. Tendons that only transmit the force of an
    actuator have no effect on the dynamics."""
    m = robot.model
    for i, name in enumerate(_names(robot, "mjOBJ_TENDON", m.ntendon)):
        rows = (m.tendon_stiffness, m.tendon_damping, m.tendon_frictionloss)
        if _any_nonzero(*(row[i] for row in rows)) or m.tendon_limited[i]:
            yield name


IGNORED: Final[tuple[IgnoredElement[CompiledMjcf], ...]] = (
    IgnoredElement(
        "warning",
        lambda r: _joint_names(r, lambda j, _: _any_nonzero(r.model.jnt_stiffnesspoly[j])),
        "stiffness of {counted} ({names}) is a polynomial; only its linear term is read",
    ),
    IgnoredElement(
        "warning",
        lambda r: _joint_names(
            r,
            lambda j, d: (
                r.model.jnt_type[j] == FREE and _any_nonzero(r.model.dof_frictionloss[d][:3])
            ),
        ),
        "frictionloss of free joints ({names}) acts on translation along the axes of the "
        "world in MuJoCo; that part is ignored",
    ),
    IgnoredElement(
        "warning",
        _tendons,
        "limits, stiffness, damping and friction of tendons ({names}) are ignored",
    ),
    IgnoredElement(
        "warning",
        lambda r: (
            name
            for name, armature in zip(
                _names(r, "mjOBJ_TENDON", r.model.ntendon), r.model.tendon_armature, strict=True
            )
            if armature
        ),
        "armature of tendons ({names}) is ignored, so the mass matrix and all accelerations differ "
        "from those of MuJoCo",
    ),
    IgnoredElement(
        "warning",
        lambda r: (name for name, c in zip(r.bodies, r.model.body_gravcomp, strict=True) if c),
        "gravcomp of {count} bodies ({names}) is ignored; their full weight is used",
    ),
    IgnoredElement(
        "warning",
        lambda r: _names(r, "mjOBJ_FLEX", r.model.nflex),
        "flexible bodies ({names}): the flexibility is ignored",
    ),
    IgnoredElement(
        "warning",
        lambda r: (x for x in ("density", "viscosity") if getattr(r.model.opt, x)),
        "the drag of links in the medium ({names}) is ignored; add --fluid to include it",
        ("fluid",),
        "the drag of links in the medium (--fluid)",
    ),
    IgnoredElement(
        "warning",
        lambda r: _names(r, "mjOBJ_PLUGIN", r.model.nplugin),
        "plugins ({names}) have no effect",
    ),
    IgnoredElement(
        "warning",
        lambda r: _joint_names(r, lambda j, d: _any_nonzero(r.model.dof_dampingpoly[d])),
        "damping of {counted} ({names}) is a polynomial; only its linear term is read",
    ),
    IgnoredElement(
        "note",
        lambda r: (name for name, i in zip(r.bodies, r.model.body_mocapid, strict=True) if i >= 0),
        "mocap bodies ({names}) are fixed",
    ),
    IgnoredElement(
        "note",
        lambda r: (
            ["gravity"] if r.model.opt.disableflags & r.mujoco.mjtDisableBit.mjDSBL_GRAVITY else []
        ),
        "{names} is disabled in the file; use --gravity X,Y,Z to set it",
        ("gravity",),
    ),
    IgnoredElement(
        "note",
        lambda r: _joint_names(
            r, lambda j, d: _any_nonzero(r.model.dof_damping[d], r.model.dof_frictionloss[d])
        ),
        "damping and frictionloss ({counted}) are ignored; add --friction to include them",
        ("friction",),
        "damping and frictionloss of {counted} (--friction)",
    ),
)
"""The elements of MJCF without effect."""


MISSING: Final = f"reading MJCF needs MuJoCo; install it: {install('mujoco')}"
REMOVABLE_ELEMENTS: Final = (
    "sensors", "actuators", "pairs", "excludes", "keys", "skins", "lights", "cameras", "tuples",
    "texts", "numerics", "tendons", "hfields", "meshes", "materials", "textures",
)  # fmt: skip
"""What a robot moves the same without, if no inertia comes from geometry; who needs another before
it."""


def compiled_model(root: XmlNode, path: Path) -> tuple[Any, Any]:
    """The module `mujoco` and its model of the file.

    Where the file cannot be compiled (most often because meshes are not there), it is tried without
    geometry on bodies that state their inertia; then that is said. Raises RobotError."""
    try:
        import mujoco
    except ImportError:
        raise root.with_label("<mujoco>").error(MISSING) from None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = _spec(mujoco, root, path).compile()
    except (ValueError, OSError, RuntimeError, mujoco.FatalError) as error:
        model, reason = _compiled_without_geometry(mujoco, root, path), _one_line(error)
    else:
        for words in dict.fromkeys(_one_line(warning.message) for warning in caught):
            root.with_label("<mujoco>").notice("note", f"MuJoCo reports: {words}")
        return mujoco, model
    if model is None:
        raise root.with_label("<mujoco>").error(f"MuJoCo cannot compile it: {reason}")
    root.with_label("<mujoco>").notice(
        "warning",
        f"MuJoCo cannot compile the whole file ({reason}); it is read without tendons, "
        "actuators and geometry, because its bodies state their inertia",
    )
    return mujoco, model


def _spec(mujoco: Any, root: XmlNode, path: Path) -> Any:
    """The file before it is compiled. MuJoCo recognises its files by their suffix, so one with
    another suffix, and a text without a file, is given to it as text."""
    if path.suffix.lower() == ".xml" and os.path.isfile(path):
        return mujoco.MjSpec.from_file(str(path))
    text = "\n".join(root.source.lines)
    spec = mujoco.MjSpec.from_string(text, include=dict(_included_files(text, path.parent)))
    spec.modelfiledir = str(path.parent)
    return spec


def _included_files(text: str, folder: Path, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """The files that an MJCF includes, by the names that it has for them; MuJoCo says which of
    them is missing."""
    for name in re.findall(r"<include\s[^>]*?file\s*=\s*[\"']([^\"']+)[\"']", text):
        path = folder / name
        if os.path.isfile(path) and depth < MAX_INCLUDE_DEPTH:
            data = file_bytes(path)
            yield name, data
            yield from _included_files(data.decode("utf-8", "replace"), folder, depth + 1)


MAX_INCLUDE_DEPTH: Final = 16


def _one_line(error: Warning | Exception | str) -> str:
    return shown(" ".join(str(error).split()), 300)


def _compiled_without_geometry(mujoco: Any, root: XmlNode, path: Path) -> Any:
    """The model without geometry; None where it is needed or something else is wrong."""
    try:
        spec = _spec(mujoco, root, path)
        inferred = spec.compiler.inertiafromgeom
        bodies = [body for body in spec.bodies if body.name != "world"]
        if inferred == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
            return None
        if any(body.geoms and not body.explicitinertial for body in bodies):
            return None
        for kind in ("geoms", *REMOVABLE_ELEMENTS):
            for element in list(getattr(spec, kind)):
                spec.delete(element)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return spec.compile()
    except (ValueError, OSError, RuntimeError, AttributeError, mujoco.FatalError):
        return None


NO_GRAVITY = (0.0, 0.0, 0.0)


def read_root(root: XmlNode, path: Path, digest: str) -> RobotDescription:
    """The robot in an MJCF file.

    Its links are the bodies, the first of them `world`; between several joints of a body, and at a
    joint beside its body's origin, there are links without mass called BODY.JOINT. Armature counts
    as what is reflected of a rotor. The digest is of the file and of what MuJoCo made of it, so
    that it changes with included files and meshes. Raises RobotError for what MuJoCo refuses, and
    where the package `mujoco` is not installed."""
    mujoco, model = compiled_model(root, path)
    return robot_of_compiled(mujoco, model, root, root.element.get("model", ""), digest)


def robot_of_compiled(
    mujoco: Any, model: Any, root: XmlNode, name: str, digest: str
) -> RobotDescription:
    """The robot of a model that MuJoCo compiled, from the root element of its file and the digest
    of that. Raises RobotError."""
    robot = CompiledMjcf(mujoco, model, root)
    links, joints, drives = elements(robot)
    fluids_by_link = {name: fluids(robot, k) for k, name in enumerate(robot.bodies) if k}
    links = tuple(replace(link, fluids=fluids_by_link.get(link.name, ())) for link in links)
    joints, loops = with_equality_constraints(robot, joints)
    notice_ignored(root.with_label("<mujoco>"), IGNORED, robot)
    gravity_is_disabled = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    x, y, z = NO_GRAVITY if gravity_is_disabled else (float(g) + 0.0 for g in model.opt.gravity)
    parts = (digest, *map(repr, (links, joints, drives, *([loops] if loops else []))))
    complete_digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()
    motors = transmissions(robot)
    return check(
        RobotDescription(
            name.strip() or "robot",
            root.source.file,
            complete_digest,
            root.line,
            links,
            joints,
            tuple(root.source.notices),
            drives,
            gravity=(x, y, z),
            tag="<mujoco>",
            transmissions=motors,
            loops=loops,
        )
    )


def robot_of_mujoco(source: Any) -> RobotDescription:
    """The robot of a model. Raises OptionError for another object of MuJoCo and for a specification
    that MuJoCo cannot compile."""
    import mujoco

    model = source
    if isinstance(source, mujoco.MjSpec):
        try:
            model = source.copy().compile()
        except (ValueError, RuntimeError, mujoco.FatalError) as error:
            text = f"mujoco.MjSpec: MuJoCo cannot compile it: {_one_line(error)}"
            raise OptionError(text) from None
    if not isinstance(model, mujoco.MjModel):
        kind = shown(type(source).__qualname__)
        raise TypeError(f"a robot from mujoco must be an MjModel or an MjSpec, not {kind}")
    name = bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
    root = XmlNode(
        etree.Element("mujoco"), XmlFile(f"mujoco.{type(source).__name__}", ("",)), "<mujoco>"
    )
    return robot_of_compiled(mujoco, model, root, name, "")
