"""An estimate as one self-contained page, readable on a telephone."""

import base64
import re
from pathlib import PurePath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen import __version__
from symgen.identification.estimation.run import Identified
from symgen.identification.prediction.prediction_errors import SLOW, Points
from symgen.identification.report.panels import (
    LEFT,
    LOAD,
    MEASURED,
    PNG,
    RATE,
    Strip,
    draw_both,
    draw_cloud,
    draw_distribution,
    draw_left,
    encoded,
    left_of,
    speeds,
)
from symgen.identification.report.plots import end_of_log, parameters
from symgen.identification.report.prediction_report import HEADS
from symgen.inspection.pictures import new_figure, styled
from symgen.jobs.publish import Mark, holding
from symgen.numbers.types import Numbers
from symgen.render import render
from symgen.text import shown

Flags = NDArray[np.bool_]

PAGE: Final[Mark] = holding(
    "symgen identify", b"<!doctype html>", b'<meta name="generator" content="symgen identify">'
)
"""By which the next run knows a page that it may replace."""
DPI: Final = 90
NOTE: Final = re.compile(": (?:note|warning): ")
"""What ends the name of the file in a note."""


def page(identified: Identified, summary: str, refuted: bool, warnings: tuple[str, ...]) -> str:
    """One HTML file that needs nothing else. It begins with the `summary` of the verdict, in red if
    the estimate is `refuted`, and the `warnings`."""
    estimate, reading = identified.estimate, identified.reading
    points, _ = end_of_log(identified)
    return render(
        "html/identify.html.jinja",
        robot=shown(estimate.mapping.model.name),
        log=shown(PurePath(reading.log.file).name),
        version=__version__,
        method=identified.settings.loss,
        summary=summary,
        refuted=refuted,
        warnings=warnings,
        notes=_notes(identified),
        rows=reading.survey.rows,
        used=reading.plan.samples,
        rate=1 / reading.step,
        condition=estimate.condition,
        scaled=estimate.scaled_condition,
        ranges=_ranges(identified),
        speeds=_speeds(identified),
        errors=_errors(identified),
        error_rows=sum(map(len, identified.last)),
        predicted=_predicted(identified),
        channels=_channels(identified, points),
        parameters_picture=_embedded(encoded(parameters(estimate), PNG, DPI)),
        parameters=_parameters(identified),
    )


def _notes(identified: Identified) -> list[str]:
    """The notes and warnings on the log without the name of its file."""
    texts = [note for note in identified.notes if note not in identified.reading.doubts]
    return [shown(NOTE.split(text, maxsplit=1)[-1], 1000) for text in texts]


def _embedded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def _ranges(identified: Identified) -> list[tuple[str, float, float, str]]:
    survey, layout = identified.reading.survey, identified.reading.layout
    low, high = survey.low.tolist(), survey.high.tolist()
    return [(shown(c.name), low[k], high[k], c.unit) for k, c in enumerate(layout.q)]


def _speeds(identified: Identified) -> list[tuple[str, float, float]]:
    drives = identified.equations.drives
    if drives is None:
        return []
    rates = np.abs(np.concatenate([s.qd for s in identified.last]) @ drives.joints.rates.T)
    fastest = rates.max(axis=0, initial=0.0).tolist()
    return list(zip(drives.joints.names, fastest, drives.slowest.tolist(), strict=True))


def _errors(identified: Identified) -> list[tuple[Any, ...]]:
    """One row per channel: name, unit, measured rms, and the rms of the residuals with the prior
    and with the estimate."""
    estimate, measured, residuals, masks = identified.estimate, [], [], []
    for samples in identified.last:
        rows = identified.equations.equations(samples)
        models = (estimate.prior_values, estimate.values)
        masks.append(rows.used)
        residuals.append([rows.measured - rows.regressor @ values for values in models])
        measured.append(rows.measured)
    counted = np.concatenate(masks)
    sizes = _rms(np.concatenate(measured), counted)
    prior, fitted = (
        _rms(np.concatenate(channel), counted) for channel in zip(*residuals, strict=True)
    )
    return [
        (shown(c.name), c.unit, sizes[k], prior[k], fitted[k], c.deviation)
        for k, c in enumerate(estimate.channels)
    ]


def _rms(rows: Numbers, used: Flags) -> Numbers:
    return np.asarray(np.sqrt((rows**2 * used).sum(0) / np.maximum(used.sum(0), 1)))


def _predicted(identified: Identified) -> dict[str, Any] | None:
    prediction = identified.prediction
    if prediction is None:
        return None
    name = shown(PurePath(prediction.reading.log.file).name)
    return {
        "title": name + " (held-out rows)" * prediction.held_out,
        "slow": f"{SLOW:g}",
        "rows": [
            (shown(c.name), [c.views[view].relative for view in HEADS]) for c in prediction.channels
        ],
    }


def _parameters(identified: Identified) -> list[tuple[Any, ...]]:
    estimate = identified.estimate
    none = [""] * len(estimate.friction)
    columns = (
        [shown(name) for name in estimate.names],
        [shown(link) for link in (*estimate.mapping.links, *none)],
        estimate.values.tolist(),
        estimate.standard_errors.tolist(),
        estimate.naive_errors.tolist(),
        estimate.prior_values.tolist(),
        [*estimate.mapping.groupings, *none],
    )
    return list(zip(*columns, strict=True))


def _channels(identified: Identified, points: Points) -> list[tuple[str, str]]:
    strips = (Strip(k, c.name, c.unit) for k, c in enumerate(identified.estimate.channels))
    step = identified.reading.step
    return [(shown(s.name), _embedded(encoded(_drawn(points, s, step), PNG, DPI))) for s in strips]


@styled
def _drawn(points: Points, strip: Strip, step: float) -> Any:
    """All panels of a channel, as wide as a telephone shows without shrinking them."""
    figure = new_figure(4.8, 7.2)
    grid = figure.add_gridspec(4, 2, height_ratios=[3, 2, 3, 3])
    upper, lower = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, :])
    draw_both(upper, points, strip)
    upper.legend(fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
    draw_left(lower, points, strip)
    lower.margins(x=0)
    lower.set_xlabel("t (s)", fontsize=8)
    panels = [figure.add_subplot(grid[2 + k // 2, k % 2]) for k in range(4)]
    draw_cloud(panels[0], speeds(points, strip), points, strip)
    draw_cloud(panels[1], points.load[:, strip.number], points, strip)
    _draw_spectrum(panels[2], points, strip, step)
    draw_distribution(panels[3], points, strip)
    for axis, label in zip(panels, (RATE, LOAD, "frequency (Hz)", "residual"), strict=True):
        axis.set_xlabel(label, fontsize=8)
    return figure


def _draw_spectrum(axis: Any, points: Points, strip: Strip, step: float) -> None:
    """Amplitudes of what was measured and of what is left, by frequency."""
    thinning = max(round(float(np.median(np.diff(points.t))) / step), 1)
    window = np.hanning(len(points.t))
    frequencies = np.fft.rfftfreq(len(points.t), step * thinning)[1:]
    rows = (points.measured[:, strip.number], MEASURED), (left_of(points, strip), LEFT)
    for values, colour in rows:
        size = (
            np.abs(np.fft.rfft(np.nan_to_num(values) * window))[1:]
            * 2
            / max(float(window.sum()), 1.0)
        )
        axis.loglog(frequencies, size + 1e-12, color=colour, lw=0.7)
    axis.grid(alpha=0.25)
