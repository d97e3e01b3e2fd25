"""The actions of ``symgen inspect``."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen import __version__, output
from symgen.algorithms import QUANTITIES
from symgen.errors import Notice, OptionError, SourceLocation
from symgen.inspection.command_reports import counted
from symgen.inspection.rendering import Data, picture_target
from symgen.inspection.robot_data import inspect, sparsity
from symgen.inspection.robot_report import (
    CONSTANTS,
    LEGEND,
    TITLES,
    columns,
    constant_text,
    groups,
    kind,
    mark_of,
    reasons_by_body,
    robot_report,
    tree_lines,
)
from symgen.inspection.robot_report import groupings as groupings_of
from symgen.inspection.robot_report import latex as groupings_as_latex
from symgen.inspection.robot_report import plot as draw
from symgen.inspection.visual_geometry import NO_GEOMETRY, RobotGeometry, geometry, viewer_data
from symgen.jobs.job import Job, right_angle_notices
from symgen.jobs.publish import OutputFile, check_targets, holding, write_files
from symgen.languages.conventions import conventions
from symgen.languages.module import Module
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import SourceOptions
from symgen.reading.visual_shapes import shapes
from symgen.render import asset, render
from symgen.text import install, quoted, shown

TERM: Final = re.compile(r"(-?)(?:([0-9.e+-]+)\*)?([A-Za-z]\w*)_(\d+)")
SYMBOLS: Final = {"m": "m", "h": "h", "I": "I", "S": "Σ", "J": "J"}
"""The symbol of a parameter of the file, by its first letter."""


def grouping(name: str, text: str) -> str:
    """A base parameter and the sum that it stands for (see base_parameters.grouping), an
    equation."""
    terms = "".join(_word(word) for word in text.split(" "))
    return f"<math><mrow>{_name(name)}<mo>=</mo>{terms}</mrow></math>"


def _word(word: str) -> str:
    """A sign between terms, or a term with its factor."""
    match = TERM.fullmatch(word)
    if match is None:
        return f"<mo>{escape(word.replace('-', '−'))}</mo>"
    negative, factor, stem, body = match.groups()
    term = "<mo>−</mo>" if negative else ""
    if factor is not None:
        mantissa, e, exponent = factor.partition("e")
        power = f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>" if e else ""
        term += f"<mn>{mantissa}</mn>{power}<mspace width='0.17em'/>"
    return term + _name(f"{stem}_{body}")


def _name(name: str) -> str:
    """m with its body below, Ixx with axes and body; regrouped names stay in one word, upright."""
    stem, _, body = name.rpartition("_")
    if stem.endswith("R"):
        return f'<msub><mi mathvariant="normal">{stem}</mi><mn>{body}</mn></msub>'
    below = " ".join(filter(None, (stem[1:], body)))
    return f"<msub><mi>{SYMBOLS[stem[0]]}</mi><mtext>{below}</mtext></msub>"


SHOWN_PATTERNS: Final = ("M", "Y_b", "Y")
"""Patterns on the page, by output."""


def page(
    data: Data,
    module: Module,
    patterns: Mapping[str, np.ndarray[Any, Any]],
    shapes: RobotGeometry = NO_GEOMETRY,
    motion: Data | None = None,
) -> str:
    """One self-contained HTML file: a view of the robot, sliders for its positions, the numbers
    that follow from them (computed by JavaScript that symgen generates), and the tables of `data`.

    `patterns` are the entries that are not zero in every state, by output; `shapes` is the geometry
    of the links, `motion` a motion to play."""
    drawn = viewer_data(module, shapes, motion)
    scene = drawn["scene"]
    rows = [
        (body, [(*mark_of(why), f"{name}: {why}") if why else None for name, why in reasons])
        for body, reasons in reasons_by_body(data)
    ]
    totals = {name: row["total"] for name, row in data["operations"].items()}
    return render(
        "html/inspect.html.jinja",
        data=data,
        version=__version__,
        source=module.source,
        rows=rows,
        parameters=columns(data),
        short=constant_text,
        kind=kind,
        tree=list(tree_lines(data)) if data["closed_loops"] else [],
        joints=counted(data["dof"], len(data["positions"])),
        angles=CONSTANTS,
        legend=LEGEND,
        scene=scene,
        scene_json=json.dumps(scene).replace("<", "\\u003c"),  # no name ends the script element
        heavy="gravity" in scene["inputs"],
        program=re.sub(r"^export ", "", drawn["program"], flags=re.MULTILINE),
        functions=list(scene["inputs"]),
        operations=f"{totals.get('gravity', 0)} and {totals.get('mass_matrix', 0)}",
        equation=grouping,
        patterns=list(_patterns(patterns, data)),
        most=max(totals.values(), default=1) or 1,
        conventions=conventions(module),
        three=asset("html/three.min.js"),
    )


def _patterns(patterns: Mapping[str, np.ndarray[Any, Any]], data: Data) -> Iterator[Data]:
    """For each pattern a path of unit squares, and where groups of columns end."""
    for name in (name for name in SHOWN_PATTERNS if name in patterns):
        cells = patterns[name].reshape(data["dof"], -1)
        sizes, _, _ = groups(name, data)
        yield {
            "title": TITLES[name],
            "width": cells.shape[1],
            "height": cells.shape[0],
            "filled": int(cells.sum()),
            "cells": cells.size,
            "path": "".join(_runs(cells)),
            "borders": [] if name == "M" else [int(x) for x in np.cumsum(sizes)[:-1]],
        }


def _runs(cells: np.ndarray[Any, Any]) -> Iterator[str]:
    """Rectangles of one row each that cover the cells which are set."""
    for y, row in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(int), [0]))))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            yield f"M{start} {y}h{stop - start}v1h{start - stop}z"


# -- the command -----------------------------------------------------------------------------------

MAX_SAMPLES: Final = 2000
"""Samples on a page: 40 s at 50 Hz, more than a screen shows of a motion. A longer motion is
thinned."""
TIME: Final = "t"
POSITION: Final = "q_"
"""What the name of a column of positions begins with."""


def read_motion(path: Path, model: RigidBodyModel) -> dict[str, Any]:
    """The motion in a CSV file: ``times`` (s) and ``positions``, a row of all positions (rad or m)
    for each time; coordinates without a column stay at 0.

    The file has a column ``t`` and a column ``q_NAME`` for coordinates that move. Raises
    OptionError for a file that cannot be read as such a table, with the line."""
    header, rows = _table(path)
    names = [row.name for row in position_coordinates(model)]
    moving = {name: header.index(POSITION + name) for name in names if POSITION + name in header}
    if TIME not in header or not moving:
        raise OptionError(
            f"--motion {shown(str(path))!r}: needs a column t and columns q_NAME for positions; "
            f"the positions are {quoted(names)}"
        )
    if len(rows) < 2 or np.any(np.diff(rows[:, header.index(TIME)]) <= 0):
        raise OptionError(f"--motion {shown(str(path))!r}: needs two rows or more with rising t")
    kept = rows[:: max(1, -(-len(rows) // MAX_SAMPLES))]
    table = np.zeros((len(kept), len(names)))
    for k, name in enumerate(names):
        if name in moving:
            table[:, k] = kept[:, moving[name]]
    return {
        "times": [round(float(t), 6) for t in kept[:, header.index(TIME)]],
        "positions": [[round(float(x), 6) for x in row] for row in table],
    }


def _table(path: Path) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Header and numbers of a CSV file. Raises OptionError with file and line."""
    name = shown(str(path))
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"--motion {name!r}: cannot be read ({shown(str(error))})") from None
    header = [cell.strip() for cell in lines[0]] if lines else []
    rows = np.zeros((max(len(lines) - 1, 0), len(header)))
    for k, row in enumerate(lines[1:]):
        try:
            values = [float(cell) for cell in row]
            if len(values) != len(header) or not np.isfinite(values).all():
                raise ValueError("the wrong number of values, or one that is not finite")
        except ValueError:
            raise OptionError(
                f"--motion {name}:{k + 2}: needs {len(header)} finite numbers"
            ) from None
        rows[k] = values
    return header, rows


PLOTTED: Final = ("regressor", "base_regressor", "mass_matrix", "christoffel_symbols_full")
"""What an identification engineer looks at first, as far as it is registered."""


def inspect_command(
    file: str,
    options: Mapping[str, Any],
    progress: Callable[[str], None],
    as_json: bool,
    latex: bool,
    html: Path | None,
    plot: Path | None,
    groupings: bool,
    motion: Path | None = None,
) -> tuple[str, tuple[Notice, ...]]:
    """Everything about a robot in the forms asked for; returns what is to be printed, and what is
    to be said of it. Raises SymgenError."""
    targets = _targets(file, html, plot)
    progress("tracing and finding base parameters")
    job = Job.of(file, **options)
    loaded = job.load()  # once for all views, so that all show the same robot
    data = inspect(job, loaded)
    contents, remarks = {}, tuple[Notice, ...]()
    if "html" in targets:
        progress("writing the page")
        drawn, remarks = robot_geometry(job, loaded)
        played = None if motion is None else read_motion(motion, loaded.model)
        contents[targets["html"]] = page_of(job, loaded, data, drawn, played).encode()
    if "plot" in targets:
        progress("drawing")
        contents[targets["plot"]] = _plot(job, loaded, data, targets["plot"])
    write_files(contents)
    notices = (*right_angle_notices(job, loaded), *remarks)
    if as_json:
        return output.as_json(data), notices
    if latex:
        return groupings_as_latex(data), notices
    if groupings:
        groupings_of(data).print()
    elif html is None and plot is None:
        robot_report(data).print()
    return "", notices


COMMAND: Final = "symgen inspect"
PAGE_MARK: Final = holding(
    COMMAND, b"<!doctype html>", b'<meta name="generator" content="symgen inspect">'
)


def _targets(file: str, html: Path | None, plot: Path | None) -> dict[str, OutputFile]:
    """The files to be written, by what they are. Raises OptionError where one may not be."""
    targets = {}
    if html is not None:
        targets["html"] = OutputFile(html, PAGE_MARK, (file,))
    if plot is not None:
        targets["plot"] = picture_target("--plot", plot, COMMAND, [file])
    check_targets(targets.values())
    return targets


def robot_geometry(job: Job, loaded: LoadedRobot) -> tuple[RobotGeometry, tuple[Notice, ...]]:
    """The visual geometry of the robot's file, and notices on meshes that cannot be drawn."""
    source = job.file if job.given is None else job.given
    found = geometry(loaded.model, shapes(source, job[SourceOptions]))
    place = SourceLocation(loaded.file, 1)
    notices = []
    if found.needs_trimesh:
        command = install("trimesh", "pycollada")
        text = f"meshes are not drawn without trimesh; install it: {command}"
        notices.append(Notice(place, "note", "<mesh>", text))
    if found.missing:
        text = f"{len(found.missing)} mesh files are not drawn: {quoted(found.missing)}"
        notices.append(Notice(place, "note", "<mesh>", text))
    return found, tuple(notices)


def page_of(
    job: Job,
    loaded: LoadedRobot,
    data: dict[str, Any],
    shown: RobotGeometry | None = None,
    motion: dict[str, Any] | None = None,
) -> str:
    """The page of a robot: one HTML file, with the geometry of the robot's file unless `shown` is
    given. Raises SymgenError."""
    named = job.changed(quantities=("mass_matrix", "regressor", "base_regressor"))
    module = named.module(loaded)
    found = robot_geometry(job, loaded)[0] if shown is None else shown
    return page(data, module, sparsity(module), found, motion)


def _plot(job: Job, loaded: LoadedRobot, data: dict[str, Any], target: OutputFile) -> bytes:
    named = job.changed(quantities=tuple(name for name in PLOTTED if name in QUANTITIES))
    try:
        return draw(data, sparsity(named.module(loaded)), target)
    except ValueError as error:  # matplotlib's, of names that it takes for formulas
        reason = shown(str(error).partition("\n")[0])
        raise OptionError(f"{str(target.path)!r} cannot be drawn: {reason}") from error
