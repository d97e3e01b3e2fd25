"""Drive gains: how much force a joint gives by ampere of its motor, from a run without and a run
with a load of known mass.

The robot's own parameters, friction and the load's centre and inertia are unknown too; the mass
gives the scale (Gautier & Briot, "Global identification of joint drive gains and dynamic parameters
of robots", J. Dyn. Sys. Meas. Control 2014). Only currents are taken as noisy: i_j = g_j (Y_j β +
F_j φ + L_j λ) is fitted by weighted least squares, bilinear in g_j = 1 / k_j and the rest, which is
the total least squares of this case. Rows are reduced to products, so logs may be of any length.
Standard errors come from leaving out parts of a log in turn (the jackknife)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

import numpy as np

from symgen.errors import OptionError, SymgenError
from symgen.identification.consistency.payload_estimate import body_and_pose_of_link
from symgen.identification.data.column_map import NeededColumns, force_unit
from symgen.identification.data.dataset import LogDataset, Progress, open_dataset
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.diagnostic_fit import MIN_RELATIVE_RATE
from symgen.identification.model.equations import Kernel, kernel
from symgen.identification.model.problem import base_kernel, torque_mapping, without_drives
from symgen.jobs.job import Job
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

MAX_ITERATIONS: Final = 60
STEP_TOLERANCE: Final = 1e-10
RANK_TOLERANCE: Final = 1e-11
"""Directions of the products that are this small count as not excited."""


def solve_gains(
    gram: Numbers, mass: float, start: Numbers | None = None
) -> tuple[Numbers, Numbers, Numbers]:
    """Gains (n), what is left of each current (n) and all other unknowns (p), by Gauss-Newton
    steps, from the products (n x p + 2 x p + 2) of rows [A_j, L_j of the mass, i_j] of each joint;
    `start` are gains to begin with. Raises SymgenError where the logs do not tell the scale."""
    inner, current = gram[:, :-1, :-1], gram[:, :-1, -1]
    size, p = np.maximum(gram[:, -1, -1], 1e-300), gram.shape[1] - 2
    g = 1 / (_initial_gains(inner, current, size, mass) if start is None else start)
    weights, unknowns = 1 / size, np.append(np.zeros(p), mass)
    for number in range(MAX_ITERATIONS + 1):
        along = inner @ unknowns
        slope = (weights * g) @ (g[:, None] * along - current)[:, :p]
        top = np.einsum("j,jpq->pq", weights * g**2, inner[:, :p, :p])
        if number == 0:  # the gains stay as they are
            unknowns[:p] += least_squares(top, -slope)
            continue
        squares, products = along @ unknowns, current @ unknowns
        side = ((weights * g)[:, None] * along[:, :p]).T
        hessian = np.block([[top, side], [side.T, np.diag(weights * squares)]])
        slope_of_gains = weights * (g * squares - products)
        step = least_squares(hessian, -np.concatenate([slope, slope_of_gains]))
        unknowns[:p] += step[:p]
        g, before = np.maximum(g + step[p:], 0.2 * g), g
        squares, products = inner @ unknowns @ unknowns, current @ unknowns
        rest = np.maximum(size - 2 * g * products + g**2 * squares, 0.0)
        weights = 1 / np.maximum(rest, 1e-12 * size)
        if np.max(np.abs(g / before - 1)) < STEP_TOLERANCE:
            break
    return 1 / g, np.sqrt(rest / size), unknowns[:p]


def _initial_gains(inner: Numbers, current: Numbers, size: Numbers, mass: float) -> Numbers:
    """Gains to begin with: least squares of A x - i k = - m L, each joint by its size, with k
    eliminated."""
    p = inner.shape[1] - 1
    reduced = inner - current[:, :, None] * current[:, None] / size[:, None, None]
    total = np.einsum("j,jpq->pq", 1 / size, reduced)
    x = least_squares(total[:p, :p], -mass * total[:p, p])
    gains = current @ np.append(x, mass) / size
    if not (gains > 0).all():
        raise SymgenError(
            "error: the gains cannot be estimated: the difference of the currents of the two runs "
            "does not correspond to the weight of the load; check that the first log is the one "
            "without the load and that --mass is in kg"
        )
    return np.asarray(gains)


def least_squares(gram: Numbers, right: Numbers) -> Numbers:
    """The least solutions (... p) of G x = r, in columns of unit length, where some directions are
    not excited."""
    sizes = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 1e-300))
    inverse = np.linalg.pinv(
        gram / (sizes[..., None] * sizes[..., None, :]), RANK_TOLERANCE, hermitian=True
    )
    return np.asarray((inverse @ (right / sizes)[..., None])[..., 0] / sizes)


def jackknife_errors(replicates: Sequence[Numbers]) -> Numbers:
    """The standard errors of values that were estimated again without each part of the data."""
    values = np.array(replicates)
    share = (len(values) - 1) / len(values)
    return np.asarray(np.sqrt(share * np.sum((values - values.mean(axis=0)) ** 2, axis=0)))


# -- fits ------------------------------------------------------------------------------------------


JACKKNIFE_PARTS: Final = 12
"""Parts of each log, of which each in turn is left out for standard errors."""
DRIVE_UNKNOWNS: Final = 5
"""Unknowns of each drive beside its gain: viscous and Coulomb friction, offset, rotor, and friction
in proportion to the load."""
LOAD_UNKNOWNS: Final = 9
"""Unknowns of the load beside its mass: first moments and inertia."""
LOAD_ITERATIONS: Final = 3
"""How often the logs are read: the load that friction grows with is that of the pass before."""
BLOCK_ROWS: Final = 512
"""Rows whose products are formed at a time."""


@dataclass(frozen=True)
class DriveGains:
    """Force by ampere of each joint (N m/A or N/A) with standard errors from leaving out parts of
    the logs, root mean square of what is left of each current, as a part of it, and the rows of
    both logs."""

    joints: tuple[str, ...]
    units: tuple[str, ...]
    values: Numbers
    errors: Numbers
    residuals: Numbers
    rows: tuple[int, int]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class GainEquations:
    """Equations of samples with gains as unknowns: regressors of so many base `parameters` and of
    all standard ones, of which the load's begin at `first`."""

    base: Kernel
    standard: Kernel
    parameters: int
    first: int
    mass: float
    load: Numbers | None = None
    """All unknowns but gains as far as they are known, which give the load of friction."""

    @property
    def size(self) -> int:
        """Unknowns beside gains: base parameters, drives and load."""
        return self.parameters + DRIVE_UNKNOWNS * self.base.shape[0] + LOAD_UNKNOWNS

    def products(self, samples: Samples, fastest: Numbers, loaded: bool) -> Numbers:
        """Of each joint, the products (n x (p + 2) x (p + 2)) of rows [A_j, L_j of the mass,
        i_j]."""
        q, qd, qdd = samples.q, samples.qd, samples.qdd
        b, n = self.parameters, qd.shape[1]
        rows = np.zeros((len(samples), n, self.size + 2))
        rows[:, :, :b] = self.base(q, qd, qdd)
        if loaded:
            load = self.standard(q, qd, qdd)[:, :, self.first : self.first + 10]
            rows[:, :, self.size - LOAD_UNKNOWNS : self.size] = load[:, :, 1:]
            rows[:, :, self.size] = load[:, :, 0]
        force = np.zeros_like(qd)
        if self.load is not None:
            force = rows[:, :, : self.size] @ self.load + self.mass * rows[:, :, self.size]
        sign = np.sign(qd)
        of_drives = np.stack([qd, sign, np.ones_like(qd), qdd, np.abs(force) * sign], axis=2)
        for j in range(n):
            rows[:, j, b + DRIVE_UNKNOWNS * j : b + DRIVE_UNKNOWNS * (j + 1)] = of_drives[:, j]
        rows[:, :, -1] = samples.measured
        used = samples.usable & (np.abs(qd) >= MIN_RELATIVE_RATE * fastest)
        rows = (rows * used[:, :, None]).transpose(1, 0, 2)
        return np.asarray(rows.transpose(0, 2, 1) @ rows)


def estimate_gains(
    job: Job,
    loaded: LoadedRobot,
    logs: tuple[LogSource, LogSource],
    mass: float,
    link: str | None,
    options: LogOptions,
    progress: Progress,
) -> DriveGains:
    """The gains from a log without and one with a load of known `mass` (kg) on `link`, by default
    the last one. Raises SymgenError."""
    if not 0 < mass < 1e6:
        raise OptionError(f"--mass {mass:g}: give the load's mass in kg, such as 2.5")
    model, plain = loaded.model, without_drives(job)
    progress("preparing regressors")
    standard = kernel(plain.changed(quantities=("regressor",)), loaded)
    body = (
        len(model.moving) - 1 if link is None else body_and_pose_of_link(model, link, "--link")[0]
    )
    base, parameters = base_kernel(plain, loaded), len(torque_mapping(model))
    equations = GainEquations(base, standard, parameters, 10 * body, mass)
    wanted = NeededColumns.of(model, [("current", "A")], "symgen gains")
    read = [open_dataset(log, wanted, model, options) for log in logs]
    for _ in range(LOAD_ITERATIONS):
        parts = [
            product
            for k, run in enumerate(read)
            for product in _products_of_parts(equations, run, bool(k), progress)
        ]
        gram = np.sum(parts, axis=0)
        values, residuals, others = solve_gains(gram, mass)
        others[parameters : equations.size - LOAD_UNKNOWNS] = 0.0
        equations = replace(equations, load=others)
    errors = jackknife_errors([solve_gains(gram - part, mass, values)[0] for part in parts])
    names, units = wanted.velocities, tuple(f"{force_unit(x)}/A" for x in wanted.position_units)
    notes = tuple(note for run in read for note in run.notes)
    count = (read[0].plan.samples, read[1].plan.samples)
    return DriveGains(names, units, values, errors, residuals, count, notes)


def _products_of_parts(
    equations: GainEquations, read: LogDataset, loaded: bool, progress: Progress
) -> Iterator[Numbers]:
    """The products of consecutive parts of a log."""
    name, fastest = shown(PurePath(read.log.file).name), np.zeros(len(read.noise))
    title = f"{name}: pass 1 of 2, finding the joint velocities"
    for samples in read.blocks(lambda step: progress(f"{title}: {step}")):
        fastest = np.maximum(fastest, np.abs(samples.qd).max(axis=0))
    size, total, count = max(read.plan.samples // JACKKNIFE_PARTS, 1), None, 0
    title = f"{name}: pass 2 of 2, reducing the regressor"
    for samples in read.blocks(lambda step: progress(f"{title}: {step}")):
        for start in range(0, len(samples), BLOCK_ROWS):
            part = samples.part(slice(start, start + BLOCK_ROWS))
            gram = equations.products(part, fastest, loaded)
            total, count = gram if total is None else total + gram, count + len(part)
            if count >= size:
                yield total
                total, count = None, 0
    if total is not None:
        yield total
