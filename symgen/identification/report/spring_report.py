"""The springs of elastic joints for people, programs and generated code."""

import json
from pathlib import Path
from typing import Any, Final

from rich.markup import escape

from symgen import __version__
from symgen.identification.gains.joint_stiffness import JointStiffness
from symgen.inspection.report_tables import table
from symgen.jobs.publish import OutputFile, holding
from symgen.output import console


def data(result: JointStiffness) -> dict[str, Any]:
    """For JSON (documented in docs/reference/identification.md): arrays in the order of joints."""
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "joints": [*result.joints],
        **{name: values.tolist() for name, values in result.values.items()},
        "standard_errors": {name: x.tolist() for name, x in result.standard_errors.items()},
        "left": result.residuals.tolist(),
        "rows": result.rows,
        "notes": [*result.notes],
    }


COLUMNS: Final = {
    "joint_stiffness": ("stiffness K", "N m/rad", "N/m"),
    "spring_damping": ("damping D", "N m s/rad", "N s/m"),
    "motor_inertia": ("motor inertia B", "kg m²", "kg"),
}
"""Of the unknowns that generated code takes: words, and units for angles and for lengths."""


def on_terminal(result: JointStiffness) -> None:
    """The values that generated code takes in a table, and as initialisers of C."""
    names = [name for name in COLUMNS if name in result.values]
    columns = [text for name in names for text in (COLUMNS[name][0], "std error", "unit")]
    listed = table(
        f"Joint springs from {result.rows} rows", ["joint"], [*columns, "torque not explained"]
    )
    for k, (joint, unit) in enumerate(zip(result.joints, result.units, strict=True)):
        cells = list[str]()
        for name in names:
            value, error = result.values[name][k], result.standard_errors[name][k]
            cells += [f"{value:.5g}", f"{error:.2g}", COLUMNS[name][1 + (unit == "m")]]
        listed.add_row(escape(joint), *cells, f"{100 * result.residuals[k]:.3g} %")
    console().print(listed)
    for name in names:
        values = ", ".join(f"{x:.6g}" for x in result.values[name])
        console().print(f"{name} = {{{values}}}", soft_wrap=True, highlight=False)


def target(path: Path) -> OutputFile:
    """Where a file of springs goes. Raises OptionError where it may not."""
    file = OutputFile(path, holding("symgen stiffness", b"# by symgen stiffness", b"symgen"))
    file.check()
    return file


def as_toml(result: JointStiffness) -> str:
    """The arrays as TOML."""
    lines = [f"# by symgen stiffness, symgen {__version__}"]
    lines += [f"joints = {json.dumps(result.joints)}"]
    lines += [f"{name} = {values.tolist()}" for name, values in result.values.items()]
    errors = result.standard_errors.items()
    lines += ["[standard_errors]", *(f"{name} = {x.tolist()}" for name, x in errors)]
    return "\n".join(lines) + "\n"
