"""A picture of a log: position, velocity and force of each joint over time."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.identification.data.log_file import LogError
from symgen.identification.report.log_report import Looked
from symgen.inspection.pictures import (
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    drawn,
    new_figure,
    picture_target,
    styled,
)
from symgen.jobs.publish import OutputFile
from symgen.text import shown

COLOURS: Final = (BLUE, GREEN, VERMILION)
OWNER: Final = "symgen log"


def target(path: Path, log: str) -> OutputFile:
    """Where the picture goes. Raises OptionError where it may not."""
    return picture_target("--plot", path, OWNER, [log])


def picture(looked: Looked, target: OutputFile) -> bytes:
    """The picture in the format that the file's name tells."""
    return drawn(_figure(looked), target, 110)


@styled
def _figure(looked: Looked) -> Any:
    names, layout = looked.joints, looked.reading.layout
    if not looked.motion.thin:
        log = looked.reading.log
        raise LogError(
            shown(log.file), "the log has no segment without gaps that is long enough for a plot"
        )
    columns = 2 + bool(layout.measured)
    figure = new_figure(4.2 * columns, 0.8 + 1.35 * len(names))
    axes = figure.subplots(len(names), columns, sharex=True, squeeze=False)
    t, *series = (np.concatenate(parts) for parts in zip(*looked.motion.thin, strict=True))
    edges = np.flatnonzero(np.diff(t) > 20 * np.median(np.diff(t))) + 1
    for column in range(columns):
        for k, name in enumerate(names):
            axis, y = axes[k, column], series[column]
            if k >= y.shape[1]:
                axis.set_visible(False)
                continue
            pieces = zip(np.split(t, edges), np.split(y[:, k], edges), strict=True)
            for times, values in pieces:
                axis.plot(times, values, color=COLOURS[column], lw=0.7)
            _limits(axis, looked, k, column)
            axis.set_title(
                f"{name}: {_label(looked, k, column)}", fontsize=8, loc="left", parse_math=False
            )
            axis.tick_params(labelsize=7)
            axis.grid(alpha=0.25)
            axis.margins(x=0)
        axes[-1, column].set_xlabel("t (s)", fontsize=8)
    return figure


def _label(looked: Looked, k: int, column: int) -> str:
    unit, layout = looked.units[k], looked.reading.layout
    if column == 2:
        return f"{layout.measured[k].name} ({layout.measured[k].unit})"
    return f"position ({unit})" if column == 0 else f"velocity ({unit}/s)"


def _limits(axis: Any, looked: Looked, k: int, column: int) -> None:
    """Lines at the limits that the motion comes near to."""
    limits, motion = looked.limits[k], looked.motion
    if limits is None:
        return
    ends = [limits.lower, limits.upper] if column == 0 else [limits.velocity]
    ends = [*ends, *(-x for x in ends if x is not None)] if column == 1 else ends
    low, high = (
        (motion.low[k], motion.high[k]) if column == 0 else (-motion.speed[k], motion.speed[k])
    )
    for end in ends if column < 2 else ():
        if end is not None and low - 0.3 * (high - low) < end < high + 0.3 * (high - low):
            axis.axhline(end, color=GREY, lw=0.8, ls="--")
