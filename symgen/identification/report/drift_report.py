"""The drift of a robot over several logs: offsets and friction of each joint, log by log."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from symgen.identification.estimation.log_groups import LogFit
from symgen.identification.model.estimate import Channel
from symgen.inspection.report_tables import ReportTable
from symgen.numbers.types import Numbers

FEWEST: Final = 3
"""Logs that a straight line with a standard error needs."""
DATES: Final = 1e8
"""Times (s) from here on are dates, in seconds since 1970."""
QUANTITIES: Final = ("offsets", "friction")


def in_order(logs: Sequence[LogFit]) -> list[LogFit]:
    """The logs by their first times, or as they were given if these do not differ."""
    return sorted(logs, key=lambda log: log.begin)


def drifts(logs: Sequence[LogFit]) -> dict[str, tuple[Numbers, Numbers]]:
    """The change of each quantity from the first to the last log, by a straight line, and its
    standard error (c each); NaN for fewer than three logs. Without different times the logs are
    taken as evenly spaced."""
    if len(logs) < FEWEST:
        unknown = np.full(len(logs[0].offsets), np.nan)
        return dict.fromkeys(QUANTITIES, (unknown, unknown))
    t = np.array([log.begin for log in logs])
    t = t if len({*t.tolist()}) == len(t) else np.arange(len(logs), dtype=np.float64)
    x = (t - t.mean()) / np.ptp(t)
    result = {}
    for name in QUANTITIES:
        y = np.array([getattr(log, name) for log in logs])
        slope = x @ y / (x @ x)
        rest = y - y.mean(axis=0) - np.outer(x, slope)
        free = len(t) - 2
        error = np.sqrt(np.sum(rest**2, axis=0) / free / (x @ x))
        result[name] = slope, error
    return result


def when(log: LogFit) -> str:
    """The beginning of a log: a date, or seconds."""
    if log.begin < DATES:
        return f"{log.begin:.6g} s"
    return datetime.fromtimestamp(log.begin, UTC).strftime("%Y-%m-%d %H:%M")


def drift_table(logs: Sequence[LogFit], channels: Sequence[Channel]) -> ReportTable:
    """For each joint its offset and the change of offset and friction over the logs."""
    logs = in_order(logs)
    offsets = np.array([log.offsets for log in logs])
    found, rows = drifts(logs), []
    for j, channel in enumerate(channels):
        numbers = [offsets[:, j].min(), offsets[:, j].max(), *(x[j] for x in found["offsets"])]
        cells = ["" if np.isnan(x) else f"{x:.3g}" for x in numbers]
        cells += ["" if np.isnan(x[j]) else f"{100 * x[j]:.2g} %" for x in found["friction"]]
        rows.append([channel.name, channel.unit, *cells])
    return ReportTable(
        f"{logs[0].robot}: {len(logs)} logs from {when(logs[0])} to {when(logs[-1])}".lstrip(": "),
        ["measured"],
        ["unit", "offset from", "to", "change", "std error", "friction change", "std error"],
        rows,
    )


def drift_data(logs: Sequence[LogFit], channels: Sequence[Channel]) -> dict[str, Any] | None:
    """The logs in the order of time, and the changes over them, for JSON."""
    if not logs:
        return None
    logs = in_order(logs)
    found = drifts(logs)
    return {
        "logs": [
            {
                "file": PurePath(log.file).name,
                "begin": log.begin,
                "rows": log.rows,
                "channels": {
                    channel.name: {
                        "offset": _known(log.offsets[j]),
                        "friction": _known(log.friction[j]),
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
                name: {"change": _known(change[j]), "standard_error": _known(error[j])}
                for name, (change, error) in found.items()
            }
            for j, channel in enumerate(channels)
        },
    }


def _known(x: float) -> float | None:
    return None if np.isnan(x) else float(x)
