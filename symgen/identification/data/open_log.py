"""Opens a log: the format is told by the end of the file's name; each is a row of FORMATS."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError, SymgenError
from symgen.identification.data.binary_logs import BagLog, NpzLog
from symgen.identification.data.log_file import (
    CHUNK_ROWS,
    Log,
    LogError,
    LogInMemory,
    batch_to_array,
    import_pyarrow,
    time_in_seconds,
)
from symgen.identification.data.text_log import TextLog
from symgen.numbers.scalar import Numbers
from symgen.text import install, reason, shown, unread


@dataclass(frozen=True)
class ParquetLog:
    """A Parquet file, read row group by row group; `filesystem` is that of PyArrow or fsspec, None
    for the files of this machine."""

    file: str
    names: tuple[str, ...]
    rows: int
    nonnumeric: Mapping[str, str] = field(default_factory=dict)
    """Columns of logical values, each with its type: as numbers they would be 0 and 1."""
    filesystem: Any = None

    @classmethod
    def of(cls, path: str, filesystem: Any = None) -> "ParquetLog":
        """Of a file, of which only the description is read."""
        with import_pyarrow("parquet").ParquetFile(path, filesystem=filesystem) as stored:
            columns, rows = list(stored.schema_arrow), stored.metadata.num_rows
        nonnumeric = {c.name: "of type bool" for c in columns if str(c.type) == "bool"}
        names = tuple(c.name for c in columns if c.name not in nonnumeric)
        return cls(path, names, rows, nonnumeric, filesystem)

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns. Raises LogError where a column does not hold numbers."""
        try:
            with import_pyarrow("parquet").ParquetFile(
                self.file, pre_buffer=False, filesystem=self.filesystem
            ) as stored:
                for group in range(stored.num_row_groups):
                    for batch in stored.read_row_group(group, list(names)).to_batches(CHUNK_ROWS):
                        yield batch_to_array(batch.select(list(names)))
        except (ValueError, TypeError, OSError) as error:
            raise LogError(
                shown(self.file), f"cannot be read ({shown(reason(error), 200)})"
            ) from None

    def location(self, row: int) -> str:
        """File and row, from 1."""
        return f"{shown(self.file)}: row {row + 1}"


FORMATS: Final[dict[str, Callable[[str], Log]]] = {
    ".csv": TextLog.of,
    ".tsv": TextLog.of,
    ".txt": TextLog.of,
    ".dat": TextLog.of,
    ".npz": NpzLog.of,
    ".parquet": ParquetLog.of,
    ".db3": BagLog.of,
    ".mcap": BagLog.of,
    ".bag": BagLog.of,
}
"""How to open a log, by the end of its name."""


LogSource = str | Log
"""The path of a log, or a log that is open."""


def read_log(source: Any) -> Log:
    """Open a log for `Robot.identify` and the other functions that take a log.

    Parameters
    ----------
    source
        The path of a text file, an NPZ or Parquet file or a ROS bag; or a table: a pandas or
        Polars data frame, or a mapping of names to arrays (N) or (N x k). The columns of a
        two-dimensional array are called ``NAME[0]``, ``NAME[1]``, ...

    Raises
    ------
    LogError
        If the file cannot be read, or the columns of a table are not numbers of one length.
    """
    if isinstance(source, (str, os.PathLike)):
        return open_log(os.fspath(source))
    if isinstance(source, Mapping):
        columns = dict(source.items())
    elif hasattr(source, "columns") and hasattr(source, "__getitem__"):
        columns = {str(name): source[name] for name in source.columns}
    else:
        raise LogError(
            TABLE_NAME, "is no log; give a path, a data frame or a mapping of names to arrays"
        )
    parts = dict[str, Numbers]()
    for name, values in columns.items():
        parts |= _table_columns(str(name), values)
    lengths = {len(column) for column in parts.values()}
    if len(lengths) > 1:
        raise LogError(TABLE_NAME, f"the columns have different lengths: {sorted(lengths)}")
    rows = np.stack(list(parts.values()), axis=1) if parts else np.zeros((0, 0))
    return LogInMemory(TABLE_NAME, tuple(parts), len(rows), tuple(parts), (rows,))


TABLE_NAME: Final = "the table"
"""What messages call a log that is no file."""


def _table_columns(name: str, values: Any) -> dict[str, Numbers]:
    """The columns of one entry of a table. Raises LogError."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.array([np.nan if x is None else x for x in array.ravel().tolist()], object)
    try:
        numbers = time_in_seconds(array) if array.dtype.kind in "mM" else array.astype(np.float64)
    except (TypeError, ValueError):
        raise LogError(TABLE_NAME, f"the column '{shown(name)}' does not hold numbers") from None
    if numbers.ndim == 1:
        return {name: numbers}
    if numbers.ndim != 2:
        raise LogError(TABLE_NAME, f"'{shown(name)}' has {numbers.ndim} axes; give one or two")
    return {f"{name}[{k}]": column for k, column in enumerate(numbers.T)}


def resolve_logs(
    source: LogSource | Sequence[LogSource], robots: Sequence[str] = ()
) -> tuple[tuple[LogSource, ...], tuple[str, ...]]:
    """The logs that are given, one or several of them, and the robot of each: its name in `robots`,
    one for each source, or "". A folder with Parquet files, or the URL of such a folder, is a data
    set whose files are the logs, in the order of their names. The logs of a robot are consecutive.
    Raises SymgenError."""
    given = source if isinstance(source, (list, tuple)) else (source,)
    names = [*robots] or [""] * len(given)
    if len(names) != len(given):
        raise OptionError(f"robots: {len(names)} names for {len(given)} logs; give one for each")
    known = [*dict.fromkeys(names)]
    pairs = [
        (log, name)
        for one, name in zip(given, names, strict=True)
        for log in _files_of_dataset(one)
    ]
    if not pairs:
        raise LogError("LOG", "no log is given")
    logs, of_robots = zip(*sorted(pairs, key=lambda pair: known.index(pair[1])), strict=True)
    return logs, of_robots


def _files_of_dataset(source: LogSource) -> Sequence[LogSource]:
    """The logs of a data set, or the log itself."""
    if not isinstance(source, str):
        return [source]
    is_url = "://" in source
    is_folder = os.path.isdir(source) and any(Path(source).glob("**/*.parquet"))
    if not (is_url or is_folder):
        return [source]
    if not is_url:
        return list(import_pyarrow("dataset").dataset(source, format="parquet").files)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise SymgenError(
            f"error: {shown(source)}: reading URLs needs fsspec; install it: {install('fsspec')}"
        ) from None
    try:
        filesystem, path = url_to_fs(source)
        dataset = import_pyarrow("dataset").dataset
        files = dataset(path, filesystem=filesystem, format="parquet").files
        return [ParquetLog.of(file, filesystem) for file in files]
    except (OSError, ValueError, ImportError) as error:
        raise LogError(shown(source), f"cannot be read ({shown(reason(error), 200)})") from None


def open_log(path: LogSource) -> Log:
    """The log in a file, its format told by its name, or a log that is open already. Raises
    LogError."""
    if not isinstance(path, str):
        return path
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS and not os.path.isdir(path):
        raise LogError(
            shown(path),
            f"the log has an unknown format; give a file that ends in {', '.join(FORMATS)} or "
            "the folder of a ROS bag",
        )
    try:
        log = BagLog.of(path) if os.path.isdir(path) else FORMATS[suffix](path)
    except (OSError, ValueError, EOFError) as error:
        raise LogError(shown(path), unread(path, error)) from None
    twice = next((name for name, count in Counter(log.names).items() if count > 1), None)
    if twice is not None:
        raise LogError(shown(path), f"the log has two columns called '{shown(twice)}'; rename one")
    return log
