"""The conventions of a module in words, as every language puts them at the head of its files.

Texts here are plain; each language escapes what comes from the robot's file in its own way."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symgen.languages import joints_in_words as words
from symgen.languages.module import Module
from symgen.mechanics.independence import independent
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameter_names import base_names, link_of

WIDTH: Final = 108
"""Longest line of a convention that is made of names."""


BASE_PARAMETERS: Final = (
    "They are moments of mass in canonical frames with what regrouping adds: MR mass, MXR first, "
    "SXXR second moments, ZZR inertia about the joint's axis, JR of a rotor; symgen inspect "
    "--groupings has them in parameters of the file."
)


LOCAL_NAMES: Final = (
    "Local names: w, wd, a, f, n, U, h, S of body i (from 1) are angular velocity and its "
    "derivative,",
    "acceleration, force, moment, acceleration field, first and second moments of mass in "
    "its canonical",
    "frame (z along its joint); f6_4 is what a unit rate of joint 6 needs at body 4, ao6 the "
    "acceleration of",
    "joint 6 in the axes of what carries it; f6a, f6b are f6 on the way to the parent, T6 is "
    "what turns S6;",
    "MA, BA, IA, p are of articulated bodies, Ma, Ba, Ia of such whose joint gives way, K and u "
    "of their joints.",
    "c2 and s2 are cosine and sine of q[1], q2_3 is q[1] + q[2], theta7 is q[6] and a constant; "
    "w2_xy is",
    "w2_x w2_y, s2_h3_z a product too, k_f5_x a constant times f5_x; M_0_1 is an entry that is "
    "stored,",
    "M_0_1_p1 a part of it, X_v2 a second value called X; neg_X is -X; t1, t2, ... have no name.",
)
"""What is said of variables inside functions."""


@dataclass(frozen=True)
class Entries:
    """Words of a language for the entries of arrays."""

    matrices: str
    """How a matrix is laid out."""
    names: Sequence[str]
    """`LOCAL_NAMES` as the language writes entries."""
    first: int = 0
    """The number of the first entry."""


ROWS: Final = Entries("Matrices are row-major.", LOCAL_NAMES)
"""What most languages say of entries: flat arrays from 0."""


def conventions(module: Module, entries: Entries = ROWS) -> list[str]:
    """The conventions of a module, a sentence each."""
    model = module.robot.model
    lines = [*meaning(module, entries), *entries.names, gravity(module)]
    lines += [*_parameters(module), *_wrenches(module), *_friction(module)]
    lines += _springs(module)
    return [*lines, *_base_parameters(module), *words.joints(model)]


def meaning(module: Module, entries: Entries = ROWS) -> list[str]:
    """The meaning of coordinates, forces and matrices: those of the conventions that everybody
    needs."""
    return [
        *words.order(module.robot.model),
        _law(module),
        "SI units: m, kg, s, rad; a revolute joint has N m and rad, a prismatic joint N and m.",
        entries.matrices,
    ]


def _base_parameters(module: Module) -> list[str]:
    """The names of base parameters, where a function has them."""
    outputs = (out for f in module.functions for q in f.quantities for out in q.outputs)
    shapes = {size for out in outputs for size in out.shape}
    if not shapes & {"b", "y_b"}:
        return []
    names = base_names(independent(module.layout))
    bodies = {name.rpartition("_")[2]: link_of(module.robot.model, name) for name in names}
    links = ", ".join(f"{number} {link}" for number, link in bodies.items())
    return [
        *_wrapped(f"Base parameters, in the order of beta and of columns: {', '.join(names)}."),
        *_wrapped(f"Their bodies, by the links that move with them: {links}."),
        *_wrapped(BASE_PARAMETERS),
    ]


def _friction(module: Module) -> list[str]:
    if not module.robot.friction:
        return []
    kinds = ", ".join(module.robot.friction)
    rubbing = [body.joint.name for body in module.robot.model.bodies if body.rubs]
    which = (
        "joint by joint"
        if rubbing == list(module.robot.model.joint_names)
        else f"for {', '.join(rubbing)}"
    )
    where = (
        f"the input friction, {kinds} {which}" if module.robot.runtime_friction else _files(module)
    )
    law = f"tau = ... + viscous qd + coulomb {_step(module)}."
    sentence = f"Joint friction ({kinds}) is in {_felt(module)}{_friction_columns(module)}: {law}"
    return [*_wrapped(sentence), f"Its coefficients are from {where}."]


def _springs(module: Module) -> list[str]:
    robot = module.robot
    if not robot.springs:
        return []
    springs = [b.joint.name for b in robot.model.bodies if b.rubs]
    whose = [b.joint.name for b in robot.model.bodies if b.rubs and b.joint.stiffness]
    where = (
        f"the input springs, stiffness and reference of {', '.join(springs)}"
        if robot.runtime_springs
        else f"{_files(module)}: {', '.join(whose) or 'no joint has one'}"
    )
    law = "tau = ... + stiffness (q - reference), V = ... + stiffness (q - reference)^2 / 2"
    columns = _friction_columns(module, "y_v")
    sentence = f"Joint springs are in {_felt(module, springs=True)}{columns}: {law}."
    lines = [*_wrapped(sentence), *_wrapped(f"They are from {where}.")]
    if columns:
        lines += _wrapped(
            "Their columns are those of stiffness and preload, which is stiffness times reference; "
            "the regressor of V leaves out stiffness reference^2 / 2, which no state changes."
        )
    return lines


def _felt(module: Module, springs: bool = False) -> str:
    """The quantities of the module that friction and external wrenches are in, or springs."""
    quantities = [q for f in module.functions for q in f.quantities]
    felt = [q.name for q in quantities if (q.feels_springs if springs else q.feels_wrench)]
    return ", ".join(dict.fromkeys(felt)) or "no function of this module"


def _friction_columns(module: Module, *words: str) -> str:
    """Which quantities have columns for friction, or for springs with `words`."""
    columns = {"y", "y_b", *words}
    quantities = [q for f in module.functions for q in f.quantities]
    names = dict.fromkeys(
        q.name for q in quantities if any(columns & {*o.shape} for o in q.outputs)
    )
    return "".join(f"; {name} has columns for it" for name in names)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _files(module: Module) -> str:
    """Where the robot's numbers are from."""
    return (
        "the files of the robot and its actuators"
        if module.source.actuators
        else "the robot's file"
    )


def _step(module: Module) -> str:
    width = module.robot.friction_width
    step = f"tanh(qd / {width!r})" if width else "sign(qd)"
    return f"{step} + offset" + (", the width in rad/s or m/s" if width else ", sign(0) = 0")


def _wrenches(module: Module) -> list[str]:
    if not module.robot.wrenches:
        return []
    links = ", ".join(module.robot.wrenches)
    return [
        f"External wrenches act on {links}: six numbers each, force x y z and moment x y z about "
        f"the link's",
        f"origin, in {'the root' if module.robot.root_axes else 'the link'}'s axes; positive where "
        "the surroundings push the robot.",
        *_wrapped(
            f"They count in {_felt(module)}; derivatives and rates hold their six numbers constant."
        ),
    ]


def _law(module: Module) -> str:
    missing = {
        "friction": not module.robot.friction,
        "springs": not module.robot.springs and words.has_springs(module.robot.model),
        "rotor inertia": not words.has_rotors(module.robot.model),
    }
    *most, last = [name for name, left_out in missing.items() if left_out] or [""]
    without = f"{', '.join(most)} and {last}" if most else last
    law = f"tau = M(q) qdd + C(q, qd) qd + g(q){f', without {without}' if without else ''}"
    return f"{law}; gravity g(q) holds the robot still."


def gravity(module: Module) -> str:
    """Which way things fall."""
    where = words.frame(module.robot.model)
    if module.robot.runtime_gravity:
        return (
            f"Free fall is the input g (m/s^2, axes of the {where}); on Earth, z up: 0, 0, -9.81."
        )
    x, y, z = module.robot.model.gravity
    return f"Free fall is ({x!r}, {y!r}, {z!r}) m/s^2 in the axes of the {where}."


def _parameters(module: Module) -> list[str]:
    if not module.robot.runtime:
        return ["Inertial parameters are constants of the code."]
    names = ", ".join(PARAMETER_NAMES)
    return [
        f"Inertial parameters are inputs, ten a link in the order {names}:",
        "mass, first moment m c, inertia about the link's origin in the link's axes "
        "(off-diagonals as in the matrix).",
        "Regroup them once whenever they change; the functions take the result as par.",
    ]
