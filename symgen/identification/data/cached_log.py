"""A log whose rows are parsed once: they stay in memory between passes if they fit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.log_file import Log

Numbers = NDArray[np.float64]

MAX_ENTRIES: Final = 1 << 26
"""Numbers of a log that stay in memory (512 MB): an hour at 1 kHz of a robot with six joints."""


@dataclass
class CachedLog:
    """A log of which `columns` are read. Passes share one reading of the file; a log with more than
    `max_entries` numbers is read again at each pass."""

    log: Log
    columns: tuple[str, ...]
    max_entries: int = MAX_ENTRIES
    _pieces: list[Numbers] = field(default_factory=list)
    _source: Iterator[Numbers] | None = None
    _complete: bool = False

    @property
    def file(self) -> str:
        """The name of the file as it was given."""
        return self.log.file

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.log.names

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.log.rows

    @property
    def torn(self) -> Mapping[int, str]:
        """The lines of a text log that were left out, with the reason."""
        return getattr(self.log, "torn", {})

    def place(self, row: int) -> str:
        """The file and line or row of a row (from 0)."""
        return self.log.place(row)

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns, from memory as far as they have been read. Raises LogError."""
        if self.log.rows * len(self.columns) > self.max_entries:
            yield from self.log.chunks(names)
            return
        places = [self.columns.index(name) for name in names]
        number = 0
        while number < len(self._pieces) or self._read():
            yield self._pieces[number][:, places]
            number += 1

    def _read(self) -> bool:
        """Read a further piece of the file; False at its end. Raises LogError."""
        if self._complete:
            return False
        if self._source is None:
            self._source = self.log.chunks(self.columns)
        piece = next(self._source, None)
        self._complete = piece is None
        if piece is not None:
            self._pieces.append(piece)
        return piece is not None
