"""Parameters with their uncertainty: how base parameters come from standard ones, and standard
parameters that are known beforehand, those of the robot's file or of a file of their own."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.errors import OptionError
from symgen.identification.model.drive_columns import ShapePairs
from symgen.mechanics.base_parameters import grouping_text, link_of_parameter
from symgen.mechanics.model import PARAMETER_NAMES, RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.reading import checked_values
from symgen.reading.checked_values import Table
from symgen.text import quoted, reason, shown


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


LEAST: Final = 0.01
"""A body counts as having this part of the mean mass and size of all bodies, if it has less."""


def deviations(mapping: BaseMapping, relative: float) -> Numbers:
    """The deviations D (s) that the prior is taken to have: `relative` times m, m l and m l², body
    by body.

    l² = tr(I) / (2 m) is the mean square distance of a body's mass from its link's origin; the
    inertia of a rotor has `relative` times its own value."""
    tens = mapping.prior[: 10 * len(mapping.bodies)].reshape(-1, 10)
    masses = np.abs(tens[:, 0])
    masses = np.maximum(masses, LEAST * masses.mean()) if masses.any() else np.ones(len(masses))
    squares = np.abs(tens[:, [4, 7, 9]].sum(axis=1)) / (2 * masses)
    squares = (
        np.maximum(squares, LEAST * squares.mean()) if squares.any() else np.full(len(masses), 0.01)
    )
    lengths = np.sqrt(squares)
    scales = np.stack([masses, *[masses * lengths] * 3, *[masses * squares] * 6], axis=1).ravel()
    rotors = np.abs(mapping.prior[len(scales) :])
    return relative * np.concatenate([scales, np.where(rotors > 0, rotors, 1e-6)])


def with_prior(mapping: BaseMapping, prior: str) -> BaseMapping:
    """The mapping with the prior of an option: ``urdf`` or a file. Raises SymgenError."""
    if prior == "urdf":
        return mapping
    bodies, values = _bodies(prior), mapping.prior.copy()
    for name in bodies.data:
        if name not in mapping.bodies:
            raise OptionError(
                f"--prior {shown(prior)}: no body is called '{shown(name)}'; the bodies are "
                f"{quoted(mapping.bodies)}"
            )
        row, k = bodies.table(name), mapping.bodies.index(name)
        row.check_keys(PARAMETER_NAMES)
        ten = [row.number(key) for key in PARAMETER_NAMES]
        if None in ten:
            raise row.error(None, f"needs the ten numbers {', '.join(PARAMETER_NAMES)}")
        values[10 * k : 10 * k + 10] = ten
    return replace(mapping, prior=values)


def _bodies(path: str) -> Table:
    """The table ``bodies`` of a JSON or TOML file. Raises OptionError."""
    if Path(path).suffix.lower() == ".json":
        try:
            text = Path(path).read_text(encoding="utf-8")
            data = json.loads(text)
            root = Table(path, text, data if isinstance(data, dict) else {})
        except (OSError, ValueError, RecursionError) as error:
            why = shown(reason(error), 200)
            raise OptionError(f"--prior {shown(path)}: cannot be read ({why})") from None
    else:
        root, _ = checked_values.read_toml(path, "a JSON or TOML file of parameters, or urdf")
    bodies = root.table("bodies")
    if not bodies.data:
        raise OptionError(
            f"--prior {shown(path)}: the file has no table bodies; see symgen docs identification"
        )
    return bodies
