"""What controllers promise, as laws of the motion that their forces cause.

A law of a controller computes its equation; here the textbook's robot moves under these forces for
an instant, and what was promised must hold of that motion: a free motion leaves no residual, errors
decay as their differential equation says, and no energy is gained. So a belief that algorithm and
equation share is seen. All is without friction, which is dissipative; the observer's includes it.

Errors of position on rotations and rigid displacements follow their equation to first order, so
that the states here are near their reference: a part `REFERENCE_OFFSET` of the difference that was
drawn."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import wraps
from typing import Any, Final

import numpy as np

from symgen.numbers.scalar import DecimalArray
from symgen.proof.laws import LawError
from symgen.proof.laws.dynamics import accelerations, mass
from symgen.proof.laws.integration_laws import moved, velocity_between
from symgen.proof.reference_kinematics import orientation
from symgen.proof.states import STEP, States, batch_matmul, batch_matvec
from symgen.proof.tangent import (
    blocks,
    displaced,
    turned_accelerations,
)
from symgen.tracing.robot import SPRING_COEFFICIENTS

Command = Callable[[States], DecimalArray]
"""The forces of a controller, not limited."""

REFERENCE_OFFSET: Final = Decimal("1e-8")
TIME_STEP: Final = Decimal("1e-20")
"""The time (s) of differences along a motion."""
MIN_EIGENVALUE: Final = 1e-9
"""A scaled mass matrix with a smaller eigenvalue determines no accelerations."""
TOLERANCE: Final = Decimal("1e-5")
"""The largest violation, as a part of the terms that are to cancel."""


def without_friction(x: States) -> States:
    """The states without friction in the joints; springs and external wrenches as they are."""
    springs = {
        i: {k: row[k] for k in SPRING_COEFFICIENTS if k in row} for i, row in x.passive.items()
    }
    return replace(x, passive=springs)


def in_body_axes(x: States, v: DecimalArray, q: DecimalArray, q_ref: DecimalArray) -> DecimalArray:
    """Velocities at q_ref, twists in the axes of the bodies at q."""
    out = np.array(np.broadcast_to(v, (*x.shape, x.n)))
    for block in blocks(x.mechanism):
        n, at = block.translation_count, block.velocity_slice
        if n is not None:
            here, there = q[..., block.position_slice], q_ref[..., block.position_slice]
            back, there_axes = (
                np.swapaxes(_rotation_of(here[..., n:]), -1, -2),
                _rotation_of(there[..., n:]),
            )
            turn = batch_matmul(back, there_axes)
            w = batch_matvec(turn, v[..., at][..., n:])
            parts = [w]
            if n:
                arm = batch_matvec(back, there[..., :3] - here[..., :3])
                parts = [batch_matvec(turn, v[..., at][..., :3]) + np.cross(arm, w), w]
            out[..., at] = np.concatenate(parts, axis=-1)
    return out


def _rotation_of(four: DecimalArray) -> DecimalArray:
    """The rotation matrix of a unit quaternion."""
    rows = orientation([four[..., k] for k in range(4)])
    return np.stack([np.stack([*row], axis=-1) for row in rows], axis=-2)


def _check(x: States, what: str, violation: DecimalArray, terms: DecimalArray) -> None:
    """Raises LawError where terms that are to cancel do not, at states whose accelerations the mass
    matrix determines."""
    violated = abs(violation).max(axis=-1) > TOLERANCE * abs(terms).max(axis=-1)
    if (violated & _determined(x)).any():
        raise LawError(what)


def _determined(x: States) -> DecimalArray:
    """Whether the mass matrix, scaled to a diagonal of 1, is not singular to rounding."""
    m = mass(x).astype(float)
    sizes = np.sqrt(np.abs(np.diagonal(m, axis1=-2, axis2=-1))) + np.finfo(float).tiny
    scaled = m / (sizes[..., :, None] * sizes[..., None, :])
    return np.linalg.eigvalsh(scaled)[..., 0] > MIN_EIGENVALUE


def _if_determined(check: Callable[..., None]) -> Callable[..., None]:
    """A check that is left out where M has no inverse, so that no motion is determined."""

    @wraps(check)
    def checked(x: States, *more: Any) -> None:
        with suppress(ArithmeticError):
            check(x, *more)

    return checked


@_if_determined
def check_free_motion(x: States, momentum_rate: DecimalArray) -> None:
    """The rate of momentum that an observer explains is that of the free motion, friction, springs
    and known wrenches included. Raises LawError."""
    g, qdd = x.inputs, accelerations(x)

    def momentum(t: DecimalArray) -> DecimalArray:
        rates = g["qd"] + t * qdd
        at = x.with_inputs(q=displaced(x.mechanism, g["q"], t * g["qd"]), qd=rates)
        return batch_matvec(mass(at), rates)

    change = (momentum(STEP) - momentum(-STEP)) / (2 * STEP)
    terms = np.concatenate([change, np.broadcast_to(g["tau"], change.shape)], axis=-1)
    _check(x, "the residual of a free motion is not zero", change - momentum_rate, terms)


def near_reference(x: States) -> States:
    """The states without friction, near their reference, with an integral of zero."""
    g, robot = x.inputs, x.mechanism
    q_ref = moved(robot, g["q"], REFERENCE_OFFSET * velocity_between(robot, g["q"], g["q_ref"]))
    wanted = g["qd"] + REFERENCE_OFFSET * (g["qd_ref"] - g["qd"])
    qd_ref = in_body_axes(x, wanted, q_ref, g["q"])
    near = without_friction(x).with_inputs(q_ref=q_ref, qd_ref=qd_ref)
    return near.with_inputs(e_int=0 * g["e_int"]) if "e_int" in g else near


def _path(
    x: States, q: DecimalArray, qd: DecimalArray, qdd: DecimalArray
) -> Callable[[DecimalArray], DecimalArray]:
    """Positions as a function of time, to its square."""
    bent = qdd + turned_accelerations(x.mechanism, qd)
    return lambda t: displaced(x.mechanism, q, t * qd + t * t / 2 * bent)


@_if_determined
def check_decay(x: States, command: Command, stiffness: Callable[[States], DecimalArray]) -> None:
    """Errors of position follow e'' + k_d e' + k e = 0 under the forces, k the stiffness by the
    mass. Raises LawError."""
    near = near_reference(x)
    g = near.inputs
    qdd = accelerations(near.with_inputs(tau=command(near)))
    here = _path(near, g["q"], g["qd"], qdd)
    there = _path(near, g["q_ref"], g["qd_ref"], g["qdd_ref"])
    before, now, after = (
        velocity_between(x.mechanism, here(t), there(t))
        for t in (-TIME_STEP, Decimal(0), TIME_STEP)
    )
    rate, second = (after - before) / (2 * TIME_STEP), (after - 2 * now + before) / TIME_STEP**2
    terms = [second, g["k_d"] * rate, stiffness(near) * now]
    _check(near, "errors do not decay as specified", sum(terms), np.concatenate(terms, axis=-1))


@_if_determined
def check_passive(x: States, command: Command) -> None:
    """The energy ½ ėᵀ M ė + ½ eᵀ k_p e of the errors changes by -ėᵀ k_d ė alone. Raises
    LawError."""
    near = near_reference(x)
    g = near.inputs
    qdd = accelerations(near.with_inputs(tau=command(near)))
    here = _path(near, g["q"], g["qd"], qdd)
    there = _path(near, g["q_ref"], g["qd_ref"], g["qdd_ref"])

    def rate_error(t: DecimalArray) -> DecimalArray:
        reference = g["qd_ref"] + t * g["qdd_ref"]
        return in_body_axes(near, reference, here(t), there(t)) - (g["qd"] + t * qdd)

    def energy(t: DecimalArray) -> DecimalArray:
        e, v = velocity_between(x.mechanism, here(t), there(t)), rate_error(t)
        kinetic = v * batch_matvec(mass(near.with_inputs(q=here(t))), v)
        return ((kinetic + g["k_p"] * e * e) / 2).sum(axis=-1, keepdims=True)

    power = (energy(TIME_STEP) - energy(-TIME_STEP)) / (2 * TIME_STEP)
    v = rate_error(Decimal(0))
    lost = (g["k_d"] * v * v).sum(axis=-1, keepdims=True)
    size = (abs(g["k_d"]) * v * v + v * v).sum(axis=-1, keepdims=True)
    _check(near, "the energy changes by more than the work of the damping", power + lost, size)


@_if_determined
def check_elastic_decay(x: States, command: Command) -> None:
    """Under the motor torques, errors of links behind springs follow
    e'''' + k_j e''' + k_a e'' + k_d e' + k_p e = 0. Raises LawError."""
    g, stiffness = x.inputs, x.inputs["joint_stiffness"]
    qdd = accelerations(x.with_inputs(tau=stiffness * g["delta"]))
    bent = (command(x) - stiffness * g["delta"]) / g["motor_inertia"] - qdd

    def links(t: DecimalArray, jerk: DecimalArray) -> DecimalArray:
        square = t * t / 2
        spring = stiffness * (g["delta"] + t * g["deltad"] + square * bent)
        q, qd = g["q"] + t * g["qd"] + square * qdd, g["qd"] + t * qdd + square * jerk
        return accelerations(x.with_inputs(q=q, qd=qd, tau=spring))

    jerk = (links(TIME_STEP, 0 * qdd) - links(-TIME_STEP, 0 * qdd)) / (2 * TIME_STEP)
    snap = (links(TIME_STEP, jerk) - 2 * qdd + links(-TIME_STEP, jerk)) / TIME_STEP**2
    motion = zip(("q", "qd", "qdd", "qddd"), (g["q"], g["qd"], qdd, jerk), strict=True)
    errors = [g[f"{name}_ref"] - now for name, now in motion]
    gains = (g[name] for name in ("k_p", "k_d", "k_a", "k_j"))
    terms = [g["qdddd_ref"], -snap, *(k * e for k, e in zip(gains, errors, strict=True))]
    _check(x, "errors do not decay as specified", sum(terms), np.concatenate(terms, axis=-1))
