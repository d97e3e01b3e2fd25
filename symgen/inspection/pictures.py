"""Pictures as files: their formats, and the marks by which a command knows its own."""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Final, TypeVar

from symgen import output
from symgen.advice import install
from symgen.errors import OptionError, SymgenError
from symgen.jobs.publish import OutputFile, holding


@dataclass(frozen=True)
class Format:
    """How a format begins, and the entry of its metadata that names who wrote it; others that would
    hold the time are left out."""

    begin: bytes
    writer: str
    caller_zeroed: tuple[str, ...] = ()


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
    metadata = {form.writer: owner, **dict.fromkeys(form.caller_zeroed)}
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
