"""Plots of the results: ratios as a table of shades, times as points, growth of chains."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench.cases import CHAIN_QUANTITIES, QUANTITIES
from benchmarks.bench.published import JOHANNESSEN
from benchmarks.bench.report import CASADI, PINOCCHIO, Row, at, best, ratio, robots_of
from benchmarks.pictures import save
from symgen.inspection.rendering import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    new_figure,
    styled,
)

LOOKS = {
    "symgen": (BLUE, "o"),
    "symgen inline": (SKY, "D"),
    "CasADi": (ORANGE, "s"),
    "Pinocchio": (VERMILION, "^"),
    "urdf2casadi": (PURPLE, "v"),
}
"""Colour and mark of each contender, the same in all pictures."""


def draw(results: dict[str, Any], folder: Path) -> None:
    """All plots that there are figures for."""
    if results["robots"]:
        save(_ratios(results["robots"]), folder / "ratios.svg")
        save(_times(results["robots"]), folder / "times.svg")
    if results["chains"]:
        save(_growth(results["chains"]), folder / "growth.svg")


@styled
def _ratios(rows: Sequence[Row]) -> Any:
    """How many times faster, robot by robot and quantity by quantity, in figures; the darker the
    more, and in a frame what is below the aim."""
    robots = robots_of(rows)
    figure = new_figure(11, 1.3 + 0.66 * len(robots))
    axes = figure.subplots(2, 1)
    for axis, (peer, aim) in zip(axes, (("CasADi", CASADI), ("Pinocchio", PINOCCHIO)), strict=True):
        found = [[ratio(rows, robot, q, peer) or np.nan for q in QUANTITIES] for robot in robots]
        values = np.array(found)
        axis.imshow(np.log2(values / aim), cmap="Blues", vmin=-1.5, vmax=4, aspect="auto")
        for (i, k), value in np.ndenumerate(values):
            if np.isfinite(value):
                dark = np.log2(value / aim) > 2
                text = f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
                axis.text(k, i, text, ha="center", va="center", color="w" if dark else "k")
                if value < aim:
                    axis.add_patch(_frame(k, i))
        axis.set_title(f"times faster than {peer} (framed: below the target of {aim:g})")
        axis.set_xticks(range(len(QUANTITIES)), list(QUANTITIES.values()))
        axis.set_yticks(range(len(robots)), [name.replace("_", " ") for name in robots])
        axis.grid(visible=False)
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    return figure


def _frame(column: int, row: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.46, row - 0.42), 0.92, 0.84, fill=False, ec=VERMILION, lw=1.6)


@styled
def _times(rows: Sequence[Row]) -> Any:
    """Nanoseconds a call, a panel a robot: a mark for each contender, on a logarithmic scale."""
    robots = robots_of(rows)
    lines = -(-len(robots) // 2)
    figure = new_figure(11, 0.6 + 2.2 * lines)
    axes = figure.subplots(lines, 2, squeeze=False, sharex=True)
    for axis, robot in zip(axes.flat, robots, strict=False):
        places = np.arange(len(QUANTITIES))
        for kind in ("Pinocchio", "CasADi", "symgen", "symgen inline"):
            heights = [best(rows, robot, quantity, kind) or np.nan for quantity in QUANTITIES]
            color, mark = LOOKS[kind]
            axis.plot(places, heights, mark, color=color, ms=6, label=kind)
        axis.set(yscale="log", title=robot.replace("_", " "), ylabel="time per call, ns")
        axis.set_xticks(places, list(QUANTITIES.values()))
        axis.tick_params(labelbottom=True)
    for axis in axes.flat[len(robots) :]:
        axis.set_axis_off()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


TOOLS = {
    "pinocchio": ("Pinocchio", "Pinocchio C++"),
    "urdf2casadi O2": ("urdf2casadi", "urdf2casadi"),
    "casadi pinocchio O2": ("CasADi", "CasADi (Pinocchio SX)"),
    "symgen O2": ("symgen", "symgen"),
}


@styled
def _growth(rows: Sequence[Row]) -> Any:
    """Operations and nanoseconds over joints, log-log."""
    lengths = sorted({row["joints"] for row in rows})
    figure = new_figure(13, 6)
    axes = figure.subplots(2, len(CHAIN_QUANTITIES), sharex=True)
    figures = (("operations", "operations"), ("minimum", "time per call, ns"))
    for line, (key, label) in zip(axes, figures, strict=True):
        for axis, quantity in zip(line, CHAIN_QUANTITIES, strict=True):
            if key == "operations":
                published = JOHANNESSEN[quantity]
                axis.loglog(
                    published.keys(),
                    published.values(),
                    ":",
                    color=GREY,
                    label="urdf2casadi, published",
                )
            for tool, (look, name) in TOOLS.items():
                points = [
                    (n, y) for n in lengths if (y := at(rows, key, quantity, tool, n)) is not None
                ]
                if points:
                    color, mark = LOOKS[look]
                    axis.loglog(
                        *zip(*points, strict=True),
                        f"{mark}-",
                        ms=4,
                        lw=1.2,
                        color=color,
                        label=name,
                    )
            axis.set_title(QUANTITIES[quantity] if key == "operations" else "")
            axis.set_xticks(lengths, [str(n) for n in lengths])
            axis.minorticks_off()
        line[0].set_ylabel(label)
    shown: dict[str, Any] = {}
    for axis in (axes[0, 0], axes[1, 0]):
        handles, labels = axis.get_legend_handles_labels()
        shown |= dict(zip(labels, handles, strict=True))
    figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncols=len(shown))
    figure.supxlabel("joints of a chain made of UR5 parameters", fontsize=9)
    return figure
