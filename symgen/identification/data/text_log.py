"""Text logs as recorders and spreadsheets write them: what stands between the cells, how decimals
are marked, and whether the first line has names, is told from the first lines."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from symgen.identification.data.log_file import LogError, batch_to_array, import_pyarrow
from symgen.numbers.scalar import Numbers
from symgen.text import reason, shown

NULL_TEXTS: Final = ("", "NaN", "nan", "-nan", "NA", "N/A", "null", "None", "-nan(ind)", "nan(ind)")
"""How recorders say that there is no number."""
HEAD_BYTES: Final = 1 << 16
"""Bytes from which the dialect is told."""
MAX_MALFORMED_LINES: Final = 10_000
"""Lines of a wrong length that are left out at most."""
_NUMBER: Final = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eEdD][-+]?\d+)?\s*")
_SPACES: Final = re.compile(rb"[ \t]+")


@dataclass(frozen=True)
class LogDialect:
    """The dialect of a text: what is between cells (a blank for any white space), the sign of
    decimals, names of columns (numbers from 1 where there are none), and the number of lines before
    the first row."""

    delimiter: str
    decimal: str
    names: tuple[str, ...]
    header_lines: int

    @classmethod
    def of(cls, path: str) -> "LogDialect":
        """Told from a file. Raises LogError where it does not begin with names or numbers."""
        with Path(path).open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise LogError(shown(path), "is in UTF-16; save it in UTF-8")
        lines = head.decode("utf-8-sig", "replace").split("\n")
        first = next(
            (k for k, line in enumerate(lines) if not _is_comment(line, lines[k + 1 :])), 0
        )
        text = [line.rstrip("\r") for line in lines[first:]]
        rows = [line for line in text[1:] if line.strip()]
        if not text or not text[0].strip():
            raise LogError(shown(path), "the first line has no column names")
        top = text[0].lstrip("#%").strip() if text[0][0] in "#%" else text[0].strip()
        delimiter = _delimiter(top, rows)
        names = _header_cells(path, top, delimiter)
        bare = all(_NUMBER.fullmatch(cell) or cell in NULL_TEXTS for cell in names)
        rows = [top, *rows] if bare else rows
        decimal = _decimal(delimiter, rows)
        if (
            rows
            and len(_split(rows[0], delimiter)) == len(names) + 1
            and rows[0].endswith(delimiter)
        ):
            names = (*names, "")
        if bare:
            names = tuple(str(k + 1) for k in range(len(names)))
        return cls(delimiter, decimal, names, first + (not bare))


def _is_comment(line: str, after: Sequence[str]) -> bool:
    """Whether a line is neither names nor numbers: empty, or a comment without numbers below it."""
    if not line.strip():
        return True
    return line[0] in "#%" and not (after and re.match(r"\s*[-+.\d]", after[0]))


def _delimiter(head: str, rows: Sequence[str]) -> str:
    """The delimiter that makes numbers of the first row; of several, the one that splits the names
    most."""
    present = [d for d in (";", "\t", "|", ",", " ") if d in head] or [","]
    numeric = [d for d in present if rows and all(map(_is_number, _split(rows[0], d)))]
    outside = re.sub(r'"[^"]*"', "", head)
    return max(numeric or present, key=lambda d: len(_split(outside, d)) - (d == " "))


def _decimal(delimiter: str, rows: Sequence[str]) -> str:
    """The sign of decimals: a comma where numbers have one, and none has a point."""
    cells = {cell.strip().strip('"') for row in rows for cell in _split(row, delimiter)}
    numbers = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    commas = delimiter != "," and any("," in cell for cell in numbers)
    return "," if commas and not any("." in cell for cell in numbers) else "."


def _is_number(cell: str) -> bool:
    return cell.strip() in NULL_TEXTS or _NUMBER.fullmatch(cell) is not None


def _split(line: str, delimiter: str) -> list[str]:
    return line.split() if delimiter == " " else line.split(delimiter)


def _header_cells(path: str, head: str, delimiter: str) -> tuple[str, ...]:
    try:
        cells = next(csv.reader([head], delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise LogError(
            shown(path), f"the first line has no column names ({shown(str(error), 100)})"
        ) from None
    return tuple(name.strip() for name in cells if name or delimiter != " ")


class _CollapsedWhitespace(io.RawIOBase):
    """A file whose runs of blanks are one tab each, and none at the ends of lines."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.left = stream, b""

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """About `size` bytes, in whole lines."""
        while piece := self.stream.read(max(size, 1 << 16)):
            lines, end, self.left = (self.left + piece).rpartition(b"\n")
            if end:
                return self._squeezed(lines + end)
        rest, self.left = self.left, b""
        return self._squeezed(rest)

    @staticmethod
    def _squeezed(text: bytes) -> bytes:
        lines = text.replace(b"\r", b"").split(b"\n")
        return b"\n".join(_SPACES.sub(b"\t", line.strip()) for line in lines)

    def close(self) -> None:
        """The file too."""
        self.stream.close()
        super().close()


@dataclass(frozen=True)
class TextLog:
    """Rows of numbers as text; a row is a line.

    Cells that hold no number are NaN. Lines with too few or too many cells are left out and counted
    in `malformed_lines`, by number. Bytes that are no UTF-8 count as characters of their own."""

    file: str
    dialect: LogDialect
    rows: int
    encoding: str
    malformed_lines: dict[int, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, path: str) -> "TextLog":
        """Of a file, whose lines are counted. Raises LogError."""
        dialect = LogDialect.of(path)
        lines, encoding = _count_lines(path)
        return cls(path, dialect, max(lines - dialect.header_lines, 0), encoding)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return self.dialect.names

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns. Raises LogError where the file cannot be read."""
        given = 0
        try:
            for rows in self._batches(names, "float64"):
                given += len(rows)
                yield rows
        except ValueError as error:
            if "conversion error" not in str(error):
                raise LogError(shown(self.file), shown(reason(error), 200)) from None
        else:
            return
        for rows in self._batches(names, "binary"):
            yield rows[given:]
            given = max(given - len(rows), 0)

    def _batches(self, names: Sequence[str], kind: str) -> Iterator[Numbers]:
        arrow, types = import_pyarrow("csv"), dict.fromkeys({*self.names} & {*names}, kind)
        spaced = self.dialect.delimiter == " "
        read = arrow.ReadOptions(
            block_size=1 << 21,
            column_names=list(self.names),
            skip_rows=self.dialect.header_lines,
            use_threads=False,
            encoding=self.encoding,
        )
        convert = arrow.ConvertOptions(
            column_types=types,
            include_columns=list(names),
            decimal_point=self.dialect.decimal,
            null_values=list(NULL_TEXTS),
        )
        parse = arrow.ParseOptions(
            delimiter="\t" if spaced else self.dialect.delimiter,
            ignore_empty_lines=False,
            invalid_row_handler=self._skip_row,
        )
        source = _CollapsedWhitespace(Path(self.file).open("rb")) if spaced else self.file  # noqa: SIM115
        with arrow.open_csv(source, read, parse, convert) as batches:
            for batch in batches:
                yield batch_to_array(batch) if kind == "float64" else self._texts_to_array(batch)

    def _skip_row(self, row: Any) -> str:
        """The reason to leave out a line of another length."""
        if row.number in self.malformed_lines or len(self.malformed_lines) < MAX_MALFORMED_LINES:
            self.malformed_lines[row.number or 0] = (
                f"{row.actual_columns} values instead of {row.expected_columns}"
            )
            return "skip"
        return "error"

    def _texts_to_array(self, batch: Any) -> Numbers:
        """A record batch of texts as rows of floats, NaN where a text is no number."""
        texts = (column.to_pylist() for column in batch.columns)
        return np.array([[self._number(text) for text in column] for column in texts]).T.reshape(
            batch.num_rows, -1
        )

    def _number(self, cell: bytes | None) -> float:
        text = (cell or b"nan").decode("utf-8", "replace")
        try:
            return float(text.replace(self.dialect.decimal, "."))
        except ValueError:
            return float("nan")

    def location(self, row: int) -> str:
        """File and line."""
        line = row + 1 + self.dialect.header_lines
        for torn in sorted(self.malformed_lines):
            line += torn <= line
        return f"{shown(self.file)}:{line}"


def _count_lines(path: str) -> tuple[int, str]:
    """The number of lines, the last with or without its end, and how to read the bytes."""
    count, last, encoding = 0, b"\n", "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8")()
    with Path(path).open("rb") as stream:
        while piece := stream.read(1 << 20):
            count += piece.count(b"\n")
            last = piece[-1:]
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                encoding = "latin-1"
    return count + (last != b"\n"), encoding
