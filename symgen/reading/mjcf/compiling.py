"""MuJoCo's compiler on a file, where need be without the geometry that dynamics do not ask for."""

import warnings
from pathlib import Path
from typing import Any, Final

from symgen.reading.xml_reader import Node, decoded, file_bytes
from symgen.text import shown

MISSING: Final = "MJCF needs MuJoCo to be compiled; install it: pip install 'symgen[mjcf]'"
UNFELT: Final = (
    "sensors", "actuators", "pairs", "excludes", "keys", "skins", "lights", "cameras", "tuples",
    "texts", "numerics", "tendons", "hfields", "meshes", "materials", "textures",
)  # fmt: skip
"""What a robot moves the same without, if no inertia comes from geometry; who needs another before
it."""


def compiled(root: Node, path: Path) -> tuple[Any, Any]:
    """The module `mujoco` and its model of the file.

    Where the file cannot be compiled (most often because meshes are not there), it is tried without
    geometry on bodies that state their inertia; then that is said. Raises RobotError."""
    try:
        import mujoco
    except ImportError:
        raise root.called("<mujoco>").error(MISSING) from None
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = _spec(mujoco, path).compile()
    except (ValueError, OSError, RuntimeError, mujoco.FatalError) as error:
        model, reason = _bare(mujoco, path), _reason(error)
    else:
        for words in dict.fromkeys(_reason(warning.message) for warning in said):
            root.called("<mujoco>").notice("note", f"MuJoCo says: {words}")
        return mujoco, model
    if model is None:
        raise root.called("<mujoco>").error(f"MuJoCo cannot compile it: {reason}")
    root.called("<mujoco>").notice(
        "warning",
        f"MuJoCo cannot compile all of it ({reason}); read without geometry, whose inertia the "
        "bodies state themselves, without tendons and actuators",
    )
    return mujoco, model


def _spec(mujoco: Any, path: Path) -> Any:
    """The file before it is compiled; MuJoCo itself goes by its suffix."""
    if path.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(path))
    spec = mujoco.MjSpec.from_string(decoded(file_bytes(path), str(path)))
    spec.modelfiledir = str(path.parent)
    return spec


def _reason(error: Warning | Exception | str) -> str:
    return shown(" ".join(str(error).split()), 300)


def _bare(mujoco: Any, path: Path) -> Any:
    """The model without geometry; None where it is needed or something else is wrong."""
    try:
        spec = _spec(mujoco, path)
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
