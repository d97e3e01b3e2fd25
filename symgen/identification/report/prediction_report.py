"""The report of ``symgen predict`` and ``symgen identify --validation``: tables, data, pictures."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

from symgen import __version__
from symgen.identification.prediction.bearing_loads import LOADS, JointLoads
from symgen.identification.prediction.prediction_errors import SLOW, VIEWS, Prediction
from symgen.identification.report.panels import PNG, Strip, encoded, over_time, residuals
from symgen.inspection.report_tables import Report, ReportTable
from symgen.text import shown

HEADS: Final = ("all rows", "moving", "filtered", "moving, filtered")
"""Of VIEWS."""


def report(prediction: Prediction) -> Report:
    """The errors of each channel in a table, and the loads of the joints."""
    sentence = (
        f"The errors are relative to the rms of the measured values. moving: faster than {SLOW:g} "
        "rad/s or m/s. filtered: measured and predicted values pass the filter of the velocities."
    )
    loads = [joint_loads(prediction.joints)] if prediction.joints else []
    return Report([errors(prediction), sentence, *loads], data(prediction))


def joint_loads(joints: Sequence[JointLoads]) -> ReportTable:
    """The table of the loads of joints, the largest value and the root mean square of each."""
    rows = []
    for joint in joints:
        loads = (joint.loads.get(name) for name in LOADS)
        cells = ("" if x is None else f"{x.maximum:.4g}, {x.rms:.4g}" for x in loads)
        rows.append([shown(joint.joint), *cells])
    heads = [f"{name.replace('_', ' ')} ({unit})" for name, unit in LOADS.items()]
    return ReportTable("Loads of the joints: largest, rms", ["joint"], heads, rows)


def errors(prediction: Prediction) -> ReportTable:
    """The table of errors."""
    name = shown(PurePath(prediction.reading.log.file).name)
    count = max((c.views["all"].rows for c in prediction.channels), default=0)
    rows = []
    for c in prediction.channels:
        share, parts = c.views["all"], (c.views[view].relative for view in VIEWS)
        cells = ("" if part is None else f"{100 * part:.2f} %" for part in parts)
        first = f"{share.measured:.4g}", f"{share.error:.4g}", f"{c.bias:+.2g}"
        rows.append([c.name, c.unit, *first, *cells])
    return ReportTable(
        f"Prediction of {name}: {count}" + " held-out" * prediction.held_out + " rows",
        ["measured"],
        ["unit", "rms", "error", "bias", *HEADS],
        rows,
    )


def data(prediction: Prediction) -> dict[str, Any]:
    """The errors, for JSON (documented in docs/reference/identification.md)."""
    channels = [
        {"name": c.name, "unit": c.unit, "bias": c.bias}
        | {
            view: {
                "rows": share.rows,
                "measured_rms": share.measured,
                "error_rms": share.error,
                "relative": share.relative,
            }
            for view, share in c.views.items()
        }
        for c in prediction.channels
    ]
    loads = {
        row.joint: {name: {"maximum": x.maximum, "rms": x.rms} for name, x in row.loads.items()}
        for row in prediction.joints
    }
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "log": PurePath(prediction.reading.log.file).name,
        "rows": prediction.reading.survey.usable,
        "channels": channels,
    } | ({"joints": loads} if loads else {})


def pictures(prediction: Prediction, kind: str = PNG) -> dict[str, bytes]:
    """Pictures of a kind by the names of their files. Raises SymgenError where matplotlib is
    missing."""
    strips = []
    for j, channel in enumerate(prediction.channels):
        share = channel.views["filtered"].relative or channel.views["all"].relative
        label = "" if share is None else f"error {100 * share:.1f} %"
        strips.append(Strip(j, channel.name, channel.unit, label))
    figures = {
        "predicted": over_time(prediction.points, strips),
        "residuals": residuals(prediction.points, strips),
    }
    return {f"{name}.{kind}": encoded(figure, kind) for name, figure in figures.items()}
