"""Panels of forces: measured and predicted over time, and what is left over time, speed and load.

What is left has a scale of its own, which one spike does not set."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.identification.prediction.prediction_errors import Points
from symgen.inspection import pictures
from symgen.inspection.pictures import BLUE, GREY, VERMILION, new_figure, styled
from symgen.numbers.types import Numbers

PNG: Final = "png"
MEASURED: Final = GREY
PREDICTED: Final = VERMILION
LEFT: Final = BLUE
HELD_OUT: Final = "#f3ead8"
SPREAD: Final = 99.0
"""The percentile of residuals that sets the scale; what is far beyond is drawn at the edge."""
GROUPS: Final = 20
"""Parts of the points whose means are drawn."""


@dataclass(frozen=True)
class Strip:
    """A channel in pictures: its number among the points' columns, name, unit, and what is said
    beside the name."""

    number: int
    name: str
    unit: str
    note: str = ""

    @property
    def title(self) -> str:
        """The heading of its panel."""
        return f"{self.name} ({self.unit})" + (f", {self.note}" if self.note else "")


def encoded(figure: Any, kind: str = PNG, dpi: int = 110) -> bytes:
    """The picture's file of one of `pictures.KINDS`, the same bytes for the same data."""
    _settle(figure)
    return pictures.encoded(figure, kind, dpi)


def _settle(figure: Any) -> None:
    """Rounds the places that its layout gives to axes: the solver of these takes its variables in
    the order of their addresses, so that last digits differ from run to run."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        axis.set_position(np.round(axis.get_position().bounds, 4))


@styled
def over_time(points: Points, strips: list[Strip], edge: float | None = None) -> Any:
    """Two panels a channel: measured and predicted, and what is left. Rows from time `edge` on are
    marked as held out."""
    count = len(strips)
    figure = new_figure(11, 0.8 + 2.1 * count)
    axes = figure.subplots(2 * count, 1, sharex=True, squeeze=False, height_ratios=[2, 1] * count)[
        :, 0
    ]
    for strip, upper, lower in zip(strips, axes[::2], axes[1::2], strict=True):
        pairs = (points.measured, MEASURED, 2.2), (points.predicted, PREDICTED, 0.9)
        for (values, colour, width), label in zip(pairs, ("measured", "predicted"), strict=True):
            upper.plot(points.t, values[:, strip.number], color=colour, lw=width, label=label)
        upper.set_title(strip.title, fontsize=9, loc="left")
        upper.margins(x=0)
        upper.grid(alpha=0.25)
        left, end = _left(points, strip)
        lower.plot(points.t, np.clip(left, -end, end), color=LEFT, lw=0.6)
        lower.axhline(0, color="black", lw=0.5)
        lower.set_ylim(-1.05 * end, 1.05 * end)
        lower.set_ylabel("residual", fontsize=8)
        lower.grid(alpha=0.25)
        for axis in (upper, lower):
            if edge is not None and edge < points.t[-1]:
                axis.axvspan(edge, points.t[-1], color=HELD_OUT, zorder=0, label="held out")
    axes[-1].set_xlabel("t (s)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False
    )
    return figure


def _left(points: Points, strip: Strip) -> tuple[Numbers, float]:
    """Measured less predicted (N), NaN where nothing was measured, and where its scale ends."""
    left = np.asarray(points.measured[:, strip.number] - points.predicted[:, strip.number])
    finite = left[~np.isnan(left)]
    end = 1.5 * float(np.percentile(np.abs(finite), SPREAD)) if finite.size else 1.0
    return left, end or 1.0


@styled
def residuals(points: Points, strips: list[Strip]) -> Any:
    """The residual of each channel over speed, over load, and how it is distributed."""
    count = len(strips)
    figure = new_figure(11, 0.8 + 1.9 * count)
    axes = figure.subplots(count, 3, squeeze=False, width_ratios=[3, 3, 2])
    by_joint = points.rates.shape == points.measured.shape
    for row, strip in zip(axes, strips, strict=True):
        left, end = _left(points, strip)
        rates = points.rates[:, strip.number] if by_joint else points.t
        for axis, x in zip(row, (rates, points.load[:, strip.number]), strict=False):
            _draw_cloud(axis, x[~np.isnan(left)], left[~np.isnan(left)], end)
        row[2].hist(left[~np.isnan(left)], bins=60, range=(-end, end), color=LEFT)
        row[2].set_yticks([])
        row[0].set_title(f"{strip.name}: residual ({strip.unit})", fontsize=9, loc="left")
    for axis, label in zip(axes[-1], (RATE, LOAD, "distribution of the residual"), strict=True):
        axis.set_xlabel(label)
    return figure


RATE: Final = "velocity (rad/s or m/s)"
LOAD: Final = "predicted load (N m or N)"


def _draw_cloud(axis: Any, x: Numbers, left: Numbers, end: float) -> None:
    """The residual over x, and the mean of each twentieth of the points."""
    clipped = np.clip(left, -end, end)
    axis.plot(x, clipped, ".", color=MEASURED, ms=1.5, alpha=0.5, rasterized=True)
    parts = np.array_split(np.argsort(x, kind="stable"), GROUPS)
    means = [(x[part].mean(), left[part].mean()) for part in parts if len(part)]
    axis.plot(*zip(*means, strict=True), color=PREDICTED, lw=1.2) if means else None
    axis.set_ylim(-1.05 * end, 1.05 * end)
    axis.axhline(0, color="black", lw=0.5)
    axis.grid(alpha=0.25)
