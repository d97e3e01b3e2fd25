"""Forces of fluids on links by the momentum of the fluid in the axes of the root, whose rates are
differences in time (Kirchhoff's equations)."""

from decimal import Decimal
from functools import partial

import numpy as np

from symgen.mechanics.fluid import LinkFluid
from symgen.numbers.types import DecimalArray
from symgen.proof.reference_kinematics import body_poses
from symgen.proof.reference_model import entries_array
from symgen.proof.states import (
    States,
    batch_matmul,
    batch_matvec,
    batch_transposed_matvec,
    decimals,
    gradient,
    rate,
)


def _fluids(x: States) -> dict[str, LinkFluid]:
    """The fluids around moving links that count, by link."""
    if not x.robot.fluid:
        return {}
    links = (link for body in x.robot.model.bodies for link in body.links)
    return {link.name: link.fluid for link in links if link.fluid is not None}


def _pose(x: States, link: str) -> DecimalArray:
    """R row by row, then p."""
    i, solid = x.mechanism.body_of(link)
    place = body_poses(x.mechanism, x.textbook.course.positions)[i].carrying(solid.frame)
    entries = [e for row in place.axes for e in row]
    return entries_array([*entries, *place.place], x.shape, Decimal(0))


def _rotation(x: States, link: str) -> DecimalArray:
    return _pose(x, link)[..., :9].reshape(*x.shape, 3, 3)


def _jacobian(x: States, link: str) -> DecimalArray:
    """The Jacobian in root axes, linear rows first, (..., 6, n)."""
    slopes = gradient(lambda y: _pose(y, link), x)
    turning, rows = slopes[..., :9, :].reshape(*x.shape, 3, 3, x.n), _rotation(x, link)

    def spin(i: int, j: int) -> DecimalArray:
        return (turning[..., i, :, :] * rows[..., j, :, None]).sum(-2)

    w = np.stack([spin(2, 1), spin(0, 2), spin(1, 0)], axis=-2)
    return np.concatenate([slopes[..., 9:, :], w], axis=-2)


def _both(r: DecimalArray, six: DecimalArray, turned: bool = False) -> DecimalArray:
    """R (or Rᵀ) times the linear and the angular part of six numbers."""
    by = batch_transposed_matvec if turned else batch_matvec
    return np.concatenate([by(r, six[..., :3]), by(r, six[..., 3:])], axis=-1)


def _relative(x: States, link: str, fluid: LinkFluid) -> DecimalArray:
    """The velocity relative to the fluid in root axes."""
    current = decimals(np.array([*fluid.current, 0.0, 0.0, 0.0]))
    return batch_matvec(_jacobian(x, link), x.input("qd")) - current


def _momentum(x: States, link: str, fluid: LinkFluid) -> DecimalArray:
    """The momentum of the fluid in root axes, about the origin of the link."""
    r, m = _rotation(x, link), decimals(np.array(fluid.rows))
    return _both(r, batch_matvec(m, _both(r, _relative(x, link, fluid), turned=True)))


def fluid_tau(x: States) -> DecimalArray:
    """The joint forces that balance fluids, (..., n); zero without fluids."""
    total = decimals(np.zeros((*x.shape, x.n)))
    for link, fluid in _fluids(x).items():
        momentum, relative = _momentum(x, link, fluid), _relative(x, link, fluid)
        change = rate(partial(_momentum, link=link, fluid=fluid), x)
        arm = np.cross(relative[..., :3], momentum[..., :3])
        force = change + np.concatenate([0 * arm, arm], axis=-1)
        r = _rotation(x, link)
        body = _both(r, relative, turned=True)
        linear, quadratic = (
            decimals(np.array(k)) for k in (fluid.linear_drag, fluid.quadratic_drag)
        )
        force = force + _both(r, linear * body + quadratic * abs(body) * body)
        g = x.given["g"] if "g" in x.given else decimals(np.array(x.robot.model.gravity))
        sinking = Decimal(fluid.displaced) * g + 0 * force[..., :3]
        centre = batch_matvec(r, decimals(np.array(fluid.centre)) + 0 * force[..., :3])
        force = force + np.concatenate([sinking, np.cross(centre, sinking)], axis=-1)
        total = total + batch_transposed_matvec(_jacobian(x, link), force)
    return total


def added_mass(x: States) -> DecimalArray:
    """Σ Jᵀ M_A J, (..., n, n); zero without fluids."""
    total = decimals(np.zeros((x.n, x.n)))
    for link, fluid in _fluids(x).items():
        j, r = _jacobian(x, link), _rotation(x, link)
        turned = np.concatenate(
            [batch_matmul(np.swapaxes(r, -1, -2), j[..., 3 * k : 3 * k + 3, :]) for k in range(2)],
            axis=-2,
        )
        m = decimals(np.array(fluid.rows))
        total = total + batch_matmul(np.swapaxes(turned, -1, -2), batch_matmul(m, turned))
    return total
