"""A ROS 2 package around the controllers of a module: a plugin of ros2_control for each."""

import json
import math
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from symgen.errors import OptionError
from symgen.languages.c.controllers import CController
from symgen.languages.module import Module
from symgen.text import in_ascii

GAINS: Final = {
    "gravity_compensation": {"k_d": 0.0},
    "computed_torque": {"k_p": 100.0, "k_d": 20.0, "k_i": 0.0},
}
"""Controllers that have a plugin, and the gains that its file of parameters begins with: no
damping, and 10 rad/s with critical damping."""

MEASURED: Final = ("q", "qd", "q_ref", "qd_ref", "qdd_ref")
"""What a plugin can give to a step."""


def ros2_context(module: Module, context: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that the templates of the package use beside the rest.

    Raises OptionError for a module without such a controller, and for a robot that ros2_control has
    no joints for."""
    wrapped = [controller for controller in context["controllers"] if controller.row.name in GAINS]
    if not wrapped:
        ways = " or ".join(f"--controller {name}" for name in GAINS)
        raise OptionError(f"--glue ros2: there is no controller for a plugin; add {ways}")
    if module.velocity_rows():
        raise OptionError(
            "--glue ros2: joints of ros2_control have one coordinate each, and this robot has "
            "others; use a fixed base, or --glue cmake"
        )
    for controller in wrapped:
        further = [a.name for a in controller.inputs if a.name not in MEASURED]
        if further:
            raise OptionError(
                f"--glue ros2: {controller.function.d.name} reads {', '.join(further)} at run "
                "time, which no interface of ros2_control gives; leave the option away that makes "
                "it an input"
            )
    efforts = [module.robot.model.limits[name].effort for name in module.robot.model.joint_names]
    return {
        "package": f"{module.name}_controllers",
        "plugins": [plugin(controller) for controller in wrapped],
        "joints": json.dumps([*module.robot.model.joint_names]),
        "efforts": [x if x is not None and 0 < x < math.inf else 0.0 for x in efforts],
        "quoted": lambda text: escape(plain(text), quote=False).replace('"', "&quot;"),
    }


def plain(text: str) -> str:
    """`text` in printable ASCII; the rest, which XML may not have at all, is escaped."""
    return in_ascii(text, "(U+{:x})")


def plugin(controller: CController) -> dict[str, Any]:
    """A controller as its templates see it."""
    name = controller.function.d.name
    return {
        "name": name,
        "type": "".join(word.capitalize() for word in name.split("_")),
        "c": controller.function.full_name,
        "row": controller.row,
        "formula": controller.function.d.formulas[0],
        "gains": controller.gains,
        "start": GAINS[controller.row.name],
        "follows": any(a.name == "q_ref" for a in controller.inputs),
        "inputs": [a.name for a in controller.inputs],
        "timed": controller.timed,
        "result": next(a.name for a in controller.results if a.name == controller.row.forces),
    }
