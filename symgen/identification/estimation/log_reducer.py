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
    FactorTree,
    TriangularFactors,
    combined,
    factored,
    gathered,
)
from symgen.identification.model.drive_columns import Joints, MotionRanges, motion_ranges
from symgen.identification.model.equations import Equations, LinearEquations
from symgen.identification.model.settings import Settings
from symgen.text import shown

MAX_REGRESSOR_ENTRIES: Final = 1 << 20
"""Entries of a regressor that are computed at a time: a few megabytes, which stay in the cache."""
MIN_CHUNK_ROWS: Final = 64
"""The smallest number of rows that are computed at a time."""


@dataclass(frozen=True)
class Windows:
    """A block of so many `rows` is evaluated in windows of `window` rows, which stay in the cache,
    and reduced in cuts of `cut` rows, of which a part of the block has one or more. If friction
    jumps with a sign, which is judged by the rows around, windows are cuts."""

    rows: int
    part: int
    cut: int
    window: int

    @classmethod
    def of(cls, equations: Equations, rows: int, parts: int) -> "Windows":
        """Of a block of which there are `parts` of the same length."""
        width = max(len(columns) for columns in equations.supports) * len(equations.supports)
        most = max(1 << (MAX_REGRESSOR_ENTRIES // width).bit_length() - 1, MIN_CHUNK_ROWS)
        part = -(-max(rows, 1) // parts)
        cut = min(part, most)
        jumps = equations.drives is not None and equations.drives.jumps
        return cls(rows, part, cut, cut if jumps else most // cut * cut)

    @property
    def cuts_per_part(self) -> int:
        """How many cuts make up a part."""
        return -(-self.part // self.cut)

    def equations(self, equations: Equations, samples: Samples) -> Iterator[LinearEquations]:
        """Those of each window."""
        for first in range(0, self.rows, max(self.part, self.window)):
            inside = samples.part(slice(first, first + max(self.part, self.window)))
            for start in range(0, len(inside), self.window):
                yield equations.equations(inside.part(slice(start, start + self.window)))


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
        plan, drives, supports = self.dataset.plan, equations.drives, equations.supports
        self.presliding = drives.presliding if drives else None
        blocks, rows, held_out = len(plan.training), FactorTree(), FactorTree()
        parts = -(-self.batches // max(blocks, 1))
        per_mean = self.equations_per_mean(equations)

        def of(linear: LinearEquations) -> TriangularFactors:
            return factored(linear.regressor, linear.measured, supports, linear.used)

        def cuts(block: Samples, windows: Windows) -> Iterator[TriangularFactors]:
            for linear in windows.equations(equations, block):
                if per_mean > 1:
                    rows.add(of(linear))
                for start in range(0, len(linear.measured), windows.cut):
                    cut = linear.part(slice(start, start + windows.cut))
                    yield of(cut.means(per_mean))

        def parts_of(block: Samples) -> Batches:
            windows = Windows.of(equations, len(block), parts)
            return gathered(cuts(block, windows), windows.cuts_per_part)

        samples = self.blocks(stage)
        of_parts = (part for block in islice(samples, blocks) for part in parts_of(block))
        training = gathered(of_parts, -(-blocks * parts // self.batches))
        for block in samples:
            windows = Windows.of(held_out_equations, len(block), parts)
            for linear in windows.equations(held_out_equations, block):
                held_out.add(of(linear))
        if not training:
            raise LogError(shown(self.dataset.log.file), "the log has no rows for the estimate")
        of_rows = rows.total if per_mean > 1 else combined(training)
        return FactoredEquations(training, of_rows, held_out.total)

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
