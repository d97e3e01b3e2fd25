"""The report of ``symgen predict``, and ``symgen identify --validation``: a table, and data."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

from rich.markup import escape

from symgen import __version__
from symgen.identification.prediction.bearing_loads import LOADS, JointLoads
from symgen.identification.prediction.prediction_errors import (
    SLOW,
    VIEWS,
    ChannelErrors,
    Prediction,
    Share,
)
from symgen.inspection.report_tables import table
from symgen.output import console
from symgen.text import shown

HEADS: Final = {
    "all": "all rows",
    "moving": "moving",
    "filtered": "filtered",
    "filtered_moving": "moving, filtered",
}


def on_terminal(prediction: Prediction) -> None:
    """The errors of each channel in a table."""
    out = console()
    out.print(errors(prediction))
    out.print(
        f"The errors are relative to the rms of the measured values. moving: faster than {SLOW:g} "
        "rad/s or m/s. filtered: measured and predicted values pass the filter of the velocities."
    )
    if prediction.joints:
        out.print(joint_loads(prediction.joints))


def joint_loads(joints: Sequence[JointLoads]) -> Any:
    """The table of the loads of joints, the largest value and the root mean square of each."""
    heads = [f"{name.replace('_', ' ')} ({unit})" for name, unit in LOADS.items()]
    rows = table("Loads of the joints: largest, rms", ["joint"], heads)
    for joint in joints:
        loads = (joint.loads.get(name) for name in LOADS)
        rows.add_row(
            escape(shown(joint.joint)),
            *("" if x is None else f"{x.maximum:.4g}, {x.rms:.4g}" for x in loads),
        )
    return rows


def errors(prediction: Prediction) -> Any:
    """The table of errors."""
    name = shown(PurePath(prediction.reading.log.file).name)
    count = max((c.views["all"].rows for c in prediction.channels), default=0)
    rows = table(
        f"Prediction of {escape(name)}: {count}" + " held-out" * prediction.held_out + " rows",
        ["measured"],
        ["unit", "rms", "error", "bias", *HEADS.values()],
    )
    for c in prediction.channels:
        all_rows = c.views["all"]
        rows.add_row(
            escape(c.name),
            c.unit,
            f"{all_rows.measured:.4g}",
            f"{all_rows.error:.4g}",
            f"{c.bias:+.2g}",
            *(_part(c.views[view]) for view in HEADS),
        )
    return rows


def _part(share: Share) -> str:
    return "" if share.relative is None else f"{100 * share.relative:.2f} %"


def data(prediction: Prediction) -> dict[str, Any]:
    """The errors, for JSON (documented in docs/reference/identification.md)."""
    loads = {
        row.joint: {name: {"maximum": x.maximum, "rms": x.rms} for name, x in row.loads.items()}
        for row in prediction.joints
    }
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "log": PurePath(prediction.reading.log.file).name,
        "rows": prediction.reading.survey.usable,
        "channels": [_channel(c) for c in prediction.channels],
    } | ({"joints": loads} if loads else {})


def _channel(c: ChannelErrors) -> dict[str, Any]:
    views = {view: _share(c.views[view]) for view in VIEWS}
    return {"name": c.name, "unit": c.unit, "bias": c.bias, **views}


def _share(share: Share) -> dict[str, Any]:
    return {
        "rows": share.rows,
        "measured_rms": share.measured,
        "error_rms": share.error,
        "relative": share.relative,
    }
