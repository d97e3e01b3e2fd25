"""Pictures of an estimate: measured and predicted values, residuals, parameters with their
uncertainty."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import Estimate
from symgen.identification.prediction.prediction_errors import Points, Predictor, joined, points_of
from symgen.identification.report.panels import (
    MEASURED,
    PNG,
    PREDICTED,
    Strip,
    encoded,
    over_time,
    residuals,
)
from symgen.inspection.pictures import new_figure, styled
from symgen.mechanics.joint_forces import LAWS

MOST: Final = 4000
"""Rows that a picture shows."""
SPAN: Final = 20.0
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
        Strip(
            k,
            c.name,
            c.unit,
            f"residual {100 * c.residual / c.measured:.1f} %" if c.measured else "",
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
    last = (replace(samples, measured=samples.bridged) for samples in identified.last)
    points = joined([points_of(samples, model) for samples in last])
    t, held_out = points.t, identified.held_out
    kept = np.flatnonzero(t >= t[-1] - SPAN)
    kept = kept[:: -(-len(kept) // MOST)]
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
    axis.plot(prior, places, "o", mfc="none", mec=MEASURED, ms=7, label="prior")
    axis.errorbar(
        values, places, xerr=errors, fmt="o", color=PREDICTED, ms=3, capsize=3, label="estimate"
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
    axis.plot(sizes, np.arange(len(numbers)), "o", color=PREDICTED, ms=4)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter("")
    axis.axvline(100, color="black", lw=0.8, ls=":")
    axis.set_yticks([])
    axis.set_ylim(len(numbers) - 0.3, -0.7)
    axis.grid(alpha=0.25, axis="x")
