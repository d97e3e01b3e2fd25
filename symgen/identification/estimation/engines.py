"""Who reduces the blocks of a log: this process, or workers of Dask. The result is the same."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from symgen.advice import install
from symgen.errors import SymgenError
from symgen.identification.data.samples import Samples
from symgen.identification.estimation.triangular_factors import (
    Batches,
    TriangularFactors,
    combined,
    reduced,
)
from symgen.identification.model.equations import Equations
from symgen.identification.model.settings import Settings

ENTRIES: Final = 1 << 20
"""Entries of a regressor that are computed at a time: a few megabytes, which stay in the cache."""

IN_FLIGHT: Final = 3
"""Blocks that each thread of Dask has at a time, so that memory stays what it is."""

PATIENCE: Final = 60
"""Seconds that a scheduler may take to answer."""


def factors(
    equations: Equations, samples: Samples, interval: int, parts: int = 1, mean: int = 1
) -> Batches:
    """The factors of a block of samples, cut into so many consecutive parts of the same length: of
    all channels and, where `mean` is more than 1, of the same channels' means of so many
    equations."""
    unit, overlap = interval or 1, bool(interval)
    size = -(-max(len(samples) - overlap, unit) // (parts * unit)) * unit
    results = []
    for start in range(0, len(samples) - overlap, size):
        piece = samples.part(slice(start, start + size + overlap))
        part = combined(_parts(equations, piece, interval, mean))
        if part is not None:
            results.append(part)
    return tuple(results)


def _parts(
    equations: Equations, samples: Samples, interval: int, mean: int
) -> Iterator[TriangularFactors]:
    width = max(len(columns) for columns in equations.supports) * len(equations.supports)
    size = 1 << max(int(ENTRIES // width).bit_length() - 1, 6)
    unit, overlap = interval or 1, bool(interval)
    size = max(size // unit, 1) * unit
    for start in range(0, len(samples) - overlap, size):
        linear = equations.equations(samples.part(slice(start, start + size + overlap)))
        kinds = [linear, linear.means(mean)] if mean > 1 else [linear]
        reductions = [reduced(x.regressor, x.measured, equations.supports, x.used) for x in kinds]
        yield TriangularFactors(
            tuple(n for reduction in reductions for n in reduction.rows),
            tuple(r for reduction in reductions for r in reduction.factors),
        )


@dataclass(frozen=True)
class Work:
    """The work on each block: `equations` over intervals of so many samples (0: none), its factors
    in so many `parts`, beside those of means of `mean` equations where it is more than 1."""

    equations: Equations
    interval: int
    parts: int = 1
    mean: int = 1

    def __call__(self, samples: Samples) -> Batches:
        """The factors of a block."""
        return factors(self.equations, samples, self.interval, self.parts, self.mean)


def run(work: Work, blocks: Iterable[Samples], settings: Settings) -> Iterator[Batches]:
    """The factors of each block, in order. Raises SymgenError."""
    yield from _on_dask(work, blocks, settings.scheduler) if settings.dask else map(work, blocks)


def _on_dask(work: Work, blocks: Iterable[Samples], scheduler: str | None) -> Iterator[Batches]:
    with ExitStack() as stack:
        client = _client(stack, scheduler)
        threads = sum(client.nthreads().values())
        if not threads:
            raise SymgenError(
                f"error: the Dask scheduler {scheduler} has no workers; start one with dask worker"
            )
        shared = client.scatter(work, broadcast=True, hash=False)
        waiting: deque[Any] = deque()
        for samples in blocks:
            waiting.append(client.submit(_worked, shared, samples, pure=False))
            if len(waiting) >= IN_FLIGHT * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _worked(work: Work, samples: Samples) -> Batches:
    """In a worker."""
    return work(samples)


def _client(stack: ExitStack, scheduler: str | None) -> Any:
    """A client of a scheduler, or of workers of our own that are threads of this process."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        text = f"error: --engine dask needs Dask; install it: {install('distributed')}"
        raise SymgenError(text) from None
    if scheduler is None:
        scheduler = stack.enter_context(
            distributed.LocalCluster(processes=False, n_workers=1, dashboard_address=None)
        )
    try:
        return stack.enter_context(
            distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        )
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise SymgenError(
            f"error: --scheduler {scheduler}: cannot be reached ({reason[:200]})"
        ) from None
