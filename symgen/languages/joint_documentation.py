"""Sentences on joints that are not one coordinate each, of followers and of rotors."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from symgen.algorithms.registry import Quantity
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import (
    coupling_text,
    listed_joints,
    listed_loops,
    listed_motors,
    polynomial_text,
    remaining_gap_text,
    rotor_of,
)
from symgen.mechanics.model import RigidBodyModel, is_nonzero
from symgen.mechanics.standard_joints import JOINT_TYPES
from symgen.tracing.robot import ParametricModel


def has_quaternions(model: RigidBodyModel) -> bool:
    """Whether a robot has a joint with a quaternion, so that positions and velocities differ."""
    return any(joint.type.quaternion is not None for _, joint in model.joints)


def order_sentence(model: RigidBodyModel) -> str:
    """A sentence on the order of the coordinates."""
    if listed_motors(model):
        return (
            "For a joint that is moved by motors, the coordinates are the angles of the motors "
            "(rad) and the forces are the torques that do the same work (N m). For every other "
            "joint they are those of the joint. The table below gives their order."
        )
    if not has_quaternions(model):
        return "The table below gives the order of the coordinates."
    coupling = coupling_of(model)
    first = ", the floating base first" if not model.base else ""
    return (
        f"There are {coupling.positions} positions q and {coupling.velocities} velocities "
        f"qd{first}; the tables below give their order. Accelerations, forces and matrices are in "
        "the order of the velocities."
    )


def joint_sentences(model: RigidBodyModel) -> list[str]:
    """Sentences on the joints with several coordinates, on followers and on rotors."""
    present = [
        kind for kind in JOINT_TYPES.values() if any(j.type is kind for _, j in model.joints)
    ]
    sentences = list(dict.fromkeys(text for kind in present for text in kind.documentation))
    if has_quaternions(model) and not model.base:
        sentences.append(
            "The frame in which the base moves is the world: poses, positions and gravity are "
            "expressed in its axes."
        )
    if any(not kind.has_one_coordinate for kind in present):
        sentences.append(
            "In local names, a joint with several coordinates counts as one body for each "
            "coordinate; the link belongs to the last of them."
        )
    return [*sentences, *_followers(model), *_rotors(model)]


def _followers(model: RigidBodyModel) -> Iterator[str]:
    for row in listed_loops(model):
        *others, last = row.dependent
        if row.closure.polynomial:
            yield (
                f"Joint {last} has no coordinate: {last} = {polynomial_text(model, row.closure)}. "
                f"The force on it acts on {row.others[0]}, multiplied by the derivative."
            )
            continue
        names = f"joints {', '.join(others)} and {last}" if others else f"joint {last}"
        off, count = remaining_gap_text(row.gaps), len(row.dependent)
        equations = f" Of its {row.equations} equations, {count} count{off}." if off else ""
        yield (
            f"Closed loop {row.closure.name} determines {names}, on the assembly of branch "
            f"{row.closure.branch:+d}.{equations} They have no coordinates; the forces on them act "
            "on the joints that move them. At a state that the loop cannot reach, and at a dead "
            "point, functions fail as they do where a mass matrix is not positive definite."
        )
    followers = [joint for joint in listed_joints(model) if joint.leader]
    for joint in followers:
        yield f"Joint {joint.name} follows {joint.leader}: {joint.name} = {joint.follows}."
    if any(len(joint.leaders) > 1 for joint in followers):
        yield (
            "A follower has no coordinate; the forces on it act on the joints that it follows, "
            "multiplied by the factors."
        )
    elif followers:
        yield (
            "A follower has no coordinate; the force on it acts on the joint that it follows, "
            "multiplied by the factor."
        )


def _rotors(model: RigidBodyModel) -> Iterator[str]:
    for joint in listed_joints(model):
        if rotor_of(joint.body):
            yield f"Rotor of joint {joint.name}: {rotor_of(joint.body)}."
    for body in model.bodies:
        if body.spin and (body.follows is None or len(body.follows.terms) > 1):
            at = f", at {coupling_text(model, body)}" if body.follows else ""
            yield f"Rotor {body.name}: {body.spin:.6g} kg m^2{at}."


def has_springs(model: RigidBodyModel) -> bool:
    """Whether a joint of the robot has a spring, in the dynamics or not."""
    return any(is_nonzero(joint.stiffness) for _, joint in model.joints)


def has_rotors(model: RigidBodyModel) -> bool:
    """Whether inertia of rotors is in the dynamics."""
    return any(body.spin or rotor_of(body) for body in model.bodies)


def passive_terms(robot: ParametricModel, q: Quantity | None = None) -> list[str]:
    """What a robot's joint forces contain beside M q̈ + C q̇ + g, or what a quantity does of it."""
    terms = {
        "+ friction(qd)": bool(robot.friction) and (q is None or "friction" in q.passive),
        "+ springs(q)": robot.springs and (q is None or q.depends_on_springs),
        "- J^T wrench": bool(robot.wrenches)
        and (q is None or ("wrench" in q.tags and not q.wrenches_only)),
    }
    return [term for term, present in terms.items() if present]


# -- units and meanings that fit the robot ---------------------------------------------------------

UnitChoice = Callable[[list[str]], str]
UNIT_CHOICES: Final[dict[str, UnitChoice]] = {
    "rad": lambda ways: ways[0],
    "m": lambda ways: ([way for way in ways if "rad" not in way] or ways)[-1],
}
"""Which of the units by joint type holds: that of a robot all of whose coordinates have this
unit."""

NOT_BY_JOINT_TYPE: Final = ("kg | kg m | kg m^2", "1 | m")
"""Units that are not by joint type."""


def robot_unit(model: RigidBodyModel, text: str, array: str = "") -> str:
    """The unit of an array of this robot: where its joints are of one type, that of this type
    alone."""
    if "|" not in text or text in NOT_BY_JOINT_TYPE:
        return text
    types = [joint.body.joint.type for joint in listed_joints(model)]
    units = {row.unit for kind in types for row in kind.velocities}
    positions = {row.unit for kind in types for row in kind.positions}
    single = choose_units(UNIT_CHOICES[min(units)], text) if len(units) == 1 else text
    if array != "q":
        return single
    return " | ".join(([single] if units & positions else []) + sorted(positions - units))


def choose_units(choose: UnitChoice, text: str) -> str:
    """A unit such as ``(rad | m)^2`` and ``N m | N, per rad | m`` with one way for each group."""

    def chosen(group: re.Match[str]) -> str:
        way = choose(group[1].split(" | "))
        return way if way.isalpha() else f"({way})"

    inside = re.sub(r"\(([^()]* \| [^()]*)\)", chosen, text)
    return "".join(
        choose(part.split(" | ")) for part in re.split(r"(, per |, | by | per )", inside)
    )


WORLD_TERMS: Final = {"root link's": "world's", "root's": "world's", "root axes": "world axes"}
SYMMETRIC: Final = ", symmetric except for floating joints"
"""End of the meaning of a matrix that is symmetric if every qd is the derivative of a q."""


def robot_meaning(model: RigidBodyModel, text: str) -> str:
    """The meaning of an array or formula for this robot."""
    words = {SYMMETRIC: "" if has_quaternions(model) else ", symmetric"}
    words |= WORLD_TERMS if not model.base else {}
    for old, new in words.items():
        text = text.replace(old, new)
    return text
