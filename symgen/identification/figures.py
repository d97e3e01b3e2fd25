"""Figures of matplotlib, which is loaded only where something is drawn."""

from typing import Any

from symgen.errors import SymgenError


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches. Raises SymgenError where matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise SymgenError("error: plots need matplotlib; pip install 'symgen[identify]'") from None
    figure = Figure((width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
