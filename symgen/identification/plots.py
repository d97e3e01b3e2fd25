"""Pictures of an estimate: measured and predicted values, residuals, parameters with their
uncertainty."""

import io
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.estimate import Estimate
from symgen.identification.figures import new_figure
from symgen.identification.run import Identified

Numbers = NDArray[np.float64]

MOST: Final = 4000
"""Points of a line."""
SPAN: Final = 20.0
"""Seconds that a picture of motion shows, the end of the log."""
MEASURED, PREDICTED, HELD_OUT = "#9aa7b5", "#c1440e", "#f3ead8"
TITLES: Final = {
    "MR": "masses (kg)",
    "M": "first moments (kg m)",
    "S": "second moments (kg m²)",
    "J": "inertias of rotors (kg m²)",
    **dict.fromkeys("XYZ", "inertias (kg m²)"),
    "viscous": "viscous friction (N m s/rad or N s/m)",
    "coulomb": "Coulomb friction (N m or N)",
    "offset": "offsets (N m or N)",
    "stiffness": "stiffness of springs (N m/rad or N/m)",
    "preload": "preload of springs (N m or N)",
}
"""The panels of the picture of parameters, by the beginning of a parameter's name."""


def pictures(found: Identified) -> dict[str, bytes]:
    """PNG files by name. Raises SymgenError where matplotlib is missing."""
    drawn: Mapping[str, Callable[[Identified], Any]] = {
        "measured.png": _measured,
        "residuals.png": _residuals,
        "parameters.png": _parameters,
    }
    return {name: _png(draw(found)) for name, draw in drawn.items()}


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, dpi=110, metadata={"Software": None})
    return stream.getvalue()


def _panels(found: Identified) -> tuple[Any, list[Any]]:
    """A figure with a panel for each channel, in one or two columns."""
    count = len(found.estimate.channels)
    columns = 1 if count < 4 else 2
    rows = -(-count // columns)
    figure = new_figure(7 * columns, 1.0 + 1.9 * rows)
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_visible(False)
    for bottom in axes[max(count - columns, 0) : count]:
        bottom.set_xlabel("t (s)")
        bottom.tick_params(labelbottom=True)
    return figure, list(axes[:count])


def _span(found: Identified) -> tuple[Numbers, Numbers, Numbers, float | None]:
    """Time, measured and predicted values of the picture, and where validation begins if that is in
    it."""
    t, measured, predicted = found.series
    begin = len(t) - found.held_out
    edge = float(t[begin]) if found.held_out and 0 <= begin < len(t) else None
    kept = np.flatnonzero(t >= t[-1] - SPAN)
    kept = kept[:: -(-len(kept) // MOST)]
    return t[kept], measured[kept], predicted[kept], edge if found.held_out else np.inf


def _shade(axis: Any, t: Numbers, edge: float | None) -> None:
    """Marks the rows that were held out."""
    start = t[0] if edge is None else max(edge, t[0])
    if start < t[-1]:
        axis.axvspan(start, t[-1], color=HELD_OUT, zorder=0, label="held out")
    axis.margins(x=0)
    axis.grid(alpha=0.25)


def _measured(found: Identified) -> Any:
    figure, axes = _panels(found)
    t, measured, predicted, edge = _span(found)
    for k, (axis, channel) in enumerate(zip(axes, found.estimate.channels, strict=True)):
        _shade(axis, t, edge)
        axis.plot(t, measured[:, k], color=MEASURED, lw=1.6, label="measured")
        axis.plot(t, predicted[:, k], color=PREDICTED, lw=0.8, label="predicted")
        axis.set_title(f"{channel.name} ({channel.unit})", fontsize=9, loc="left")
    _legend(figure, axes[0])
    figure.suptitle(f"{found.estimate.mapping.model.name}: measured and predicted")
    return figure


def _residuals(found: Identified) -> Any:
    figure, axes = _panels(found)
    t, measured, predicted, edge = _span(found)
    for k, (axis, channel) in enumerate(zip(axes, found.estimate.channels, strict=True)):
        _shade(axis, t, edge)
        axis.plot(
            t,
            measured[:, k] - predicted[:, k],
            color="#33586f",
            lw=0.5,
            label="measured less predicted",
        )
        for sign in (-1, 1):
            axis.axhline(
                sign * channel.deviation,
                color=PREDICTED,
                lw=0.9,
                ls="--",
                label="± its deviation" if sign > 0 else None,
            )
        axis.set_title(
            f"{channel.name} ({channel.unit}): deviation {channel.deviation:.3g}",
            fontsize=9,
            loc="left",
        )
    _legend(figure, axes[0])
    figure.suptitle(f"{found.estimate.mapping.model.name}: residuals")
    return figure


def _legend(figure: Any, axis: Any) -> None:
    figure.legend(
        *axis.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        fontsize=9,
        frameon=False,
    )


def _parameters(found: Identified) -> Any:
    estimate = found.estimate
    groups = _groups(estimate)
    widest = max(map(len, groups.values()))
    figure = new_figure(max(7.0, 2.0 + 0.32 * widest), 0.9 + 2.6 * len(groups))
    axes = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    for axis, (begin, numbers) in zip(axes, groups.items(), strict=True):
        _bars(axis, estimate, numbers)
        axis.set_title(TITLES[begin], fontsize=9, loc="left")
    _legend(figure, axes[0])
    figure.suptitle(f"{estimate.mapping.model.name}: parameters, with ± 3 standard errors")
    return figure


def _groups(estimate: Estimate) -> dict[str, list[int]]:
    """The numbers of parameters of each panel."""
    own = [
        next(begin for begin in TITLES if name.startswith(begin)) for name in estimate.mapping.names
    ]
    own += [name.partition(" ")[0] for name in estimate.friction]
    return {begin: [k for k, b in enumerate(own) if b == begin] for begin in TITLES if begin in own}


def _threshold(estimate: Estimate, numbers: list[int]) -> float:
    """Where the scale becomes logarithmic: the power of ten above most of the uncertainties, or of
    tiny values."""
    errors, values = (
        3 * np.median(estimate.standard_errors[numbers]),
        np.abs(estimate.values[numbers]),
    )
    return float(10.0 ** np.ceil(np.log10(max(errors, 1e-4 * values.max(initial=0.0), 1e-12))))


def _bars(axis: Any, estimate: Estimate, numbers: list[int]) -> None:
    places, values = np.arange(len(numbers)), estimate.values[numbers]
    axis.bar(
        places - 0.2,
        values,
        0.4,
        yerr=3 * estimate.standard_errors[numbers],
        capsize=2,
        color="#33586f",
        label="estimate",
        ecolor=PREDICTED,
    )
    axis.bar(places + 0.2, estimate.prior_values[numbers], 0.4, color=MEASURED, label="prior")
    names = [estimate.names[k].partition(" ")[2] or estimate.names[k] for k in numbers]
    axis.set_xticks(
        places, names, rotation=60 if max(map(len, names)) > 6 else 0, fontsize=8, ha="center"
    )
    axis.axhline(0, color="black", lw=0.6)
    axis.set_yscale("symlog", linthresh=_threshold(estimate, numbers))
    axis.set_xlim(-0.7, len(numbers) - 0.3)
    axis.grid(alpha=0.25, axis="y")
