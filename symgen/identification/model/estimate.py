"""Estimates: parameters with their uncertainty, and how base parameters come from standard ones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.identification.model.drive_columns import ShapePairs
from symgen.mechanics.base_parameters import grouping_text, link_of_parameter
from symgen.mechanics.model import PARAMETER_NAMES, RigidBodyModel
from symgen.numbers.scalar import Numbers


@dataclass(frozen=True)
class Solution:
    """Values (p), R of the weighted regressor (p x p) and the deviation of each channel.

    Where there is a belief the log's part of RᵀR is divided by `inflation`: coloured residuals tell
    so many times less than white ones of their size."""

    values: Numbers
    factor: Numbers
    deviations: tuple[float, ...]
    inflation: float = 1.0


@dataclass(frozen=True)
class BaseMapping:
    """β = K π: the base parameters (b) in terms of the standard ones (s), ten a body and one a
    rotor.

    `factors` is K (b x s), `prior` the standard parameters that are known beforehand (s): for every
    body in body order m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz of all links fixed to it, about
    the origin and in the axes of the link that its joint moves (kg, kg m, kg m²), then the inertia
    of each rotor about its axis (kg m²). `bodies` has the names of these links; body k has the
    standard parameters 10 k to 10 k + 9."""

    model: RigidBodyModel
    names: tuple[str, ...]
    standard: tuple[str, ...]
    bodies: tuple[str, ...]
    factors: Numbers
    prior: Numbers

    def __len__(self) -> int:
        return len(self.names)

    def base(self, standard: Sequence[float] | Numbers) -> Numbers:
        """The base parameters (b) of standard parameters (s)."""
        return np.asarray(self.factors @ np.asarray(standard))

    @property
    def groupings(self) -> tuple[str, ...]:
        """Each base parameter as a sum of standard ones, in full digits."""
        return tuple(grouping_text(row, self.standard) for row in self.factors.tolist())

    @property
    def links(self) -> tuple[str, ...]:
        """The link of each base parameter's body."""
        return tuple(link_of_parameter(self.model, name) for name in self.names)

    def by_body(self, standard: Numbers) -> dict[str, dict[str, float]]:
        """Standard parameters (s) by body and name, without the rotors."""
        tens = np.asarray(standard)[: 10 * len(self.bodies)].reshape(-1, 10).tolist()
        return {
            name: dict(zip(PARAMETER_NAMES, ten, strict=True))
            for name, ten in zip(self.bodies, tens, strict=True)
        }


@dataclass(frozen=True)
class Channel:
    """One measured quantity, a joint's force or a component of a wrench, and how well the estimate
    explains it.

    `deviation` is that of its residual (N m or N), the weight of its rows is 1 / deviation².
    The root mean squares are of the rows used and of those held out for validation."""

    name: str
    unit: str
    rows: int
    deviation: float
    measured_rms: float
    residual_rms: float
    validation_rows: int = 0
    validation_measured_rms: float | None = None
    validation_residual_rms: float | None = None


@dataclass(frozen=True)
class Estimate:
    """Base parameters and coefficients of drives from a log by weighted least squares.

    `values` are the b base parameters and then the f coefficients of `friction` (names such as
    ``viscous shoulder``), whose laws have the shape parameters `shapes`. `factor` (upper triangle,
    b + f square) is R of the weighted regressor: RᵀR is the information, its inverse the covariance
    if residuals are white, and `factor` @ x is the part of the weighted measurements that x
    explains. `robust` are standard errors that hold for coloured residuals too, None where the log
    is too short for them; `bias` is what windows of derivatives do to each value, None where there
    are none; `shape_errors` is what the selection of shape parameters adds to each standard error,
    None without a selection. `condition` is the condition number of the regressor as it is,
    `scaled_condition` that of `factor` with columns of unit length.
    `prior_friction` are the coefficients of friction of the robot's files; `standard` are standard
    parameters where ``--full`` asked for them."""

    mapping: BaseMapping
    friction: tuple[str, ...]
    values: Numbers
    factor: Numbers
    channels: tuple[Channel, ...]
    condition: float
    scaled_condition: float
    prior_friction: Numbers
    shapes: tuple[ShapePairs, ...] = ()
    robust: Numbers | None = None
    bias: Numbers | None = None
    shape_errors: Numbers | None = None
    standard: Numbers | None = None
    standard_errors_of_standard: Numbers | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.mapping.names + self.friction

    @property
    def base(self) -> Numbers:
        """The base parameters alone (b)."""
        return self.values[: len(self.mapping)]

    @property
    def prior_values(self) -> Numbers:
        """All values as the prior and the robot's files have them."""
        return np.concatenate([self.mapping.base(self.mapping.prior), self.prior_friction])

    @cached_property
    def covariance(self) -> Numbers:
        """Of all values: (RᵀR)⁻¹, each value's deviation raised to its standard error."""
        inverse: NDArray[Any] = np.linalg.inv(self.factor)
        return np.asarray(inverse @ inverse.T * np.outer(self.scale, self.scale))

    @property
    def scale(self) -> Numbers:
        """How many times the naive standard error of each value its standard error is."""
        return np.asarray(self.standard_errors / self.naive_errors)

    @cached_property
    def naive_errors(self) -> Numbers:
        """The standard deviation of each value for white residuals."""
        inverse: NDArray[Any] = np.linalg.inv(self.factor)
        return np.asarray(np.sqrt(np.sum(np.square(inverse), axis=1)))

    @cached_property
    def standard_errors(self) -> Numbers:
        """The standard error of each value: the larger one of the naive and the robust, with what
        windows of derivatives and the selection of shape parameters do to it."""
        errors = self.random_errors
        for part in (self.bias, self.shape_errors):
            errors = errors if part is None else np.hypot(errors, part)
        return errors

    @property
    def random_errors(self) -> Numbers:
        """The standard errors of noise alone."""
        naive = self.naive_errors
        return naive if self.robust is None else np.maximum(naive, self.robust)

    @cached_property
    def base_factor(self) -> Numbers:
        """R (b x b) of the base parameters alone, friction left open: its RᵀR is the inverse of
        their covariance."""
        b = len(self.mapping)
        order = [*range(b, len(self.values)), *range(b)]
        triangle: Numbers = np.asarray(np.linalg.qr((self.factor / self.scale)[:, order], mode="r"))
        return np.asarray(triangle[len(order) - b :, len(order) - b :])


def unidentified(mapping: BaseMapping, names: Sequence[str]) -> str:
    """Some base parameters with what they consist of, for a message."""
    groups = dict(zip(mapping.names, mapping.groupings, strict=True))
    return ", ".join(
        f"{name} ({short(groups[name])})" if groups.get(name, name) != name else name
        for name in names
    )


def short(text: str, most: int = 46) -> str:
    """The first terms of a sum of parameters, with six digits of its factors."""
    text = re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda number: f"{float(number[0]):.6g}", text)
    return text if len(text) <= most else text[: most - 4].rpartition(" ")[0] + " ..."
