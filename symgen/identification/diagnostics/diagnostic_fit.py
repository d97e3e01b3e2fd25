"""The diagnostic fit: how well a model with a prior explains some rows of a log, as they are and
with a change.

The model has base parameters with the robot's file as a prior, and viscous and Coulomb friction, an
offset and a rotor of each joint. Its cost is the same for every change of a log, so that changes
can be compared: the logarithm of the part of the squares that is left of each channel, and the
distance of the parameters from the prior."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.samples import Samples
from symgen.identification.model.equations import Kernel
from symgen.identification.model.estimate import BaseMapping, deviations
from symgen.numbers.scalar import Numbers


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of the diagnostic fit."""

    effective_rows: float = 100.0
    """Independent rows that each channel counts for: residuals of real robots are systematic."""
    least_rate: float = 0.005
    """A log in which no joint moves faster (rad/s or m/s) tells too little to be diagnosed."""
    floor: float = 0.01
    """The least residual of a channel (a part of its root mean square) that makes a difference."""
    prior_deviation: float = 0.4
    """The relative standard deviation of the bodies in the robot's file."""
    driving: float = 0.1
    """Friction with the wrong sign counts if it adds this part of a joint's work."""
    cost_of_driving: float = 50.0
    """The cost of a joint whose friction drives it."""
    min_gain: float = 30.0
    """The reduction of the cost from which a change counts as a cure."""
    outlier: float = 3.0
    """Rows whose residual is larger than so many root mean squares of the channel are left out."""
    max_residual: float = 0.25
    """A channel with a larger residual (a part of its root mean square) is not explained."""
    factor: float = 1.5
    """The least factor of one force that is reported."""
    common_factor: float = 1.6
    """The least factor of all forces that is reported."""
    correlation: float = 0.8
    """The correlation of measured and predicted forces from which their factor is meaningful."""
    load: float = 0.02
    """The least load that is reported, a part of the mass of the robot."""
    zero: float = 0.1
    """The least zero offset that is reported (rad)."""
    gravity: float = 1.25
    """The least factor of lengths that is reported."""
    tilt: float = 4.0
    """The least angle of the base that is reported (degrees)."""
    tilted: float = 0.12
    """The residual of a channel (a part of its root mean square) from which directions of gravity
    are tried, because they need a regressor of their own."""
    tie_gain: float = 3.0
    """The difference of gains within which the simpler change is taken."""
    min_gain_if_unexplained: float = 100.0
    """`min_gain` where a channel is not explained."""
    most_changes: int = 3
    """Changes that are tried on top of each other."""
    different_robot: float = 4.0
    """The mean square of the base parameters' deviations from the robot file, by those of the
    prior, from which the file is doubted."""
    small_robot: int = 8
    """Joints up to which every joint is tried."""
    saturation: float = 0.02
    """The part of a channel's range that counts as its end."""
    saturated_rows: float = 0.05
    """The least part of the rows at the ends of a saturated channel."""
    min_outside_fraction: float = 0.8
    """The part of these rows whose prediction must be outside the range."""
    consistent: float = 0.9
    """The correlation of positions and integrated velocities from which they belong together."""
    inconsistent: float = 0.7
    """The correlation below which they do not."""
    slope: float = 0.06
    """The deviation of their slope from 1 that is reported."""
    velocity_lag: float = 0.02
    """The least lag of velocities that is reported (s)."""
    travel: float = 0.02
    """The least range of a position (rad or m) from which it moves."""
    frozen_fraction: float = 0.1
    """The part of the rows in which a force may keep exactly one value while its joint moves."""
    stuck: float = 0.1
    """The travel (rad or m) by its velocity from which a position that stays is reported."""
    rows: int = 400
    """The number of rows of the diagnostic fit."""


MAX_BLOCKS: Final = 8
"""Blocks of samples that are used, evenly over the log."""
MIN_RELATIVE_RATE: Final = 0.02
"""Rows in which a joint is slower than this part of its greatest speed do not count for it, because
the sign of its friction is not known."""
RIDGE: Final = 1e-10
"""Added to the products of columns of unit length, for columns that nothing excites."""
LOOSE_FACTOR: Final = 10.0
"""The deviation of a loose body by the largest of all bodies."""
WEIGHT_ITERATIONS: Final = 5
"""Iterations that find the weights of channels."""


def spaced_blocks(reading: LogDataset) -> tuple[Samples, ...]:
    """Some blocks of a log's samples, evenly spaced."""
    count = len(reading.plan.training) + len(reading.plan.validation)
    return tuple(reading.blocks(every=max(-(-count // MAX_BLOCKS), 1)))


def solve_ridge(gram: Numbers, right: Numbers) -> Numbers:
    """The least-squares solutions (... p x k) from the products of columns (... p x p) and those of
    columns and measurements (... p x k)."""
    squares = np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 1e-300)
    lengths = np.sqrt(squares)[..., None]
    scaled = gram / (lengths * np.swapaxes(lengths, -1, -2))
    np.einsum("...ii->...i", scaled)[...] += RIDGE
    return np.asarray(np.linalg.solve(scaled, right / lengths) / lengths)


def block_diagonal_columns(columns: Sequence[Numbers]) -> Numbers:
    """Columns of each joint (N x n each), which act on this joint alone (N x n x k n)."""
    own = np.stack(columns, axis=2)
    rows, n, k = own.shape
    result, joints = np.zeros((rows, n, n, k)), np.arange(n)
    result[:, joints, joints] = own
    return result.reshape(rows, n, n * k)


@dataclass(frozen=True)
class PickedRows:
    """Evenly spaced rows of some blocks of samples, at most `most` in all."""

    samples: tuple[Samples, ...]
    most: int

    @cached_property
    def _rows(self) -> tuple[NDArray[np.intp], ...]:
        per_block = max(self.most // max(len(self.samples), 1), 1)
        return tuple(
            np.unique(np.linspace(0, len(s) - 1, min(per_block, len(s))).astype(np.intp))
            for s in self.samples
        )

    def column(self, name: str) -> Numbers:
        """A field of the samples."""
        pairs = zip(self.samples, self._rows, strict=True)
        return np.concatenate([getattr(s, name)[k] for s, k in pairs])

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which measurements count (N x n)."""
        rates = np.abs(self.column("qd"))
        return np.asarray(
            self.column("usable") & (rates >= MIN_RELATIVE_RATE * rates.max(axis=0)), np.bool_
        )

    def interpolated(self, name: str, later: float) -> Numbers:
        """A field of the samples `later` seconds after the rows (N x n), linearly interpolated."""
        pairs = zip(self.samples, self._rows, strict=True)
        return np.concatenate(
            [
                np.stack([np.interp(s.t[k] + later, s.t, y) for y in getattr(s, name).T], axis=1)
                for s, k in pairs
            ]
        )

    def measured(self, later: float = 0.0) -> Numbers:
        """The measurements `later` seconds after the rows (N x n)."""
        return self.interpolated("bridged", later)

    def trial(self) -> "Trial":
        """The rows as the log has them."""
        t, q, qd, qdd = (self.column(name) for name in ("t", "q", "qd", "qdd"))
        return Trial(t, q, qd, qdd, self.measured(), self.used)


@dataclass(frozen=True)
class Trial:
    """Rows of a log, perhaps changed: time (N), positions, velocities, accelerations, measurements
    and whether these count (N x n).

    `extra` are further columns of each joint's drive (N x n each). `gravity` is the acceleration of
    free fall by that of the robot's file where it is a number, and (m/s²) where it is a vector (3).
    `unknown_bodies` are the numbers of bodies of which the prior knows next to nothing."""

    t: Numbers
    q: Numbers
    qd: Numbers
    qdd: Numbers
    measured: Numbers
    used: NDArray[np.bool_]
    extra: tuple[Numbers, ...] = ()
    gravity: float | Numbers = 1.0
    unknown_bodies: tuple[int, ...] = ()

    @property
    def drives(self) -> list[Numbers]:
        """The columns of the joints' drives (N x n each): viscous, Coulomb, offset, rotor."""
        one = np.ones_like(self.qd)
        return [self.qd, np.sign(self.qd), one, self.qdd, *self.extra]

    def scaled(self, factors: Numbers | float, *names: str) -> "Trial":
        """With some fields times factors of their columns."""
        return replace(self, **{name: getattr(self, name) * factors for name in names})

    def reordered(self, order: list[int], *names: str) -> "Trial":
        """With the columns of some fields in another order."""
        return replace(self, **{name: getattr(self, name)[:, order] for name in names})

    def with_force(self, k: int, values: Numbers) -> "Trial":
        """With other measurements (N) of channel `k`."""
        column = np.arange(self.measured.shape[1]) == k
        return replace(self, measured=np.where(column, values[:, None], self.measured))

    def has_columns_of(self, other: "Trial") -> bool:
        """Whether the model has the same columns in both."""
        same = ("q", "qd", "qdd", "used", "extra", "gravity")
        return all(getattr(self, name) is getattr(other, name) for name in same)


def drive_model(kernel: Kernel, trial: Trial) -> Numbers:
    """The columns of the inertial parameters and of the drives (N x n x p), 0 where a measurement
    does not count."""
    inertial = kernel(trial.q, trial.qd, trial.qdd)
    columns = np.concatenate([inertial, block_diagonal_columns(trial.drives)], axis=2)
    return np.asarray(columns * trial.used[:, :, None])


@dataclass(frozen=True)
class Score:
    """The cost of a trial, the inertial parameters (b) and the coefficients of drives (n x d) with
    the least cost, the part of the squares of each channel (n) that is left, and the distance of
    the parameters from the prior (a sum of squares of normal deviates)."""

    cost: float
    x: Numbers
    drives: Numbers
    residuals: Numbers
    distance: float


@dataclass(frozen=True)
class TrialProducts:
    """The columns of a trial for each channel, of inertial parameters (n x N x b) and of drives
    (n x N x d), and their products, the coefficients of drives eliminated: no prior says anything
    about these, and each acts on one channel alone."""

    trial: Trial
    inertial: Numbers
    drives: Numbers

    @cached_property
    def _mixed(self) -> Numbers:
        return np.asarray(self.drives.transpose(0, 2, 1) @ self.inertial)

    @cached_property
    def _squares(self) -> Numbers:
        return np.asarray(self.drives.transpose(0, 2, 1) @ self.drives)

    @cached_property
    def grams(self) -> Numbers:
        """Of the inertial columns (n x b x b)."""
        least = solve_ridge(self._squares, self._mixed)
        whole = self.inertial.transpose(0, 2, 1) @ self.inertial
        return np.asarray(whole - self._mixed.transpose(0, 2, 1) @ least)

    def of_measured(self, y: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Of the inertial columns and measurements (n x b), of the columns of drives and
        measurements (n x d), and the squares that drives alone leave (n)."""
        columns = y.T[:, :, None]
        inertial = self.inertial.transpose(0, 2, 1) @ columns
        drives = self.drives.transpose(0, 2, 1) @ columns
        least = solve_ridge(self._squares, drives)
        left = np.sum(y**2, axis=0) - np.sum(drives * least, axis=(1, 2))
        reduced = inertial - self._mixed.transpose(0, 2, 1) @ least
        return reduced[:, :, 0], drives[:, :, 0], left

    def coefficients(self, drives: Numbers, x: Numbers) -> Numbers:
        """The coefficients of drives (n x d) that go with inertial parameters x (b)."""
        return solve_ridge(self._squares, (drives - self._mixed @ x)[:, :, None])[:, :, 0]


@dataclass
class DiagnosticModel:
    """The model: a kernel of the base regressor, its parameters, and a function that makes the
    kernel of the standard regressor with gravity as an input."""

    kernel: Kernel
    mapping: BaseMapping
    with_gravity: Callable[[], Kernel]
    thresholds: Thresholds = field(default_factory=Thresholds)
    _kept: list[TrialProducts] = field(default_factory=list)
    _priors: dict[tuple[bool, tuple[int, ...]], tuple[Numbers, Numbers, float]] = field(
        default_factory=dict
    )

    def score(self, trial: Trial) -> Score:
        """The least cost of a trial."""
        limits = self.thresholds
        products = self._products(trial)
        y = trial.measured * trial.used
        mixed, of_drives, free = products.of_measured(y)
        squares = np.maximum(np.sum(y**2, axis=0), 1e-300)
        information, pull, constant = self._prior(trial)
        left, flat = np.full(len(squares), 0.04), products.grams.reshape(len(squares), -1)
        for _ in range(WEIGHT_ITERATIONS):
            weights = limits.effective_rows / (np.maximum(left, limits.floor**2) * squares)
            gram = (weights @ flat).reshape(information.shape) + information
            x = solve_ridge(gram, (mixed.T @ weights + pull)[:, None])[:, 0]
            rest = free - 2 * mixed @ x + (products.grams @ x) @ x
            left = np.maximum(rest / squares, 0.0)
        distance = max(float(x @ information @ x - 2 * pull @ x + constant), 0.0)
        logs = np.log(np.maximum(left, limits.floor**2))
        drives = products.coefficients(of_drives, x)
        driven = limits.cost_of_driving * int(self._driving(trial, drives, left).sum())
        cost = limits.effective_rows * float(logs.sum()) + distance + driven
        return Score(cost, x, drives, left, distance)

    def predicted(self, trial: Trial, score: Score) -> Numbers:
        """The forces (N x n) of the model, 0 where a measurement does not count."""
        products = self._products(trial)
        of_drives = products.drives @ score.drives[:, :, None]
        return np.asarray((products.inertial @ score.x + of_drives[:, :, 0]).T)

    def standard(self, trial: Trial) -> Numbers:
        """The most probable standard parameters (s) of a trial."""
        mapping, b = self.mapping, len(self.mapping)
        half = mapping.factors * self._deviations(trial)
        change = self.score(trial).x[:b] - mapping.base(mapping.prior)
        gain = (self._deviations(trial) * half).T
        return np.asarray(mapping.prior + gain @ np.linalg.solve(half @ half.T, change))

    def inertial(self, trial: Trial) -> Numbers:
        """The columns of the inertial parameters (N x n x b)."""
        if isinstance(trial.gravity, float):
            still = np.zeros_like(trial.qd)
            columns = self.kernel(trial.q, trial.qd, trial.qdd)
            if trial.gravity == 1.0:
                return columns
            return columns + (trial.gravity - 1.0) * self.kernel(trial.q, still, still)
        gravity = np.tile(trial.gravity, (len(trial.q), 1))
        return self._gravity_kernel(trial.q, trial.qd, trial.qdd, gravity)

    @cached_property
    def _gravity_kernel(self) -> Kernel:
        return self.with_gravity()

    def _products(self, trial: Trial) -> TrialProducts:
        """The products of a trial; those of the last trials are kept."""
        for kept in self._kept:
            if trial.has_columns_of(kept.trial):
                return kept
        used = trial.used.T[:, :, None]
        inertial = self.inertial(trial).transpose(1, 0, 2) * used
        drives = np.stack(trial.drives, axis=2).transpose(1, 0, 2) * used
        products = TrialProducts(trial, inertial, drives)
        self._kept[:] = [products, *self._kept[:1]]
        return products

    def _prior(self, trial: Trial) -> tuple[Numbers, Numbers, float]:
        """The information of the prior (b x b), that times its mean (b), and the square of its
        mean; zero for a robot whose file has no inertia."""
        key = isinstance(trial.gravity, float), trial.unknown_bodies
        if key not in self._priors:
            mapping, deviation = self.mapping, self._deviations(trial)
            mean = mapping.base(mapping.prior) if key[0] else mapping.prior
            half = mapping.factors * deviation
            own = np.linalg.inv(half @ half.T) if key[0] else np.diag(deviation**-2.0)
            own = np.asarray(own if mapping.prior.any() else np.zeros_like(own), np.float64)
            self._priors[key] = own, np.asarray(own @ mean), float(mean @ own @ mean)
        return self._priors[key]

    def _deviations(self, trial: Trial) -> Numbers:
        """The standard deviations of the standard parameters (s)."""
        result = deviations(self.mapping, self.thresholds.prior_deviation)
        bodies = result[: 10 * len(self.mapping.bodies)].reshape(-1, 10).copy()
        for body in trial.unknown_bodies:
            result[10 * body : 10 * body + 10] = LOOSE_FACTOR * bodies.max(axis=0)
        return result

    def _driving(self, trial: Trial, drives: Numbers, left: Numbers) -> NDArray[np.bool_]:
        """The joints (n) whose friction drives them: it adds a part of the work of the joint, and
        its deviations from a constant force, which is an offset, are larger than the residual.
        `left` is the mean square of the residual of each channel, a part of that of the
        measurement."""
        viscous, coulomb, *_ = drives.T
        rates, forces = trial.qd * trial.used, trial.measured * trial.used
        lost = viscous * np.sum(rates**2, axis=0) + coulomb * np.sum(np.abs(rates), axis=0)
        friction = viscous * rates + coulomb * np.sign(rates)
        clear = np.var(friction, axis=0) > left * np.mean(forces**2, axis=0)
        adds = -lost > self.thresholds.driving * np.sum(np.abs(forces * rates), axis=0)
        return np.asarray(clear & adds)
