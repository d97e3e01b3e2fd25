"""Requested functions, their quantities by name and the names of their outputs; thrusters.

The outputs of a quantity of a link or joint end with its name, those of a list of joints have no
suffix. Where two outputs of a robot would have the same name (those of the links ``arm.1`` and
``arm-1``, or J_w of link ``x`` and J of link ``w_x``), or one has the name of another array, the
first in the order of registry and file keeps the name, and the others get ``_2``, ``_3`` and so on.
A name depends on the robot's file, --root and --tip only; of lists of joints also on those that
precede it in its function."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from symgen.algorithms.registry import (
    EXTERNAL_SIZES,
    INPUTS,
    LINK_QUANTITIES,
    QUANTITIES,
    Array,
    Quantity,
    unknown_quantity,
)
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import Thruster
from symgen.mechanics.joint_forces import LAWS
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.spatial import Triple
from symgen.numbers.decimals import norm
from symgen.options.kinds import finite
from symgen.text import cited, hint, repeated, shown
from symgen.tracing.robot import ParametricModel


@dataclass(frozen=True, slots=True)
class FunctionRequest:
    """A function to generate: its name and the quantities it computes together."""

    name: str
    quantities: tuple[Quantity, ...]

    @classmethod
    def parse(cls, text: str) -> "FunctionRequest":
        """From ``QUANTITY`` or ``NAME=QUANTITY+QUANTITY``, each ``QUANTITY:LINK`` if it is that of
        a link.

        Raises OptionError.
        """
        name, _, expression = text.partition("=")
        parts = (expression or name).split("+")
        quantities = tuple(find_quantity(part) for part in parts)
        if len(set(parts)) != len(parts):
            raise OptionError(f"{cited(text)} contains a quantity twice")
        if not expression and len(parts) > 1:
            raise OptionError(f"{cited(text)} needs a name for the function, as in terms={text}")
        _check_arrays(text, quantities)
        return cls(
            name if expression else re.sub(r"\W", "_", name, flags=re.ASCII).lower(), quantities
        )


def _check_arrays(text: str, quantities: Sequence[Quantity]) -> None:
    """One function cannot read an array and write it; an array that two quantities give is given
    once."""
    read = {name for q in quantities for name in q.inputs}
    clashing = [out.name for q in quantities for out in q.outputs if out.name in read]
    if clashing:
        raise OptionError(
            f"{cited(text)} would read and write {clashing[0]}; request two functions instead"
        )


def find_quantity(text: str) -> Quantity:
    """The quantity of that name, ``QUANTITY:LINK`` or ``QUANTITY:JOINT`` for one of a link or
    joint. Raises OptionError."""
    name, _, link = text.partition(":")
    if name in LINK_QUANTITIES and link:
        return LINK_QUANTITIES[name].of(link)
    if name in LINK_QUANTITIES:
        subject = LINK_QUANTITIES[name].subject
        raise OptionError(
            f"{name} is a quantity of a {subject}; name the {subject}, as in "
            f"{name}:{subject.upper()}"
        )
    if text not in QUANTITIES:
        raise unknown_quantity(text)
    return QUANTITIES[text]


OutputNames = dict[tuple[str, str, str], str]
"""The name of an output by quantity, output, and link or joint."""


def quantities_of_robot(
    robot: ParametricModel, quantities: Sequence[Quantity]
) -> tuple[Quantity, ...]:
    """The quantities as a robot has them: with the outputs for its external inputs, and those of
    links and joints with outputs whose names are unique in the robot.

    The algorithms refuse links and joints that the robot does not have."""
    given = {"wrench": robot.wrenches, "thrust": robot.thrusters}
    absent = {size for size in EXTERNAL_SIZES if not given[size]}
    present = tuple(
        replace(q, outputs=tuple(out for out in q.outputs if not absent & {*out.shape}))
        for q in quantities
    )
    if not any(q.link for q in quantities):
        return present
    names = {**_output_names(robot.model)}
    return tuple(_with_output_names(q, names) for q in present)


def _with_output_names(quantity: Quantity, names: OutputNames) -> Quantity:
    """The quantity with outputs that have their names; those of a list of joints, which have none
    yet, get names without a suffix."""
    if not quantity.link:
        return quantity
    stem, outputs = quantity.name.partition(":")[0], list[Array]()
    for out, plain in zip(quantity.outputs, LINK_QUANTITIES[stem].outputs, strict=True):
        key = stem, plain.name, quantity.link
        if key not in names:
            names[key] = _unused_name(plain.name, {*names.values()}, set())
        outputs.append(replace(out, name=names[key]))
    return replace(quantity, outputs=tuple(outputs))


def _output_names(model: RigidBodyModel) -> OutputNames:
    moving = (body.links for body in model.bodies)
    links = tuple(link.name for links in (model.base, *moving) for link in links)
    joints = tuple(joint.name for _, joint in model.joints if not joint.type.is_rotor)
    return _unique_names(links, joints, tuple(QUANTITIES))


@lru_cache(maxsize=8)
def _unique_names(
    links: tuple[str, ...], joints: tuple[str, ...], known: tuple[str, ...]
) -> OutputNames:
    """The names for links and joints, computed once for all functions of a robot as long as the
    known quantities are the same."""
    subjects = {"link": links, "joint": joints}
    preferred_names = {
        (stem, plain.name, link): out.name
        for stem, quantity in LINK_QUANTITIES.items()
        for link in subjects[quantity.subject]
        for plain, out in zip(quantity.outputs, quantity.of(link).outputs, strict=True)
    }
    taken = {*INPUTS, *(out.name for q in map(QUANTITIES.__getitem__, known) for out in q.outputs)}
    reserved, names = taken | {*preferred_names.values()}, OutputNames()
    for key, name in preferred_names.items():
        names[key] = _unused_name(name, taken, reserved)
        taken.add(names[key])
    return names


def _unused_name(name: str, taken: set[str], reserved: set[str]) -> str:
    """The name, or with the first number behind that makes it one which nobody has or wishes."""
    if name not in taken:
        return name
    k = 2
    while f"{name}_{k}" in taken or f"{name}_{k}" in reserved:
        k += 1
    return f"{name}_{k}"


RUNTIME: Final = "runtime"


def parse_runtime_names(text: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a text is ``runtime:NAME[,NAME...]``, not ``NAME[,NAME...]``, and its names."""
    kind, colon, names = text.partition(":")
    inputs = bool(colon) and kind == RUNTIME
    listed = names if inputs else text
    return inputs, tuple(listed.split(",")) if listed else ()


# -- links and thrusters --------------------------------------------------------------------------

THRUST_AXES: Final[dict[str, Triple]] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}
THRUSTER: Final = re.compile(
    r"(?P<link>.+?):(?P<axis>-?[xyz]|[^:,]+,[^:,]+,[^:,]+)(?::(?P<ratio>[^:]+))?"
)
THRUSTER_FORM: Final = (
    "give LINK:AXIS or LINK:AXIS:RATIO with AXIS x, -x, y, -y, z, -z or X,Y,Z, as in rotor1:z:0.016"
)


def parse_thrusters(model: RigidBodyModel, texts: Sequence[str]) -> tuple[Thruster, ...]:
    """The thrusters of a robot, one for each text. Raises OptionError for a text of another form
    and for a link that does not move."""
    found = tuple(_parse_thruster(text) for text in texts)
    for thruster in found:
        known_links(model, [thruster.link], "--thruster")
    return found


def _parse_thruster(text: str) -> Thruster:
    match = THRUSTER.fullmatch(text)
    if match is None:
        raise OptionError(f"--thruster {cited(text)}: {THRUSTER_FORM}")
    try:
        ratio = finite(match["ratio"] or "0")
        x, y, z = THRUST_AXES.get(match["axis"]) or map(finite, match["axis"].split(","))
    except ValueError:
        raise OptionError(f"--thruster {cited(text)}: {THRUSTER_FORM}") from None
    length = norm(x, y, z)
    if not length:
        raise OptionError(f"--thruster {cited(text)}: the axis has length 0; {THRUSTER_FORM}")
    return Thruster(match["link"], (x / length, y / length, z / length), ratio)


def known_links(model: RigidBodyModel, names: Collection[str], flag: str) -> tuple[str, ...]:
    """The names, where each is that of a moving link. Raises OptionError."""
    moving = [link.name for body in model.bodies for link in body.links]
    for name in names:
        if name in (link.name for link in model.base):
            raise OptionError(
                f"{flag}: link '{shown(name)}' does not move, so no function depends on it"
            )
        if name not in moving:
            raise OptionError(f"{flag}: no link is called '{shown(name)}'; {hint(name, moving)}")
    twice = repeated(names)
    if twice is not None:
        raise OptionError(f"{flag}: link '{shown(twice)}' is given twice; remove one of the two")
    return tuple(names)


def check_support(laws: Sequence[str], quantities: Sequence[Quantity]) -> None:
    """Raises OptionError for a quantity that does not support a law of friction."""
    for law in (law for law in laws if law in LAWS):
        missing = [
            q for q in quantities if "friction" in q.tags and not LAWS[law].reads <= q.supports
        ]
        if missing:
            raise OptionError(
                f"--friction {law}: {missing[0].name} does not support it (see symgen docs "
                "friction); remove one of them"
            )


def check_fluid(model: RigidBodyModel, fluid: bool, friction: Sequence[str]) -> None:
    """Raises OptionError for ``--fluid`` without a fluid, with a fluid whose forces are not
    supported, or with friction by load."""
    around = [x for body in model.bodies for link in body.links for x in link.fluids]
    trouble = next((x.trouble for x in around if x.trouble), "")
    if fluid and trouble:
        raise OptionError(f"--fluid: {trouble}")
    if fluid and not around:
        raise OptionError(
            "--fluid: no moving link of this robot has a fluid around it; add <fluid_added_mass>, "
            "a plugin of Gazebo or [links.NAME] in the file of --actuators"
        )
    if fluid and {"load", "presliding_load"} & {*friction}:
        raise OptionError("--fluid and --friction load: remove one of them")
