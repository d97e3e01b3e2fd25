"""Models of MuJoCo in Python: a compiled ``mujoco.MjModel``, or a ``mujoco.MjSpec``, which is
compiled as it is."""

from typing import Any

from lxml import etree

from symgen.errors import OptionError
from symgen.reading.description import RobotDescription
from symgen.reading.mjcf import of_compiled
from symgen.reading.xml_reader import XmlFile, XmlNode
from symgen.text import shown


def description(source: Any) -> RobotDescription:
    """The robot of a model. Raises OptionError for another object of MuJoCo and for a specification
    that MuJoCo cannot compile."""
    import mujoco

    model = source
    if isinstance(source, mujoco.MjSpec):
        try:
            model = source.copy().compile()
        except (ValueError, RuntimeError, mujoco.FatalError) as error:
            reason = shown(" ".join(str(error).split()), 300)
            raise OptionError(f"mujoco.MjSpec: MuJoCo cannot compile it: {reason}") from None
    if not isinstance(model, mujoco.MjModel):
        kind = shown(type(source).__qualname__)
        raise TypeError(f"a robot from mujoco must be an MjModel or an MjSpec, not {kind}")
    name = bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
    root = XmlNode(
        etree.Element("mujoco"), XmlFile(f"mujoco.{type(source).__name__}", ("",)), "<mujoco>"
    )
    return of_compiled(mujoco, model, root, name, "")
