"""Logs: files of columns that are read in pieces, whatever their length.

Each format is a row of FORMATS. Columns are numbers by name; a two-dimensional array of an NPZ file
counts as the columns ``NAME[0]``, ``NAME[1]``, ..."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.errors import SymgenError
from symgen.numbers.scalar import Numbers
from symgen.text import hint, install, shown

CHUNK_ROWS: Final = 1 << 16
"""Rows read at a time, as far as the format lets us choose."""


class LogError(SymgenError):
    """A log that cannot be used: file, with the line or row where there is one, and what is
    wrong."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: error: {message}")


class Log(Protocol):
    """A file of columns."""

    @property
    def file(self) -> str:
        """As it was given."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""

    @property
    def rows(self) -> int:
        """How many there are; of a text, with its lines that are no rows."""

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns from the first to the last, N x len(names). Raises LogError."""

    def location(self, row: int) -> str:
        """Where a row (from 0) is, for people: file and line or row."""


MAX_ENTRIES_IN_MEMORY: Final = 1 << 24
"""The largest number of entries of a log that stay in memory (128 MB); a larger log is read again
for each pass."""


@dataclass(frozen=True)
class LogInMemory:
    """Columns of a log in memory, in the pieces (N x len(names)) in which they were read. `source`
    is the log that they were read from, None for a table of the caller."""

    file: str
    names: tuple[str, ...]
    rows: int
    loaded_names: tuple[str, ...]
    loaded_chunks: tuple[Numbers, ...]
    source: Log | None = None

    @property
    def malformed_lines(self) -> Mapping[int, str]:
        """The lines of the source that were left out, with the reason."""
        return getattr(self.source, "malformed_lines", {})

    @property
    def nonnumeric(self) -> Mapping[str, str]:
        """The columns of the source that do not hold real numbers, with their types."""
        return getattr(self.source, "nonnumeric", {})

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns from the first to the last."""
        places = [self.loaded_names.index(name) for name in names]
        for piece in self.loaded_chunks:
            yield piece[:, places]

    def location(self, row: int) -> str:
        """The file and the line or row."""
        return self.source.location(row) if self.source else f"{shown(self.file)}: row {row + 1}"


def in_memory(log: Log, names: tuple[str, ...]) -> Log:
    """The log with some columns in memory; the log itself if they are too large. Raises
    LogError."""
    if isinstance(log, LogInMemory) and {*names} <= {*log.loaded_names}:
        return log
    log = log.source or log if isinstance(log, LogInMemory) else log
    if log.rows * len(names) > MAX_ENTRIES_IN_MEMORY:
        return log
    return LogInMemory(log.file, log.names, log.rows, names, tuple(log.chunks(names)), log)


def check_columns(log: Log, wanted: Sequence[str], remark: str = "") -> None:
    """Raises LogError for the first wanted column that the log does not have."""
    missing = [name for name in wanted if name not in log.names]
    if missing:
        odd = getattr(log, "nonnumeric", {}).get(missing[0])
        if odd is not None:
            raise LogError(
                shown(log.file),
                f"'{shown(missing[0])}' is {shown(odd, 60)}, not a column of real numbers; save it "
                "as rows of float64",
            )
        others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        nearest = hint(missing[0], log.names, 8) if log.names else "the log has no columns"
        raise LogError(
            shown(log.file),
            f"the log has no column '{shown(missing[0])}'{others}; {remark}{nearest}",
        )


def import_pyarrow(module: str) -> Any:
    """A module of pyarrow. Raises SymgenError where it is not installed."""
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{module}")
    except ImportError:
        raise SymgenError(
            "error: reading text and Parquet logs needs PyArrow; install it: " + install("pyarrow")
        ) from None


TIME_UNITS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "D": 86400.0}
"""Seconds in the units of dates and durations of Parquet."""


def batch_to_array(batch: Any) -> Numbers:
    """A record batch as rows of floats, NaN where there is nothing."""
    columns = [time_in_seconds(column.to_numpy(zero_copy_only=False)) for column in batch.columns]
    return np.stack(columns, axis=1) if columns else np.zeros((batch.num_rows, 0))


def time_in_seconds(column: NDArray[Any]) -> Numbers:
    """Numbers as they are; dates (since 1970) and durations, which have a unit of their own, in
    seconds."""
    if column.dtype.kind not in "mM":
        return column.astype(np.float64, copy=False)
    unit, count = np.datetime_data(column.dtype)
    seconds = column.astype(np.int64) * (float(count) * TIME_UNITS[unit])
    return np.where(np.isnat(column), np.nan, seconds)
