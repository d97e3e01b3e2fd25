"""The report of ``symgen identify``: tables on a terminal, and the data of identification.json."""

import hashlib
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.markup import escape

from symgen import __version__
from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import Channel, Estimate
from symgen.identification.model.grouping import short
from symgen.identification.report.drift_report import drift_data, drift_table
from symgen.identification.report.prediction_report import data as predicted
from symgen.identification.report.prediction_report import errors
from symgen.inspection.report_tables import table
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.output import console

LISTING: Final = "identification.json"


def on_terminal(identified: Identified, out: Console | None = None) -> None:
    """Channels and parameters in tables, then what holds for all."""
    out, estimate = out or console(), identified.estimate
    out.print(_channels(identified))
    if identified.prediction is not None:
        out.print(errors(identified.prediction))
    if identified.logs:
        out.print(drift_table(identified.logs, estimate.channels))
    out.print(_parameters(estimate))
    if estimate.standard is not None:
        out.print(_standard(estimate))
    out.print(
        f"The condition number of the regressor is {estimate.scaled_condition:.4g} with columns "
        f"scaled to unit length and {estimate.condition:.4g} without scaling."
    )


def _channels(identified: Identified) -> Any:
    robot = identified.estimate.mapping.model.name
    first = identified.estimate.channels[0]
    rows = table(
        f"Errors of {robot}: {identified.rows} rows, {first.rows} rows for the estimate, "
        f"{first.validation_rows} for validation",
        ["measured"],
        ["unit", "rms", "residual", "relative", "validation residual", "relative"],
    )
    for c in identified.estimate.channels:
        after = (c.validation_residual, c.validation_measured)
        rows.add_row(
            escape(c.name),
            c.unit,
            f"{c.measured:.4g}",
            f"{c.residual:.4g}",
            _part(c.residual, c.measured),
            "" if after[0] is None else f"{after[0]:.4g}",
            _part(*after),
        )
    return rows


def _part(residual: float | None, measured: float | None) -> str:
    return "" if residual is None or not measured else f"{100 * residual / measured:.2f} %"


def _parameters(estimate: Estimate) -> Any:
    prior = estimate.prior_values
    rows = table(
        f"Parameters: {len(estimate.names)}",
        ["parameter", "link", "definition"],
        ["estimate", "std error", "naive", "relative", "prior", "difference"],
    )
    none = [""] * len(estimate.friction)
    groups, links = [*estimate.mapping.groupings, *none], [*estimate.mapping.links, *none]
    values, errors, naive = estimate.values, estimate.standard_errors, estimate.naive_errors
    for name, link, group, x, error, white, before in zip(
        _with_shapes(estimate), links, groups, values, errors, naive, prior, strict=True
    ):
        rows.add_row(
            escape(name),
            escape(link),
            escape(short(group)),
            f"{x:.6g}",
            f"{error:.2g}",
            f"{white:.2g}",
            _percent(error / abs(x)) if x else "",
            f"{before:.6g}",
            f"{(x - before) / error:+.1f} σ",
        )
    return rows


def _percent(part: float) -> str:
    """A part in percent, with two digits and without a power of ten."""
    return f"{100 * part:.2g} %" if 100 * part < 99.5 else f"{100 * part:,.0f} %"


def _with_shapes(estimate: Estimate) -> list[str]:
    """Names of parameters, with the shape parameters of the laws that have some."""
    listed = [", ".join(f"{name} {x:.3g}" for name, x in shape) for shape in estimate.shapes]
    texts = [""] * len(estimate.mapping) + [f" ({text})" * bool(text) for text in listed]
    return [name + text for name, text in zip(estimate.names, texts, strict=True)]


def _standard(estimate: Estimate) -> Any:
    rows = table(
        "Standard parameters (the prior determines what the log does not)",
        ["body"],
        PARAMETER_NAMES,
    )
    standard = np.zeros(0) if estimate.standard is None else estimate.standard
    for name, ten in estimate.mapping.by_body(standard).items():
        rows.add_row(escape(name), *(f"{x:.4g}" for x in ten.values()))
    return rows


# -- data ------------------------------------------------------------------------------------------


def data(identified: Identified) -> dict[str, Any]:
    """Everything that was found, for JSON (documented in docs/reference/identification.md)."""
    estimate, settings = identified.estimate, identified.settings
    derivation = identified.reading.derivation
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "robot": estimate.mapping.model.name,
        "log": {
            "file": PurePath(identified.reading.log.file).name,
            "rows": identified.rows,
            "step": identified.reading.step,
        },
        "sensor": settings.sensor,
        "window": 2 * derivation.half + 1 if derivation else None,
        "condition_number": _finite(estimate.condition),
        "scaled_condition_number": _finite(estimate.scaled_condition),
        "channels": [_channel(c) for c in estimate.channels],
        "parameters": _named(estimate),
        "fleet": drift_data(identified.logs, estimate.channels),
        "factor": estimate.factor.tolist(),
        "bodies": _bodies(estimate),
        "rotors": _rotors(estimate),
        "standard_errors": _errors(estimate),
        "validation": None if identified.prediction is None else predicted(identified.prediction),
        "notes": list(identified.notes),
    }


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def _channel(c: Channel) -> dict[str, Any]:
    return {
        "name": c.name,
        "unit": c.unit,
        "rows": c.rows,
        "deviation": c.deviation,
        "measured_rms": c.measured,
        "residual_rms": c.residual,
        "validation_rows": c.validation_rows,
        "validation_measured_rms": c.validation_measured,
        "validation_residual_rms": c.validation_residual,
    }


def _named(estimate: Estimate) -> dict[str, Any]:
    none = [None] * len(estimate.friction)
    groups, links = [*estimate.mapping.groupings, *none], [*estimate.mapping.links, *none]
    rows = zip(
        estimate.names,
        links,
        groups,
        estimate.values.tolist(),
        estimate.standard_errors.tolist(),
        estimate.naive_errors.tolist(),
        [()] * len(estimate.mapping) + list(estimate.shapes),
        estimate.prior_values.tolist(),
        strict=True,
    )
    return {
        name: {
            "link": link,
            "grouping": group,
            "estimate": x,
            "standard_error": error,
            "naive_error": naive,
            "shape": dict(shape),
            "prior": before,
        }
        for name, link, group, x, error, naive, shape, before in rows
    }


def _bodies(estimate: Estimate) -> Mapping[str, Any] | None:
    return None if estimate.standard is None else estimate.mapping.by_body(estimate.standard)


def _rotors(estimate: Estimate) -> Mapping[str, float] | None:
    if estimate.standard is None:
        return None
    first = 10 * len(estimate.mapping.bodies)
    return dict(
        zip(estimate.mapping.standard[first:], estimate.standard[first:].tolist(), strict=True)
    )


def _errors(estimate: Estimate) -> Mapping[str, float] | None:
    errors = estimate.standard_errors_of_standard
    return (
        None
        if errors is None
        else dict(zip(estimate.mapping.standard, errors.tolist(), strict=True))
    )


def listed(data: dict[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """The data with the SHA-256 of the files beside it, by which the next run knows them."""
    return {
        **data,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
