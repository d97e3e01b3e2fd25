"""Pictures: of an estimate (parameters with their uncertainty), of forces (measured and predicted
over time, residuals over time, speed and load) and of motions (each joint over time, with the
limits that are near).

Residuals have a scale of their own, which one spike does not set."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import Estimate
from symgen.identification.prediction.prediction_errors import Points, Predictor, joined, points_of
from symgen.inspection.rendering import BLUE, GREEN, GREY, VERMILION, new_figure, styled
from symgen.inspection.rendering import encoded as encoded_figure
from symgen.mechanics.joint_forces import LAWS
from symgen.numbers.scalar import Numbers

PNG: Final = "png"
MEASURED_COLOUR: Final = GREY
PREDICTED_COLOUR: Final = VERMILION
RESIDUAL_COLOUR: Final = BLUE
HELD_OUT_COLOUR: Final = "#f3ead8"
SCALE_PERCENTILE: Final = 99.0
"""The percentile of residuals that sets the scale; what is far beyond is drawn at the edge."""
MEAN_GROUPS: Final = 20
"""Parts of the points whose means are drawn."""


@dataclass(frozen=True)
class ForcePanel:
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
    _round_layout(figure)
    return encoded_figure(figure, kind, dpi)


def _round_layout(figure: Any) -> None:
    """Rounds the places that its layout gives to axes: the solver of these takes its variables in
    the order of their addresses, so that last digits differ from run to run."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        axis.set_position(np.round(axis.get_position().bounds, 4))


@styled
def over_time(points: Points, strips: list[ForcePanel], edge: float | None = None) -> Any:
    """Two panels a channel: measured and predicted, and what is left. Rows from time `edge` on are
    marked as held out."""
    count = len(strips)
    figure = new_figure(11, 0.8 + 2.1 * count)
    axes = figure.subplots(2 * count, 1, sharex=True, squeeze=False, height_ratios=[2, 1] * count)[
        :, 0
    ]
    for strip, upper, lower in zip(strips, axes[::2], axes[1::2], strict=True):
        pairs = (points.measured, MEASURED_COLOUR, 2.2), (points.predicted, PREDICTED_COLOUR, 0.9)
        for (values, colour, width), label in zip(pairs, ("measured", "predicted"), strict=True):
            upper.plot(points.t, values[:, strip.number], color=colour, lw=width, label=label)
        upper.set_title(strip.title, fontsize=9, loc="left")
        upper.margins(x=0)
        upper.grid(alpha=0.25)
        left, end = _residual_and_scale(points, strip)
        lower.plot(points.t, np.clip(left, -end, end), color=RESIDUAL_COLOUR, lw=0.6)
        lower.axhline(0, color="black", lw=0.5)
        lower.set_ylim(-1.05 * end, 1.05 * end)
        lower.set_ylabel("residual", fontsize=8)
        lower.grid(alpha=0.25)
        for axis in (upper, lower):
            if edge is not None and edge < points.t[-1]:
                axis.axvspan(edge, points.t[-1], color=HELD_OUT_COLOUR, zorder=0, label="held out")
    axes[-1].set_xlabel("t (s)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False
    )
    return figure


def _residual_and_scale(points: Points, strip: ForcePanel) -> tuple[Numbers, float]:
    """Measured less predicted (N), NaN where nothing was measured, and where its scale ends."""
    left = np.asarray(points.measured[:, strip.number] - points.predicted[:, strip.number])
    finite = left[~np.isnan(left)]
    end = 1.5 * float(np.percentile(np.abs(finite), SCALE_PERCENTILE)) if finite.size else 1.0
    return left, end or 1.0


@styled
def residuals(points: Points, strips: list[ForcePanel]) -> Any:
    """The residual of each channel over speed, over load, and how it is distributed."""
    count = len(strips)
    figure = new_figure(11, 0.8 + 1.9 * count)
    axes = figure.subplots(count, 3, squeeze=False, width_ratios=[3, 3, 2])
    by_joint = points.rates.shape == points.measured.shape
    for row, strip in zip(axes, strips, strict=True):
        left, end = _residual_and_scale(points, strip)
        rates = points.rates[:, strip.number] if by_joint else points.t
        for axis, x in zip(row, (rates, points.load[:, strip.number]), strict=False):
            _draw_cloud(axis, x[~np.isnan(left)], left[~np.isnan(left)], end)
        row[2].hist(left[~np.isnan(left)], bins=60, range=(-end, end), color=RESIDUAL_COLOUR)
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
    axis.plot(x, clipped, ".", color=MEASURED_COLOUR, ms=1.5, alpha=0.5, rasterized=True)
    parts = np.array_split(np.argsort(x, kind="stable"), MEAN_GROUPS)
    means = [(x[part].mean(), left[part].mean()) for part in parts if len(part)]
    axis.plot(*zip(*means, strict=True), color=PREDICTED_COLOUR, lw=1.2) if means else None
    axis.set_ylim(-1.05 * end, 1.05 * end)
    axis.axhline(0, color="black", lw=0.5)
    axis.grid(alpha=0.25)


# -- motions ---------------------------------------------------------------------------------------


COLOURS: Final = (BLUE, GREEN, VERMILION)
MAX_LIMIT_DISTANCE: Final = 0.3
"""A limit is shown if it is no further than this part of a curve's range from it."""
MIN_GAP_STEPS: Final = 20.0
"""Curves are interrupted at steps that are so many times the usual one."""


@dataclass(frozen=True)
class Curve:
    """A curve of a panel: its heading, values (N) and the limits of these."""

    title: str
    values: Numbers
    limits: tuple[float | None, ...] = ()


@styled
def motion_figure(t: Numbers, rows: Sequence[Sequence[Curve]], heading: str = "") -> Any:
    """A row of panels for each joint; those that lack a curve at the end stay empty."""
    columns = max(map(len, rows), default=1)
    figure = new_figure(4.2 * columns, 0.8 + 1.35 * len(rows))
    axes = figure.subplots(len(rows), columns, sharex=True, squeeze=False)
    edges = np.flatnonzero(np.diff(t) > MIN_GAP_STEPS * np.median(np.diff(t))) + 1
    for row, curves in zip(axes, rows, strict=True):
        for axis in row[len(curves) :]:
            axis.set_visible(False)
        for axis, curve, colour in zip(row, curves, COLOURS, strict=False):
            for times, values in zip(
                np.split(t, edges), np.split(curve.values, edges), strict=True
            ):
                axis.plot(times, values, color=colour, lw=0.8)
            low, high = float(np.nanmin(curve.values)), float(np.nanmax(curve.values))
            margin = MAX_LIMIT_DISTANCE * (high - low)
            for end in curve.limits:
                if end is not None and low - margin < end < high + margin:
                    axis.axhline(end, color=GREY, lw=0.9, ls="--")
            axis.set_title(curve.title, fontsize=8, loc="left", parse_math=False)
            axis.tick_params(labelsize=7)
            axis.margins(x=0)
    for axis in axes[-1]:
        axis.set_xlabel("t (s)", fontsize=8)
    figure.suptitle(heading)
    return figure


# -- panels of forces ------------------------------------------------------------------------------


MAX_POINTS: Final = 4000
"""Rows that a picture shows."""
SHOWN_SECONDS: Final = 20.0
"""Seconds that a picture of motion shows, the end of the log."""
TITLES: Final = {
    "MR": "masses (kg)",
    "M": "first moments (kg m)",
    "S": "second moments (kg m²)",
    "J": "inertias of the rotors (kg m²)",
    **dict.fromkeys("XYZ", "inertias (kg m²)"),
    **{name: f"{law.meaning} ({law.unit})" for name, law in LAWS.items()},
}
"""The panels of the picture of parameters, by the beginning of a parameter's name."""


def pictures(identified: Identified, kind: str = PNG) -> dict[str, bytes]:
    """Files of a kind by name. Raises SymgenError where matplotlib is missing."""
    points, edge = end_of_log(identified)
    strips = [
        ForcePanel(
            k,
            c.name,
            c.unit,
            f"residual {100 * c.residual_rms / c.measured_rms:.1f} %" if c.measured_rms else "",
        )
        for k, c in enumerate(identified.estimate.channels)
    ]
    figures = {
        "measured": over_time(points, strips, edge),
        "residuals": residuals(points, strips),
        "parameters": parameters(identified.estimate),
    }
    return {f"{name}.{kind}": encoded(figure, kind) for name, figure in figures.items()}


def end_of_log(identified: Identified) -> tuple[Points, float | None]:
    """The last rows of the log, and the time from which on rows were held out, if that is among
    them."""
    model = Predictor(identified.equations, identified.estimate.values, ())
    last = (replace(samples, measured=samples.bridged) for samples in identified.last_blocks)
    points = joined([points_of(samples, model) for samples in last])
    t, held_out = points.t, identified.held_out
    kept = np.flatnonzero(t >= t[-1] - SHOWN_SECONDS)
    kept = kept[:: -(-len(kept) // MAX_POINTS)]
    return points.rows(kept), float(t[max(len(t) - held_out, 0)]) if held_out else None


# -- parameters ------------------------------------------------------------------------------------


@styled
def parameters(estimate: Estimate) -> Any:
    """A row a parameter, in panels of one unit: the estimate with three standard errors beside the
    prior, on a plain scale, and the relative standard error on a logarithmic one."""
    groups = _groups(estimate)
    sizes = [len(numbers) + 1.5 for numbers in groups.values()]
    figure = new_figure(10, 0.8 + 0.22 * sum(sizes))
    axes = figure.subplots(len(groups), 2, squeeze=False, height_ratios=sizes, width_ratios=[3, 2])
    for row, (begin, numbers) in zip(axes, groups.items(), strict=True):
        _values(row[0], estimate, numbers)
        _errors(row[1], estimate, numbers)
        row[0].set_title(TITLES[begin], fontsize=9)
    axes[-1, 0].set_xlabel("estimate ± 3 standard errors")
    axes[-1, 1].set_xlabel("relative standard error (%)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def _groups(estimate: Estimate) -> dict[str, list[int]]:
    """The numbers of parameters of each panel."""
    members = [
        next(begin for begin in TITLES if name.startswith(begin)) for name in estimate.mapping.names
    ]
    members += [name.partition(" ")[0] for name in estimate.friction]
    return {
        begin: [k for k, b in enumerate(members) if b == begin]
        for begin in TITLES
        if begin in members
    }


def _values(axis: Any, estimate: Estimate, numbers: list[int]) -> None:
    places, errors = np.arange(len(numbers)), 3 * estimate.standard_errors[numbers]
    values, prior = estimate.values[numbers], estimate.prior_values[numbers]
    axis.plot(prior, places, "o", mfc="none", mec=MEASURED_COLOUR, ms=7, label="prior")
    axis.errorbar(
        values,
        places,
        xerr=errors,
        fmt="o",
        color=PREDICTED_COLOUR,
        ms=3,
        capsize=3,
        label="estimate",
    )
    links = [*estimate.mapping.links, *[""] * len(estimate.friction)]
    names = [f"{links[k]}  {_name(estimate, k)}" for k in numbers]
    axis.set_yticks(places, names, fontsize=7)
    axis.axvline(0, color="black", lw=0.5)
    axis.set_ylim(len(numbers) - 0.3, -0.7)
    axis.grid(alpha=0.25, axis="x")


def _name(estimate: Estimate, k: int) -> str:
    name = estimate.names[k]
    return name.partition(" ")[2] or name


def _errors(axis: Any, estimate: Estimate, numbers: list[int]) -> None:
    values = np.abs(estimate.values[numbers])
    sizes = 100 * estimate.standard_errors[numbers] / np.where(values > 0, values, np.nan)
    axis.plot(sizes, np.arange(len(numbers)), "o", color=PREDICTED_COLOUR, ms=4)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter("")
    axis.axvline(100, color="black", lw=0.8, ls=":")
    axis.set_yticks([])
    axis.set_ylim(len(numbers) - 0.3, -0.7)
    axis.grid(alpha=0.25, axis="x")
