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
from symgen.identification.model.drive_columns import Joints, MotionRanges, motion_ranges
from symgen.identification.model.equations import Equations
from symgen.identification.model.settings import Settings
from symgen.text import shown

MAX_REGRESSOR_ENTRIES: Final = 1 << 20
"""Entries of a regressor that are computed at a time: a few megabytes, which stay in the cache."""
MIN_CHUNK_ROWS: Final = 64
"""The smallest number of rows that are computed at a time."""


def block_factors(
    equations: Equations, samples: Samples, parts: int = 1, equations_per_mean: int = 1
) -> Batches:
    """The factors of each of `parts` consecutive parts, of the same length, of a block of samples.
    They are those of the equations of all channels and, if `equations_per_mean` is more than 1,
    also those of the means of so many equations of each channel."""
    size = -(-max(len(samples), 1) // parts)
    results = (
        combined(
            _chunk_factors(equations, samples.part(slice(start, start + size)), equations_per_mean)
        )
        for start in range(0, len(samples), size)
    )
    return tuple(filter(None, results))


def _chunk_factors(
    equations: Equations, samples: Samples, equations_per_mean: int
) -> Iterator[TriangularFactors]:
    width = max(len(columns) for columns in equations.supports) * len(equations.supports)
    size = max(1 << (MAX_REGRESSOR_ENTRIES // width).bit_length() - 1, MIN_CHUNK_ROWS)
    for start in range(0, len(samples), size):
        linear = equations.equations(samples.part(slice(start, start + size)))
        kinds = [linear, linear.means(equations_per_mean)] if equations_per_mean > 1 else [linear]
        reductions = [factored(x.regressor, x.measured, equations.supports, x.used) for x in kinds]
        yield TriangularFactors(
            tuple(n for reduction in reductions for n in reduction.rows),
            tuple(r for reduction in reductions for r in reduction.factors),
        )


Progress = Callable[[str], None]

BATCHES: Final = 32
"""Parts of a log whose factors are kept, for robust standard errors and cross-validation."""
MIN_EQUATIONS_PER_UNKNOWN: Final = 2
"""The smallest number of means of each channel for each unknown, if means are fitted."""
MAX_KEPT_ENTRIES: Final = 1 << 24
"""Numbers of samples that stay in memory between passes (128 MB)."""
PLOTTED_BLOCKS: Final = 5
"""Blocks at the end of a log that are kept for pictures."""


@dataclass
class LogReducer:
    """Reduces the samples of a log, pass by pass. Samples stay in memory between passes if there
    are few enough; `last_blocks` keeps the last blocks."""

    dataset: LogDataset
    settings: Settings
    progress: Progress
    last_blocks: deque[Samples] = field(default_factory=lambda: deque(maxlen=PLOTTED_BLOCKS))
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
        plan, drives = self.dataset.plan, equations.drives
        self.presliding = drives.presliding if drives else None
        blocks, channels = len(plan.training), len(equations.supports)
        equations_per_mean, parts = (
            self.equations_per_mean(equations),
            -(-self.batches // max(len(plan.training), 1)),
        )
        samples = self.blocks(stage)
        training = (
            block_factors(equations, s, parts, equations_per_mean) for s in islice(samples, blocks)
        )
        flat = (part for block in training for part in block)
        training_batches = gathered(flat, -(-blocks * parts // self.batches))
        held_out = combined(f for s in samples for f in block_factors(held_out_equations, s, parts))
        if not training_batches:
            raise LogError(shown(self.dataset.log.file), "the log has no rows for the estimate")
        of_channels, means = slice(channels), slice(channels if equations_per_mean > 1 else 0, None)
        return FactoredEquations(
            tuple(batch.channels(means) for batch in training_batches),
            combined(batch.channels(of_channels) for batch in training_batches),
            held_out,
        )

    def equations_per_mean(self, equations: Equations) -> int:
        """The number of consecutive equations of which the fit takes the mean: a quarter of the
        length of the derivative filter. Such a mean passes half of the power at the cut-off
        frequency, as the filter does."""
        plan = self.dataset.plan
        unknowns = max(map(len, equations.supports))
        rows = sum(b - a - 2 * plan.half_width for a, b in plan.training)
        return max(1, min(plan.half_width // 2, rows // (MIN_EQUATIONS_PER_UNKNOWN * unknowns)))

    def blocks(self, stage: str) -> Iterator[Samples]:
        """The samples of all blocks, in a new pass; the last blocks are kept. Raises LogError."""
        self.last_blocks.clear()
        title = f"pass {next(self.passes)} over the log, {stage}"
        blocks = self._samples(lambda step: self.progress(f"{title}: {step}"))
        for samples in blocks if self.presliding is None else self.presliding.attached(blocks):
            self.last_blocks.append(samples)
            yield samples

    def _samples(self, progress: Progress) -> Iterator[Samples]:
        """The samples of all blocks, from memory where they were kept."""
        if self.kept:
            rows = self.dataset.survey.usable
            progress(f"row {rows} of {rows}")
            yield from self.kept
            return
        kept, entries = list[Samples](), 0
        for samples in self.dataset.blocks(progress):
            entries += sum(x.size for x in (samples.q, samples.qd, samples.qdd, samples.measured))
            if entries <= MAX_KEPT_ENTRIES:
                kept.append(samples)
            yield samples
        if entries <= MAX_KEPT_ENTRIES:
            self.kept = tuple(kept)

    def ranges(self, joints: Joints) -> MotionRanges:
        """How fast and how far the joints move."""
        derivative_filter = self.dataset.derivative_filter
        margin = derivative_filter.half_width if derivative_filter else 0
        return motion_ranges(
            joints, self.blocks("finding the joint velocities"), margin, self.settings.slowest
        )
