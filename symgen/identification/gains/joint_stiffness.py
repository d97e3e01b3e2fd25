"""Stiffness and damping of elastic joints from a log with encoders of motors and links.

With the deflection δ = θ - q, what a spring transmits is K δ + D δ̇ and an offset of the encoders.
It is measured by a torque sensor, computed from the motion of the links, or contained in the motor
torque τ_m = B θ̈ + K δ + D δ̇ + friction of the motor (Spong 1987; Albu-Schäffer & Hirzinger,
Parameter identification and passivity based joint control for a 7 DOF torque controlled light
weight robot, ICRA 2001). Both sides are filtered by the same windows, so that the equation holds
between what is left. Each joint has its own least squares; standard errors come from leaving out
parts of the log in turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.errors import OptionError, SymgenError
from symgen.identification.data.column_map import NeededColumns
from symgen.identification.data.dataset import LogDataset, open_dataset
from symgen.identification.data.differentiation import DerivativeFilter
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource
from symgen.identification.diagnostics.diagnostic_fit import MIN_RELATIVE_RATE
from symgen.identification.gains.torque_constants import jackknife_errors, least_squares
from symgen.identification.model.equations import Kernel, kernel
from symgen.jobs.job import Job
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot

JACKKNIFE_PARTS: Final = 20
"""Parts of the log, of which each in turn is left out for standard errors."""
SPRING_UNKNOWNS: Final = ("joint_stiffness", "spring_damping", "offset")
"""Unknowns of the spring: columns δ, δ̇ and 1."""
MOTOR_UNKNOWNS: Final = ("motor_inertia", "viscous", "coulomb")
"""Unknowns of the motor beside: columns θ̈, θ̇ and sign(θ̇)."""
UNKNOWNS_OF_TORQUE: Final = {
    "motor": (*SPRING_UNKNOWNS, *MOTOR_UNKNOWNS),
    "joint": SPRING_UNKNOWNS,
    "model": SPRING_UNKNOWNS,
}
"""By what the torques are, those of motors, of sensors behind the springs or of the robot's model,
the unknowns of each joint."""
BLOCK_ROWS: Final = 512
"""Rows whose products are formed at a time."""
MAX_RELATIVE_ERROR: Final = 0.1
"""A stiffness with a larger relative standard error gets a note,"""
MAX_BIAS_BY_ERROR: Final = 0.5
"""and one that noise of the encoders biases by more than this part of its standard error"""
MIN_REPORTED_BIAS: Final = 1e-3
"""and by more than this part of its value."""


@dataclass(frozen=True)
class JointStiffness:
    """What a log tells of the springs: by name of the unknown its values of all joints (n) and
    their standard errors, in the units of SI; the part of each torque that is not explained; the
    usable rows of the log and notes."""

    joints: tuple[str, ...]
    units: tuple[str, ...]
    values: dict[str, Numbers]
    standard_errors: dict[str, Numbers]
    residuals: Numbers
    rows: int
    notes: tuple[str, ...]


def joint_stiffness(
    job: Job, loaded: LoadedRobot, log: LogSource, torque: str, options: LogOptions
) -> JointStiffness:
    """The springs of all joints from a log with positions of links (q) and of motors (theta), and
    torques (tau) but for `torque` ``model``. Raises SymgenError."""
    if torque not in UNKNOWNS_OF_TORQUE:
        raise OptionError(f"--torque {torque}: use one of {', '.join(UNKNOWNS_OF_TORQUE)}")
    sensors = [("theta", "position"), *([] if torque == "model" else [("tau", "force")])]
    wanted = NeededColumns.of(loaded.model, sensors, "symgen stiffness")
    read = open_dataset(log, wanted, loaded.model, options)
    if torque == "model" and options.delay != "0":
        raise OptionError("--delay: has no effect with --torque model, which reads no torques")
    of_model = job.changed(quantities=("inverse_dynamics",))
    model = kernel(of_model, loaded) if torque == "model" else None
    derivative_filter = read.filter_or_default(options.cutoff)
    grams, noise, rows = _reduced(read, derivative_filter, model, UNKNOWNS_OF_TORQUE[torque])
    if rows < 10 * JACKKNIFE_PARTS:
        raise SymgenError(
            f"error: the log has {rows} usable rows; at least {10 * JACKKNIFE_PARTS} are needed "
            "for the stiffness of joints"
        )
    total = grams.sum(axis=0)
    found = _solved(total)
    errors = jackknife_errors([_solved(total - part) for part in grams])
    names = UNKNOWNS_OF_TORQUE[torque]
    result = JointStiffness(
        wanted.velocities,
        wanted.position_units,
        dict(zip(names, found.T, strict=True)),
        dict(zip(names, errors.T, strict=True)),
        _residuals(total, found),
        rows,
        read.notes,
    )
    notes = _notes(result, _attenuation(total, noise * rows))
    return replace(result, notes=(*read.notes, *notes))


def _reduced(
    read: LogDataset,
    derivative_filter: DerivativeFilter,
    model: Kernel | None,
    names: Sequence[str],
) -> tuple[Numbers, Numbers, int]:
    """Of parts of the log and of each joint the products (m x n x p + 1 x p + 1) of rows with the
    columns of the unknowns and the torque; the variance of the noise of each deflection; rows."""
    size, rows, n = max(read.plan.samples // JACKKNIFE_PARTS, 1), 0, len(read.layout.q)
    grams, noises = np.zeros((JACKKNIFE_PARTS, n, len(names) + 1, len(names) + 1)), list[Numbers]()
    for equations, noise in _equations(read, derivative_filter, model, len(names)):
        noises.append(noise)
        for start in range(0, len(equations), min(size, BLOCK_ROWS)):
            part = equations[start : start + min(size, BLOCK_ROWS)].transpose(1, 0, 2)
            grams[min(rows // size, JACKKNIFE_PARTS - 1)] += part.transpose(0, 2, 1) @ part
            rows += part.shape[1]
    return grams, np.mean(noises, axis=0) if noises else np.zeros(n), rows


def _equations(
    read: LogDataset, derivative_filter: DerivativeFilter, model: Kernel | None, unknowns: int
) -> Iterator[tuple[Numbers, Numbers]]:
    """Rows (N x n x p + 1) of each joint's equation, zeros where it is not used, and the variance
    of the noise of the deflections (n)."""
    n, fastest = len(read.layout.q), None
    first = 1 + n + len(read.layout.qd) + len(read.layout.qdd)
    for _, rows in read.read_ranges(read.plan.training):
        t, q, motor = rows[:, 0], rows[:, 1 : 1 + n], rows[:, first : first + n]
        if len(t) <= 2 * derivative_filter.half_width:
            continue
        filters = derivative_filter.filters(t)
        delta = [filters(motor - q, order) for order in (0, 1)]
        theta = [filters(motor, order) for order in (1, 2)]
        if model:
            torque = model(*(filters(q, order) for order in range(3)))
        else:
            torque = filters(
                _delay_corrected(t, rows[:, first + n : first + 2 * n], read.delays[n:]), 0
            )
        fastest = np.abs(theta[0]).max(axis=0) if fastest is None else fastest
        columns = [delta[0], delta[1], np.ones_like(torque), theta[1], theta[0]]
        columns = [*columns, np.sign(theta[0])][:unknowns]
        used = filters.enough[:, None] & np.isfinite(torque) & np.isfinite(delta[0])
        if unknowns > len(SPRING_UNKNOWNS):
            used &= np.abs(theta[0]) >= MIN_RELATIVE_RATE * fastest
        rows_of = np.stack([*columns, torque], axis=2)
        noise = derivative_filter.noise(motor - q, t, 0) ** 2
        yield np.where(used[:, :, None], rows_of, 0.0), noise


def _delay_corrected(t: Numbers, torque: Numbers, delays: Numbers) -> Numbers:
    """Torques that are recorded so many seconds late, between rows by straight lines."""
    late = zip(torque.T, delays, strict=True)
    return np.stack([np.interp(t + delay, t, x) if delay else x for x, delay in late], axis=1)


def _solved(gram: Numbers) -> Numbers:
    """The unknowns of each joint (n x p) from products of rows."""
    return least_squares(gram[:, :-1, :-1], gram[:, :-1, -1])


def _residuals(gram: Numbers, found: Numbers) -> Numbers:
    """The root mean square of what is left of each torque, by that of the torque."""
    right, squares = gram[:, :-1, -1], np.maximum(gram[:, -1, -1], 1e-300)
    rest = squares - (right * found).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(rest, 0.0) / squares))


def _attenuation(gram: Numbers, noise: Numbers) -> Numbers:
    """By which part noise of the deflections biases the stiffness of each joint: its squares by
    those of the deflections that the other columns do not explain."""
    across = gram[:, 0, 1:-1]
    explained = (across * least_squares(gram[:, 1:-1, 1:-1], across)).sum(axis=1)
    rest = np.maximum(gram[:, 0, 0] - explained, 1e-300)
    return np.asarray(np.minimum(noise / rest, 1.0))


def _notes(result: JointStiffness, attenuation: Numbers) -> Iterator[str]:
    values, errors = (x["joint_stiffness"] for x in (result.values, result.standard_errors))
    for joint, k, error, part in zip(result.joints, values, errors, attenuation, strict=True):
        if not k > error / MAX_RELATIVE_ERROR:
            yield (
                f"warning: the log does not determine the stiffness of '{joint}': its relative "
                "standard error is more than 10 %; record a motion with larger and faster "
                "torques, or use --torque joint or --torque model"
            )
        elif part > MIN_REPORTED_BIAS and part * k > MAX_BIAS_BY_ERROR * error:
            yield (
                f"warning: noise of the encoders biases the stiffness of '{joint}' by about "
                f"{100 * part:.2g} %, mostly toward zero; lower --cutoff, or record larger torques"
            )
