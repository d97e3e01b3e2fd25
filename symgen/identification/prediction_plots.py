"""Pictures of a prediction: measured and predicted forces over time, and what is left over time,
over speed and over load."""

import io
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.figures import new_figure
from symgen.identification.prediction import ChannelErrors, Points, Prediction

Numbers = NDArray[np.float64]

MEASURED: Final = "#8895a3"
PREDICTED: Final = "#c1440e"
LEFT: Final = "#33586f"
SPREAD: Final = 99.0
"""The percentile of residuals that sets the scale, so that one spike does not; what is beyond is
drawn at the edge."""


def pictures(found: Prediction) -> dict[str, bytes]:
    """PNG files by name. Raises SymgenError where matplotlib is missing."""
    drawn: Mapping[str, Callable[[Prediction], Any]] = {
        "predicted.png": over_time,
        "residuals.png": residuals,
    }
    return {name: png(draw(found)) for name, draw in drawn.items()}


def png(figure: Any) -> bytes:
    """The picture's file, the same bytes for the same data."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=110, metadata={"Software": None})
    return stream.getvalue()


def over_time(found: Prediction) -> Any:
    """Two rows a channel: measured and predicted, and what is left, on a scale of its own."""
    count = len(found.channels)
    figure = new_figure(11, 0.8 + 2.1 * count)
    axes = figure.subplots(2 * count, 1, sharex=True, squeeze=False, height_ratios=[2, 1] * count)[
        :, 0
    ]
    for j, channel in enumerate(found.channels):
        _both(axes[2 * j], found.points, j, channel)
        _left(axes[2 * j + 1], found.points, j)
    axes[-1].set_xlabel("t (s)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False
    )
    return figure


def _both(axis: Any, points: Points, j: int, channel: ChannelErrors) -> None:
    axis.plot(points.t, points.measured[:, j], color=MEASURED, lw=2.2, label="measured")
    axis.plot(points.t, points.predicted[:, j], color=PREDICTED, lw=0.9, label="predicted")
    relative = channel.views["filtered"].relative
    said = "" if relative is None else f", {100 * relative:.1f} % off (filtered)"
    axis.set_title(f"{channel.name} ({channel.unit}){said}", fontsize=9, loc="left")
    axis.margins(x=0)
    axis.grid(alpha=0.25)


def _left(axis: Any, points: Points, j: int) -> None:
    left = points.measured[:, j] - points.predicted[:, j]
    edge = scale(left)
    axis.plot(points.t, np.clip(left, -edge, edge), color=LEFT, lw=0.6)
    axis.axhline(0, color="black", lw=0.5)
    axis.set_ylim(-1.05 * edge, 1.05 * edge)
    axis.set_ylabel("left", fontsize=8)
    axis.grid(alpha=0.25)


def scale(left: Numbers) -> float:
    """Where the scale of residuals ends."""
    return 1.5 * float(np.percentile(np.abs(left), SPREAD)) or 1.0


def residuals(found: Prediction) -> Any:
    """What is left of each channel over speed, over load, and how it is distributed."""
    count = len(found.channels)
    figure = new_figure(11, 0.8 + 1.9 * count)
    axes = figure.subplots(count, 3, squeeze=False, width_ratios=[3, 3, 2])
    for j, channel in enumerate(found.channels):
        points = found.points
        left = points.measured[:, j] - points.predicted[:, j]
        edge = scale(left)
        rates = points.rates[:, j] if points.rates.shape[1] > j else points.t
        _cloud(axes[j, 0], rates, left, edge)
        _cloud(axes[j, 1], points.load[:, j], left, edge)
        axes[j, 2].hist(left, bins=60, range=(-edge, edge), color=LEFT)
        axes[j, 2].set_yticks([])
        axes[j, 0].set_title(f"{channel.name}: left ({channel.unit})", fontsize=9, loc="left")
    for axis, said in zip(
        axes[-1], ("rate (rad/s or m/s)", "load by the model", "distribution"), strict=True
    ):
        axis.set_xlabel(said)
    return figure


def _cloud(axis: Any, x: Numbers, left: Numbers, edge: float) -> None:
    """Points, and the mean of each twentieth of them."""
    axis.plot(x, np.clip(left, -edge, edge), ".", color=MEASURED, ms=1.5, alpha=0.5)
    parts = np.array_split(np.argsort(x, kind="stable"), 20)
    means = [(x[part].mean(), left[part].mean()) for part in parts if len(part)]
    axis.plot(*zip(*means, strict=True), color=PREDICTED, lw=1.2)
    axis.set_ylim(-1.05 * edge, 1.05 * edge)
    axis.axhline(0, color="black", lw=0.5)
    axis.grid(alpha=0.25)
