"""Candidates: changes of the rows of a log, with what they mean and how they are cured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.log_options import UNITS
from symgen.identification.diagnostics.diagnostic_fit import (
    DiagnosticModel,
    PickedRows,
    Score,
    Thresholds,
    Trial,
)
from symgen.identification.model.problem import Problem
from symgen.numbers.scalar import Numbers
from symgen.text import quoted, shown

UNIT_TOLERANCE: Final = 0.05
"""The relative tolerance within which a factor is that of a unit."""


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
class DiagnosticContext:
    """What hypotheses start from: the rows of the log so far, with their score, and the names of
    the joints and of the log's columns of forces, positions and velocities."""

    model: DiagnosticModel
    picked: PickedRows
    trial: Trial
    score: Score
    joints: tuple[str, ...]
    forces: tuple[str, ...]
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    rate_fields: tuple[str, ...]
    """The fields of a trial that come from the columns of velocities."""
    step: float
    """The usual step of time (s)."""
    original_measurements: Numbers
    """The measurements of the log as it is."""

    @classmethod
    def of(
        cls, model: DiagnosticModel, picked: PickedRows, reading: LogDataset, problem: Problem
    ) -> "DiagnosticContext":
        """The rows of a log as they are, without outliers."""
        trial, layout = picked.trial(), reading.layout
        off = np.abs(trial.measured - model.predicted(trial, model.score(trial)))
        size = np.sqrt(np.mean(trial.measured**2, axis=0))
        # some recorders write 0 for what is missing
        present = np.any(trial.measured, axis=1, keepdims=True)
        used = trial.used & present & (off <= model.thresholds.outlier * size)
        trial = replace(trial, used=used)
        return cls(
            model,
            picked,
            trial,
            model.score(trial),
            problem.needed.velocities,
            tuple(column.name for column in layout.measured),
            tuple(column.name for column in layout.q),
            tuple(column.name for column in layout.qd),
            ("qd",) if layout.qdd else ("qd", "qdd"),
            reading.step,
            trial.measured,
        )

    def with_trial(self, trial: Trial) -> "DiagnosticContext":
        """With other rows."""
        return replace(self, trial=trial, score=self.model.score(trial))

    def cost(self, trial: Trial) -> float:
        """The cost of other rows."""
        return self.model.score(trial).cost

    @property
    def thresholds(self) -> Thresholds:
        """Those of the diagnostic fit."""
        return self.model.thresholds

    @property
    def suspects(self) -> list[int]:
        """The joints for which hypotheses with columns of their own are tried: all of a small
        robot, those that the model does not explain of a large one."""
        small = len(self.joints) <= self.thresholds.small_robot
        return [*range(len(self.joints))] if small else self.unexplained_channels()

    def explains(self, trial: Trial) -> bool:
        """Whether all channels are explained with other rows, and not only because their
        measurements are larger."""
        score, limits = self.model.score(trial), self.thresholds
        new, old = (np.sum((t.measured * t.used) ** 2, axis=0) for t in (trial, self.trial))
        growth = limits.effective_rows * float(
            np.log(np.maximum(new, 1e-300) / np.maximum(old, 1e-300)).sum()
        )
        gain = self.score.cost - score.cost - max(growth, 0.0)
        is_explained = score.residuals.max() < limits.max_residual**2
        return bool(is_explained and gain > limits.min_gain)

    def unexplained_channels(self) -> list[int]:
        """The channels that the model does not explain."""
        return np.flatnonzero(self.score.residuals > self.thresholds.max_residual**2).tolist()


def factors_with_one(n: int, k: int, value: float) -> Numbers:
    """Factors (n) of which number k is `value` and the others are 1."""
    return np.where(np.arange(n) == k, value, 1.0)


def column_options(
    group: str, order: Sequence[int], joints: Sequence[str], columns: Sequence[str]
) -> str:
    """The options that give joints the columns of others."""
    return " ".join(
        f"--column {group}_{shown(joints[k])}={shown(columns[source])}"
        for k, source in enumerate(order)
        if k != source
    )


def scale_options(joint: str, factor: float, *groups: str) -> str:
    """The options that multiply columns of a joint."""
    return " ".join(f"--scale {group}_{shown(joint)}={factor:.4g}" for group in groups)


def unit_of(group: str, factor: float, base: str) -> str | None:
    """The unit of a group whose numbers times `factor` are SI; None if there is none."""
    known = [(abs(f / factor - 1), name) for name, (b, f) in UNITS.items() if b == base]
    off, name = min(known, default=(1.0, ""))
    return f"--unit {group}={name}" if off < UNIT_TOLERANCE and factor != 1.0 else None


@dataclass(frozen=True)
class ChangedColumns:
    """Columns that a hypothesis changes together: the fields of a trial, the groups of the options
    with the names of their columns, and the channels that are tried."""

    fields: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]
    channels: Sequence[int]

    def signs(self, context: DiagnosticContext) -> Iterator[Candidate]:
        """Each column with the opposite sign."""
        names = next(iter(self.groups.values()))
        for k in self.channels:
            yield Candidate(
                context.trial.scaled(factors_with_one(len(names), k, -1.0), *self.fields),
                f"'{shown(names[k])}' probably has the wrong sign",
                f"give {scale_options(context.joints[k], -1.0, *self.groups)}",
            )

    def swaps(self, context: DiagnosticContext, *more: str) -> Iterator[Candidate]:
        """Two columns exchanged, with `more` fields."""
        for pair in combinations(self.channels, 2):
            yield self._reordered(context, pair, pair[::-1], more)

    def cycles(self, context: DiagnosticContext, *more: str) -> Iterator[Candidate]:
        """Three columns exchanged, with `more` fields, if that explains all channels."""
        for j, k, m in combinations(context.unexplained_channels(), 3):
            for sources in ((k, m, j), (m, j, k)):
                candidate = self._reordered(context, (j, k, m), sources, more)
                if context.explains(candidate.trial):
                    yield candidate

    def _reordered(
        self,
        context: DiagnosticContext,
        moved: Sequence[int],
        sources: Sequence[int],
        more: Sequence[str],
    ) -> Candidate:
        """With the columns `sources` for the joints `moved`."""
        names = next(iter(self.groups.values()))
        order = [*range(len(names))]
        for k, source in zip(moved, sources, strict=True):
            order[k] = source
        options = (
            column_options(group, order, context.joints, columns)
            for group, columns in self.groups.items()
        )
        return Candidate(
            context.trial.reordered(order, *self.fields, *more),
            f"{quoted(names[k] for k in moved)} are probably exchanged",
            f"give {' '.join(options)}",
        )
