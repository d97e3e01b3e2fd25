"""Reduces the samples of a log to triangular factors, pass by pass."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Final

from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.log_file import LogError
from symgen.identification.data.samples import PreslidingStates, Samples
from symgen.identification.estimation.iterative import FactoredEquations
from symgen.identification.estimation.triangular_factors import (
    Batches,
    TriangularFactors,
    combined,
    factored,
    gathered,
)
from symgen.identification.model.drive_columns import Joints, Rates, surveyed
from symgen.identification.model.equations import Equations
from symgen.identification.model.settings import Settings
from symgen.text import shown

MAX_ENTRIES: Final = 1 << 20
"""Entries of a regressor that are computed at a time: a few megabytes, which stay in the cache."""
MIN_ROWS: Final = 64
"""Rows that are computed at a time at least."""


def block_factors(equations: Equations, samples: Samples, parts: int = 1, mean: int = 1) -> Batches:
    """The factors of a block of samples, cut into `parts` consecutive parts of the same length: of
    all channels and, if `mean` is more than 1, of the means of `mean` equations of each channel."""
    size = -(-max(len(samples), 1) // parts)
    results = (
        combined(_pieces(equations, samples.part(slice(start, start + size)), mean))
        for start in range(0, len(samples), size)
    )
    return tuple(filter(None, results))


def _pieces(equations: Equations, samples: Samples, mean: int) -> Iterator[TriangularFactors]:
    width = max(len(columns) for columns in equations.supports) * len(equations.supports)
    size = max(1 << (MAX_ENTRIES // width).bit_length() - 1, MIN_ROWS)
    for start in range(0, len(samples), size):
        linear = equations.equations(samples.part(slice(start, start + size)))
        kinds = [linear, linear.means(mean)] if mean > 1 else [linear]
        reductions = [factored(x.regressor, x.measured, equations.supports, x.used) for x in kinds]
        yield TriangularFactors(
            tuple(n for reduction in reductions for n in reduction.rows),
            tuple(r for reduction in reductions for r in reduction.factors),
        )


Progress = Callable[[str], None]

BATCHES: Final = 32
"""Parts of a log whose factors are kept, for robust standard errors and cross-validation."""
ENOUGH: Final = 2
"""Equations of each channel an unknown that are left at least where their means are fitted."""
MAX_KEPT_ENTRIES: Final = 1 << 24
"""Numbers of samples that stay in memory between passes (128 MB)."""
SHOWN: Final = 5
"""Blocks at the end of a log that are kept for pictures."""


@dataclass
class LogReducer:
    """Reduces the samples of a log, pass by pass. Samples stay in memory between passes if there
    are few enough; `last` keeps the last blocks."""

    reading: LogDataset
    settings: Settings
    progress: Progress
    last: deque[Samples] = field(default_factory=lambda: deque(maxlen=SHOWN))
    passes: Iterator[int] = field(default_factory=lambda: count(1))
    """The numbers of the passes over the log."""
    presliding: PreslidingStates | None = None
    """The presliding states that samples get."""
    kept: tuple[Samples, ...] = ()
    """All samples, once they were read and if they fit in memory."""
    batches: int = BATCHES
    """How many parts the log is reduced to."""

    def reduced(
        self, equations: Equations, held_out_equations: Equations, stage: str
    ) -> FactoredEquations:
        """The factors of the batches of the rows for the estimate, and of the rows held out;
        `stage` names this pass over the log in the progress. Raises LogError."""
        plan, drives = self.reading.plan, equations.drives
        self.presliding = drives.presliding if drives else None
        blocks, channels = len(plan.training), len(equations.supports)
        mean, parts = self.mean(equations), -(-self.batches // max(len(plan.training), 1))
        samples = self.blocks(stage)
        training = (block_factors(equations, s, parts, mean) for s in islice(samples, blocks))
        flat = (part for block in training for part in block)
        trained = gathered(flat, -(-blocks * parts // self.batches))
        after = combined(f for s in samples for f in block_factors(held_out_equations, s, parts))
        if not trained:
            raise LogError(shown(self.reading.log.file), "the log has no rows for the estimate")
        of_channels, means = slice(channels), slice(channels if mean > 1 else 0, None)
        return FactoredEquations(
            tuple(batch.channels(means) for batch in trained),
            combined(batch.channels(of_channels) for batch in trained),
            after,
        )

    def mean(self, equations: Equations) -> int:
        """How many equations make one of the fit: half of what a window of derivatives reaches to
        one side, whose mean lets half of the power at the cutoff pass, as the window does."""
        plan = self.reading.plan
        unknowns = max(map(len, equations.supports))
        rows = sum(b - a - 2 * plan.half_width for a, b in plan.training)
        return max(1, min(plan.half_width // 2, rows // (ENOUGH * unknowns)))

    def blocks(self, stage: str) -> Iterator[Samples]:
        """The samples of all blocks, in a new pass; the last blocks are kept. Raises LogError."""
        self.last.clear()
        title = f"pass {next(self.passes)} over the log, {stage}"
        blocks = self._samples(lambda step: self.progress(f"{title}: {step}"))
        for samples in blocks if self.presliding is None else self.presliding.attached(blocks):
            self.last.append(samples)
            yield samples

    def _samples(self, progress: Progress) -> Iterator[Samples]:
        """The samples of all blocks, from memory where they were kept."""
        if self.kept:
            rows = self.reading.survey.usable
            progress(f"row {rows} of {rows}")
            yield from self.kept
            return
        kept, entries = list[Samples](), 0
        for samples in self.reading.blocks(progress):
            entries += sum(x.size for x in (samples.q, samples.qd, samples.qdd, samples.measured))
            if entries <= MAX_KEPT_ENTRIES:
                kept.append(samples)
            yield samples
        if entries <= MAX_KEPT_ENTRIES:
            self.kept = tuple(kept)

    def rates(self, joints: Joints) -> Rates:
        """How fast and how far the joints move."""
        derivative_filter = self.reading.derivative_filter
        margin = derivative_filter.half_width if derivative_filter else 0
        return surveyed(
            joints, self.blocks("finding the joint velocities"), margin, self.settings.slowest
        )
