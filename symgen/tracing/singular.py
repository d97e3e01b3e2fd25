"""Checks that a quantity can divide by what it divides by: a mass matrix that can be inverted, and
mass.

If a joint moves no inertia of its own, M is singular; without mass there is no centre of mass. A
test in linear time finds most regular robots without the matrix, by articulated-body inertias on
numbers (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.1)."""

import math
import random
import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import numpy as np

from symgen.algorithms.registry import Quantity
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.joint_listing import ListedJoint, joint_of_velocity
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.parameters import canonical_model
from symgen.mechanics.spatial import Twist, Vector
from symgen.numbers.scalar import ZERO, Numbers, plain
from symgen.text import quoted, shown
from symgen.tracing.physical_inertia import mass_matrix_at
from symgen.tracing.robot import ParametricModel

MIN_REMAINING_INERTIA: Final = 1e-10
"""The least part of the inertia about a joint's axis, with all joints beyond it held, that is left
when these give way, and that shows that the joint moves inertia of its own. It is a thousand times
what the search for singular joints takes for zero."""

EPSILON: Final = 2.0**-52
BASIS: Final = tuple(
    Twist(*(Vector(*(1.0 if 3 * part + k == row else ZERO for k in range(3))) for part in (0, 1)))
    for row in range(6)
)
"""The six unit twists, angular ones first."""


def all_joints_move_inertia(robot: CanonicalModel, q: Sequence[float]) -> bool:
    """True if at positions `q` every body has clearly positive inertia about its joint's axis when
    the joints beyond it give way, so that the mass matrix of the bodies' joints, and with it that
    of the user's coordinates, is positive definite. False does not mean that it is singular.

    An articulated inertia is a difference. A bound of its rounding errors is carried along as a
    quadratic form of motions, so that a remainder of nothing but rounding is not taken for one."""
    positions = robot.coupling.body_positions(robot.coupling.normalized(q))
    articulated = np.zeros((robot.size + 1, 6, 6))
    errors, composite = np.zeros_like(articulated), np.zeros_like(articulated)
    for i in robot.inward:
        body, own_inertia = robot.body(i), _spatial(robot.body(i).inertia)
        articulated[i] += own_inertia
        composite[i] += own_inertia
        axis = _column(body.S)
        errors[i] += 6.0 * EPSILON * np.diag(np.abs(np.diagonal(articulated[i])))
        force = articulated[i] @ axis
        pivot = float(axis @ force)
        min_pivot = MIN_REMAINING_INERTIA * float(axis @ composite[i] @ axis) + float(
            axis @ errors[i] @ axis
        )
        if not pivot > min_pivot:
            return False
        to_body = np.stack([_column(u.to_child(robot.steps(i, positions))) for u in BASIS], axis=1)
        released = to_body - np.outer(axis, (force / pivot) @ to_body)
        articulated[body.parent] += to_body.T @ articulated[i] @ released
        errors[body.parent] += released.T @ errors[i] @ released
        composite[body.parent] += to_body.T @ composite[i] @ to_body
    return True


def _column(x: Twist) -> Numbers:
    """A twist as six numbers, angular part first."""
    return np.array([plain(e) for e in (*x.w, *x.v)])


def _spatial(inertia: Inertia) -> Numbers:
    """The 6 x 6 matrix that takes a twist to momentum, angular part first."""
    m, (hx, hy, hz) = plain(inertia.m), (plain(x) for x in inertia.h)
    xx, xy, xz, yy, yz, zz = (plain(x) for x in inertia.s)
    cross_matrix: Any = [[0.0, -hz, hy], [hz, 0.0, -hx], [-hy, hx, 0.0]]
    inertia_tensor: Any = [[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]]
    return np.block(
        [
            [np.array(inertia_tensor), np.array(cross_matrix)],
            [-np.array(cross_matrix), m * np.eye(3)],
        ]
    )


SAMPLE_STATES: Final = 3
MAX_ZERO_PIVOT: Final = 1e-13
"""The largest pivot, relative to the diagonal of M, that is taken for zero whatever the motion."""
ROUNDINGS_PER_ENTRY: Final = 16
"""Roundings in an entry of M, relative to the roots of the entries on the diagonal: an entry is a
sum of about as many products."""


def check_defined(robot: ParametricModel, quantities: Iterable[Quantity]) -> None:
    """Refuses a quantity that divides by what is zero whatever the parameters of run time are: that
    needs the inverse of a singular mass matrix, or the centre of mass of a robot without mass.

    Raises OptionError."""
    requested = list(quantities)
    inverting = next((q.name for q in requested if q.needs_inverse), None)
    if inverting and not robot.blocks and not moves_inertia(robot.model):
        raise OptionError(
            f"{inverting} needs the inverse of the mass matrix, but {MASSLESS_SENTENCE}; give "
            "links an <inertial>, or make their parameters inputs with --parameters runtime"
        )
    joints = singular_joints(robot.lumped, robot.blocks) if inverting else []
    if joints:
        names, move, whose = joint_phrase([joint.name for joint in joints])
        raise OptionError(
            f"{inverting} needs the inverse of the mass matrix, but {names} {move} no inertia of "
            f"{whose} own; {remedy(robot.model, joints)}"
        )
    averaging = next((q.name for q in requested if q.needs_mass), None)
    if averaging and not robot.blocks and not has_mass(robot.model):
        raise OptionError(
            f"{averaging} needs the mass of the robot, but no moving link has any; give "
            "links an <inertial>, or make their parameters inputs with --parameters "
            "runtime"
        )


MASSLESS_SENTENCE: Final = "no moving link has mass or inertia"


def moves_inertia(model: RigidBodyModel) -> bool:
    """Whether any moving part has mass or inertia, rotors included."""
    parameter_lists = (link.parameters for body in model.bodies for link in body.links)
    return any(any(parameters or ()) for parameters in parameter_lists) or any(
        body.spin for body in model.bodies
    )


def joint_phrase(names: list[str]) -> tuple[str, str, str]:
    """Joints by name, their verb and their pronoun."""
    if len(names) == 1:
        return f"joint {quoted(names)}", "moves", "its"
    return f"joints {quoted(names, 20)}", "move", "their"


def has_mass(model: RigidBodyModel) -> bool:
    """Whether any moving link has mass."""
    parameter_lists = (link.parameters for body in model.bodies for link in body.links)
    return any(parameters is not None and parameters[0] != 0 for parameters in parameter_lists)


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
    robot = canonical_model(model, {name: _random_parameters(rng) for name in unknown})
    states = [
        [rng.uniform(-3, 3) for _ in range(robot.coupling.positions)] for _ in range(SAMPLE_STATES)
    ]
    if all_joints_move_inertia(robot, states[0]):
        return []
    pivots = np.array([_pivots(robot, q) for q in states])
    vanishing = np.flatnonzero((np.abs(pivots) <= MAX_ZERO_PIVOT).all(axis=0))
    joints = {
        joint.name: joint
        for k in vanishing
        for joint in [joint_of_velocity(model, model.joint_names[int(k)])]
    }
    return list(joints.values())


def _random_parameters(rng: random.Random) -> list[float]:
    """The ten parameters of a body that has no symmetry: 1 kg, inertia of a scattered cloud."""
    x, y, z = (rng.uniform(0.1, 0.3) for _ in range(3))
    a, b, c = (rng.uniform(0.1, 0.3) for _ in range(3))
    moments = [b + c + y * y + z * z, -x * y, -x * z, a + c + x * x + z * z, -y * z]
    return [1.0, x, y, z, *moments, a + b + x * x + y * y]


def remedy(model: RigidBodyModel, joints: list[ListedJoint]) -> str:
    """The remedies for joints that `singular_joints` found, in words."""
    single = [joint for joint in joints if len(joint.bodies) == 1]
    remedies = []
    if single:
        pronoun = "it" if len(single) == 1 else "them"
        locks = " ".join(
            f"--lock {shlex.quote(f'{shown(j.name)}={_locked_position(j):g}')}" for j in single
        )
        missing_property = _missing_property(model, single)
        remedies.append(
            f"give the links beyond {pronoun} {missing_property}, or lock {pronoun} with {locks}"
        )
    for joint in (joint for joint in joints if joint not in single):
        floating_base = not model.base and not model.body(joint.bodies[0]).parent
        alternative = ", or select a link that has them with --root" if floating_base else ""
        link = shown(joint.body.name)
        remedies.append(f"give link '{link}' its own mass and inertia{alternative}")
    return "; ".join(remedies)


def _missing_property(model: RigidBodyModel, joints: list[ListedJoint]) -> str:
    """What the links beyond joints that move no inertia do not have: mass, or, where they have
    mass on the axes of these joints, moments of inertia about them."""
    beyond = _subtree(model, [joint.bodies[0] for joint in joints])
    parameter_lists = [link.parameters for body in beyond for link in body.links]
    if any(parameters is not None and parameters[0] for parameters in parameter_lists):
        return "moments of inertia about the axes (their mass is on the axes)"
    return "mass"


def _subtree(model: RigidBodyModel, bodies: Iterable[int]) -> list[Body]:
    """Some bodies and all that they carry, each once, parents first."""
    beyond = set(bodies)
    for i, body in enumerate(model.bodies, 1):
        if body.parent in beyond:
            beyond.add(i)
    return [model.body(i) for i in sorted(beyond)]


def _locked_position(joint: ListedJoint) -> float:
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
    n, m = robot.dof, mass_matrix_at(robot, q)
    diagonal, relative, motions = m.diagonal().copy(), [0.0] * n, np.eye(n)
    roots = np.sqrt(np.abs(diagonal))
    for k in reversed(range(n)):
        rounding_bound = ROUNDINGS_PER_ENTRY * EPSILON * float(np.abs(motions[k]) @ roots) ** 2
        if abs(m[k, k]) <= max(MAX_ZERO_PIVOT * abs(diagonal[k]), rounding_bound):
            continue
        relative[k] = float(m[k, k] / diagonal[k])
        factors = m[:k, k] / m[k, k]
        motions[:k] -= np.outer(factors, motions[k])
        m[:k, :k] -= np.outer(factors, m[k, :k])
    return relative
