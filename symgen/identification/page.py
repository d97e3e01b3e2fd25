"""An estimate as one self-contained page, readable on a telephone."""

import base64
from pathlib import PurePath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen import __version__
from symgen.identification.panels import (
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
from symgen.identification.plots import end_of_log, parameters
from symgen.identification.prediction import SLOW, Points
from symgen.identification.prediction_report import HEADS
from symgen.identification.report import chosen
from symgen.identification.run import Identified
from symgen.inspection.style import new_figure, styled
from symgen.jobs.targets import Mark, holding
from symgen.render import render
from symgen.text import shown

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

PAGE: Final[Mark] = holding(
    "symgen identify", b"<!doctype html>", b'<meta name="generator" content="symgen identify">'
)
"""By which the next run knows a page that it may replace."""
DPI: Final = 90


def page(found: Identified, against: tuple[str, ...]) -> str:
    """One HTML file that needs nothing else; `against` is what speaks against the estimate."""
    estimate, reading = found.estimate, found.reading
    points, _ = end_of_log(found)
    return render(
        "html/identify.html.jinja",
        robot=shown(estimate.mapping.model.name),
        log=shown(PurePath(reading.log.file).name),
        version=__version__,
        method=found.settings.method,
        against=against,
        notes=[shown(note, 1000) for note in found.notes if note not in reading.doubts],
        rows=reading.survey.rows,
        used=reading.plan.samples,
        rate=1 / reading.step,
        condition=estimate.condition,
        scaled=estimate.scaled_condition,
        ranges=_ranges(found),
        speeds=_speeds(found),
        before=_before(found),
        predicted=_predicted(found),
        chosen=chosen(found),
        channels=_channels(found, points),
        parameters_picture=_embedded(encoded(parameters(estimate), PNG, DPI)),
        parameters=_parameters(found),
    )


def _embedded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def _ranges(found: Identified) -> list[tuple[str, float, float]]:
    survey, layout = found.reading.survey, found.reading.layout
    names = [shown(column.name) for column in layout.q]
    return list(zip(names, survey.low.tolist(), survey.high.tolist(), strict=False))


def _speeds(found: Identified) -> list[tuple[str, float, float]]:
    drives = found.equations.drives
    if drives is None:
        return []
    rates = np.abs(np.concatenate([s.qd for s in found.last]) @ drives.joints.rates.T)
    fastest = rates.max(axis=0, initial=0.0).tolist()
    return list(zip(drives.joints.names, fastest, drives.slowest.tolist(), strict=True))


def _before(found: Identified) -> list[tuple[Any, ...]]:
    """By channel: name, unit, measured, and the parts (%) that prior and estimate leave."""
    estimate, measured, left, there = found.estimate, [], [], []
    for samples in found.last:
        rows = found.equations.equations(samples)
        models = (estimate.prior_values, estimate.values)
        there.append(rows.used)
        left.append([rows.measured - rows.regressor @ values for values in models])
        measured.append(rows.measured)
    used = np.concatenate(there)
    sizes = _rms(np.concatenate(measured), used)
    parts = [
        100 * _rms(np.concatenate(own), used) / np.where(sizes > 0, sizes, 1.0)
        for own in zip(*left, strict=True)
    ]
    return [
        (shown(c.name), c.unit, sizes[k], parts[0][k], parts[1][k], c.deviation)
        for k, c in enumerate(estimate.channels)
    ]


def _rms(rows: Numbers, used: Flags) -> Numbers:
    return np.asarray(np.sqrt((rows**2 * used).sum(0) / np.maximum(used.sum(0), 1)))


def _predicted(found: Identified) -> dict[str, Any] | None:
    prediction = found.prediction
    if prediction is None:
        return None
    name = shown(PurePath(prediction.reading.log.file).name)
    return {
        "title": name + ", rows held out" * prediction.held_out,
        "slow": f"{SLOW:g}",
        "rows": [
            (shown(c.name), [c.views[view].relative for view in HEADS]) for c in prediction.channels
        ],
    }


def _parameters(found: Identified) -> list[tuple[Any, ...]]:
    estimate = found.estimate
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


def _channels(found: Identified, points: Points) -> list[tuple[str, str]]:
    strips = (Strip(k, c.name, c.unit) for k, c in enumerate(found.estimate.channels))
    step = found.reading.step * (found.reading.plan.interval or 1)
    return [(shown(s.name), _embedded(encoded(_drawn(points, s, step), PNG, DPI))) for s in strips]


@styled
def _drawn(points: Points, strip: Strip, step: float) -> Any:
    """All panels of a channel, as wide as a telephone shows without shrinking them."""
    figure = new_figure(4.8, 7.2)
    grid = figure.add_gridspec(4, 2, height_ratios=[3, 2, 3, 3])
    both, left = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, :])
    draw_both(both, points, strip)
    both.legend(fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
    draw_left(left, points, strip)
    left.margins(x=0)
    left.set_xlabel("t (s)", fontsize=8)
    panels = [figure.add_subplot(grid[2 + k // 2, k % 2]) for k in range(4)]
    draw_cloud(panels[0], speeds(points, strip), points, strip)
    draw_cloud(panels[1], points.load[:, strip.number], points, strip)
    _draw_spectrum(panels[2], points, strip, step)
    draw_distribution(panels[3], points, strip)
    for axis, said in zip(panels, (RATE, LOAD, "frequency (Hz)", "left"), strict=True):
        axis.set_xlabel(said, fontsize=8)
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
