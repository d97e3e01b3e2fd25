"""How pictures look: one palette, one set of sizes, for all that symgen and its benchmarks draw.

The colours are those of Okabe and Ito ("Color universal design", 2008), which people with any of
the usual colour deficiencies tell apart; where several lines share a panel, marks or dashes differ
too."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from symgen.advice import install
from symgen.errors import SymgenError

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY: Final = "#7f8790"
PALETTE: Final = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, BLACK)
"""In the order in which lines take them; yellow, which is lost on white, is none of them."""
FULL: Final = BLUE
EMPTY: Final = "#f4f7fa"
"""Cells of a pattern that are taken, and those that are not."""

RC: Final[dict[Any, Any]] = {
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
        _needed()
        import matplotlib as mpl
        from cycler import cycler

        with mpl.rc_context({**RC, "axes.prop_cycle": cycler(color=PALETTE)}):
            return draw(*args, **more)

    return drawing  # type: ignore[return-value]


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches. Raises SymgenError where matplotlib is missing."""
    _needed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _needed() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        text = f"error: plots need Matplotlib; install it: {install('matplotlib')}"
        raise SymgenError(text) from None
