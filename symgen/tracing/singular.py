"""Whether what a quantity divides by is there: a mass matrix that can be inverted, and mass.

Where a joint moves no inertia of its own, M is singular; without mass there is no centre of it."""

import math
import random
import shlex
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import numpy as np

from symgen.algorithms.factors import coupled_mass_matrix
from symgen.algorithms.registry import Quantity
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_listing import ListedJoint, joint_of_velocity
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.parameters import canonical_model
from symgen.numbers.scalar import plain
from symgen.text import quoted, shown
from symgen.tracing.articulated import all_joints_move_inertia
from symgen.tracing.robot import ParametricModel

STATES: Final = 3
ROUNDING: Final = 1e-13
UNIT: Final = 2.0**-52
"""What the entries of M may be off, relative to the roots of those on the diagonal."""


def check_defined(robot: ParametricModel, quantities: Iterable[Quantity]) -> None:
    """Refuses a quantity that divides by what is zero whatever the parameters of run time are: that
    needs the inverse of a singular mass matrix, or the centre of mass of a robot without mass.

    Raises OptionError."""
    wanted = list(quantities)
    inverse = next((q.name for q in wanted if q.needs_inverse), None)
    if inverse and not robot.blocks and not moves_inertia(robot.model):
        raise OptionError(
            f"{inverse} needs the inverse of the mass matrix, but {MASSLESS}; give links "
            "an <inertial>, or make their parameters inputs with --parameters runtime"
        )
    joints = singular_joints(robot.lumped, robot.blocks) if inverse else []
    if joints:
        names, move, whose = in_words([joint.name for joint in joints])
        raise OptionError(
            f"{inverse} needs the inverse of the mass matrix, but {names} {move} no inertia of "
            f"{whose} own; {remedy(robot.model, joints)}"
        )
    centre = next((q.name for q in wanted if q.needs_mass), None)
    if centre and not robot.blocks and not has_mass(robot.model):
        raise OptionError(
            f"{centre} needs the mass of the robot, but no moving link has any; give "
            "links an <inertial>, or make their parameters inputs with --parameters "
            "runtime"
        )


MASSLESS: Final = "no moving link has mass or inertia"


def moves_inertia(model: RigidBodyModel) -> bool:
    """Whether any moving part has mass or inertia, rotors included."""
    tens = (link.parameters for body in model.bodies for link in body.links)
    return any(any(ten or ()) for ten in tens) or any(body.spin for body in model.bodies)


def in_words(names: list[str]) -> tuple[str, str, str]:
    """Joints by name, their verb and their pronoun."""
    if len(names) == 1:
        return f"joint {quoted(names)}", "moves", "its"
    return f"joints {quoted(names, 20)}", "move", "their"


def has_mass(model: RigidBodyModel) -> bool:
    """Whether any moving link has mass."""
    tens = (link.parameters for body in model.bodies for link in body.links)
    return any(ten is not None and ten[0] != 0 for ten in tens)


def singular_joints(model: RigidBodyModel, unknown: Collection[str] = ()) -> list[ListedJoint]:
    """The joints without which the rest moves no differently, in the order of their coordinates;
    none if M is regular.

    Found as the pivots of M = Lᵀ D L (Featherstone 2008, section 6.5) that vanish at random states,
    in time that grows with the cube of the number of joints; but only where a recursion, which
    takes linear time, does not show that none of them vanishes.
    The parameters of the links called `unknown` come at run time: they are those of some body, and
    a joint is only found if it is one for (almost) all of them.
    """
    rng = random.Random(0)
    robot = canonical_model(model, {name: _some_body(rng) for name in unknown})
    states = [[rng.uniform(-3, 3) for _ in range(robot.coupling.positions)] for _ in range(STATES)]
    if all_joints_move_inertia(robot, states[0]):
        return []
    pivots = np.array([_pivots(robot, q) for q in states])
    gone = np.flatnonzero((np.abs(pivots) <= ROUNDING).all(axis=0))
    joints = {
        joint.name: joint
        for k in gone
        for joint in [joint_of_velocity(model, model.joint_names[int(k)])]
    }
    return list(joints.values())


def _some_body(rng: random.Random) -> list[float]:
    """The ten parameters of a body that has no symmetry: 1 kg, inertia of a scattered cloud."""
    x, y, z = (rng.uniform(0.1, 0.3) for _ in range(3))
    a, b, c = (rng.uniform(0.1, 0.3) for _ in range(3))
    around = [b + c + y * y + z * z, -x * y, -x * z, a + c + x * x + z * z, -y * z]
    return [1.0, x, y, z, *around, a + b + x * x + y * y]


def remedy(model: RigidBodyModel, joints: list[ListedJoint]) -> str:
    """The remedies for joints that `singular_joints` found, in words."""
    single = [joint for joint in joints if len(joint.bodies) == 1]
    remedies = []
    if single:
        pronoun = "it" if len(single) == 1 else "them"
        locks = " ".join(f"--lock {shlex.quote(f'{shown(j.name)}={_inside(j):g}')}" for j in single)
        lack = _what_lacks(model, single)
        remedies.append(f"give the links beyond {pronoun} {lack}, or lock {pronoun} with {locks}")
    for joint in (joint for joint in joints if joint not in single):
        floating_base = not model.base and not model.body(joint.bodies[0]).parent
        instead = ", or select a link that has them with --root" if floating_base else ""
        link = shown(joint.body.name)
        remedies.append(f"give link '{link}' its own mass and inertia{instead}")
    return "; ".join(remedies)


def _what_lacks(model: RigidBodyModel, joints: list[ListedJoint]) -> str:
    """What the links beyond joints that move no inertia do not have: mass, or, where they have
    mass on the axes of these joints, moments of inertia about them."""
    beyond = [body for joint in joints for body in _beyond(model, joint.bodies[0])]
    tens = [link.parameters for body in beyond for link in body.links]
    if any(ten is not None and ten[0] for ten in tens):
        return "moments of inertia about the axes (their mass is on the axes)"
    return "mass"


def _beyond(model: RigidBodyModel, i: int) -> Iterator[Body]:
    """Body `i` and all that it carries."""
    yield model.body(i)
    for child in model.children(i):
        yield from _beyond(model, child)


def _inside(joint: ListedJoint) -> float:
    """Zero, or the limit next to it."""
    limits = joint.body.joint.limits
    lower = -math.inf if limits.lower is None else limits.lower
    upper = math.inf if limits.upper is None else limits.upper
    return min(max(0.0, lower), upper) if lower <= upper else 0.0


def _pivots(robot: CanonicalModel, q: list[float]) -> list[float]:
    """The pivots of the factorisation from the last joint to the first, relative to the diagonal of
    M; 0 where they are no more than what rounding has left.

    A pivot is vᵀ M v of the motion v in which its joint moves by 1 and those beyond it take no
    momentum. So errors of the entries of M, each relative to the roots of those on the diagonal,
    make at most as much of it as the same sum has without signs."""
    n, coupling = robot.dof, robot.coupling
    entries = coupled_mass_matrix(robot, coupling.normalized(q))
    m = np.array([plain(x) for x in entries]).reshape(n, n)
    diagonal, relative, motions = m.diagonal().copy(), [0.0] * n, np.eye(n)
    roots = np.sqrt(np.abs(diagonal))
    for k in reversed(range(n)):
        off = UNIT * float(np.abs(motions[k]) @ roots) ** 2
        if abs(m[k, k]) <= max(ROUNDING * abs(diagonal[k]), off):
            continue
        relative[k] = float(m[k, k] / diagonal[k])
        factors = m[:k, k] / m[k, k]
        motions[:k] -= np.outer(factors, motions[k])
        m[:k, :k] -= np.outer(factors, m[k, :k])
    return relative
