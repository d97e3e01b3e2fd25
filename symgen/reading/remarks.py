"""Remarks on a part of a robot as a whole."""

from collections.abc import Iterator
from typing import Final

from symgen.errors import Notice
from symgen.mechanics.inertia_checks import odd_units
from symgen.mechanics.model import RigidBodyModel
from symgen.reading.coordinate_constants import in_words, is_negative
from symgen.reading.part import RobotSubtree
from symgen.text import shown


def left_out(part: RobotSubtree) -> Iterator[Notice]:
    """Sentences on what --root and --tip leave out."""
    used = part.links
    gone = [link for link in part.robot.links if link.name not in used]
    if gone:
        mass = sum(link.inertial.mass for link in gone if link.inertial)
        count = f"{len(gone)} links" if len(gone) > 1 else "1 link"
        yield Notice(
            part.robot.place(part.robot.line),
            "note",
            part.robot.tag,
            f"--root and --tip exclude {count} with a total mass of {mass:.6g} kg",
        )


def reordered(part: RobotSubtree) -> Iterator[Notice]:
    """A note where the coordinates are not in the order of the file."""
    in_file, ordered = (
        [joint.name for joint in joints if joint.mimics is None]
        for joints in (part.moving_in_file_order, part.moving)
    )
    first = next((name for name, other in zip(in_file, ordered, strict=True) if name != other), "")
    if first:
        k = in_file.index(first)
        sentence = (
            "coordinates are ordered from the base to the tip: joint "
            f"'{shown(ordered[k])}' is before '{shown(first)}', which is earlier in the "
            "file; use --joint-order file to keep the order of the file"
        )
        yield Notice(part.robot.place(part.robot.line), "note", part.robot.tag, sentence)


def massless(part: RobotSubtree, model: RigidBodyModel) -> Iterator[Notice]:
    """A warning where nothing that moves has mass or inertia, which makes every force 0."""
    tens = [link.parameters for body in model.bodies for link in body.links]
    if not any(any(ten or ()) for ten in tens) and not any(body.spin for body in model.bodies):
        sentence = (
            "no moving link has mass or inertia, so all joint forces due to gravity and "
            "motion are 0; use a file with <inertial>, or --parameters runtime"
        )
        robot = part.robot
        yield Notice(
            robot.place(robot.line), "warning", robot.tag, sentence, unless=("parameters",)
        )


def odd_joints(part: RobotSubtree) -> Iterator[Notice]:
    """Limits the wrong way round, and numbers of joints that should not be negative."""
    for joint in part.moving:
        place, element = part.robot.place(joint.line), f"joint '{shown(joint.name)}'"
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is not None and upper is not None and lower > upper:
            text = f"lower limit {lower:g} is above the upper limit {upper:g}"
            yield Notice(place, "warning", element, text, CROSSED)
        numbers = {
            "damping": joint.damping,
            "friction": joint.friction,
            "velocity limit": joint.limits.velocity,
            "effort limit": joint.limits.effort,
        }
        for name, number in numbers.items():
            if number is not None and is_negative(number):
                text = f"{name} is negative ({in_words(number)}); used as written"
                yield Notice(place, "warning", element, text, NEGATIVE)


CROSSED: Final = "lower limits are above upper limits in {count} joints ({elements})"
NEGATIVE: Final = (
    "{count} numbers of damping, friction and limits are negative ({elements}); used as written"
)


def still_impossible(part: RobotSubtree) -> Iterator[Notice]:
    """Impossible inertia of links that do not move, on which nothing depends."""
    links = part.links
    for link in (links[name] for name in sorted(part.still & set(links))):
        if link.inertial and link.inertial.trouble:
            trouble = link.inertial.trouble.partition(";")[0]
            yield Notice(
                part.robot.place(link.inertial.line),
                "warning",
                f"link '{shown(link.name)}'",
                f"{trouble}; the link does not move, so no result depends on it",
            )


def units(part: RobotSubtree, model: RigidBodyModel) -> Iterator[Notice]:
    """Numbers that look like grams or millimetres."""
    links = part.links
    for name, remark in odd_units(model):
        place = part.robot.place(links[name].line if name in links else part.robot.line)
        yield Notice(place, "warning", f"link '{shown(name)}'", remark, UNITS)


UNITS: Final = (
    "{count} links ({elements}) have values that are implausible in kg, m and kg m^2; "
    "add --verbose to list them"
)
