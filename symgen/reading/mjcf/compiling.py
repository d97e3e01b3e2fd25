"""MuJoCo's compiler on a file, where need be without the geometry that dynamics do not ask for."""

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from symgen.advice import install
from symgen.reading.xml_reader import XmlNode, file_bytes
from symgen.text import shown

MISSING: Final = f"reading MJCF needs MuJoCo; install it: {install('mujoco')}"
UNFELT: Final = (
    "sensors", "actuators", "pairs", "excludes", "keys", "skins", "lights", "cameras", "tuples",
    "texts", "numerics", "tendons", "hfields", "meshes", "materials", "textures",
)  # fmt: skip
"""What a robot moves the same without, if no inertia comes from geometry; who needs another before
it."""


def compiled(root: XmlNode, path: Path) -> tuple[Any, Any]:
    """The module `mujoco` and its model of the file.

    Where the file cannot be compiled (most often because meshes are not there), it is tried without
    geometry on bodies that state their inertia; then that is said. Raises RobotError."""
    try:
        import mujoco
    except ImportError:
        raise root.called("<mujoco>").error(MISSING) from None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = _spec(mujoco, root, path).compile()
    except (ValueError, OSError, RuntimeError, mujoco.FatalError) as error:
        model, reason = _bare(mujoco, root, path), _reason(error)
    else:
        for words in dict.fromkeys(_reason(warning.message) for warning in caught):
            root.called("<mujoco>").notice("note", f"MuJoCo reports: {words}")
        return mujoco, model
    if model is None:
        raise root.called("<mujoco>").error(f"MuJoCo cannot compile it: {reason}")
    root.called("<mujoco>").notice(
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
    spec = mujoco.MjSpec.from_string(text, include=dict(_included(text, path.parent)))
    spec.modelfiledir = str(path.parent)
    return spec


def _included(text: str, folder: Path, deep: int = 0) -> Iterator[tuple[str, bytes]]:
    """The files that an MJCF includes, by the names that it has for them; MuJoCo says which of
    them is missing."""
    for name in re.findall(r"<include\s[^>]*?file\s*=\s*[\"']([^\"']+)[\"']", text):
        path = folder / name
        if os.path.isfile(path) and deep < DEEPEST:
            data = file_bytes(path)
            yield name, data
            yield from _included(data.decode("utf-8", "replace"), folder, deep + 1)


DEEPEST: Final = 16


def _reason(error: Warning | Exception | str) -> str:
    return shown(" ".join(str(error).split()), 300)


def _bare(mujoco: Any, root: XmlNode, path: Path) -> Any:
    """The model without geometry; None where it is needed or something else is wrong."""
    try:
        spec = _spec(mujoco, root, path)
        inferred = spec.compiler.inertiafromgeom
        bodies = [body for body in spec.bodies if body.name != "world"]
        if inferred == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
            return None
        if any(body.geoms and not body.explicitinertial for body in bodies):
            return None
        for kind in ("geoms", *UNFELT):
            for element in list(getattr(spec, kind)):
                spec.delete(element)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return spec.compile()
    except (ValueError, OSError, RuntimeError, AttributeError, mujoco.FatalError):
        return None
