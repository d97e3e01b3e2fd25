"""Candidates: changes of the rows of a log, with what they mean and how they are cured."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.identification.data.dataset import Reading
from symgen.identification.data.log_options import UNITS
from symgen.identification.diagnostics.diagnostic_fit import (
    DiagnosticModel,
    Picked,
    Score,
    Trial,
)
from symgen.identification.model.problem import Problem
from symgen.numbers.types import Numbers
from symgen.text import shown

UNIT_TOLERANCE: Final = 0.05
"""The relative tolerance within which a factor is that of a unit."""


@dataclass(frozen=True)
class Names:
    """The joints, and the log's columns of forces, positions and velocities."""

    joints: tuple[str, ...]
    forces: tuple[str, ...]
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    with_accelerations: bool = False

    @classmethod
    def of(cls, reading: Reading, problem: Problem) -> "Names":
        """The names of a log's columns."""
        groups = (reading.layout.measured, reading.layout.q, reading.layout.qd)
        forces, positions, velocities = (tuple(c.name for c in group) for group in groups)
        recorded = bool(reading.layout.qdd)
        return cls(problem.wanted.velocities, forces, positions, velocities, recorded)

    @property
    def rates(self) -> tuple[str, ...]:
        """The fields of a trial that come from the columns of velocities."""
        return ("qd",) if self.with_accelerations else ("qd", "qdd")


@dataclass(frozen=True)
class Candidate:
    """A change of the rows, what it means (a clause), and what to do about it (an imperative)."""

    trial: Trial
    finding: str
    cure: str
    limits: tuple[tuple[int, float, float], ...] = ()
    """Channels that are saturated, with the least and the largest force that is measured."""
    final: bool = False
    """True if nothing else is tried on top of it."""


@dataclass(frozen=True)
class Context:
    """What hypotheses start from: the rows of the log so far, with their score."""

    model: DiagnosticModel
    picked: Picked
    trial: Trial
    score: Score
    names: Names
    step: float
    """The usual step of time (s)."""
    original_measurements: Numbers
    """The measurements of the log as it is."""

    @classmethod
    def of(cls, model: DiagnosticModel, picked: Picked, names: Names, step: float) -> "Context":
        """The rows of a log as they are, without outliers."""
        trial = picked.trial()
        off = np.abs(trial.measured - model.predicted(trial, model.score(trial)))
        size = np.sqrt(np.mean(trial.measured**2, axis=0))
        present = np.any(
            trial.measured, axis=1, keepdims=True
        )  # some recorders write 0 for what is missing
        used = trial.used & present & (off <= model.thresholds.outlier * size)
        trial = replace(trial, used=used)
        return cls(model, picked, trial, model.score(trial), names, step, trial.measured)

    def with_trial(self, trial: Trial) -> "Context":
        """With other rows."""
        return replace(self, trial=trial, score=self.model.score(trial))

    @property
    def suspects(self) -> list[int]:
        """The joints for which hypotheses with columns of their own are tried: all of a small
        robot, those that the model does not explain of a large one."""
        n = len(self.names.joints)
        return (
            list(range(n))
            if n <= self.model.thresholds.small_robot
            else self.unexplained_channels()
        )

    def unexplained_channels(self) -> list[int]:
        """The channels that the model does not explain."""
        limit = self.model.thresholds.poor**2
        return np.flatnonzero(self.score.residuals > limit).tolist()


HypothesisTest = Callable[[Context], Iterable[Candidate]]


def factors_with_one(n: int, k: int, value: float) -> Numbers:
    """Factors (n) of which number k is `value` and the others are 1."""
    return np.where(np.arange(n) == k, value, 1.0)


def swapped(n: int, j: int, k: int) -> list[int]:
    """The order of n columns in which j and k are exchanged."""
    order = list(range(n))
    order[j], order[k] = k, j
    return order


def column_options(
    group: str, order: Sequence[int], joints: Sequence[str], columns: Sequence[str]
) -> str:
    """The options that give joints the columns of others."""
    return " ".join(
        f"--column {group}_{shown(joints[k])}={shown(columns[source])}"
        for k, source in enumerate(order)
        if k != source
    )


def quoted_columns(names: Sequence[str]) -> str:
    """Quoted names."""
    return ", ".join(f"'{name}'" for name in names)


def scale_options(joint: str, factor: float, *groups: str) -> str:
    """The options that multiply columns of a joint."""
    return " ".join(f"--scale {group}_{shown(joint)}={factor:.4g}" for group in groups)


def unit_of(group: str, factor: float, base: str) -> str | None:
    """The unit of a group whose numbers times `factor` are SI; None if there is none."""
    known = [(abs(f / factor - 1), name) for name, (b, f) in UNITS.items() if b == base]
    off, name = min(known, default=(1.0, ""))
    return f"--unit {group}={name}" if off < UNIT_TOLERANCE and factor != 1.0 else None


def parabolic_minimum(cost: Callable[[float], float], best: float, width: float) -> float:
    """The least cost near `best` by halving parabolas."""
    for _ in range(4):
        a, b, c = cost(best - width), cost(best), cost(best + width)
        curve = a - 2 * b + c
        best += (
            width * float(np.clip(0.5 * (a - c) / curve, -1, 1))
            if curve > 0
            else (width if c < a else -width)
        )
        width /= 2.5
    return best
