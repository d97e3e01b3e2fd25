"""Plots of the runs: tracking, parameters, time per step."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pictures import save
from examples.adaptive_mpc import task
from symgen.inspection.rendering import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    VERMILION,
    new_figure,
    styled,
)

COLORS = {"off": VERMILION, "on": BLUE, "known": BLACK}
DASHES = {"off": "-", "on": "-", "known": ":"}
LABELS = {"off": "estimator off", "on": "generated estimator", "known": "payload known"}
PARTS = {
    "linearise (generated code, RK4)": BLUE,
    "quadratic program (PIQP)": ORANGE,
    "estimator": GREEN,
}
PANELS = (
    ("mass, kg", (0,), ("m",)),
    ("first moments, kg m", (1, 2, 3), ("hx", "hy", "hz")),
    ("moments of inertia, kg m²", (4, 7, 9), ("Ixx", "Iyy", "Izz")),
    ("products of inertia, kg m²", (5, 6, 8), ("Ixy", "Ixz", "Iyz")),
)


def draw(logs: Mapping[str, Any], folder: Path) -> None:
    """Write all plots: curves with bands or areas as PNG, because their SVG is above 200 kB."""
    for name, figure in (
        ("tracking.svg", _tracking(logs)),
        ("parameters.png", _parameters(logs["on"])),
        ("time.png", _times(logs["on"])),
    ):
        save(figure, folder / name)


def _events(axis: Any) -> None:
    for when in (task.PICKED, task.CHANGED):
        axis.axvline(when, color="black", linewidth=0.8, linestyle="--")


@styled
def _tracking(logs: Mapping[str, Any]) -> Any:
    """Height of the flange above its target, and its distance from the target."""
    figure = new_figure(10, 6)
    axes = figure.subplots(2, 1, sharex=True)
    times = logs["on"].times
    for mode, log in logs.items():
        look = {"color": COLORS[mode], "linestyle": DASHES[mode], "linewidth": 1.1}
        above = 1e3 * (log.hand[:, 2] - task.target(times).position[:, 2])
        axes[0].plot(times, above, label=LABELS[mode], **look)
        axes[1].plot(times, 1e3 * log.errors, **look)
    axes[0].set(ylabel="flange above target, mm", ylim=(-14, 4))  # the start is outside
    axes[1].set(
        yscale="log", ylim=(0.02, 300), ylabel="distance from the target, mm", xlabel="time, s"
    )
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    for axis in axes:
        _events(axis)
    for when, text in ((task.PICKED, " 2.5 kg picked up"), (task.CHANGED, " 1.2 kg left")):
        axes[1].text(when, 150, text)
    return figure


@styled
def _parameters(log: Any) -> Any:
    """Estimates with two standard deviations, and the true values (dashed)."""
    figure = new_figure(11, 6)
    axes = figure.subplots(2, 2, sharex=True)
    for axis, (title, entries, names) in zip(axes.flat, PANELS, strict=True):
        for at, name, color in zip(entries, names, (BLUE, ORANGE, GREEN), strict=False):
            value, spread = log.payloads[:, at], 2 * log.deviations[:, at]
            axis.fill_between(
                log.times, value - spread, value + spread, color=color, alpha=0.15, linewidth=0
            )
            axis.plot(log.times, value, color=color, linewidth=1, label=name)
            axis.plot(log.times, _truth(log.times, at), color=color, linewidth=1, linestyle="--")
        limit = 1.6 * max(abs(ten[k]) for _, ten in task.SCHEDULE for k in entries)
        axis.set(title=title, ylim=(-limit if len(entries) > 1 else -0.1 * limit, limit))
        axis.legend(loc="upper right")
        _events(axis)
    figure.supxlabel("time, s (dashed: truth; band: two standard deviations)")
    return figure


def _truth(times: Any, at: int) -> Any:
    first, second = (ten[at] for _, ten in task.SCHEDULE)
    return np.where(times <= task.PICKED, 0.0, np.where(times <= task.CHANGED, first, second))


@styled
def _times(log: Any) -> Any:
    """Times of the parts of each step, stacked."""
    figure = new_figure(10, 4)
    axis = figure.subplots()
    axis.stackplot(log.times, log.milliseconds.T, colors=PARTS.values(), labels=PARTS, linewidth=0)
    axis.axhline(1e3 * task.PERIOD, color="black", linewidth=1, linestyle=":")
    axis.text(0.05, 1e3 * task.PERIOD, "control period", va="bottom")
    axis.set(xlabel="time, s", ylabel="time per step, ms", xlim=(0, task.DURATION), ylim=(0, 12))
    axis.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))
    _events(axis)
    return figure
