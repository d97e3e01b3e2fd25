"""Refinement by multiple shooting: the values with which the model, pushed by the measured forces,
moves as the robot did.

Least squares of forces need accelerations, and noise of positions in them biases; simulated motions
need none. Gauss-Newton on windows (`shooting`), each window's initial state an unknown that is
eliminated by its own QR factors; what is left are equations of the values, solved as a log's are,
with robust errors by batches of windows. The step is halved until the error of the simulation
falls, and the result is kept only where that of windows held out falls too, and forces are
predicted better. Measured motion is no judge of that: least squares are what fits forces best along
it, noise and all. So both are held against the forces along motion that is smoothed further, where
next to nothing is left of the noise of accelerations."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from symgen.errors import OptionError, SymgenError
from symgen.identification.data.dataset import Reading
from symgen.identification.data.differentiation import Derivation
from symgen.identification.estimation.robust_errors import robust_errors
from symgen.identification.estimation.shooting import STEPS, Simulator, Windows, picked, windows
from symgen.identification.estimation.triangular_factors import (
    TriangularFactors,
    combined,
    triangle,
)
from symgen.identification.estimation.weighted_solve import Belief, TriangularSystem, solve
from symgen.identification.model.equations import Instants
from symgen.identification.model.estimate import Estimate, Solution
from symgen.identification.model.problem import without_drives
from symgen.identification.model.regressor_tapes import traced
from symgen.jobs.job import Job
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

MOST: Final = 400
"""Windows, evenly over the log."""
BATCHES: Final = 32
ROUNDS: Final = 12
HALVINGS: Final = 8
SETTLED: Final = 1e-3
"""Standard errors by which values still change in the last round."""
FINE: Final = 0.05
"""Steps by the period of the cutoff."""
CALM: Final = 4.0
"""The cutoff of the motion along which forces are judged, by that of the fit from above: the noise
of accelerations, which grows with its power of 5/2, is 1/32 there. The automatic cutoff is ten
times the bandwidth of the motion."""
FAINT: Final = 1e-3
"""What least squares of forces count beside the simulation, for directions that it hardly shows."""


@dataclass(frozen=True)
class Refined:
    """The values found, with R and robust errors; the errors, before and after, of the `simulation`
    by the measured motion within windows, and of `forces` along smoothed motion by those that were
    measured, of what is held out."""

    solution: Solution
    errors: Numbers | None
    simulation: tuple[float, float]
    forces: tuple[float, float]

    @property
    def better(self) -> bool:
        """Whether what is held out is simulated better, and its forces are predicted better."""
        return all(after < before for before, after in (self.simulation, self.forces))


def refined(
    job: Job, loaded: LoadedRobot, reading: Reading, equations: Instants, estimate: Estimate
) -> Refined | None:
    """Refines an estimate; None where its own model cannot be simulated. Raises SymgenError where
    the log has too few windows."""
    drives = equations.drives
    if drives is not None and (drives.loaded or drives.bent):
        raise OptionError(
            "--refine cannot simulate friction that depends on the load; remove load and crosstalk "
            "from --friction"
        )
    regressor = traced(without_drives(job), loaded, "base_regressor")
    simulator = Simulator(equations, regressor.slopes(), regressor.nonzero)
    trained, held = _windows(reading, equations, held_out=False), None
    if reading.plan.validation:
        held = _windows(reading, equations, held_out=True)
    if len(trained) * trained.q.shape[1] * trained.q.shape[2] < 4 * len(estimate.values):
        raise SymgenError(
            f"{shown(reading.log.file)}: error: --refine: the log has too few windows without "
            f"standstill ({len(trained)}); move all joints at once, or remove --refine"
        )
    judged = held if held is not None and (held.q != held.q[:, :1]).any() else trained
    try:
        with np.errstate(all="ignore"):
            before = _fitted(simulator, judged, estimate.values)
            solution, errors = _Search(simulator, trained, estimate).result()
            after = _fitted(simulator, judged, solution.values)
    except np.linalg.LinAlgError:  # states have grown beyond all bounds
        return None
    if not np.isfinite(before):
        return None
    forces = [force_error(reading, equations, x) for x in (estimate.values, solution.values)]
    return Refined(solution, errors, (before, after), (forces[0], forces[1]))


def force_error(reading: Reading, equations: Instants, values: Numbers) -> float:
    """The residual of the forces along smoothed motion by what was measured, of the rows held out
    where there are some, fast forces taken off: root mean square over channels."""
    calm, errors, measured = _smoothed(reading), 0.0, 0.0
    for samples in calm.blocks(held_out=bool(calm.plan.validation)):
        rows = equations.equations(samples).means(max(calm.plan.half // 2, 1))
        error = rows.used * (rows.measured - rows.regressor @ values)
        errors = errors + np.sum(np.square(error), axis=0)
        measured = measured + np.sum(np.square(rows.used * rows.measured), axis=0)
    return float(np.sqrt(np.mean(errors / np.maximum(measured, 1e-300))))


def _smoothed(reading: Reading) -> Reading:
    """The reading with a lower cutoff; as it is where it has accelerations, or too few rows."""
    derivation = reading.derivation
    if derivation is None:
        return reading
    calm = Derivation.of_cutoff(derivation.cutoff / CALM, derivation.step, derivation.even)
    smoothed = replace(reading, derivation=calm, plan=replace(reading.plan, half=calm.half))
    return smoothed if smoothed.plan.samples else reading


def _windows(reading: Reading, equations: Instants, held_out: bool) -> Windows:
    """At most MOST windows of the rows for the estimate, or of those held out."""
    derivation = reading.derivation
    cutoff = derivation.cutoff if derivation else 20.0
    stride = max(1, round(FINE / cutoff / reading.step))
    plan = reading.plan
    ranges = plan.validation if held_out else plan.training
    rows = sum(b - a - 2 * plan.half for a, b in ranges)
    sparse = max(1, min(rows // (2 * MOST * STEPS * stride), len(ranges)))
    blocks = islice(reading.blocks(every=sparse, held_out=held_out), -(-len(ranges) // sparse))
    cut = windows(blocks, equations.drives, stride)
    return picked(cut, slice(None, None, -(-max(len(cut), 1) // MOST)))


def _fitted(simulator: Simulator, w: Windows, values: Numbers) -> float:
    """The error of the simulation, each window from its best start."""
    start = w.start
    for _ in range(2):
        positions, by = simulator.sensitivities(w, start, values)
        n = w.qd.shape[1]
        slopes = by[..., : 2 * n].reshape(len(w), -1, 2 * n)
        residuals = (w.q - positions).reshape(len(w), -1, 1)
        start = start + (np.linalg.pinv(slopes) @ residuals)[..., 0]
    return simulation_error(w, simulator.positions(w, start, values))


def simulation_error(w: Windows, positions: Numbers) -> float:
    """Root mean square of errors by that of the motion within windows, mean over joints that
    move."""
    moved = np.mean((w.q - w.q[:, :1]) ** 2, axis=(0, 1))
    errors, moving = np.mean((w.q - positions) ** 2, axis=(0, 1)), moved > 0
    return float(np.sqrt(np.mean(errors[moving] / moved[moving])))


@dataclass
class _Search:
    simulator: Simulator
    w: Windows
    estimate: Estimate

    def __post_init__(self) -> None:
        self.start, self.values = self.w.start, self.estimate.values
        positions = self.simulator.positions(self.w, self.start, self.values)
        self.sizes = np.sqrt(np.mean((self.w.q - positions) ** 2, axis=(0, 1))) + 1e-300

    def result(self) -> tuple[Solution, Numbers | None]:
        """The values that are best, and their robust errors."""
        for _ in range(ROUNDS):
            system, back = self._linear()
            solution = self._solved(system)
            change = solution.values - self.values
            if not self._advance(change, back):
                break
            if np.abs(solution.factor @ change).max() < SETTLED:
                break
        system, _ = self._linear()
        solution = replace(self._solved(system), values=self.values)
        return solution, robust_errors(system, solution)

    def _solved(self, system: TriangularSystem) -> Solution:
        belief = Belief(
            FAINT * self.estimate.factor, FAINT * self.estimate.factor @ self.estimate.values
        )
        return solve(system, belief)

    def _linear(self) -> tuple[TriangularSystem, Numbers]:
        """The equations of the values, starts eliminated; and what gives the change of each start
        (W x 2 n x p + 1) by that of the values."""
        n, p, w = self.w.qd.shape[1], len(self.values), self.w
        positions, by = self.simulator.sensitivities(w, self.start, self.values)
        rows = np.concatenate([by, (w.q - positions)[..., None]], axis=3) / self.sizes[:, None]
        rows = rows.reshape(len(w), -1, 2 * n + p + 1)
        rows[..., -1] += rows[..., 2 * n : -1] @ self.values
        q, r = np.linalg.qr(rows[..., : 2 * n])
        turned = q.swapaxes(1, 2) @ rows[..., 2 * n :]
        back = np.linalg.solve(r, turned)
        residuals = rows[..., 2 * n :] - q @ turned
        parts = tuple(self._factors(residuals))
        total = combined(parts)
        if total is None:
            raise ValueError("no windows")
        return TriangularSystem(total, (tuple(range(p)),), p, parts), back

    def _factors(self, residuals: Numbers) -> Iterator[TriangularFactors]:
        for group in np.array_split(residuals, min(BATCHES, len(residuals))):
            flat = group.reshape(-1, group.shape[-1])
            yield TriangularFactors(
                (len(flat) - 2 * self.w.qd.shape[1] * len(group),), (triangle(flat),)
            )

    def _advance(self, change: Numbers, back: Numbers) -> bool:
        """Takes the step, or a part of it; whether the error of the simulation fell."""
        before, length = self._error(self.start, self.values), 1.0
        target = back[..., -1] - back[..., :-1] @ self.values
        for _ in range(HALVINGS):
            values = self.values + length * change
            start = self.start + length * (target - back[..., :-1] @ change)
            with np.errstate(all="ignore"):
                after = self._error(start, values)
            if after < before:
                self.start, self.values = start, values
                return True
            length /= 2
        return False

    def _error(self, start: Numbers, values: Numbers) -> float:
        try:
            residuals = (self.w.q - self.simulator.positions(self.w, start, values)) / self.sizes
        except np.linalg.LinAlgError:
            return np.inf
        error = float(np.mean(residuals**2))
        return error if np.isfinite(error) else np.inf
