"""The report of ``symgen excite``: a table, the motion as CSV, and a picture of it."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.excitation.optimizer import ExcitationResult
from symgen.identification.excitation.task import ExcitationTask
from symgen.identification.report.plots import Curve, motion_figure
from symgen.inspection.rendering import Report, ReportTable, drawn, picture_target
from symgen.jobs.publish import OutputFile, check_targets, holding
from symgen.numbers.scalar import Numbers
from symgen.text import cited

OWNER: Final = "symgen excite"
PLOT_POINTS: Final = 800


def header(names: tuple[str, ...]) -> str:
    """The first line of the CSV."""
    return ",".join(["t", *(f"{prefix}_{name}" for prefix in ("q", "qd", "qdd") for name in names)])


def motion_csv(excited: ExcitationResult) -> bytes:
    """Time, positions, velocities and accelerations of each row, 12 digits."""
    names, t = excited.task.names, excited.task.plan.times
    rows = np.column_stack([t, *excited.motion.states(t)])
    stream = io.StringIO()
    stream.write(header(names) + "\n")
    np.savetxt(stream, rows + 0.0, fmt="%.12g", delimiter=",", newline="\n")
    return stream.getvalue().encode()


def output_files(
    task: ExcitationTask, motion: Path, plot: Path | None, robot: str
) -> list[OutputFile]:
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


def limit_usage(excited: ExcitationResult) -> Numbers:
    """The part of its range, speed and force that each joint uses at most (n x 3), in percent."""
    t = excited.task.fine
    states = excited.motion.states(t)
    excess = excited.task.bounds.excess(
        states[0], states[1], excited.task.dynamics.forces(states)
    ).max(axis=0)
    return np.asarray(100 * (1 + excess.reshape(3, -1).T))


def report(excited: ExcitationResult, files: Sequence[Path] = ()) -> Report:
    """How much of its limits each joint uses, and condition numbers; the data name `files`."""
    plan, task = excited.task.plan, excited.task
    table = ReportTable(
        f"Excitation trajectory: {plan.harmonics} harmonics of {1 / plan.period:g} Hz, "
        f"{len(plan.times)} rows at {plan.rate:g} Hz",
        ["joint"],
        ["range used", "velocity used", "effort used"],
        [
            (name, *(f"{x:.0f} %" for x in parts))
            for name, parts in zip(task.names, limit_usage(excited), strict=True)
        ],
    )
    conditions = [
        f"Condition number (rows scaled by the effort limits, columns {scaled}): "
        f"{excited.found_condition[k]:.4g}; a random motion within the limits: "
        f"{excited.random_condition[k]:.4g}"
        for k, scaled in ((1, "to unit length"), (0, "not scaled"))
    ]
    if task.left_out:
        conditions.append(
            f"{', '.join(task.left_out)} cannot be distinguished from other parameters by any "
            "motion and are left out"
        )
    return Report([table, *conditions, space_sentence(task)], _data(excited, files))


def space_sentence(task: ExcitationTask) -> str:
    """What is checked of the space that a motion needs, and what is not."""
    if task.clearance is None:
        return "Collisions are not checked; review the motion before you run it on a robot."
    kept = "The motion and the straight approach from its centre stay in the free space."
    exempt = ", ".join(sorted(task.clearance.exempt))
    if exempt:
        kept += f" Links that no joint can bring into the box are not checked: {exempt}."
    if task.clearance.distance is None:
        return f"{kept} Self-collision is not checked; review the motion before you run it."
    pairs = ", ".join(f"{a} and {b}" for a, b in sorted(task.clearance.ignored))
    if pairs:
        kept += f" Pairs of links that are always closer are not checked: {pairs}."
    return f"{kept} Other objects are not checked; review the motion before you run it."


def _data(excited: ExcitationResult, files: Sequence[Path]) -> dict[str, Any]:
    plan = excited.task.plan
    joints = zip(excited.task.names, limit_usage(excited).tolist(), strict=True)
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
        "condition": {
            "random": excited.random_condition[1],
            "found": excited.found_condition[1],
        },
        "condition_as_is": {
            "random": excited.random_condition[0],
            "found": excited.found_condition[0],
        },
        "files": [str(path) for path in files],
    }


# -- picture ---------------------------------------------------------------------------------------


QUANTITIES: Final = (
    ("position", "range", ("rad", "m")),
    ("velocity", "velocity limit", ("rad/s", "m/s")),
    ("force", "effort limit", ("N m", "N")),
)
"""Names, what their limits are called, and the units of angles and of lengths."""


def picture(excited: ExcitationResult, target: OutputFile) -> bytes:
    """A picture: position, velocity and force of each joint, with the part of each limit that is
    used, and the limits that are near. Raises SymgenError without matplotlib."""
    task, parts = excited.task, limit_usage(excited)
    t = np.linspace(0, task.plan.period, PLOT_POINTS)
    states = excited.motion.states(t)
    series = (states[0], states[1], task.dynamics.forces(states))
    bounds = task.bounds
    ends = (
        (bounds.lower, bounds.upper),
        (-bounds.speed, bounds.speed),
        (-bounds.force, bounds.force),
    )
    rows = []
    for j, name in enumerate(task.names):
        short = name if len(name) <= 30 else name[:29] + "…"
        curves = []
        for k, (quantity, limit, units) in enumerate(QUANTITIES):
            unit = units[task.lengths[j]] if task.lengths else " or ".join(units)
            title = f"{short}: {quantity} ({unit}), {parts[j, k]:.0f} % of the {limit}"
            limits = float(ends[k][0][j]), float(ends[k][1][j])
            curves.append(Curve(title, series[k][:, j], limits))
        rows.append(curves)
    heading = (
        f"Excitation trajectory: condition number {excited.found_condition[1]:.3g} (random motion: "
        f"{excited.random_condition[1]:.3g}); dashed lines: limits"
    )
    return drawn(motion_figure(t, rows, heading), target, 100)
