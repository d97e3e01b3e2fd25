"""Pictures of motions: curves of each joint over time, with the limits that are near."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.inspection.pictures import BLUE, GREEN, GREY, VERMILION, new_figure, styled
from symgen.numbers.types import Numbers

COLOURS: Final = (BLUE, GREEN, VERMILION)
NEAR: Final = 0.3
"""A limit is shown if it is no further than this part of a curve's range from it."""
GAP: Final = 20.0
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
    edges = np.flatnonzero(np.diff(t) > GAP * np.median(np.diff(t))) + 1
    for row, curves in zip(axes, rows, strict=True):
        for axis in row[len(curves) :]:
            axis.set_visible(False)
        for axis, curve, colour in zip(row, curves, COLOURS, strict=False):
            for times, values in zip(
                np.split(t, edges), np.split(curve.values, edges), strict=True
            ):
                axis.plot(times, values, color=colour, lw=0.8)
            low, high = float(np.nanmin(curve.values)), float(np.nanmax(curve.values))
            margin = NEAR * (high - low)
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
