"""Pictures of benchmarks.identifiability."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from benchmarks.identifiability import NAMES

mpl.use("Agg")
import matplotlib.pyplot as plt

COLORS = {"alone": "#0b6e4f", "sum": "#d1720f", "none": "#b0b0b0"}
MEANING = {"alone": "identifiable", "sum": "only in sums with others", "none": "never"}


def draw(found: dict[str, Any], folder: Path) -> None:
    """All pictures."""
    _sparsity(found["sparsity"]).savefig(folder / "sparsity.png", dpi=110)
    _growth(found["growth"]).savefig(folder / "growth.png", dpi=110)
    plt.close("all")


def _sparsity(found: dict[str, Any]) -> Any:
    """A dot where an entry is not always zero, coloured by what can be known of the column's
    parameter."""
    figure, axes = plt.subplots(2, 1, figsize=(11, 5.2), layout="constrained", height_ratios=(3, 6))
    rows = {"torque": ["τ1", "τ2", "τ3"], "wrench": ["fx", "fy", "fz", "nx", "ny", "nz"]}
    for axis, (sensor, data) in zip(axes, found.items(), strict=True):
        structure = np.array(data["structure"])
        for kind, color in COLORS.items():
            at = [k for k, value in enumerate(data["classes"]) if value == kind]
            dots = [(k, i) for k in at for i in range(len(structure)) if structure[i, k]]
            for k in at:
                axis.axvspan(k - 0.5, k + 0.5, color=color, alpha=0.15, linewidth=0)
            axis.scatter(
                *(np.array(dots).T if dots else ((), ())), color=color, s=40, label=MEANING[kind]
            )
        axis.set_yticks(range(len(structure)), rows[sensor])
        axis.set_xticks(range(structure.shape[1]), NAMES * 3, fontsize=8, rotation=90)
        axis.set(xlim=(-0.5, 29.5), ylim=(len(structure) - 0.5, -0.5))
        axis.set_title(f"{sensor} regressor, rank {data['rank']} of 30", fontsize=11)
        for k in (9.5, 19.5):
            axis.axvline(k, color="black", linewidth=1)
    axes[1].set_xlabel("parameters of link 1 | link 2 | link 3")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _growth(rows: list[dict[str, Any]]) -> Any:
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    joints = [row["joints"] for row in rows]
    for key, label, color in (
        ("shooting_s", "nonlinear multiple shooting", "#b03a2e"),
        ("linear_s", "linear least squares", "#0b6e4f"),
    ):
        axis.plot(joints, [1e3 * row[key] for row in rows], "o-", color=color, label=label)
    axis.set(yscale="log", xlabel="joints", ylabel="ms", xticks=joints)
    axis.grid(alpha=0.3)
    axis.legend()
    return figure
