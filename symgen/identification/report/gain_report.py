"""The results of ``symgen gains`` and ``symgen stiffness``: reports, and files in TOML that other
commands and generated code take."""

import json
from pathlib import Path
from typing import Final

from symgen import __version__
from symgen.identification.gains.joint_stiffness import JointStiffness
from symgen.identification.gains.torque_constants import DriveGains
from symgen.inspection.rendering import Report, ReportTable, StyledText
from symgen.jobs.publish import OutputFile, holding
from symgen.text import shown

ABOUT: Final = {"format": 1, "generator": f"symgen {__version__}"}


def output_file(command: str, path: Path) -> OutputFile:
    """Where the file of a command goes. Raises OptionError where it may not."""
    mark = f"# by {command}".encode()
    file = OutputFile(path, holding(command, mark, mark))
    file.check()
    return file


def of_gains(result: DriveGains) -> Report:
    """The gains in a table, and as options of other commands (the data are documented in
    docs/reference/identification.md)."""
    columns = (result.joints, result.units, result.values, result.errors, result.residuals)
    rows = [(j, u, float(k), float(e), float(r)) for j, u, k, e, r in zip(*columns, strict=True)]
    table = ReportTable(
        f"Drive gains from {result.rows[0]} rows without the load and {result.rows[1]} with it",
        ["joint"],
        ["gain", "std error", "relative", "unit", "current not explained"],
        [
            (j, f"{k:.5g}", f"{error:.2g}", f"{100 * error / k:.2g} %", u, f"{100 * left:.3g} %")
            for j, u, k, error, left in rows
        ],
    )
    options = " ".join(f"--torque-constant {shown(j)}={k:.5g}" for j, _, k, _, _ in rows)
    gains = {
        j: {"unit": unit, "gain": k, "standard_error": error, "left": left}
        for j, unit, k, error, left in rows
    }
    data = {**ABOUT, "rows": [*result.rows], "gains": gains, "notes": [*result.notes]}
    return Report([table, StyledText(options, whole=True)], data)


def toml_of_gains(result: DriveGains) -> str:
    """A file for ``--columns``."""
    pairs = zip(result.joints, result.values.tolist(), strict=True)
    lines = [f"# by symgen gains, symgen {__version__}", "[torque_constant]"]
    return "\n".join([*lines, *(f"{json.dumps(j)} = {k!r}" for j, k in pairs)]) + "\n"


COLUMNS: Final = {
    "joint_stiffness": ("stiffness K", "N m/rad", "N/m"),
    "spring_damping": ("damping D", "N m s/rad", "N s/m"),
    "motor_inertia": ("motor inertia B", "kg m²", "kg"),
}
"""Of the unknowns that generated code takes: words, and units for angles and for lengths."""


def of_springs(result: JointStiffness) -> Report:
    """The values that generated code takes in a table, and as initialisers of C. In the data
    (documented in docs/reference/identification.md) arrays are in the order of joints."""
    names = [name for name in COLUMNS if name in result.values]
    rows = []
    for k, (joint, unit) in enumerate(zip(result.joints, result.units, strict=True)):
        cells = list[str]()
        for name in names:
            value, error = result.values[name][k], result.standard_errors[name][k]
            cells += [f"{value:.5g}", f"{error:.2g}", COLUMNS[name][1 + (unit == "m")]]
        rows.append([joint, *cells, f"{100 * result.residuals[k]:.3g} %"])
    heads = [text for name in names for text in (COLUMNS[name][0], "std error", "unit")]
    title = f"Joint springs from {result.rows} rows"
    data = {
        **ABOUT,
        "joints": [*result.joints],
        **{name: values.tolist() for name, values in result.values.items()},
        "standard_errors": {name: x.tolist() for name, x in result.standard_errors.items()},
        "left": result.residuals.tolist(),
        "rows": result.rows,
        "notes": [*result.notes],
    }
    initialisers = (
        StyledText(f"{name} = {{{', '.join(f'{x:.6g}' for x in result.values[name])}}}", whole=True)
        for name in names
    )
    table = ReportTable(title, ["joint"], [*heads, "torque not explained"], rows)
    return Report([table, *initialisers], data)


def toml_of_springs(result: JointStiffness) -> str:
    """The arrays as TOML."""
    lines = [f"# by symgen stiffness, symgen {__version__}"]
    lines += [f"joints = {json.dumps(result.joints)}"]
    lines += [f"{name} = {values.tolist()}" for name, values in result.values.items()]
    errors = result.standard_errors.items()
    lines += ["[standard_errors]", *(f"{name} = {x.tolist()}" for name, x in errors)]
    return "\n".join(lines) + "\n"
