"""Logs: files of columns that are read in pieces, whatever their length.

Each format is a row of FORMATS. Columns are numbers by name; a two-dimensional array of an NPZ file
counts as the columns ``NAME[0]``, ``NAME[1]``, ..."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.advice import install
from symgen.errors import SymgenError
from symgen.text import hint, reason, shown, unread

Numbers = NDArray[np.float64]

CHUNK: Final = 1 << 16
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

    def place(self, row: int) -> str:
        """Where a row (from 0) is, for people: file and line or row."""


def open_log(path: str) -> Log:
    """The log in a file, its format told by its name. Raises LogError."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS and not os.path.isdir(path):
        raise LogError(
            shown(path),
            f"the log has an unknown format; give a file that ends in {', '.join(FORMATS)} or "
            "the folder of a ROS bag",
        )
    try:
        log = _bag(path) if os.path.isdir(path) else FORMATS[suffix](path)
    except (OSError, ValueError, EOFError) as error:
        raise LogError(shown(path), unread(path, error)) from None
    twice = next((name for name, count in Counter(log.names).items() if count > 1), None)
    if twice is not None:
        raise LogError(shown(path), f"the log has two columns called '{shown(twice)}'; rename one")
    return log


def check_columns(log: Log, wanted: Sequence[str], remark: str = "") -> None:
    """Raises LogError for the first wanted column that the log does not have."""
    missing = [name for name in wanted if name not in log.names]
    if missing:
        odd = getattr(log, "unread", {}).get(missing[0])
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


def pyarrow_part(part: str) -> Any:
    """A part of pyarrow. Raises SymgenError where it is not installed."""
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{part}")
    except ImportError:
        raise SymgenError(
            "error: reading text and Parquet logs needs PyArrow; install it: " + install("pyarrow")
        ) from None


TIME_UNITS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "D": 86400.0}
"""Seconds in the units of dates and durations of Parquet."""


def table(batch: Any) -> Numbers:
    """A record batch as rows of floats, NaN where there is nothing."""
    columns = [_floats(column.to_numpy(zero_copy_only=False)) for column in batch.columns]
    return np.stack(columns, axis=1) if columns else np.zeros((batch.num_rows, 0))


def _floats(column: NDArray[Any]) -> Numbers:
    """Numbers as they are; dates (since 1970) and durations, which have a unit of their own, in
    seconds."""
    if column.dtype.kind not in "mM":
        return column.astype(np.float64, copy=False)
    unit, count = np.datetime_data(column.dtype)
    seconds = column.astype(np.int64) * (float(count) * TIME_UNITS[unit])
    return np.where(np.isnat(column), np.nan, seconds)


@dataclass(frozen=True)
class ParquetLog:
    """A Parquet file, read row group by row group."""

    file: str
    names: tuple[str, ...]
    rows: int
    unread: Mapping[str, str] = field(default_factory=dict)
    """Columns of logical values, each with its type: as numbers they would be 0 and 1."""

    @classmethod
    def of(cls, path: str) -> "ParquetLog":
        """Of a file, of which only the description is read."""
        with pyarrow_part("parquet").ParquetFile(path) as stored:
            columns, rows = list(stored.schema_arrow), stored.metadata.num_rows
        unread = {c.name: "of type bool" for c in columns if str(c.type) == "bool"}
        return cls(path, tuple(c.name for c in columns if c.name not in unread), rows, unread)

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns. Raises LogError where a column does not hold numbers."""
        try:
            with pyarrow_part("parquet").ParquetFile(self.file, pre_buffer=False) as stored:
                for group in range(stored.num_row_groups):
                    for batch in stored.read_row_group(group, list(names)).to_batches(CHUNK):
                        yield table(batch.select(list(names)))
        except (ValueError, TypeError, OSError) as error:
            raise LogError(
                shown(self.file), f"cannot be read ({shown(reason(error), 200)})"
            ) from None

    def place(self, row: int) -> str:
        """File and row, from 1."""
        return f"{shown(self.file)}: row {row + 1}"


def _npz(path: str) -> Log:
    from symgen.identification.npz import NpzLog

    return NpzLog.of(path)


def _text(path: str) -> Log:
    from symgen.identification.textlog import TextLog

    return TextLog.of(path)


def _bag(path: str) -> Log:
    from symgen.identification.rosbag import BagLog

    return BagLog.of(path)


FORMATS: Final[dict[str, Callable[[str], Log]]] = {
    ".csv": _text,
    ".tsv": _text,
    ".txt": _text,
    ".dat": _text,
    ".npz": _npz,
    ".parquet": ParquetLog.of,
    ".db3": _bag,
    ".mcap": _bag,
    ".bag": _bag,
}
"""How to open a log, by the end of its name."""
