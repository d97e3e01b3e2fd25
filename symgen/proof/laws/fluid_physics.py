"""Forces of fluids on links by the momentum of the fluid in the axes of the root, whose rates are
differences in time (Kirchhoff's equations)."""

from decimal import Decimal
from functools import partial

import numpy as np

from symgen.mechanics.fluid import LinkFluid
from symgen.numbers.types import DecimalArray
from symgen.proof.reference_kinematics import body_poses
from symgen.proof.reference_model import Frame, entries_array, frame_of
from symgen.proof.states import (
    States,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimals,
    gradient,
    rate,
)

Place = tuple[str, LinkFluid]
"""A link, and a fluid around it."""


def _fluids(x: States) -> list[Place]:
    """The fluids around moving links that count, and their links."""
    if not x.robot.fluid:
        return []
    links = (link for body in x.robot.model.bodies for link in body.links)
    return [(link.name, fluid) for link in links for fluid in link.fluids]


def _pose(x: States, at: Place) -> DecimalArray:
    """R row by row, then p."""
    i, solid = x.mechanism.body_of(at[0])
    frame = solid.frame.of(frame_of(at[1].pose, Decimal))
    place = body_poses(x.mechanism, x.textbook.course.positions)[i].carrying(frame)
    entries = [e for row in place.axes for e in row]
    return entries_array([*entries, *place.place], x.shape, Decimal(0))


def _rotation(x: States, at: Place) -> DecimalArray:
    return _pose(x, at)[..., :9].reshape(*x.shape, 3, 3)


def _jacobian(x: States, at: Place) -> DecimalArray:
    """The Jacobian in root axes, linear rows first, (..., 6, n)."""
    slopes = gradient(lambda y: _pose(y, at), x)
    turning, rows = slopes[..., :9, :].reshape(*x.shape, 3, 3, x.n), _rotation(x, at)

    def spin(i: int, j: int) -> DecimalArray:
        return (turning[..., i, :, :] * rows[..., j, :, None]).sum(-2)

    w = np.stack([spin(2, 1), spin(0, 2), spin(1, 0)], axis=-2)
    return np.concatenate([slopes[..., 9:, :], w], axis=-2)


def _both(r: DecimalArray, six: DecimalArray, turned: bool = False) -> DecimalArray:
    """R (or Rᵀ) times the linear and the angular part of six numbers."""
    by = batch_transposed_matvec if turned else batch_matvec
    return np.concatenate([by(r, six[..., :3]), by(r, six[..., 3:])], axis=-1)


def _relative(x: States, at: Place) -> DecimalArray:
    """The velocity relative to the fluid in root axes."""
    current = decimals(np.array([*at[1].current, 0.0, 0.0, 0.0]))
    return batch_matvec(_jacobian(x, at), x.input("qd")) - current


def _momentum(x: States, at: Place) -> DecimalArray:
    """The momentum of the fluid in root axes, about the origin of the link."""
    r, m = _rotation(x, at), decimals(np.array(at[1].mass_rows))
    return _both(r, batch_matvec(m, _both(r, _relative(x, at), turned=True)))


def _drag(fluid: LinkFluid, v: DecimalArray) -> DecimalArray:
    """The force of drag at a relative velocity, both in the axes of the fluid's numbers."""
    force = np.array(batch_matvec(decimals(np.array(fluid.drag_rows)), v))
    for part in fluid.quadratic_drag:
        speed = v[..., part.speed] if part.signed else abs(v[..., part.speed])
        push = Decimal(part.coefficient) * speed * v[..., part.velocity]
        force[..., part.force] = force[..., part.force] + push
    return force


def _force(x: States, at: Place) -> DecimalArray:
    """The force and moment that balance a fluid, root axes, about the origin of its numbers."""
    fluid, r = at[1], _rotation(x, at)
    momentum, relative = _momentum(x, at), _relative(x, at)
    arm = np.cross(relative[..., :3], momentum[..., :3])
    force = rate(partial(_momentum, at=at), x) + np.concatenate([0 * arm, arm], axis=-1)
    force = force + _both(r, _drag(fluid, _both(r, relative, turned=True)))
    sinking = Decimal(fluid.displaced) * _gravity(x) + 0 * force[..., :3]
    centre = batch_matvec(r, decimals(np.array(fluid.centre)) + 0 * force[..., :3])
    return force + np.concatenate([sinking, np.cross(centre, sinking)], axis=-1)


def _gravity(x: States) -> DecimalArray:
    return x.given["g"] if "g" in x.given else decimals(np.array(x.robot.model.gravity))


def fluid_tau(x: States) -> DecimalArray:
    """The joint forces that balance fluids, (..., n); zero without fluids."""
    total = decimals(np.zeros((*x.shape, x.n)))
    for at in _fluids(x):
        total = total + batch_transposed_matvec(_jacobian(x, at), _force(x, at))
    return total


def fluid_wrench(x: States, body: int, frame: Frame) -> DecimalArray:
    """The wrench of a joint that balances the fluids around its body and all beyond, about the
    origin of a frame in its axes, (..., 6)."""
    total = decimals(np.zeros((*x.shape, 6)))
    place = entries_array([*frame.place], x.shape, Decimal(0))
    axes = entries_array([e for row in frame.axes for e in row], x.shape, Decimal(0))
    for at in _fluids(x):
        if body in x.mechanism.path(x.mechanism.body_of(at[0])[0]):
            force = _force(x, at)
            moment = np.cross(_pose(x, at)[..., 9:] - place, force[..., :3])
            total = total + force + np.concatenate([0 * moment, moment], axis=-1)
    return _both(axes.reshape(*x.shape, 3, 3), total, turned=True)


def buoyancy_energy(x: States) -> DecimalArray:
    """The potential energy of the displaced fluids, (..., 1)."""
    total = decimals(np.zeros((*x.shape, 1)))
    for at in _fluids(x):
        centre = decimals(np.array(at[1].centre)) + 0 * _pose(x, at)[..., 9:]
        point = _pose(x, at)[..., 9:] + batch_matvec(_rotation(x, at), centre)
        height = (_gravity(x) * point).sum(-1, keepdims=True)
        total = total + Decimal(at[1].displaced) * height
    return total


def added_mass(x: States) -> DecimalArray:
    """Σ Jᵀ M_A J, (..., n, n); zero without fluids."""
    total = decimals(np.zeros((x.n, x.n)))
    for at in _fluids(x):
        j, r = _jacobian(x, at), _rotation(x, at)
        turned = np.concatenate(
            [batch_matmul(np.swapaxes(r, -1, -2), j[..., 3 * k : 3 * k + 3, :]) for k in range(2)],
            axis=-2,
        )
        m = decimals(np.array(at[1].mass_rows))
        total = total + batch_matmul(np.swapaxes(turned, -1, -2), batch_matmul(m, turned))
    return total
