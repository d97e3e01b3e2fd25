"""Files for build systems and frameworks; for two of them, what their templates read.

A ROS 2 package around the controllers of a module has a plugin of ros2_control for each. Everything
that differs between controllers is read from their registry: which interfaces a step measures,
which references it follows, which inputs of the model are parameters, and what it returns.

An FMU of FMI 3.0 has the C as source code: Model Exchange and Co-Simulation of the forward
dynamics. The value references are the indices in an array of the time and of q, q̇, τ and q̈ of all
joints. (Functional Mock-up Interface 3.0.2, Modelica Association, 2024.)"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from symgen.algorithms.controllers import VALID_RANGES
from symgen.errors import OptionError
from symgen.languages.c.controller_code import CController
from symgen.languages.c.options import FMU, GLUE, PER_PLUGIN, COptions, Release
from symgen.languages.c.printed_function import CFunction
from symgen.languages.describe import Argument
from symgen.languages.module import Module
from symgen.render import render
from symgen.text import in_ascii

MEASURED_INTERFACES: Final = {
    "q": "HW_IF_POSITION",
    "qd": "HW_IF_VELOCITY",
    "qdd": "HW_IF_ACCELERATION",
    "tau": "HW_IF_EFFORT",
}
"""The state interface of each joint that an input of a step is read from."""
REFERENCE_FIELDS: Final = {
    "q_ref": "positions",
    "qd_ref": "velocities",
    "qdd_ref": "accelerations",
    "p_ref": "pose",
    "quat_ref": "pose",
}
"""The inputs that a reference gives: the field of its message, or the message of a pose."""
RATE_REFERENCES: Final = ("qd_ref", "qdd_ref")
"""References that are zero while the position is held."""
REGROUPED_INPUT: Final = "par"
"""The input that a function of the module computes from the parameter `pi`."""
MODEL_INPUTS: Final = ("pi", "g", "wrench", "thrust", "friction", "springs")
"""Inputs of the model at run time, which are parameters of the node."""
POSE_COMPONENTS: Final = ("x", "y", "z", "w")
POSE_PARTS: Final = {"p_ref": "position", "quat_ref": "orientation"}
"""The part of a message with a pose that a reference is."""

INITIAL_GAINS: Final[Mapping[str, Mapping[str, float]]] = {
    "computed_torque": {"k_p": 100.0, "k_d": 20.0},
    "momentum_observer": {"gain": 25.0},
    "recursive_least_squares": {"forget": 0.999},
    "cartesian_impedance": {"damping": 0.01},
}
"""Gains other than zero that a file of parameters begins with: 10 rad/s with critical damping for
computed torque, a filter of 40 ms for the observer, a memory of 1000 samples."""


Row = dict[str, Any]
"""What templates read of a reference, a parameter or a variable, by name."""


def ros2_context(module: Module, context: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that the templates of the package use beside the rest.

    Raises OptionError for a module without a controller, and for a robot or a controller that
    ros2_control has no interfaces for."""
    if not context["controllers"]:
        raise OptionError("--glue ros2: there is no controller for a plugin; add --controller NAME")
    if module.velocity_rows():
        raise OptionError(
            "--glue ros2: joints of ros2_control have one coordinate each, and this robot has "
            "others; use a fixed base, or --glue cmake"
        )
    functions = context["functions"]
    plugins = [
        plugin_context(module, controller, functions) for controller in context["controllers"]
    ]
    model = module.robot.model
    efforts = [model.limits[name].effort for name in model.joint_names]
    read = {kind for one in plugins for _, kind in one["measured"]}
    read |= {"HW_IF_EFFORT" for one in plugins if one["forces"]}
    return {
        "package": f"{module.name}_controllers",
        "plugins": plugins,
        "joints": json.dumps([*model.joint_names]),
        "efforts": [x if x is not None and 0 < x < math.inf else 0.0 for x in efforts],
        "interfaces": [
            x.removeprefix("HW_IF_").lower() for x in MEASURED_INTERFACES.values() if x in read
        ],
        "messages": [m for m in MESSAGES if any(m in one["messages"] for one in plugins)],
        "quoted": lambda text: escape(to_ascii(text), quote=False).replace('"', "&quot;"),
    }


MESSAGES: Final = ("geometry_msgs", "trajectory_msgs")
"""Packages of the messages that references come by."""


def to_ascii(text: str) -> str:
    """`text` in printable ASCII; the rest, which XML may not have at all, is escaped."""
    return in_ascii(text, "(U+{:x})")


def plugin_context(
    module: Module, controller: CController, functions: Sequence[CFunction]
) -> dict[str, Any]:
    """A controller as its templates see it. Raises OptionError for one that cannot be a plugin."""
    name, inputs = controller.function.description.name, controller.inputs
    references = _reference_arrays(inputs)
    joint_references = [r for r in references if r["field"] != "pose"]
    has_pose = len(joint_references) < len(references)
    force_output = controller.row.forces  # the name of a link may follow
    names = [a.name for a in controller.results if force_output]
    forces = [x for x in names if x == force_output or x.startswith(f"{force_output}_")]
    return {
        "name": name,
        "type": "".join(word.capitalize() for word in name.split("_")),
        "c": controller.function.full_name,
        "row": controller.row,
        "formula": controller.function.description.formulas[0],
        "gains": controller.gains,
        "start": INITIAL_GAINS.get(controller.row.name, {}),
        "low": {n: r.low for n, r in VALID_RANGES.items() if math.isfinite(r.low)},
        "measured": [
            (a.name, MEASURED_INTERFACES[a.name]) for a in inputs if a.name in MEASURED_INTERFACES
        ],
        "references": references,
        "follows": joint_references,
        "rates": [r for r in references if r["is_rate"]],
        "length": sum(r["size"] for r in references),
        "pose": _pose_function(controller, functions) if has_pose else None,
        "model": _model_inputs(module, inputs),
        "regroup": any(a.name == REGROUPED_INPUT for a in inputs),
        "sizes": {a.name: a.size for a in controller.function.arguments},
        "call": [*map(_input_expression, inputs)],
        "has_sample_time": controller.has_sample_time,
        "results": controller.results,
        "forces": forces[0] if forces else "",
        "exported": [a for a in controller.results if a.name not in forces],
        "messages": [
            *(["geometry_msgs"] if has_pose else []),
            *(["trajectory_msgs"] if joint_references else []),
        ],
    }


def _reference_arrays(inputs: Sequence[Argument]) -> list[Row]:
    """The references of a step: their places among the reference interfaces, the fields of their
    messages, and the interface of a joint's reference or the names of those of a pose."""
    found, offset = list[Row](), 0
    for a in inputs:
        if a.name in REFERENCE_FIELDS:
            part = POSE_PARTS.get(a.name)
            row = {"name": a.name, "size": a.size, "offset": offset}
            row |= {"field": REFERENCE_FIELDS[a.name], "is_rate": a.name in RATE_REFERENCES}
            row["interface"] = MEASURED_INTERFACES.get(a.name.removesuffix("_ref"), "")
            row["entries"] = [f"pose/{part}.{x}" for x in POSE_COMPONENTS[: a.size] if part]
            found.append(row)
            offset += a.size
    return found


def _input_expression(a: Argument) -> str:
    """The member of the plugin that an input of a step is read from. Raises OptionError."""
    if a.name in MEASURED_INTERFACES:
        return f"{a.name}_.data()"
    if a.name in REFERENCE_FIELDS:
        return f"reference_.{a.name}.data()"
    if a.name == REGROUPED_INPUT or a.name in MODEL_INPUTS:
        return f"model_.{a.name}.data()"
    raise OptionError(f"--glue ros2: ros2_control has no interface for the input {a.name}")


def _model_inputs(module: Module, inputs: Sequence[Argument]) -> list[Row]:
    """The inputs of the model, which are parameters of the node, with the robot file's numbers.
    Coefficients of friction and springs, and external wrenches, begin with zeros."""
    robot, found = module.robot, list[Row]()
    for a in inputs:
        row: Row = {"name": a.name, "meaning": a.meaning, "unit": a.unit}
        row["numbers"] = robot.model.gravity if a.name == "g" else (0.0,) * a.size
        if a.name in (REGROUPED_INPUT, "pi"):
            links = ", ".join(map(to_ascii, robot.blocks))
            row = {"name": "pi", "meaning": f"inertial parameters of {links}, ten per link"}
            numbers = tuple(x for block in robot.blocks.values() for x in block)
            row |= {"unit": "SI", "numbers": numbers}
        if row["name"] in MODEL_INPUTS:
            found.append(row)
    return found


def _pose_function(controller: CController, functions: Sequence[CFunction]) -> dict[str, Any]:
    """The function that computes the pose of the controller's link, by which the pose at activation
    is held. Raises OptionError where the module does not have it."""
    traced = {f.name: f.quantities for f in controller.module.functions}
    link = traced[controller.function.description.name][0].link
    for f in functions:
        quantities = traced.get(f.description.name, ())
        if [q.name for q in quantities] == [f"frame_pose:{link}"]:
            values = [
                "q_.data()" if a.name == "q" else "rotation" if a.size == 9 else "position"
                for a in f.arguments
            ]
            return {"c": f.full_name, "arguments": values}
    raise OptionError(
        f"--glue ros2: {controller.row.name}:{link} holds the pose that the link has at "
        f"activation; add --quantity frame_pose:{link}"
    )


def glue_files(
    module: Module,
    headers: Sequence[str],
    sources: Sequence[str],
    shared: Mapping[str, Any],
    code: Mapping[str, str],
) -> dict[str, str]:
    """The files of a module's glue, given the names of its headers and of its sources but the
    self-test, and all its files of C.

    Raises OptionError for a module that a build system cannot have."""
    glue = shared["c"].glue
    templates = {name: template for row in glue for name, template in GLUE[row].items()}
    variables = {**shared, "headers": [*headers], "sources": [*sources], "plugins": []}
    variables |= {"release": module[Release], "made": templates}
    public = [name for name in templates if "/" not in name and name.endswith((".h", ".hpp"))]
    variables["headers"] += [name.format(name=module.name) for name in public]
    if any(PER_PLUGIN in name for name in templates):
        variables |= ros2_context(module, shared)
    fmu_copies = dict[str, str]()
    if "fmi" in glue:
        variables |= fmu_context(module, shared["functions"])
        folder = FMU.format(name=module.name)
        fmu_copies = {
            f"{folder}/sources/{name}": text
            for name, text in code.items()
            if "/" not in name and name.endswith((".h", ".c")) and "selftest" not in name
        }
    plugins = [{"plugin": one["name"], "one": one} for one in variables["plugins"]]
    return fmu_copies | {
        name.format(name=module.name, **target): render(
            f"glue/{template}.jinja", **variables, **target
        )
        for name, template in templates.items()
        for target in (plugins if PER_PLUGIN in name else [dict[str, Any]()])
    }


# -- FMU -------------------------------------------------------------------------------------------

MAX_STEP_SIZE: Final = 0.001
"""The largest step of Co-Simulation, in seconds."""
FMI_UNITS: Final = {
    "rad": 'rad="1"',
    "rad/s": 'rad="1" s="-1"',
    "rad/s2": 'rad="1" s="-2"',
    "N.m": 'kg="1" m="2" s="-2"',
    "m": 'm="1"',
    "m/s": 'm="1" s="-1"',
    "m/s2": 'm="1" s="-2"',
    "N": 'kg="1" m="1" s="-2"',
}
"""Units as FMI states them, by powers of base units."""
FMU_FUNCTION: Final = "forward_dynamics"
FMU_ARRAYS: Final = ("q", "qd", "tau", "qdd")
"""The arguments of the function, in the order of the value references."""


def fmu_context(module: Module, functions: Sequence[CFunction]) -> dict[str, Any]:
    """The variables of the templates. Raises OptionError for a module that cannot be an FMU."""
    forward = next((f for f in functions if f.description.name == FMU_FUNCTION), None)
    if forward is None:
        raise OptionError(
            f"--glue fmi: an FMU needs the forward dynamics; add --quantity {FMU_FUNCTION}"
        )
    others = [a.name for a in forward.description.ins if a.name not in FMU_ARRAYS]
    if others:
        raise OptionError(
            f"--glue fmi: the forward dynamics has the input {others[0]}, which an FMU does not "
            "have; remove the option that makes it an input"
        )
    if module[COptions].scalar != "double":
        raise OptionError("--glue fmi: variables of an FMU are double; use --scalar double")
    if module.velocity_rows():
        raise OptionError(
            "--glue fmi: the velocities of this robot are not the rates of its positions; use a "
            "fixed base and no ball joints"
        )
    arrays = {a: f"v + {a.upper()}" for a in FMU_ARRAYS} | {"w": "x->work"}
    return {
        "forward": forward,
        "call": [arrays[a.name] for a in forward.arguments],
        "variables": list(_fmu_variables(module)),
        "units": FMI_UNITS,
        "step": MAX_STEP_SIZE,
    }


def _fmu_variables(module: Module) -> Iterator[Row]:
    """The scalar variables of the model description: positions, velocities, forces and
    accelerations, joint by joint. `reference` is the value reference, and `derivative` that of the
    variable whose rate this is, 0 if there is none; inputs have no `initial`."""
    n, rows = module.dof, module.joint_rows()
    kinds = (
        ("q", "output", "exact", 0, "position"),
        ("qd", "output", "exact", 1, "velocity"),
        ("tau", "input", "", 0, "force"),
        ("qdd", "output", "calculated", 1 + n, "acceleration"),
    )
    for block, (array, causality, initial, rate_of, meaning) in enumerate(kinds):
        for k, joint, _, _, unit in rows:
            units = {"q": unit, "qd": f"{unit}/s", "qdd": f"{unit}/s2"}
            name = escape(to_ascii(joint))
            yield {
                "name": f"{array}[{name}]",
                "reference": 1 + block * n + k,
                "causality": causality,
                "initial": initial,
                "derivative": rate_of + k if rate_of else 0,
                "unit": units.get(array, "N.m" if unit == "rad" else "N"),
                "meaning": f"{meaning} of {name}",
            }
