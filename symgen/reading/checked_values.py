"""Values that users give, checked with errors in one sentence: numbers and vectors of Python, with
SymPy symbols where a robot may have them, and tables of TOML files.

`tomllib` knows no lines, so the one of a key is found by reading the file's beginnings with it: the
shortest that has the key ends with the key's statement. That holds for every spelling of a key and
costs nothing without an error."""

import math
import os
import re
import tomllib
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symgen.errors import OptionError, RobotError, SourceLocation
from symgen.mechanics.model_validation import MAX_NUMBER
from symgen.mechanics.spatial import Triple
from symgen.numbers.scalar import NamedNumber, named_or_float
from symgen.reading.xml_text import file_bytes
from symgen.text import hint, shown

Values = Sequence[Any]
"""Numbers, or SymPy expressions of symbols where it says so."""

ZEROS: Final = (0.0, 0.0, 0.0)


def as_number(label: str, x: Any, allow_symbols: bool = True) -> float:
    """A finite number, or a symbol's. Raises OptionError."""
    try:
        number = named_or_float(x) if not isinstance(x, (str, bytes, bool)) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number - number != 0:
        raise OptionError(f"{label} is {shown(repr(x), 60)}; give a finite number")
    if isinstance(number, NamedNumber) and not allow_symbols:
        raise OptionError(
            f"{label} contains the symbol {x}; only lengths, masses and inertia can be "
            "symbols, and gravity with the option gravity='runtime'"
        )
    return number


def as_list(label: str, values: Any) -> list[Any]:
    """The entries of a list. Raises OptionError for what is none."""
    try:
        return list(values)
    except TypeError:
        raise OptionError(f"{label} is {shown(repr(values), 60)}; give a list") from None


def as_vector3(label: str, values: Values, allow_symbols: bool = False) -> Triple:
    """Three of them. Raises OptionError."""
    try:
        x, y, z = values
    except (TypeError, ValueError):
        raise OptionError(f"{label} is {shown(repr(values), 60)}; give three numbers") from None
    return (
        as_number(label, x, allow_symbols),
        as_number(label, y, allow_symbols),
        as_number(label, z, allow_symbols),
    )


def inertia_tensor(name: str, inertia: Values | None) -> tuple[float, ...]:
    """The six of a tensor given so or as a matrix. Raises OptionError."""
    if inertia is None:
        return (0.0,) * 6
    label = f"link '{shown(name)}': inertia"
    rows = as_list(label, inertia)
    if len(rows) == 3:
        matrix = as_matrix(label, rows, f"{TENSOR_ENTRIES} or three rows", allow_symbols=True)
        if any(matrix[i][j] != matrix[j][i] for i in range(3) for j in range(i)):
            raise OptionError(f"{label} is not symmetric; give {TENSOR_ENTRIES}")
        return tuple(matrix[i][j] for i in range(3) for j in range(i, 3))
    if len(rows) != 6:
        raise OptionError(f"{label} has {len(rows)} numbers; give {TENSOR_ENTRIES}")
    return tuple(as_number(label, x) for x in rows)


TENSOR_ENTRIES: Final = "ixx, ixy, ixz, iyy, iyz, izz"


def as_matrix(
    label: str, rows: Sequence[Any], expected: str, allow_symbols: bool = False
) -> list[Triple]:
    """Rows of three. Raises OptionError where they are none."""
    try:
        matrix = [[*row] for row in rows if not isinstance(row, str)]
    except TypeError:
        matrix = []
    if len(matrix) != 3 or any(len(row) != 3 for row in matrix):
        raise OptionError(f"{label} is not a 3 x 3 matrix; give {expected}")
    return [as_vector3(label, row, allow_symbols) for row in matrix]


# -- TOML ------------------------------------------------------------------------------------------

MAX_BYTES: Final = 2**18

_TOKEN = re.compile(
    r'''#[^\n]*|"""(?>(?:[^"\\]|\\.|"(?!""))*)""""{0,2}|"(?>(?:[^"\\\n]|\\.)*)"'''
    r"""|'''(?>(?:[^']|'(?!''))*)''''{0,2}|'[^'\n]*+'|[][{}\n]""",
    re.DOTALL,
)
"""What a file of TOML is cut at: comments and strings of four kinds as wholes, brackets, ends of
lines."""

_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file: its entries, and where it stands (`path`, the keys that lead to it)."""

    file: str
    source: str
    data: Mapping[str, Any]
    path: tuple[str | int, ...] = ()

    def place(self, key: str | None = None) -> SourceLocation:
        """Where a key of this table is given; without one, where the table itself is."""
        return SourceLocation(
            self.file, _line(self.source, (*self.path, key) if key is not None else self.path)
        )

    def error(self, key: str | None, message: str) -> RobotError:
        """An error at a key of this table, to be raised by the caller."""
        keys = (*self.path, key) if key is not None else self.path
        steps = (str(k + 1) if isinstance(k, int) else shown(k) for k in keys)  # tables from 1
        return RobotError(self.place(key), ".".join(steps) or "file", message)

    def check_keys(self, known: Collection[str], kind: str = "key") -> None:
        """Raises RobotError for the first key that is not among `known`."""
        for key in (key for key in self.data if key not in known):
            raise self.error(key, f"no {kind} is called '{shown(key)}'; {hint(key, known, 30)}")

    def table(self, key: str) -> "Table":
        """The table under a key, empty where there is none."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"is {described_type(value)} where a table is needed")
        return Table(self.file, self.source, value, (*self.path, key))

    def rows(self, key: str) -> "list[Table]":
        """The tables of a list of tables, none where there is none."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise self.error(
                key, f"is {described_type(value)} where a list of tables is needed: [[{key}]]"
            )
        paths = ((*self.path, key, k) for k in range(len(value)))
        return [
            Table(self.file, self.source, row, path) for row, path in zip(value, paths, strict=True)
        ]

    def number(self, key: str, minimum: float = -MAX_NUMBER) -> float | None:
        """A finite number of at least `minimum`, None where there is none."""
        if key not in self.data:
            return None
        return self._at_least(key, self.data[key], minimum)

    def numbers(self, key: str, minimum: float = -MAX_NUMBER) -> list[float]:
        """The finite numbers of a list, each at least `minimum`. Raises RobotError."""
        values = self.data[key]
        if not isinstance(values, list):
            raise self.error(
                key, f"is {described_type(values)} where a list of numbers is needed, as in [1, 2]"
            )
        return [self._at_least(key, value, minimum) for value in values]

    def _at_least(self, key: str, value: object, minimum: float) -> float:
        number = self._number(key, value)
        if number < minimum:
            raise self.error(key, f"is {number:g}; give {minimum:g} or more")
        return number

    def triple(self, key: str) -> Triple | None:
        """Three finite numbers, None where there are none."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 3:
            raise self.error(
                key, f"is {described_type(value)} where three numbers are needed, as in [0, 0, 1]"
            )
        x, y, z = (self._number(key, entry) for entry in value)
        return x, y, z

    def _number(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(key, f"is {described_type(value)} where a number is needed")
        if not abs(value) <= MAX_NUMBER:  # which no NaN is
            raise self.error(
                key, f"is {described_type(value)}; give a finite number in m, kg and rad"
            )
        return float(value) + 0.0  # -0 becomes 0


TYPE_NAMES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "a boolean"),
    (str, "a text"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "a table"),
    (type(None), "null"),
)


def described_type(value: object) -> str:
    """A value's type in words, for a message."""
    kind = next((name for type_, name in TYPE_NAMES if isinstance(value, type_)), "a date or time")
    plain = isinstance(value, (list, dict, type(None)))
    return kind if plain else f"{kind} ({shown(str(value), 40)})"


def read_toml(path: str | os.PathLike[str], kind: str) -> tuple[Table, bytes]:
    """The file's root table and its bytes. Raises RobotError where it is not TOML; `kind` says what
    to give."""
    data = file_bytes(path, MAX_BYTES, kind)
    return parse_toml(data, shown(os.fspath(path))), data


def parse_toml(data: bytes, file: str) -> Table:
    """The root table of TOML bytes. Raises RobotError."""
    try:
        source = data.decode("utf-8-sig").replace("\r\n", "\n")
        return Table(file, source, tomllib.loads(source))
    except UnicodeDecodeError as error:
        line, fault = data.count(b"\n", 0, error.start) + 1, "bytes that are not UTF-8 text"
        advice = "save the file as UTF-8"
    except (ValueError, RecursionError) as error:
        where = _AT_LINE.search(str(error))
        end = source.count("\n") + (not source.endswith("\n"))
        line = int(where[1]) if where and where[1] else max(end, 1)
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else shown(_AT_LINE.sub("", str(error)))
        fault, advice = f"not well-formed: {reason}", "correct it"
    raise RobotError(SourceLocation(file, line), "TOML", f"{fault}; {advice}")


def _line(source: str, path: tuple[str | int, ...]) -> int:
    """The first line of the statement that gives the key at `path`; blank lines and comments count
    as statements."""
    ends, depth = [], 0
    for token in _TOKEN.finditer(source):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "\n" and not depth:
            ends.append(token.end())
    ends.append(len(source))
    statement = bisect_left(ends, True, key=lambda end: _contains(source[:end], path))
    return source.count("\n", 0, ends[statement - 1] if statement else 0) + 1


def _contains(source: str, path: tuple[str | int, ...]) -> bool:
    """Whether the beginning of a file has a key."""
    try:
        data: Any = tomllib.loads(source)
    except ValueError:
        return False
    for key in path:
        keys = data if isinstance(data, dict) else range(len(data) if isinstance(data, list) else 0)
        if key not in keys:
            return False
        data = data[key]
    return True
