"""Laws of base parameters: the textbook with unit moments of the bodies that they belong to, and
Y_b β = τ solved for β.

Which moments are base parameters is a choice, not a law; that they are independent and that nothing
is missing is one: the equations have one solution, and it satisfies them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Final

import numpy as np

from symgen.mechanics.canonical_frames import canonical_frames
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.independence import MOMENTS, Key, independent_parameters
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import ZERO, DecimalArray, Scalar
from symgen.proof.laws import LawError, law
from symgen.proof.laws.dynamics import coriolis, gravity_forces, mass, solve, tau
from symgen.proof.laws.regressor_laws import (
    by_parameters,
    massless,
    reference_columns,
    unit_columns,
    with_part,
    with_passive_columns,
)
from symgen.proof.reference_kinematics import unit_motion
from symgen.proof.reference_model import (
    Frame,
    ReferenceBody,
    ReferenceLink,
    frame_of,
    normalize,
    transpose,
)
from symgen.proof.states import States, Term, decimals, with_unit_quaternions

UNIT_MOMENTS = "the reference dynamics with unit moments of the bodies"
DISC, ROUND = MOMENTS.index("J"), MOMENTS.index("Jo")
MAX_OMITTED: Final = 1e-6
"""The part of the largest entry of a regressor that base parameters may leave out."""


def keys_of(x: States) -> tuple[Key, ...]:
    """The bodies and moments that are base parameters."""
    return independent_parameters(x.robot.regroups[WHOLE].layout).keys


def by_moments(term: Term, x: States) -> DecimalArray:
    """The values of a term where one of the base parameters is 1 and all else massless, the last
    axis."""
    massless_states, keys = massless(x), keys_of(x)
    bodies = dict.fromkeys(i for i, _ in keys)
    parts = [_of_body(term, massless_states, i, [k for j, k in keys if j == i]) for i in bodies]
    return np.concatenate(parts, axis=-1)


def _of_body(term: Term, massless_states: States, i: int, moments: Sequence[int]) -> DecimalArray:
    """The values of a term for unit moments of one body, in its canonical frame."""
    rows = dict(zip(moments, unit_columns(massless_states, len(moments)), strict=True))
    part = massless_states.mechanism.part(i)
    frame = _on_axis(
        frame_of(canonical_frames(massless_states.robot.lumped)[i - 1].pose, Decimal), part
    )
    unit, links = ReferenceLink("", frame, _inertial_parameters(rows)), part.links
    with_unit = with_part(massless_states, i, len(moments), links=(*links, unit))
    return np.moveaxis(term(with_unit), 0, -1)


def _on_axis(frame: Frame, part: ReferenceBody) -> Frame:
    """A canonical frame with its z axis exactly along that of the body's coordinate, and through
    it where the body turns: what doubles are off there a screw would feel times its pitch."""
    z, (x, _, _) = part.axis, transpose(frame.axes)
    x = normalize(x - z.scaled(x.dot(z)), Decimal("0.5"))
    place = frame.origin if unit_motion(part).turn is ZERO else z.scaled(z.dot(frame.origin))
    return Frame(transpose((x, z.cross(x), z)), place)


def _inertial_parameters(rows: Mapping[int, Scalar]) -> tuple[Scalar, ...]:
    """The ten inertial parameters from moments by their place in MOMENTS: I = tr(S) 1 - S. A
    rotor's inertia about its axis is that of a flat disc, inertia about all axes that of a
    ball."""
    disc, ball = (rows[k] * Decimal("0.5") if k in rows else ZERO for k in (DISC, ROUND))
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = (rows.get(k, ZERO) for k in range(10))
    xx, yy, zz = xx + disc + ball, yy + disc + ball, zz + ball
    return m, hx, hy, hz, yy + zz, -xy, -xz, xx + zz, -yz, xx + yy


@law("base_regressor", UNIT_MOMENTS)
def base_regressor(x: States) -> DecimalArray:
    """Y_b."""
    return with_passive_columns(by_moments(tau, x), x)


@law("slotine_li_base_regressor", "C from Christoffel symbols with unit moments of the bodies", 2)
def slotine_li_base_regressor(x: States) -> DecimalArray:
    """Y_rb, n x b: the regressor of M q̈_r + C q̇_r + g in base parameters."""
    reference = x.inputs["qd_r"], x.inputs["qdd_r"]
    return with_passive_columns(reference_columns(moment_columns(x), *reference), x)


@cached_method
def moment_columns(x: States) -> tuple[DecimalArray, DecimalArray, DecimalArray]:
    """The columns of M, C by Christoffel's definition and g for unit moments."""
    return by_moments(mass, x), by_moments(coriolis, x), by_moments(gravity_forces, x)


@law("base_parameters", "Y_b beta = tau of the reference, solved for the base parameters")
def base_parameters(x: States) -> DecimalArray:
    """β."""
    return (grouping(x) * x.inputs["ten"][..., None, :]).sum(-1)


def grouping(x: States) -> DecimalArray:
    """K with β = K π, (b, p): the one solution of Y_b K = Y at random states. Raises LawError where
    there is none, or more than one."""
    n, count = x.n, len(keys_of(x))
    states = _random(x, 3 + 3 * count // (2 * n))
    part, regressor = (
        f(tau, states).reshape(states.shape[0] * n, -1) for f in (by_moments, by_parameters)
    )
    nonzero = regressor.astype(bool).any(axis=0)  # no equations for parameters that move nothing
    factors = np.full((part.shape[1], regressor.shape[1]), Decimal(0), object)
    try:
        factors[:, nonzero] = solve(_product(part, part), _product(part, regressor[:, nonzero]))
    except ArithmeticError as error:
        raise LawError("the base parameters are not independent") from error
    predicted, wanted = part.astype(float) @ factors.astype(float), regressor.astype(float)
    if np.abs(predicted - wanted).max(initial=0.0) > MAX_OMITTED * np.abs(wanted).max(initial=0.0):
        raise LawError("the base parameters omit parameters that affect the forces")
    return factors


def _product(a: DecimalArray, b: DecimalArray) -> DecimalArray:
    """Aᵀ B, one row of both after the other, without what is zero in it: the force of a joint does
    not depend on what it does not carry."""
    total = np.full((a.shape[1], b.shape[1]), Decimal(0), object)
    for x, y in zip(a, b, strict=True):
        i, j = np.nonzero(x)[0], np.nonzero(y)[0]
        total[i[:, None], j] += x[i, None] * y[j]
    return total


def _random(x: States, count: int) -> States:
    """Random states of the same robot, gravity included where that is an input."""
    rng, coupling = Random(1), coupling_of(x.robot.lumped)
    rows = {"q": coupling.positions, "qd": x.n, "qdd": x.n}
    rows |= {"g": 3} if x.robot.runtime_gravity else {}
    inputs = {
        name: decimals([[rng.uniform(-2, 2) for _ in range(size)] for _ in range(count)])
        for name, size in rows.items()
    }
    if coupling.loops:
        inputs["q"] = decimals(
            [coupling.closing_positions(row) for row in inputs["q"].astype(float)]
        )
    inputs["q"] = with_unit_quaternions(inputs["q"], coupling.quaternions)
    return replace(x, inputs=inputs, shape=(count,))
