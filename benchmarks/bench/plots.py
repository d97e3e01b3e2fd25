"""Plots of the results: bars of ratios, bars of times, growth of chains."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.bench.cases import CHAIN_QUANTITIES, QUANTITIES
from benchmarks.bench.published import JOHANNESSEN
from benchmarks.bench.report import CASADI, PINOCCHIO, Row, at, best, ratio, robots_of

mpl.use("Agg")
import matplotlib.pyplot as plt

COLORS = {
    "symgen": "#0b6e4f",
    "symgen inline": "#5fbf8f",
    "CasADi": "#d1720f",
    "Pinocchio": "#4a5f99",
    "urdf2casadi": "#b03a2e",
}

TICKS = {"CasADi": (0.5, 1, 2, 3, 4, 6, 8), "Pinocchio": (1, 2, 4, 8, 16, 32, 64)}
"""Of the ratios to each."""


def draw(results: dict[str, Any], folder: Path) -> None:
    """All plots that there are figures for."""
    if results["robots"]:
        _ratios(results["robots"]).savefig(folder / "ratios.png", dpi=110)
        _times(results["robots"]).savefig(folder / "times.png", dpi=110)
    if results["chains"]:
        _growth(results["chains"]).savefig(folder / "growth.png", dpi=110)
    plt.close("all")


def _ratios(rows: Sequence[Row]) -> Any:
    """How many times faster, quantity by quantity, a bar a robot; the dashed line is the aim."""
    figure, axes = plt.subplots(2, 1, figsize=(12, 8), layout="constrained", sharex=True)
    for axis, (peer, bar) in zip(axes, (("CasADi", CASADI), ("Pinocchio", PINOCCHIO)), strict=True):
        robots = robots_of(rows)
        for k, robot in enumerate(robots):
            heights = [ratio(rows, robot, quantity, peer) or 0 for quantity in QUANTITIES]
            places = [
                i + (k - len(robots) / 2 + 0.5) * 0.8 / len(robots) for i in range(len(QUANTITIES))
            ]
            axis.bar(
                places,
                heights,
                0.75 / len(robots),
                label=robot,
                color=plt.cm.viridis(k / len(robots)),
            )
        axis.axhline(1, color="black", linewidth=0.8)
        axis.axhline(bar, color="black", linewidth=1, linestyle="--")
        axis.text(-0.9, bar, f"aim {bar:g}×", va="bottom")
        axis.set(yscale="log", title=f"How many times faster symgen is than {peer}")
        axis.set_xlim(-0.95, len(QUANTITIES) - 0.5)
        axis.set_yticks(TICKS[peer], [f"{x:g}×" for x in TICKS[peer]])
        axis.minorticks_off()
        axis.grid(axis="y", alpha=0.3)
        axis.set_axisbelow(True)
    axes[1].set_xticks(range(len(QUANTITIES)), list(QUANTITIES.values()))
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(robots)
    )
    return figure


def _times(rows: Sequence[Row]) -> Any:
    """Nanoseconds a call, a panel a robot."""
    robots = robots_of(rows)
    figure, axes = plt.subplots(
        -(-len(robots) // 2),
        2,
        figsize=(13, 2.6 * -(-len(robots) // 2)),
        layout="constrained",
        squeeze=False,
    )
    kinds = ("symgen inline", "symgen", "CasADi", "Pinocchio")
    for axis, robot in zip(axes.flat, robots, strict=False):
        for k, kind in enumerate(kinds):
            heights = [best(rows, robot, quantity, kind) or 0 for quantity in QUANTITIES]
            places = [i + (k - 1.5) * 0.2 for i in range(len(QUANTITIES))]
            axis.bar(places, heights, 0.19, label=kind, color=COLORS[kind])
        axis.set(yscale="log", title=robot, ylabel="ns a call")
        axis.set_xticks(range(len(QUANTITIES)), list(QUANTITIES.values()), fontsize=8)
    for axis in axes.flat[len(robots) :]:
        axis.set_axis_off()
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(kinds)
    )
    return figure


def _growth(rows: Sequence[Row]) -> Any:
    """Operations and nanoseconds over joints, log-log."""
    lengths = sorted({row["joints"] for row in rows})
    figure, axes = plt.subplots(
        2, len(CHAIN_QUANTITIES), figsize=(17, 7.5), layout="constrained", sharex=True
    )
    tools = {
        "symgen O2": "symgen",
        "casadi pinocchio O2": "CasADi",
        "urdf2casadi O2": "urdf2casadi",
        "pinocchio": "Pinocchio",
    }
    for line, (key, label) in zip(
        axes, (("operations", "operations"), ("minimum", "ns a call")), strict=True
    ):
        for axis, quantity in zip(line, CHAIN_QUANTITIES, strict=True):
            for tool, color in tools.items():
                points = [
                    (n, y) for n in lengths if (y := at(rows, key, quantity, tool, n)) is not None
                ]
                if points:
                    axis.loglog(
                        *zip(*points, strict=True),
                        "o-",
                        ms=4,
                        color=COLORS[color],
                        label=_named(tool),
                    )
            if key == "operations":
                axis.loglog(
                    JOHANNESSEN[quantity].keys(),
                    JOHANNESSEN[quantity].values(),
                    "x:",
                    color="gray",
                    label="urdf2casadi, published",
                )
            axis.set(title=QUANTITIES[quantity] if key == "operations" else "", xticks=lengths)
            axis.set_xticks(lengths, [str(n) for n in lengths])
            axis.minorticks_off()
            axis.grid(alpha=0.3)
        line[0].set_ylabel(label)
    axes[0, 0].legend(fontsize=8)
    axes[1, 0].legend(fontsize=8)
    figure.supxlabel("joints of a chain made of UR5 parameters")
    return figure


def _named(tool: str) -> str:
    return {
        "symgen O2": "symgen",
        "casadi pinocchio O2": "CasADi (Pinocchio SX)",
        "urdf2casadi O2": "urdf2casadi",
        "pinocchio": "Pinocchio C++",
    }[tool]
