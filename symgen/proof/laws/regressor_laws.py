"""Laws of what is linear in inertial parameters, by the textbook with unit parameters; and of the
wrenches in joints, as sums over the textbook's links beyond a joint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from symgen.mechanics.spatial import ZERO_VECTOR
from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import ZERO, DecimalArray, Scalar
from symgen.proof.laws import law
from symgen.proof.laws.dynamics import coriolis, fluid_wrench, gravity_forces, mass, tau
from symgen.proof.laws.frame_laws import frame, potential
from symgen.proof.reference_kinematics import (
    body_coordinate,
    body_poses,
    unit_motion,
)
from symgen.proof.reference_model import WORLD, Frame, entries_array
from symgen.proof.states import (
    States,
    Term,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimals,
    eye,
    gradient,
    rate,
    units,
)
from symgen.proof.textbook import moving_inertias, transmitted_wrench

SPRINGS = ("stiffness", "preload")
"""The columns that belong to springs, by the names of their coefficients."""
UNITS = "the reference dynamics with unit parameters"
UNITS_OF_C = "C from Christoffel symbols with unit parameters"


def bodies_with_parameters(x: States) -> list[int]:
    """The bodies with parameters of their own in the order of columns: those with links, then
    rotors."""
    parts = [*enumerate(x.mechanism.parts, 1)]
    links = [i for i, part in parts if part.links]
    return links + [i for i, part in parts if part.spin is not ZERO]


def massless(x: States) -> States:
    """The states of the robot without any inertia."""
    parts = tuple(
        replace(part, links=tuple(replace(link, parameters=None) for link in part.links), spin=ZERO)
        for part in x.mechanism.parts
    )
    return replace(
        x.without_external_forces(), mechanism=replace(x.mechanism, parts=parts), link_parameters={}
    )


def unit_columns(x: States, count: int) -> DecimalArray:
    """One for each of `count` new states on a new first axis: row k is 1 in state k, else 0."""
    return decimals(np.eye(count)).reshape(count, count, *(1 for _ in x.shape))


def with_part(x: States, i: int, count: int, **changes: Any) -> States:
    """The states with another body `i`, whose inertia has `count` values on a new first axis."""
    parts = list(x.mechanism.parts)
    parts[i - 1] = replace(parts[i - 1], **changes)
    return replace(x, mechanism=replace(x.mechanism, parts=tuple(parts)), shape=(count, *x.shape))


def by_parameters(term: Term, x: States) -> DecimalArray:
    """A term where one parameter is 1 and all others 0, the last axis: the ten of each body about
    the frame of its first link, then the inertia of each rotor."""
    bare = massless(x)
    return np.concatenate([_of_body(term, bare, i) for i in bodies_with_parameters(x)], axis=-1)


def _of_body(term: Term, bare: States, i: int) -> DecimalArray:
    part = bare.mechanism.part(i)
    if unit_motion(part).balanced:
        return np.moveaxis(term(with_part(bare, i, 1, spin=Decimal(1))), 0, -1)
    first, *others = part.links
    columns = tuple(unit_columns(bare, 10))
    with_columns = with_part(bare, i, 10, links=(replace(first, parameters=columns), *others))
    return np.moveaxis(term(with_columns), 0, -1)


def passive_terms(x: States) -> list[tuple[int, str]]:
    """The bodies and kinds that have a column of friction or springs, in order."""
    return [
        (i, kind)
        for i, part in enumerate(x.mechanism.parts, 1)
        for kind in x.robot.passive_kinds
        if (part.has_spring if kind in SPRINGS else part.has_friction)
    ]


def passive_columns(x: States) -> DecimalArray:
    """Joint forces for each coefficient of friction and springs, (..., n, columns); none without
    them. That of a preload is what a reference of 1 adds to a spring of stiffness 1."""
    terms = passive_terms(x)
    if not terms:
        return np.empty((*x.shape, x.n, 0), object)
    by_body: dict[int, dict[str, Scalar]] = {}
    for (i, kind), row in zip(terms, unit_columns(x, len(terms)), strict=True):
        by_body.setdefault(i, {})[kind] = row
    passive = {i: _passive_row(rows) | x.force_shape(i) for i, rows in by_body.items()}
    alone = replace(massless(x), passive=passive, shape=(len(terms), *x.shape))
    columns = np.moveaxis(tau(alone), 0, -1)
    for k, (i, kind) in enumerate(terms):
        if kind == "preload":
            columns[..., k] = columns[..., k] - columns[..., terms.index((i, "stiffness"))]
    return columns


def _passive_row(by_kind: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The numbers of a textbook's `State` from unit coefficients."""
    row: dict[str, Scalar] = {**by_kind}
    preload = row.pop("preload", None)
    if preload is not None:
        row |= {"stiffness": row["stiffness"] + preload, "reference": preload}
    return row


@law("mass_matrix_by_parameters", UNITS)
@cached_method
def mass_by_parameters(x: States) -> DecimalArray:
    """∂M/∂π, (..., n, n, p)."""
    return by_parameters(mass, x)


@law("gravity_by_parameters", UNITS)
@cached_method
def gravity_by_parameters(x: States) -> DecimalArray:
    """∂g/∂π, (..., n, p)."""
    return by_parameters(gravity_forces, x)


def with_passive_columns(columns: DecimalArray, x: States) -> DecimalArray:
    """Behind the columns of inertia those of friction at q̇ and of springs at q."""
    return np.concatenate([columns, passive_columns(x)], axis=-1)


def stored_columns(x: States) -> DecimalArray:
    """The columns of k and of k r in ½ k (q - r)² less its value at q = 0: (..., 1, 2 x joints)."""
    joints = [i for i, kind in passive_terms(x) if kind == "stiffness"]
    at = [body_coordinate(x.mechanism, i, x.textbook.trajectory.positions) for i in joints]
    columns = [column for q in at for column in (q * q / 2, -q)]
    return entries_array(columns, x.shape, Decimal(0))[..., None, :]


@law("regressor", UNITS)
def regressor(x: States) -> DecimalArray:
    """Y, (..., n, y)."""
    return with_passive_columns(by_parameters(tau, x), x)


@law("slotine_li_regressor", UNITS_OF_C, 2)
def slotine_li_regressor(x: States) -> DecimalArray:
    """Y_r of M q̈_r + C q̇_r + g, (..., n, y), C by Christoffel's definition."""
    columns = mass_by_parameters(x), coriolis_by_parameters(x), gravity_by_parameters(x)
    reference = x.inputs["qd_r"], x.inputs["qdd_r"]
    return with_passive_columns(reference_columns(columns, *reference), x)


def reference_columns(
    columns: Sequence[DecimalArray], qd_r: DecimalArray, qdd_r: DecimalArray
) -> DecimalArray:
    """The columns of M q̈_r + C q̇_r + g, (..., n, p), from those of M, C and g."""
    m, c, g = columns
    r, rr = (x[..., None, :, None] for x in (qd_r, qdd_r))
    return (m * rr).sum(-2) + (c * r).sum(-2) + g


@law("coriolis_matrix_by_parameters", UNITS_OF_C, 2)
@cached_method
def coriolis_by_parameters(x: States) -> DecimalArray:
    """∂C/∂π, (..., n, n, p)."""
    return by_parameters(coriolis, x)


def wrench_on_link(x: States, link: str) -> DecimalArray:
    """Force and moment about a link's origin, in its axes, that move its body and all beyond."""
    body = x.mechanism.body_of(link)[0]
    entries = transmitted_wrench(x.mechanism, x.textbook, body, frame(x, link))
    return entries_array(entries, x.shape, Decimal(0))


@law("wrench_regressor", UNITS)
def wrench_regressor(x: States, link: str) -> DecimalArray:
    """W."""
    return by_parameters(lambda y: wrench_on_link(y, link), x)


@law("momentum_regressor", UNITS)
@cached_method
def momentum_regressor(x: States) -> DecimalArray:
    """P."""
    return (mass_by_parameters(x) * x.inputs["qd"][..., None, :, None]).sum(-2)


@law("kinetic_energy_regressor", UNITS)
def kinetic_energy_regressor(x: States) -> DecimalArray:
    """k."""
    momentum, v = momentum_regressor(x), x.inputs["qd"]
    return batch_transposed_matvec(momentum, v)[..., None, :] / 2


@law("potential_energy_regressor", UNITS)
def potential_energy_regressor(x: States) -> DecimalArray:
    """u."""
    return np.concatenate([by_parameters(potential, x), stored_columns(x)], axis=-1)


@law("momentum_rate_regressor", UNITS_OF_C, 2)
def momentum_rate_regressor(x: States) -> DecimalArray:
    """N of Cᵀ q̇ - g."""
    c = coriolis_by_parameters(x)
    return (c * x.inputs["qd"][..., :, None, None]).sum(-3) - gravity_by_parameters(x)


AS_PUBLISHED = "sum of J^T (I dJ/dt + v x* I J) as published"


def _jacobians(x: States) -> DecimalArray:
    """The Jacobians of all bodies about the root's origin, angular rows first: (..., bodies, 6,
    n), without the axes in front that positions do not have."""
    robot, bodies = x.mechanism, body_poses(x.mechanism, x.textbook.trajectory.positions)
    shape = x.inputs["q"].shape[:-1]
    count = len(robot.parts)
    cells: list[Any] = [ZERO] * (count * 6 * count)
    for i in robot.outward:
        for j in robot.path(i):
            w, v = bodies[j].twist(ZERO_VECTOR)
            for row, e in enumerate((*w, *v)):
                cells[((i - 1) * 6 + row) * count + j - 1] = e
    by_joints = entries_array(cells, shape, Decimal(0)).reshape(*shape, count, 6, count)
    return x.pull_back(by_joints, inner=2)


def _cross(v: DecimalArray) -> DecimalArray:
    x, y, z = (v[..., k] for k in range(3))
    o = 0 * x
    rows = [[o, -z, y], [z, o, -x], [-y, x, o]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _spatial(link: Any, shape: tuple[int, ...]) -> DecimalArray:
    """A link's spatial inertia about the root's origin, angular part first."""
    p, h, m = link.origin, link.h, link.m
    flat = entries_array([*p, *h, m, *(e for row in link.inertia for e in row)], shape, Decimal(0))
    place, first, weight = _cross(flat[..., :3]), _cross(flat[..., 3:6]), flat[..., 6, None, None]
    about = flat[..., 7:].reshape(*shape, 3, 3)
    coupling = first + weight * place
    moment = (
        about
        - batch_matmul(first, place)
        - batch_matmul(place, first)
        - weight * batch_matmul(place, place)
    )
    rows = [
        np.concatenate([moment, coupling], axis=-1),
        np.concatenate([-coupling, weight * eye(3)], axis=-1),
    ]
    return np.concatenate(rows, axis=-2)


@law("coriolis_matrix_newton_euler", AS_PUBLISHED, 1)
def newton_euler(x: States) -> DecimalArray:
    """C, (..., n, n)."""
    robot = x.mechanism
    jacobians, change = x.shared.value(
        "jacobians",
        [x.inputs["q"], x.inputs["qd"], robot.motion_key],
        lambda: (_jacobians(x), rate(_jacobians, x)),
    )
    total: Any = np.full((*x.shape, x.n, x.n), Decimal(0), object)
    for i, link in moving_inertias(robot, x.textbook):
        inertia, j = _spatial(link, x.shape), jacobians[..., i - 1, :, :]
        v = batch_matvec(j, x.inputs["qd"])
        w, o = _cross(v[..., :3]), _cross(v[..., 3:])
        rows = [np.concatenate([w, o], axis=-1), np.concatenate([0 * w, w], axis=-1)]
        force = np.concatenate(rows, axis=-2)  # v ×*, moments first
        inner = batch_matmul(inertia, change[..., i - 1, :, :]) + batch_matmul(
            force, batch_matmul(inertia, j)
        )
        total = total + batch_matmul(np.swapaxes(j, -1, -2), inner)
    return total


law("coriolis_matrix_newton_euler_rate", f"finite differences in time of the {AS_PUBLISHED}", 1)(
    partial(rate, newton_euler)
)


@law("coriolis_matrix_newton_euler_by_parameters", f"unit parameters in the {AS_PUBLISHED}", 2)
@cached_method
def newton_euler_by_parameters(x: States) -> DecimalArray:
    """∂C/∂π, (..., n, n, p)."""
    return by_parameters(newton_euler, x)


@law("coriolis_matrix_newton_euler_gradient", f"derivatives of the {AS_PUBLISHED}", 2)
def coriolis_matrix_newton_euler_gradient(x: States) -> tuple[DecimalArray, DecimalArray]:
    """∂C/∂q, ∂C/∂q̇, the values of C at unit velocities, in which it is linear."""
    at_units = newton_euler(x.with_inputs(qd=units(x)).widened((x.n,)))
    return gradient(newton_euler, x), np.moveaxis(at_units, 0, -1)


@law("slotine_li_regressor_newton_euler", f"unit parameters in the {AS_PUBLISHED}", 2)
def slotine_li_regressor_newton_euler(x: States) -> DecimalArray:
    """M q̈_r + C q̇_r + g of unit parameters."""
    columns = mass_by_parameters(x), newton_euler_by_parameters(x), gravity_by_parameters(x)
    reference = x.inputs["qd_r"], x.inputs["qdd_r"]
    return with_passive_columns(reference_columns(columns, *reference), x)


# -- wrenches in joints ----------------------------------------------------------------------------

SUMS = "sum over all links beyond the joint, in world axes"


def wrench(x: States, joint: str, in_root_axes: bool = False) -> DecimalArray:
    """Force and moment of the parent on the child about the origin of a joint, in the joint's or
    the root's axes: (..., 6)."""
    bodies = enumerate(x.robot.model.bodies, 1)
    last = max(i for i, b in bodies if b.joint.name == joint and not b.joint.type.is_rotor)
    body = body_poses(x.mechanism, x.textbook.trajectory.positions)[last]
    frame = Frame(WORLD if in_root_axes else body.axes, body.origin)
    entries = transmitted_wrench(x.mechanism, x.textbook, last, frame)
    rigid = entries_array(entries, x.shape, Decimal(0))
    return rigid + fluid_wrench(x, last, frame) if x.robot.fluid else rigid


@law("joint_wrench", SUMS)
def joint_wrench(x: States, joint: str) -> DecimalArray:
    """w in the joint's axes."""
    return wrench(x, joint)


@law("joint_wrench_aligned", SUMS)
def joint_wrench_aligned(x: States, joint: str) -> DecimalArray:
    """w in root axes."""
    return wrench(x, joint, in_root_axes=True)


@law("joint_wrenches", SUMS)
def joint_wrenches(x: States) -> DecimalArray:
    """w of all moving joints, row by row."""
    names = [joint.name for _, joint in x.robot.model.joints if not joint.type.is_rotor]
    return np.stack([wrench(x, name) for name in names], axis=-2)


@law("joint_wrench_regressor", UNITS)
def joint_wrench_regressor(x: States, joint: str) -> DecimalArray:
    """W."""
    return by_parameters(lambda y: wrench(y, joint), x)


@law("joint_wrench_derivatives", "derivatives of the reference wrench in 75 digits", 1)
def joint_wrench_derivatives(x: States, joint: str) -> tuple[DecimalArray, ...]:
    """∂w/∂q, ∂w/∂q̇, ∂w/∂q̈."""
    return tuple(gradient(lambda y: wrench(y, joint), x, name) for name in ("q", "qd", "qdd"))
