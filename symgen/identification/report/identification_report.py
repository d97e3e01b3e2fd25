"""The report of ``symgen identify``: tables on a terminal, the data of identification.json, and one
self-contained page with the same tables and pictures; with several logs, the drift of the offsets
and friction of each joint, log by log."""

import base64
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from symgen import __version__
from symgen.identification.estimation.log_groups import LogFit
from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import Channel, Estimate, short
from symgen.identification.report.plots import pictures
from symgen.identification.report.prediction_report import error_table, json_data
from symgen.inspection.rendering import Report, ReportTable, StyledText
from symgen.jobs.publish import Mark, holding
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.numbers.scalar import Numbers
from symgen.render import render
from symgen.text import shown

MIN_LOGS: Final = 3
"""Logs that a straight line with a standard error needs."""
FIRST_DATE: Final = 1e8
"""Times (s) from here on are dates, in seconds since 1970."""
DRIFTING: Final = ("offsets", "friction")


def by_time(logs: Sequence[LogFit]) -> list[LogFit]:
    """The logs by their first times, or as they were given if these do not differ."""
    return sorted(logs, key=lambda log: log.begin)


def linear_drifts(logs: Sequence[LogFit]) -> dict[str, tuple[Numbers, Numbers]]:
    """The change of each quantity from the first to the last log, by a straight line, and its
    standard error (c each); NaN for fewer than three logs. Without different times the logs are
    taken as evenly spaced."""
    if len(logs) < MIN_LOGS:
        unknown = np.full(len(logs[0].offsets), np.nan)
        return dict.fromkeys(DRIFTING, (unknown, unknown))
    t = np.array([log.begin for log in logs])
    t = t if len({*t.tolist()}) == len(t) else np.arange(len(logs), dtype=np.float64)
    x = (t - t.mean()) / np.ptp(t)
    result = {}
    for name in DRIFTING:
        y = np.array([getattr(log, name) for log in logs])
        slope = x @ y / (x @ x)
        rest = y - y.mean(axis=0) - np.outer(x, slope)
        free = len(t) - 2
        error = np.sqrt(np.sum(rest**2, axis=0) / free / (x @ x))
        result[name] = slope, error
    return result


def begin_text(log: LogFit) -> str:
    """The beginning of a log: a date, or seconds."""
    if log.begin < FIRST_DATE:
        return f"{log.begin:.6g} s"
    return datetime.fromtimestamp(log.begin, UTC).strftime("%Y-%m-%d %H:%M")


def drift_table(logs: Sequence[LogFit], channels: Sequence[Channel]) -> ReportTable:
    """For each joint its offset and the change of offset and friction over the logs."""
    logs = by_time(logs)
    offsets = np.array([log.offsets for log in logs])
    found, rows = linear_drifts(logs), []
    for j, channel in enumerate(channels):
        numbers = [offsets[:, j].min(), offsets[:, j].max(), *(x[j] for x in found["offsets"])]
        cells = ["" if np.isnan(x) else f"{x:.3g}" for x in numbers]
        cells += ["" if np.isnan(x[j]) else f"{100 * x[j]:.2g} %" for x in found["friction"]]
        rows.append([channel.name, channel.unit, *cells])
    first, last = begin_text(logs[0]), begin_text(logs[-1])
    return ReportTable(
        f"{logs[0].robot}: {len(logs)} logs from {first} to {last}".lstrip(": "),
        ["measured"],
        ["unit", "offset from", "to", "change", "std error", "friction change", "std error"],
        rows,
    )


def drift_data(logs: Sequence[LogFit], channels: Sequence[Channel]) -> dict[str, Any] | None:
    """The logs in the order of time, and the changes over them, for JSON."""
    if not logs:
        return None
    logs = by_time(logs)
    found = linear_drifts(logs)
    return {
        "logs": [
            {
                "file": PurePath(log.file).name,
                "begin": log.begin,
                "rows": log.rows,
                "channels": {
                    channel.name: {
                        "offset": float(log.offsets[j]),
                        "friction": float(log.friction[j]),
                        "measured_rms": float(log.measured[j]),
                        "residual_rms": float(log.residual[j]),
                    }
                    for j, channel in enumerate(channels)
                },
            }
            for log in logs
        ],
        "drift": {
            channel.name: {
                name: {"change": float(change[j]), "standard_error": float(error[j])}
                for name, (change, error) in found.items()
            }
            for j, channel in enumerate(channels)
        },
    }


RESULT_FILE: Final = "identification.json"


def report(
    identified: Identified, lines: Sequence[str] = (), data: Mapping[str, Any] | None = None
) -> Report:
    """Channels and parameters in tables, then what holds for all, with further `lines` and data
    (documented in docs/reference/identification.md)."""
    estimate = identified.estimate
    sentence = (
        f"The condition number of the regressor is {estimate.scaled_condition:.4g} with columns "
        f"scaled to unit length and {estimate.condition:.4g} without scaling."
    )
    more = (StyledText(line, whole=True) for line in lines)
    return Report([*tables(identified), sentence, *more], {**_data(identified), **(data or {})})


def tables(identified: Identified) -> Iterator[ReportTable]:
    """Errors of the channels, of a prediction and over several logs, and parameters."""
    estimate = identified.estimate
    yield _channels(identified)
    if identified.prediction is not None:
        yield error_table(identified.prediction)
    for robot in [*identified.robots.values()] or [identified]:
        if len(robot.logs) > 1:
            yield drift_table(robot.logs, estimate.channels)
    if identified.robots:
        yield _robots(identified.robots)
    yield _parameters(estimate)
    if estimate.standard is not None:
        yield ReportTable(
            "Standard parameters (the prior determines what the log does not)",
            ["body"],
            PARAMETER_NAMES,
            [
                (name, *(f"{x:.4g}" for x in ten.values()))
                for name, ten in estimate.mapping.by_body(estimate.standard).items()
            ],
        )


def _channels(identified: Identified) -> ReportTable:
    channels = identified.estimate.channels
    rows = []
    for c in channels:
        after = c.validation_residual_rms, c.validation_measured_rms
        rows.append(
            (
                c.name,
                c.unit,
                f"{c.measured_rms:.4g}",
                f"{c.residual_rms:.4g}",
                _ratio_text(c.residual_rms, c.measured_rms),
                "" if after[0] is None else f"{after[0]:.4g}",
                _ratio_text(*after),
            )
        )
    return ReportTable(
        f"Errors of {identified.estimate.mapping.model.name}: {identified.rows} rows, "
        f"{channels[0].rows} rows for the estimate, {channels[0].validation_rows} for validation",
        ["measured"],
        ["unit", "rms", "residual", "relative", "validation residual", "relative"],
        rows,
    )


def _robots(robots: Mapping[str, Identified]) -> ReportTable:
    rows = [
        (
            name,
            c.name,
            str(len(robot.logs)),
            str(c.rows),
            f"{c.residual_rms:.4g}",
            _ratio_text(c.residual_rms, c.measured_rms),
            "" if math.isnan(ratio) else f"{ratio:.3f}",
        )
        for name, robot in robots.items()
        for c, ratio in zip(robot.estimate.channels, robot.friction_ratios.tolist(), strict=True)
    ]
    return ReportTable(
        f"Errors of {len(robots)} robots, which have the bodies in common",
        ["robot", "measured"],
        ["logs", "rows", "residual", "relative", "friction by the mean of robots"],
        rows,
    )


def _ratio_text(residual: float | None, measured: float | None) -> str:
    return "" if residual is None or not measured else f"{100 * residual / measured:.2f} %"


def _columns(estimate: Estimate) -> Iterator[tuple[Any, ...]]:
    """Of each parameter its name, shape parameters, link and grouping (None of friction), value,
    standard and naive error, and prior."""
    none = [None] * len(estimate.friction)
    return zip(
        estimate.names,
        [{}] * len(estimate.mapping) + [dict(shape) for shape in estimate.shapes],
        [*estimate.mapping.links, *none],
        [*estimate.mapping.groupings, *none],
        estimate.values.tolist(),
        estimate.standard_errors.tolist(),
        estimate.naive_errors.tolist(),
        estimate.prior_values.tolist(),
        strict=True,
    )


def _parameters(estimate: Estimate) -> ReportTable:
    rows = [
        (
            name + (f" ({', '.join(f'{k} {v:.3g}' for k, v in shape.items())})" if shape else ""),
            link or "",
            short(group or ""),
            f"{x:.6g}",
            f"{error:.2g}",
            f"{naive:.2g}",
            _percent(error / abs(x)) if x else "",
            f"{prior:.6g}",
            f"{(x - prior) / error:+.1f} σ",
        )
        for name, shape, link, group, x, error, naive, prior in _columns(estimate)
    ]
    return ReportTable(
        f"Parameters: {len(estimate.names)}",
        ["parameter", "link", "definition"],
        ["estimate", "std error", "naive", "relative", "prior", "difference"],
        rows,
    )


def _percent(part: float) -> str:
    """A part in percent, with two digits and without a power of ten."""
    return f"{100 * part:.2g} %" if 100 * part < 99.5 else f"{100 * part:,.0f} %"


# -- data ------------------------------------------------------------------------------------------


def _data(identified: Identified) -> dict[str, Any]:
    estimate, mapping = identified.estimate, identified.estimate.mapping
    derivative_filter, standard = identified.dataset.derivative_filter, estimate.standard
    errors_of_standard, first = estimate.standard_errors_of_standard, 10 * len(mapping.bodies)
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "robot": mapping.model.name,
        "log": {
            "file": PurePath(identified.dataset.log.file).name,
            "rows": identified.rows,
            "step": identified.dataset.step,
        },
        "sensor": identified.settings.sensor,
        "window": 2 * derivative_filter.half_width + 1 if derivative_filter else None,
        "condition_number": estimate.condition,
        "scaled_condition_number": estimate.scaled_condition,
        "channels": [asdict(channel) for channel in estimate.channels],
        "parameters": {
            name: {
                "link": link,
                "grouping": group,
                "estimate": x,
                "standard_error": error,
                "naive_error": naive,
                "shape": shape,
                "prior": prior,
            }
            for name, shape, link, group, x, error, naive, prior in _columns(estimate)
        },
        "fleet": drift_data(identified.logs, estimate.channels),
        "robots": {
            name: {key: found for key, found in _data(one).items() if key in ROBOT_KEYS}
            for name, one in identified.robots.items()
        },
        "friction_ratios": identified.friction_ratios.tolist(),
        "factor": estimate.factor.tolist(),
        "bodies": None if standard is None else mapping.by_body(standard),
        "rotors": None
        if standard is None
        else dict(zip(mapping.standard[first:], standard[first:].tolist(), strict=True)),
        "standard_errors": None
        if errors_of_standard is None
        else dict(zip(mapping.standard, errors_of_standard.tolist(), strict=True)),
        "validation": None if identified.prediction is None else json_data(identified.prediction),
        "notes": list(identified.notes),
    }


ROBOT_KEYS: Final = ("channels", "parameters", "fleet", "friction_ratios")
"""What the data of one of several robots has."""


# -- page ------------------------------------------------------------------------------------------

PAGE_MARK: Final[Mark] = holding(
    "symgen identify", b"<!doctype html>", b'<meta name="generator" content="symgen identify">'
)
"""By which the next run knows a page that it may replace."""
NOTE_PREFIX: Final = re.compile(": (?:note|warning): ")
"""What ends the name of the file in a note."""


def page(identified: Identified, summary: str, refuted: bool, warnings: tuple[str, ...]) -> str:
    """One HTML file that needs nothing else. It begins with the `summary` of the verdict, in red if
    the estimate is `refuted`, and the `warnings`."""
    dataset = identified.dataset
    texts = [note for note in identified.notes if note not in dataset.warnings]
    drawn = {name: base64.b64encode(x).decode() for name, x in pictures(identified).items()}
    return render(
        "html/identify.html.jinja",
        robot=shown(identified.estimate.mapping.model.name),
        log=shown(PurePath(dataset.log.file).name),
        version=__version__,
        method=identified.settings.loss,
        summary=summary,
        refuted=refuted,
        warnings=warnings,
        notes=[shown(NOTE_PREFIX.split(text, maxsplit=1)[-1], 1000) for text in texts],
        rows=dataset.survey.rows,
        used=dataset.plan.samples,
        rate=1 / dataset.step,
        condition=identified.estimate.condition,
        scaled=identified.estimate.scaled_condition,
        tables="".join(table.html() for table in tables(identified)),
        pictures=drawn,
    )
