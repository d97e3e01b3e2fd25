"""The report of ``symgen excite``: a table, the motion as CSV, and a picture of it."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.markup import escape

from symgen.errors import OptionError, SymgenError
from symgen.identification.excitation.optimizer import Excited
from symgen.identification.excitation.task import ExcitationTask
from symgen.inspection.pictures import BLUE, VERMILION, drawn, new_figure, picture_target, styled
from symgen.inspection.report_tables import table
from symgen.jobs.publish import OutputFile, check_targets, holding
from symgen.numbers.types import Numbers
from symgen.output import console
from symgen.text import cited

OWNER: Final = "symgen excite"
POINTS: Final = 800


def header(names: tuple[str, ...]) -> str:
    """The first line of the CSV."""
    return ",".join(["t", *(f"{prefix}_{name}" for prefix in ("q", "qd", "qdd") for name in names)])


def csv(excited: Excited) -> bytes:
    """Time, positions, velocities and accelerations of each row, 12 digits."""
    names, t = excited.task.names, excited.task.plan.times
    rows = np.column_stack([t, *excited.motion.states(t)])
    stream = io.StringIO()
    stream.write(header(names) + "\n")
    np.savetxt(stream, rows + 0.0, fmt="%.12g", delimiter=",", newline="\n")
    return stream.getvalue().encode()


def targets(task: ExcitationTask, motion: Path, plot: Path | None, robot: str) -> list[OutputFile]:
    """The files to be written, the motion and then the picture, if one is wanted: only those of an
    earlier run are replaced, by the columns of a motion and the mark of a picture.

    Raises OptionError, also for a joint's name that CSV would have to quote."""
    bad = next((name for name in task.names if set(name) & set(',"\n\r')), None)
    if bad is not None:
        raise OptionError(
            f"joint {cited(bad)}: its name cannot be a column name of a CSV file; rename the joint"
        )
    if motion.suffix.lower() != ".csv":
        raise OptionError(f"--out {str(motion)!r}: give a name that ends in .csv")
    first = (header(task.names) + "\n").encode()
    files = [OutputFile(motion, holding(f"{OWNER} for this robot", first, first), (robot,))]
    if plot is not None:
        files.append(picture_target("--plot", plot, OWNER, [robot]))
    check_targets(files)
    return files


def used(excited: Excited) -> Numbers:
    """The part of its range, speed and force that each joint uses at most (n x 3), in percent."""
    t = excited.task.fine
    states = excited.motion.states(t)
    excess = excited.task.bounds.excess(
        states[0], states[1], excited.task.dynamics.forces(states)
    ).max(axis=0)
    return np.asarray(100 * (1 + excess.reshape(3, -1).T))


def on_terminal(excited: Excited) -> None:
    """How much of its limits each joint uses, and condition numbers."""
    out, plan = console(), excited.task.plan
    rows = table(
        f"Excitation trajectory: {plan.harmonics} harmonics of {1 / plan.period:g} Hz, "
        f"{len(plan.times)} rows at {plan.rate:g} Hz",
        ["joint"],
        ["range used", "velocity used", "effort used"],
    )
    for name, parts in zip(excited.task.names, used(excited), strict=True):
        rows.add_row(escape(name), *(f"{x:.0f} %" for x in parts))
    out.print(rows)
    out.print(
        f"Condition number (rows scaled by the effort limits, columns to unit length): "
        f"{excited.after[1]:.4g}; a random motion within the limits: {excited.before[1]:.4g}"
    )
    out.print(
        f"Condition number (rows scaled by the effort limits, columns not scaled): "
        f"{excited.after[0]:.4g}; a random motion within the limits: {excited.before[0]:.4g}"
    )
    if excited.task.left_out:
        names = ", ".join(map(escape, excited.task.left_out))
        out.print(
            f"{names} cannot be distinguished from other parameters by any motion and are left out"
        )
    out.print(space_sentence(excited.task))


def space_sentence(task: ExcitationTask) -> str:
    """What is checked of the space that a motion needs, and what is not."""
    if task.clearance is None:
        return "Collisions are not checked; review the motion before you run it on a robot."
    kept = "The motion and the straight approach from its centre stay in the free space."
    exempt = ", ".join(map(escape, sorted(task.clearance.exempt)))
    if exempt:
        kept += f" Links that no joint can bring into the box are not checked: {exempt}."
    if task.clearance.distance is None:
        return f"{kept} Self-collision is not checked; review the motion before you run it."
    pairs = ", ".join(f"{a} and {b}" for a, b in sorted(task.clearance.ignored))
    if pairs:
        kept += f" Pairs of links that are always closer are not checked: {escape(pairs)}."
    return f"{kept} Other objects are not checked; review the motion before you run it."


def data(excited: Excited, files: Sequence[Path]) -> dict[str, Any]:
    """The data of ``symgen excite --json``."""
    plan = excited.task.plan
    joints = zip(excited.task.names, used(excited).tolist(), strict=True)
    return {
        "harmonics": plan.harmonics,
        "period": plan.period,
        "rate": plan.rate,
        "rows": len(plan.times),
        "joints": [
            {"name": name, **dict(zip(("range", "velocity", "effort"), parts, strict=True))}
            for name, parts in joints
        ],
        "left_out": list(excited.task.left_out),
        "centre": excited.motion.centre.tolist(),
        "space_checked": excited.task.clearance is not None,
        "condition": {"random": excited.before[1], "found": excited.after[1]},
        "condition_as_is": {"random": excited.before[0], "found": excited.after[0]},
        "files": [str(path) for path in files],
    }


# -- picture ---------------------------------------------------------------------------------------


@styled
def picture(excited: Excited, target: OutputFile) -> bytes:
    """A picture: position, velocity and force of each joint, on the scale of the motion itself,
    with the part of each limit that is used, and the limits that are near. Raises SymgenError
    without matplotlib."""
    names, bounds = excited.task.names, excited.task.bounds
    figure = new_figure(13.0, 1.0 + 1.45 * len(names))
    axes = figure.subplots(len(names), 3, sharex=True, squeeze=False)
    t = np.linspace(0, excited.task.plan.period, POINTS)
    states = excited.motion.states(t)
    force = excited.task.dynamics.forces(states)
    ends = (
        (bounds.lower, bounds.upper),
        (-bounds.speed, bounds.speed),
        (-bounds.force, bounds.force),
    )
    parts = used(excited)
    for k, values in enumerate((states[0], states[1], force)):
        for j, axis in enumerate(axes[:, k]):
            _panel(axis, t, values[:, j], (ends[k][0][j], ends[k][1][j]))
            axis.set_title(f"{parts[j, k]:.0f} % of the {WHAT[k]}", loc="right", fontsize=8)
            axis.set_ylabel(f"{QUANTITIES[k]} ({_unit(excited.task, j, k)})", fontsize=8)
    _labels(axes, names)
    figure.suptitle(
        f"Excitation trajectory: condition number {excited.after[1]:.3g} (random motion: "
        f"{excited.before[1]:.3g}); dashed lines: limits"
    )
    return _drawn(figure, target)


WHAT: Final = ("range", "velocity limit", "effort limit")
QUANTITIES: Final = ("position", "velocity", "force")
UNITS: Final = (("rad", "rad/s", "N m"), ("m", "m/s", "N"))
"""Of angles and of lengths: position, velocity and force."""
NEAR: Final = 0.5
"""A limit is shown where it is no further than this part of the motion's size from it."""


def _unit(task: ExcitationTask, joint: int, column: int) -> str:
    if not task.lengths:
        return " or ".join(units[column] for units in UNITS)
    return UNITS[task.lengths[joint]][column]


def _panel(axis: Any, t: Numbers, values: Numbers, ends: tuple[float, float]) -> None:
    axis.plot(t, values, color=BLUE, lw=1.3)
    low, high = float(values.min()), float(values.max())
    size = high - low
    for end in ends:
        if low - NEAR * size <= end <= high + NEAR * size:
            axis.axhline(end, color=VERMILION, lw=1.0, ls="--")
    axis.margins(x=0)


def _labels(axes: Any, names: tuple[str, ...]) -> None:
    for axis, name in zip(axes[:, 0], names, strict=True):
        short = name if len(name) <= 30 else name[:29] + "…"
        axis.set_title(short, fontsize=9, parse_math=False)
    for axis in axes[axes.shape[0] - 1]:
        axis.set_xlabel("t (s)")


def _drawn(figure: Any, target: OutputFile) -> bytes:
    try:
        return drawn(figure, target, 100)
    except ValueError as error:  # matplotlib's, of names that it takes for formulas
        raise SymgenError(
            f"error: the picture cannot be drawn: {str(error).splitlines()[0]}"
        ) from None
