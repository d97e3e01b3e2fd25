"""Logs: files of columns that are read in pieces, whatever their length.

Each format is a row of FORMATS. Columns are numbers by name; a two-dimensional array of an NPZ file
counts as the columns ``NAME[0]``, ``NAME[1]``, ..."""

import csv
import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.errors import SymgenError
from symgen.text import quoted, shown

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
        """How many there are."""

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns from the first to the last, N x len(names). Raises LogError."""

    def place(self, row: int) -> str:
        """Where a row (from 0) is, for people: file and line or row."""


def open_log(path: str) -> Log:
    """The log in a file, its format told by its name. Raises LogError."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise LogError(shown(path), f"a log ends in {', '.join(FORMATS)}")
    try:
        log = FORMATS[suffix](path)
    except (OSError, ValueError, EOFError) as error:
        raise LogError(shown(path), f"cannot be read ({shown(_reason(error), 200)})") from None
    twice = next((name for name, count in Counter(log.names).items() if count > 1), None)
    if twice is not None:
        raise LogError(shown(path), f"has two columns called '{shown(twice)}'")
    return log


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.split())


def check_columns(log: Log, wanted: Sequence[str], hint: str = "") -> None:
    """Raises LogError for the first wanted column that the log does not have."""
    missing = [name for name in wanted if name not in log.names]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        near = difflib.get_close_matches(missing[0], log.names, 3, 0.6)
        there = (
            f"near names: {quoted(near)}"
            if near
            else f"it has {quoted(log.names, 8) or 'no columns'}"
        )
        raise LogError(shown(log.file), f"has no column '{shown(missing[0])}'{more}; {hint}{there}")


def _pyarrow(part: str) -> Any:
    """A part of pyarrow. Raises SymgenError where it is not installed."""
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{part}")
    except ImportError:
        raise SymgenError(
            "error: CSV and Parquet logs need pyarrow; pip install 'symgen[identify]'"
        ) from None


@dataclass(frozen=True)
class CsvLog:
    """Comma-separated numbers under a line of names; a row is a line."""

    file: str
    names: tuple[str, ...]
    rows: int

    @classmethod
    def of(cls, path: str) -> "CsvLog":
        """Of a file, whose lines are counted."""
        with Path(path).open("rb") as stream:
            head = stream.readline().decode("utf-8-sig", "replace").strip()
        if not head:
            raise LogError(shown(path), "does not begin with a line of column names")
        try:
            names = tuple(name.strip() for name in next(csv.reader([head], skipinitialspace=True)))
        except csv.Error as error:
            raise LogError(
                shown(path),
                f"does not begin with a line of column names ({shown(str(error), 100)})",
            ) from None
        return cls(path, names, max(_lines(path) - 1, 0))

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns. Raises LogError where a line is no row of numbers."""
        arrow, types = _pyarrow("csv"), dict.fromkeys({*self.names} & {*names}, "float64")
        read = arrow.ReadOptions(
            block_size=1 << 21, column_names=list(self.names), skip_rows=1, use_threads=False
        )
        convert = arrow.ConvertOptions(column_types=types, include_columns=list(names))
        parse = arrow.ParseOptions(ignore_empty_lines=False)
        try:
            with arrow.open_csv(self.file, read, parse, convert) as batches:
                for batch in batches:
                    yield _table(batch)
        except ValueError as error:
            raise _csv_error(self, _reason(error)) from None

    def place(self, row: int) -> str:
        """File and line."""
        return f"{shown(self.file)}:{row + 2}"


def _csv_error(log: CsvLog, reason: str) -> LogError:
    """What pyarrow says of a line, in our words."""
    line = re.search(r"Row #(\d+)", reason)
    place = f"{shown(log.file)}:{line[1]}" if line else shown(log.file)
    cell = re.search(r"In CSV column #(\d+): .*invalid value '(.*)'", reason)
    length = re.search(r"Expected (\d+) columns, got (\d+)", reason)
    if cell:
        return LogError(
            place,
            f"column '{shown(log.names[int(cell[1])])}' holds '{shown(cell[2], 40)}', which is no "
            "number",
        )
    if length:
        return LogError(
            place, f"{length[2]} values in a line where the first line has {length[1]} names"
        )
    return LogError(place, shown(reason, 200))


def _lines(path: str) -> int:
    """The number of lines, the last with or without its end."""
    count, last = 0, b"\n"
    with Path(path).open("rb") as stream:
        while piece := stream.read(1 << 20):
            count += piece.count(b"\n")
            last = piece[-1:]
    return count + (last != b"\n")


def _table(batch: Any) -> Numbers:
    """A record batch as rows of floats, NaN where there is nothing."""
    columns = [
        column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        for column in batch.columns
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((batch.num_rows, 0))


@dataclass(frozen=True)
class ParquetLog:
    """A Parquet file, read row group by row group."""

    file: str
    names: tuple[str, ...]
    rows: int

    @classmethod
    def of(cls, path: str) -> "ParquetLog":
        """Of a file, of which only the description is read."""
        with _pyarrow("parquet").ParquetFile(path) as stored:
            return cls(path, tuple(stored.schema_arrow.names), stored.metadata.num_rows)

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns. Raises LogError where a column does not hold numbers."""
        try:
            with _pyarrow("parquet").ParquetFile(self.file, pre_buffer=False) as stored:
                for group in range(stored.num_row_groups):
                    for batch in stored.read_row_group(group, list(names)).to_batches(CHUNK):
                        yield _table(batch.select(list(names)))
        except (ValueError, TypeError, OSError) as error:
            raise LogError(
                shown(self.file), f"cannot be read ({shown(_reason(error), 200)})"
            ) from None

    def place(self, row: int) -> str:
        """File and row, from 1."""
        return f"{shown(self.file)}: row {row + 1}"


def _npz(path: str) -> Log:
    from symgen.identification.npz import NpzLog

    return NpzLog.of(path)


FORMATS: Final[dict[str, Callable[[str], Log]]] = {
    ".csv": CsvLog.of,
    ".npz": _npz,
    ".parquet": ParquetLog.of,
}
"""How to open a log, by the end of its name."""
