"""Logs of robots that do not exist, and what can be wrong with a log: its columns, its numbers, its
container."""

import io
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, Final

import numpy as np

from fuzz import byte_mutations
from fuzz.child import apart
from fuzz.draw import ODD_NUMBERS, name
from fuzz.robots import ROOT

Columns = dict[str, Any]
"""Name to an array of numbers, or to a list of texts."""
ROBOTS: Final = ("pendulum", "scara")


@cache
def _simulated(robot: str) -> Columns:
    from benchmarks.simulated_logs import Recipe, simulated
    from symgen.jobs.job import Job

    job = Job.of(str(ROOT / "robots" / f"{robot}.urdf"))
    return dict(simulated(job, job.load(), Recipe(duration=2.0, rate=100.0)))


def log(rng: Random) -> tuple[str, Columns]:
    """A robot's name and a sound log of it."""
    robot = rng.choice(ROBOTS)
    return robot, {key: np.array(column) for key, column in _simulated(robot).items()}


Mutation = Callable[[Random, Columns], None]
TABLES: Final[dict[str, Mutation]] = {}


def mutation(change: Mutation) -> Mutation:
    """Registers a change under its name in words."""
    TABLES[change.__name__.replace("_", " ")] = change
    return change


def _is_number(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "f" and len(column) > 0


def _column(rng: Random, columns: Columns) -> str:
    return rng.choice(list(columns) or [""])


@mutation
def missing(rng: Random, columns: Columns) -> None:
    columns.pop(_column(rng, columns), None)


@mutation
def no_derivatives(rng: Random, columns: Columns) -> None:
    for key in [k for k in columns if k.startswith(rng.choice(("qdd_", "qd")))]:
        del columns[key]


@mutation
def renamed(rng: Random, columns: Columns) -> None:
    key = _column(rng, columns)
    columns[rng.choice((name(rng, 0.8), key.upper(), f" {key}"))] = columns.pop(key, np.zeros(5))


@mutation
def odd_values(rng: Random, columns: Columns) -> None:
    column = columns.get(_column(rng, columns))
    if _is_number(column):
        value = rng.choice((np.nan, np.inf, -np.inf, 1e300, 1e-320, 0.0, 1e12, -1e155))
        at = rng.randrange(len(column))
        column[at : at + rng.choice((1, 1, 5, len(column)))] = value


@mutation
def constant(rng: Random, columns: Columns) -> None:
    for key in [k for k in columns if k.startswith(rng.choice(("q_", "qd_", "tau", "t")))]:
        columns[key] = np.full(len(columns[key]), rng.choice((0.0, 1.0, -2.5)))


@mutation
def other_size(rng: Random, columns: Columns) -> None:
    factor = rng.choice((57.3, 1000.0, 1e-3, -1.0, 1e100, 1e-200))
    key = _column(rng, columns)
    if _is_number(columns.get(key)):
        with np.errstate(all="ignore"):
            columns[key] = columns[key] * factor


@mutation
def other_times(rng: Random, columns: Columns) -> None:
    t = columns.get("t")
    if _is_number(t):
        with np.errstate(all="ignore"):
            kinds = (
                t[::-1].copy(),
                t * 0,
                t + 1.7e9,
                t * 1e-9,
                t * 1e150,
                np.sort(t + t[::-1]),
                t.round(1),
            )
        columns["t"] = rng.choice(kinds)[: len(t)]


@mutation
def few_rows(rng: Random, columns: Columns) -> None:
    rows = rng.choice((0, 1, 2, 3, 7, 20, 60))
    for key in columns:
        columns[key] = columns[key][:rows]


@mutation
def other_kind(rng: Random, columns: Columns) -> None:
    key = _column(rng, columns)
    column = columns.get(key)
    if _is_number(column):
        kinds = (
            "float32",
            "float16",
            "int64",
            "uint8",
            "bool",
            "U9",
            "complex128",
            "datetime64[s]",
        )
        with np.errstate(all="ignore"):
            columns[key] = (
                np.clip(np.nan_to_num(column), -1e9, 1e9).astype("int64").astype(rng.choice(kinds))
            )


@mutation
def words(rng: Random, columns: Columns) -> None:
    key = _column(rng, columns)
    if key in columns and len(columns[key]):
        column = [repr(float(np.real(x))) if np.isreal(x) else "x" for x in _floats(columns[key])]
        column[rng.randrange(len(column))] = rng.choice(ODD_NUMBERS)
        columns[key] = np.array(column)


def _floats(column: Any) -> Any:
    return column if column.dtype.kind in "fiub" else np.zeros(len(column))


@mutation
def ragged(rng: Random, columns: Columns) -> None:
    key = _column(rng, columns)
    if key in columns:
        columns[key] = columns[key][: len(columns[key]) // 2]


@mutation
def many(rng: Random, columns: Columns) -> None:
    length = len(next(iter(columns.values()), ()))
    for k in range(rng.choice((10, 300)) if length > 20 else 5000):
        columns[f"extra_{k}"] = np.zeros(length)


def csv(rng: Random, columns: Columns) -> bytes:
    """The columns as CSV, texts as they are; short columns end early."""
    sign, end = rng.choice((",", ",", ",", ";", "\t", ", ")), rng.choice(("\n", "\n", "\r\n"))
    rows = max((len(column) for column in columns.values()), default=0)
    cells = [[*map(_cell, c.tolist()), *[None] * (rows - len(c))] for c in columns.values()]
    lines = [
        sign.join(cell for cell in row if cell is not None) for row in zip(*cells, strict=True)
    ]
    return (end.join([sign.join(columns), *lines]) + end).encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def npz(rng: Random, columns: Columns) -> bytes:
    """The columns as NPZ, some of them of other shape."""
    arrays = {key.replace("\ud800", "?").replace("/", "_"): c for key, c in columns.items()}
    if arrays and rng.random() < 0.1:
        key = rng.choice(list(arrays))
        arrays[key] = rng.choice((np.array(1.0), np.zeros((3, 3)), np.array([None, {}], object)))
    stream = io.BytesIO()
    save: Any = rng.choice((np.savez, np.savez_compressed))
    save(stream, **{key or "_": c for key, c in arrays.items() if key != "file"})
    return stream.getvalue()


def parquet(rng: Random, columns: Columns) -> bytes:
    """The columns as Parquet, those as long as the first; made in a process of its own, since
    pyarrow starts threads, which a later fork would lack."""
    row_group, compression = rng.choice((7, 1000)), rng.choice(("snappy", "none", "zstd"))
    return apart(lambda: _parquet(columns, row_group, compression))


def _parquet(columns: Columns, row_group: int, compression: str) -> bytes:
    import pyarrow
    from pyarrow.parquet import write_table

    rows = len(next(iter(columns.values()), ()))
    kept = {
        key.encode("utf-8", "ignore").decode(): pyarrow.array(_arrow(c))
        for key, c in columns.items()
        if len(c) == rows
    }
    stream = io.BytesIO()
    write_table(pyarrow.table(kept), stream, row_group_size=row_group, compression=compression)
    return stream.getvalue()


def _arrow(column: Any) -> Any:
    return column.astype("U20").tolist() if column.dtype.kind in "cUM" else column


WRITERS: Final[dict[str, Callable[[Random, Columns], bytes]]] = {
    ".csv": csv,
    ".npz": npz,
    ".parquet": parquet,
}


def damaged(rng: Random, columns: Columns) -> tuple[str, bytes]:
    """A log's ending and its bytes, with something wrong with it, often."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        rng.choice(list(TABLES.values()))(rng, columns)
    suffix = rng.choice(list(WRITERS))
    data = WRITERS[suffix](rng, columns)
    return suffix, byte_mutations.mutated(rng, data) if rng.random() < 0.25 else data
