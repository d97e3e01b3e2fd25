"""A motion for the viewer, read from a table as `symgen excite` writes it."""

import csv
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.mechanics.coupling import positions
from symgen.mechanics.model import Model
from symgen.text import quoted, shown

MAX_SAMPLES: Final = 2000
"""Samples on a page: 40 s at 50 Hz, more than a screen shows of a motion. A longer motion is
thinned."""
TIME: Final = "t"
POSITION: Final = "q_"
"""What the name of a column of positions begins with."""


def read_motion(path: Path, model: Model) -> dict[str, Any]:
    """The motion in a CSV file: ``times`` (s) and ``positions``, a row of all positions (rad or m)
    for each time; coordinates without a column stay at 0.

    The file has a column ``t`` and a column ``q_NAME`` for coordinates that move. Raises
    OptionError for a file that cannot be read as such a table, with the line."""
    header, rows = _table(path)
    names = [row.name for row in positions(model)]
    moving = {name: header.index(POSITION + name) for name in names if POSITION + name in header}
    if TIME not in header or not moving:
        raise OptionError(
            f"--motion {shown(str(path))!r}: needs a column t and columns q_NAME for positions; "
            f"the positions are {quoted(names)}"
        )
    if len(rows) < 2 or np.any(np.diff(rows[:, header.index(TIME)]) <= 0):
        raise OptionError(f"--motion {shown(str(path))!r}: needs two rows or more with rising t")
    kept = rows[:: max(1, -(-len(rows) // MAX_SAMPLES))]
    table = np.zeros((len(kept), len(names)))
    for k, name in enumerate(names):
        if name in moving:
            table[:, k] = kept[:, moving[name]]
    return {
        "times": [round(float(t), 6) for t in kept[:, header.index(TIME)]],
        "positions": [[round(float(x), 6) for x in row] for row in table],
    }


def _table(path: Path) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Header and numbers of a CSV file. Raises OptionError with file and line."""
    name = shown(str(path))
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"--motion {name!r}: cannot be read ({shown(str(error))})") from None
    header = [cell.strip() for cell in lines[0]] if lines else []
    rows = np.zeros((max(len(lines) - 1, 0), len(header)))
    for k, row in enumerate(lines[1:]):
        try:
            values = [float(cell) for cell in row]
            if len(values) != len(header) or not np.isfinite(values).all():
                raise ValueError("the wrong number of values, or one that is not finite")
        except ValueError:
            raise OptionError(
                f"--motion {name}:{k + 2}: needs {len(header)} finite numbers"
            ) from None
        rows[k] = values
    return header, rows
