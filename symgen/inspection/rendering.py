"""How results are shown: reports with tables on terminals, as JSON and in notebooks, and pictures
as files, with the marks by which a command knows its own."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Final, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Column, Table

from symgen import output
from symgen.errors import OptionError, SymgenError
from symgen.jobs.publish import OutputFile, holding
from symgen.text import html, html_table, install

Data = dict[str, Any]

COLUMN_GAP: Final = 3
"""Characters from a column to the next."""
MAX_MARK_WIDTH: Final = 4
"""A first column as narrow as this is a number or a mark; the second one names the row too."""


class SplitTable(Table):
    """A table that is printed in pieces where it does not fit."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        measured = [_widths(console, options, column) for column in self.columns]
        available = options.max_width - 2
        if self.title:
            yield console.render_str(str(self.title), style="bold")
        for columns in _column_groups(measured, available):
            widths = _shared_widths([measured[k] for k in columns], available)
            piece = Table(box=SIMPLE_HEAD, pad_edge=False)
            for k, width in zip(columns, widths, strict=True):
                source = self.columns[k]
                piece.add_column(
                    source.header, width=width, justify=source.justify, overflow="fold"
                )
            cells = [[*self.columns[k].cells] for k in columns]
            for row, of in zip(zip(*cells, strict=True), self.rows, strict=True):
                piece.add_row(*row, style=of.style)
            yield piece


def table(title: str, left: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A table with columns of text and then of numbers."""
    new = SplitTable(title=escape(title) or None)
    for name in left:
        new.add_column(name, overflow="fold")
    for name in right:
        new.add_column(name, justify="right", no_wrap=True)
    return new


def _widths(console: Console, options: ConsoleOptions, column: Column) -> tuple[int, int]:
    """The least and the best width of a column: numbers are never wrapped, their heads may be."""
    wide = options.update(width=10_000)
    head = Measurement.get(console, wide, column.header)
    cells = [Measurement.get(console, wide, cell) for cell in column.cells]
    best = max(head.maximum, *(cell.maximum for cell in cells), 1)
    least = (cell.maximum if column.no_wrap else cell.minimum for cell in cells)
    return max(head.minimum, *least, 1), best


def _total(widths: Iterable[int]) -> int:
    all_widths = [*widths]
    return sum(all_widths) + COLUMN_GAP * (len(all_widths) - 1)


def _column_groups(measured: Sequence[tuple[int, int]], available: int) -> Iterator[list[int]]:
    """The columns of each piece: all of them where they fit, else those that name the row and as
    many others as fit."""
    columns = [*range(len(measured))]
    if _total(measured[k][0] for k in columns) <= available:
        yield columns
        return
    keys = columns[: 2 if len(columns) > 2 and measured[0][1] <= MAX_MARK_WIDTH else 1]
    piece = [*keys]
    for k in columns[len(keys) :]:
        if len(piece) > len(keys) and _total(measured[i][0] for i in (*piece, k)) > available:
            yield piece
            piece = [*keys]
        piece.append(k)
    yield piece


def _shared_widths(measured: Sequence[tuple[int, int]], available: int) -> list[int]:
    """A width for each column of a piece: the best, or the least and a share of what is left; where
    even that is too much, the widest give way."""
    best, widths = [high for _, high in measured], [low for low, _ in measured]
    while (left := available - _total(widths)) > 0 and widths != best:
        short = [k for k, width in enumerate(widths) if width < best[k]]
        for k in sorted(short, key=lambda k: widths[k])[:left]:  # the narrowest first
            widths[k] += 1
    while _total(widths) > available and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


@dataclass(frozen=True, slots=True)
class StyledText:
    """A text with a style of `rich`, such as ``bold red``, on terminals that have it; `whole` for
    a line to be copied, which is not wrapped."""

    text: str
    style: str = ""
    whole: bool = False

    @property
    def markup(self) -> str:
        """The text as markup of `rich`."""
        return f"[{self.style}]{escape(self.text)}[/]" if self.style else escape(self.text)


Cell = str | StyledText


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with columns of text (`left`), then of numbers (`right`); a row is its cells.

    `highlighted` has the indices of rows in bold."""

    title: str
    left: Sequence[str]
    right: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    highlighted: frozenset[int] = frozenset()

    def rich(self) -> Table:
        """The table for a terminal."""
        drawn = table(self.title, self.left, self.right)
        for k, row in enumerate(self.rows):
            cells = (x.markup if isinstance(x, StyledText) else escape(x) for x in row)
            drawn.add_row(*cells, style="bold" if k in self.highlighted else "")
        return drawn

    def html(self) -> str:
        """The table for a page or a notebook."""
        cells = ([x.text if isinstance(x, StyledText) else x for x in row] for row in self.rows)
        return html_table(self.title, (*self.left, *self.right), cells)


@dataclass(frozen=True)
class Report:
    """The result of a command: tables and lines for people, and `data` for programs."""

    parts: Sequence[ReportTable | Cell]
    data: Mapping[str, Any] = field(default_factory=dict)

    def print(self, as_json: bool = False) -> None:
        """Print the report on standard output."""
        if as_json:
            output.say(self.json())
            return
        out = output.console()
        for part in self.parts:
            if isinstance(part, ReportTable):
                out.print(part.rich())
            elif isinstance(part, StyledText):
                out.print(part.markup, soft_wrap=part.whole)
            else:
                out.print(escape(part))

    def json(self) -> str:
        """The data as JSON text."""
        return output.as_json(self.data)

    def html(self) -> str:
        """The tables and lines as HTML, without a page around them."""
        return "".join(
            part.html()
            if isinstance(part, ReportTable)
            else f"<p>{html(part.text if isinstance(part, StyledText) else part)}</p>"
            for part in self.parts
        )


# -- pictures --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """How a format begins, and the entry of its metadata that names who wrote it; others that would
    hold the time are left out."""

    begin: bytes
    writer: str
    omitted: tuple[str, ...] = ()


FORMATS: Final = {
    ".png": Format(b"\x89PNG", "Software"),
    ".svg": Format(b"<?xml", "Creator", ("Date",)),
    ".pdf": Format(b"%PDF", "Creator", ("CreationDate",)),
}
"""The format of a picture, by the end of its file's name."""

KINDS: Final = tuple(end[1:] for end in FORMATS)
"""The formats by name."""


def picture_target(option: str, path: Path, owner: str, inputs: Sequence[str] = ()) -> OutputFile:
    """Where `option` says that a picture is to be written. Raises OptionError where the name has
    another end, or something else stands there."""
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        ends = " or ".join([", ".join([*FORMATS][:-1]), [*FORMATS][-1]])
        raise OptionError(f"{option} {str(path)!r}: give a name that ends in {ends}")
    target = OutputFile(path, holding(owner, form.begin, owner.encode()), tuple(inputs))
    target.check()
    return target


def drawn(figure: Any, target: OutputFile, dpi: int) -> bytes:
    """A figure of matplotlib in the format of its target, with the mark of the owner."""
    return encoded(figure, target.path.suffix.lower()[1:], dpi, target.mark.owner)


def encoded(figure: Any, kind: str, dpi: int, owner: str | None = None) -> bytes:
    """A figure of matplotlib in one of `KINDS`, by `owner` or by nobody; the same bytes for the
    same figure. Raises ValueError, matplotlib's, of texts that it takes for formulas."""
    import matplotlib as mpl

    form, stream = FORMATS[f".{kind}"], io.BytesIO()
    metadata = {form.writer: owner, **dict.fromkeys(form.omitted)}
    with mpl.rc_context({"svg.hashsalt": owner or "symgen"}), _without_shapes():
        figure.savefig(stream, format=kind, dpi=dpi, metadata=metadata)
    return stream.getvalue()


@contextmanager
def _without_shapes() -> Iterator[None]:
    """Characters that the font of pictures does not have are said in a line of ours. Its font comes
    with matplotlib: one of the system would draw other bytes on each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = set[int]()
    for warning in caught:
        glyph = re.match(r"Glyph (\d+) ", str(warning.message))
        if glyph is None:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        else:
            missing.add(int(glyph[1]))
    if missing:
        _say_missing(tuple(sorted(missing)))


@lru_cache
def _say_missing(characters: tuple[int, ...]) -> None:
    """Once for the same characters, however many pictures have them."""
    names = ", ".join(f"{chr(x)} (U+{x:04X})" for x in characters)
    output.say(f"note: the font of pictures has no {names}; boxes stand for them", error=True)


BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY: Final = "#7f8790"
PALETTE: Final = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, BLACK)
"""In the order in which lines take them; yellow, which is lost on white, is none of them."""
FILLED_CELL: Final = BLUE
EMPTY_CELL: Final = "#f4f7fa"
"""Cells of a pattern that are taken, and those that are not."""

STYLE: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "figure.titlesize": 12,
    "font.size": 9,
    "grid.color": "#d9dde2",
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""What differs from matplotlib's own."""

Draw = TypeVar("Draw", bound=Callable[..., Any])


def styled(draw: Draw) -> Draw:
    """A function that draws, in this style. It raises SymgenError where matplotlib is missing."""

    @wraps(draw)
    def drawing(*args: Any, **more: Any) -> Any:
        _check_matplotlib()
        import matplotlib as mpl
        from cycler import cycler

        with mpl.rc_context({**STYLE, "axes.prop_cycle": cycler(color=PALETTE)}):
            return draw(*args, **more)

    return drawing  # type: ignore[return-value]


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches. Raises SymgenError where matplotlib is missing."""
    _check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _check_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        text = f"error: plots need Matplotlib; install it: {install('matplotlib')}"
        raise SymgenError(text) from None
