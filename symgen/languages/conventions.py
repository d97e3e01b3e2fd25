"""The conventions of a module as sentences, and as the lines at the head of generated files.

The texts are plain; each language escapes what comes from the robot's file in its own way."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from symgen.languages import joint_documentation as documentation
from symgen.languages.module import Module
from symgen.mechanics.base_parameters import base_names, link_of_parameter
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.joint_forces import FRICTION_WIDTH, LAWS
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.tracing.options import COMPENSATING

REENTRANCY: Final = (
    "Functions are re-entrant and thread-safe: they keep no state between calls. Outputs must not "
    "overlap inputs."
)


MAX_LINE_LENGTH: Final = 108
"""Maximum number of characters of a line of the conventions in generated files."""


NO_BREAK: Final = "\x00"
"""Stands for a space at which a line is not broken."""

BASE_PARAMETERS: Final = (
    "A base parameter is a moment of mass of a body in its canonical frame, including the "
    "parameters that are regrouped into it: MR is a mass, MXR a first moment, SXXR a second "
    "moment, ZZR the inertia about the joint axis and JR the inertia of a rotor. `symgen inspect "
    "--groupings` prints each one in terms of the parameters of the robot's file."
)


@dataclass(frozen=True)
class IndexConvention:
    """How a language indexes arrays."""

    matrices: str
    """A sentence about the memory layout of matrices."""
    entry: str = "{array}[{index}]"
    """How an entry of an array is written."""
    first: int = 0
    """The index of the first entry."""

    def of(self, array: str, number: int) -> str:
        """Entry `number` (counted from 0) of `array`, as the language writes it."""
        return self.entry.format(array=array, index=number + self.first)


ROW_MAJOR: Final = IndexConvention("Matrices are stored in row-major order.")
"""Flat arrays whose first index is 0, as in most languages."""


def convention_lines(module: Module, entries: IndexConvention = ROW_MAJOR, *more: str) -> list[str]:
    """The conventions of a module, and the sentences in `more`, as a list with a bullet for each
    sentence, wrapped to lines of at most `MAX_LINE_LENGTH` characters."""
    return bullets([*conventions(module, entries), *more])


def bullets(sentences: Iterable[str]) -> list[str]:
    """Sentences as a bulleted list, wrapped to lines of at most `MAX_LINE_LENGTH` characters."""
    return [
        line
        for text in sentences
        for line in textwrap.wrap(
            text,
            MAX_LINE_LENGTH,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def wrapped_list(texts: Iterable[str]) -> list[str]:
    """Texts as a list with commas, wrapped between them to lines of at most `MAX_LINE_LENGTH`
    characters."""
    unbroken = ", ".join(text.replace(" ", NO_BREAK) for text in texts)
    lines = textwrap.wrap(
        unbroken, MAX_LINE_LENGTH - 4, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def conventions(module: Module, entries: IndexConvention = ROW_MAJOR) -> list[str]:
    """The conventions of a module, one sentence or one paragraph an item."""
    model = module.robot.model
    return [
        *basic_conventions(module, entries),
        gravity_sentence(module),
        *_parameters(module),
        *_wrenches(module),
        *_thrusters(module),
        *_friction(module),
        *_springs(module),
        *_base_parameters(module),
        *documentation.joint_sentences(model),
    ]


def basic_conventions(module: Module, entries: IndexConvention = ROW_MAJOR) -> list[str]:
    """The conventions that every user of a function needs: the meaning of coordinates, forces and
    matrices."""
    return [
        documentation.order_sentence(module.robot.model),
        *_equation_of_motion(module),
        "All quantities are in SI units (m, kg, s, rad). The force of a revolute joint is a torque "
        "in N m, the force of a prismatic joint is in N.",
        entries.matrices,
    ]


def _base_parameters(module: Module) -> list[str]:
    """The names of the base parameters, if a function of the module has them."""
    outputs = (out for f in module.functions for q in f.quantities for out in q.outputs)
    shapes = {size for out in outputs for size in out.shape}
    if not shapes & {"b", "y_b"}:
        return []
    names = base_names(independent_parameters(module.layout))
    bodies = {
        name.rpartition("_")[2]: link_of_parameter(module.robot.model, name) for name in names
    }
    links = ", ".join(f"{number} {link}" for number, link in bodies.items())
    return [
        f"The base parameters, in the order of beta and of regressor columns, are "
        f"{', '.join(names)}.",
        f"The number in the name of a base parameter is that of its body: {links}.",
        BASE_PARAMETERS,
    ]


def _friction(module: Module) -> list[str]:
    if not module.robot.friction:
        return []
    kinds, model = ", ".join(module.robot.friction), module.robot.model
    origin = _coefficient_files(module)
    if module.robot.runtime_friction:
        joints = [body.velocity for body in model.bodies if body.has_friction]
        which = "every joint" if joints == [*model.joint_names] else ", ".join(joints)
        origin = f"the input `friction` ({kinds} of {which})"
    return [
        f"Joint friction ({kinds}) is included in {_quantities_with(module, 'friction')}"
        f"{_friction_columns(module)}: {_friction_law(module)}.",
        *_shape_parameters(module),
        f"The friction coefficients come from {origin}.",
        *_compensation(module),
    ]


COMPENSATION_SENTENCES: Final = {
    "reference": "compensate friction at the reference velocity (zero if they have none)",
    "measured": "compensate friction at the measured velocity",
    "none": "do not compensate friction",
}
"""What controllers do with friction, by `symgen.mechanics.joint_forces.COMPENSATION`."""


def _compensation(module: Module) -> list[str]:
    """What the controllers of a module do with friction; nothing without controllers."""
    names = {q.name.partition(":")[0] for f in module.functions for q in f.quantities}
    if not names & COMPENSATING:
        return []
    return [
        f"Controllers {COMPENSATION_SENTENCES[module.robot.friction_compensation]}; observers and "
        "estimators use the measured velocity."
    ]


def _springs(module: Module) -> list[str]:
    robot = module.robot
    if not robot.springs:
        return []
    springs = [body for body in robot.model.bodies if body.has_spring]
    joints = [b.velocity for b in springs if robot.runtime_springs or b.constant("stiffness")]
    names = ", ".join(joints) or "no joint has a spring"
    origin = f"{_coefficient_files(module)} ({names})"
    if robot.runtime_springs:
        origin = f"the input `springs` (stiffness and reference of {names})"
    columns = _friction_columns(module, "y_v")
    sentences = [
        f"Joint springs are included in {_quantities_with(module, 'springs')}{columns}: "
        "tau = ... + stiffness (q - reference), V = ... + stiffness (q - reference)^2 / 2.",
        f"The spring coefficients come from {origin}.",
    ]
    if columns:
        sentences.append(
            "The spring columns of a regressor belong to the stiffness and to the preload "
            "(stiffness times reference). The regressor of V omits the constant "
            "stiffness reference^2 / 2."
        )
    return sentences


def _quantities_with(module: Module, kind: str) -> str:
    """The quantities of the module that contain ``friction``, ``springs`` or ``wrench``."""
    quantities = [q for f in module.functions for q in f.quantities]
    names = [
        q.name
        for q in quantities
        if kind in q.passive or (kind == "wrench" and q.depends_on_external_forces)
    ]
    return ", ".join(dict.fromkeys(names)) or "no function of this module"


def _friction_columns(module: Module, *sizes: str) -> str:
    """A clause that names the quantities with columns for friction, or with `sizes` for springs."""
    columns = {"y", "y_b", *sizes}
    quantities = [q for f in module.functions for q in f.quantities]
    names = dict.fromkeys(
        q.name for q in quantities if any(columns & {*o.shape} for o in q.outputs)
    )
    return f" (with separate columns in {', '.join(names)})" if names else ""


def _coefficient_files(module: Module) -> str:
    """The files that the coefficients are read from."""
    return (
        "the robot's file and the actuator file" if module.source.actuators else "the robot's file"
    )


def _friction_law(module: Module) -> str:
    """The friction force of a joint as a formula with the laws of the module."""
    width, laws = module.robot.friction_width, module.robot.friction
    step, remark = "sign(qd)", ", with sign(0) = 0"
    if width:
        step, remark = f"tanh(qd / {width!r})", ", with the width in rad/s or m/s"
    elif any(module.robot.width(body) for body in module.robot.model.bodies):
        remark += ", and tanh(qd / friction_width) at the joints that have this width"
    order = sorted(laws, key=["viscous", *LAWS].index)
    terms = [f"{law} {LAWS[law].formula}".removesuffix(" 1") for law in order]
    text = " + ".join(["tau = ...", *terms]).replace("sign(qd)", step)
    return text + remark * any(LAWS[law].has_width for law in laws)


def _shape_parameters(module: Module) -> list[str]:
    """The shape parameters of the laws of friction by joint, and what the load and s are."""
    robot, sentences = module.robot, list[str]()
    for body in robot.model.bodies:
        shape = robot.shape(body) if body.has_friction else {}
        width = 0.0 if robot.friction_width else robot.width(body)
        if width and any(LAWS[law].has_width for law in robot.friction):
            shape = {**shape, FRICTION_WIDTH.name: width}
        if shape:
            numbers = ", ".join(f"{name} {value:.9g}" for name, value in shape.items())
            sentences.append(f"Joint {body.velocity} has the {numbers}.")
    if robot.depends_on_load:
        sentences.append(
            "The load is the force that a joint transmits: M qdd + C qd + g less external "
            "wrenches, without friction and springs."
        )
    if robot.has_presliding:
        sentences.append(
            "The input `presliding` has the states s of presliding friction, zeros at the start; "
            "presliding_update computes them after each change of the positions."
        )
    return sentences


def _wrenches(module: Module) -> list[str]:
    if not module.robot.wrenches:
        return []
    links = ", ".join(module.robot.wrenches)
    axes = "the root link" if module.robot.root_axes else "the link"
    return [
        f"External wrenches act on {links}. Each has six components, the force (x, y, z) and the "
        f"moment (x, y, z) about the origin of the link, in the axes of {axes}. A component is "
        "positive where the environment pushes the robot in the positive direction.",
        f"External wrenches are included in {_quantities_with(module, 'wrench')}. Derivatives and "
        "rates treat the six components as constants.",
    ]


def _thrusters(module: Module) -> list[str]:
    rows = []
    for k, x in enumerate(module.robot.thrusters):
        moment = f" with a moment of {x.moment_ratio:.9g} m times the thrust" * bool(x.moment_ratio)
        axis = ", ".join(f"{e:.9g}" for e in x.axis)
        rows.append(f"thrust[{k}] acts on {x.link} along ({axis}){moment}")
    included = f"Thrusts are included in {_quantities_with(module, 'wrench')}."
    axes = "Axes are those of the link, through its origin; a moment is about the same axis."
    return [f"{'; '.join(rows)}. {axes} {included}"] if rows else []


def _equation_of_motion(module: Module) -> list[str]:
    missing = {
        "friction": not module.robot.friction,
        "springs": not module.robot.springs and documentation.has_springs(module.robot.model),
        "rotor inertia": not documentation.has_rotors(module.robot.model),
    }
    *others, last = [name for name, is_missing in missing.items() if is_missing] or [""]
    excluded = f"{', '.join(others)} and {last}" if others else last
    terms = "".join(f" {term}" for term in documentation.passive_terms(module.robot))
    law = f"The equation of motion is tau = M(q) qdd + C(q, qd) qd + g(q){terms}"
    return [
        f"{law}, without {excluded}." if excluded else f"{law}.",
        "The gravity forces g(q) are the joint forces that hold the robot at rest.",
    ]


def gravity_sentence(module: Module) -> str:
    """A sentence that gives the gravitational acceleration."""
    frame = "root link" if module.robot.model.base else "world"
    if module.robot.runtime_gravity:
        return (
            f"The gravitational acceleration is the input g (m/s^2, in the axes of the {frame}). "
            "On Earth, with z up, it is 0, 0, -9.81."
        )
    numbers = ", ".join(map(repr, module.robot.model.gravity))
    return f"The gravitational acceleration is ({numbers}) m/s^2 in the axes of the {frame}."


def _parameters(module: Module) -> list[str]:
    if not module.robot.runtime:
        return ["The inertial parameters are constants in the code."]
    names = ", ".join(PARAMETER_NAMES)
    return [
        f"The inertial parameters are inputs, ten for each link in the order {names}: mass, first "
        "moment m c, and inertia about the origin of the link in the axes of the link "
        "(off-diagonal entries as in the matrix).",
        "Call the regroup function once whenever the parameters change, and pass its result to the "
        "other functions as par.",
    ]
