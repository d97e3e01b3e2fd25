"""Pictures of benchmarks.identifiability."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.identifiability import NAMES
from benchmarks.pictures import save
from symgen.inspection.rendering import BLUE, GREY, ORANGE, VERMILION, new_figure, styled

COLORS = {"alone": BLUE, "sum": ORANGE, "none": GREY}
MARKS = {"alone": "o", "sum": "s", "none": "x"}
MEANING = {
    "alone": "identifiable",
    "sum": "identifiable only in combination",
    "none": "without effect",
}
"""Labels of the classes of parameters."""


def draw(found: dict[str, Any], folder: Path) -> None:
    """All pictures."""
    save(_sparsity(found["sparsity"]), folder / "sparsity.svg")
    save(_growth(found["growth"]), folder / "growth.svg")


@styled
def _sparsity(found: dict[str, Any]) -> Any:
    """A dot for each entry that is not a structural zero, coloured by the class of the column's
    parameter."""
    figure = new_figure(11, 5.2)
    axes = figure.subplots(2, 1, height_ratios=(3, 6))
    rows = {"torque": ["τ1", "τ2", "τ3"], "wrench": ["fx", "fy", "fz", "nx", "ny", "nz"]}
    for axis, (sensor, data) in zip(axes, found.items(), strict=True):
        structure = np.array(data["structure"])
        for kind, color in COLORS.items():
            at = [k for k, value in enumerate(data["classes"]) if value == kind]
            dots = [(k, i) for k in at for i in range(len(structure)) if structure[i, k]]
            for k in at:
                axis.axvspan(k - 0.5, k + 0.5, color=color, alpha=0.15, linewidth=0)
            axis.scatter(
                *(np.array(dots).T if dots else ((), ())),
                color=color,
                marker=MARKS[kind],
                s=30,
                label=MEANING[kind],
            )
        axis.set_yticks(range(len(structure)), rows[sensor])
        axis.set_xticks(range(structure.shape[1]), NAMES * 3, fontsize=8, rotation=90)
        axis.set(xlim=(-0.5, 29.5), ylim=(len(structure) - 0.5, -0.5))
        axis.set_title(f"{sensor} regressor, rank {data['rank']} of 30", fontsize=11)
        axis.grid(visible=False)
        for k in (9.5, 19.5):
            axis.axvline(k, color="black", linewidth=1)
    axes[1].set_xlabel("parameters of link 1 | link 2 | link 3")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def _growth(rows: list[dict[str, Any]]) -> Any:
    figure = new_figure(7, 4.2)
    axis = figure.subplots()
    joints = [row["joints"] for row in rows]
    for key, label, color in (
        ("shooting_s", "nonlinear multiple shooting", VERMILION),
        ("linear_s", "linear least squares", BLUE),
    ):
        axis.plot(joints, [1e3 * row[key] for row in rows], "o-", color=color, label=label)
    axis.set(yscale="log", xlabel="joints", ylabel="time, ms", xticks=joints)
    axis.legend()
    return figure
