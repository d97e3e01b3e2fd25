"""The actions of ``symgen inspect``."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from symgen import output
from symgen.advice import install
from symgen.algorithms import QUANTITIES
from symgen.errors import Notice, OptionError, SourceLocation
from symgen.inspection.data import inspect, sparsity
from symgen.inspection.geometry import RobotGeometry, geometry
from symgen.inspection.html import page
from symgen.inspection.motion import read_motion
from symgen.inspection.page import groupings as print_groupings
from symgen.inspection.page import latex as groupings_as_latex
from symgen.inspection.page import on_terminal
from symgen.inspection.page import plot as draw
from symgen.inspection.pictures import picture_target
from symgen.jobs.job import Job
from symgen.jobs.publish import write_files
from symgen.jobs.targets import OutputFile, check_targets, holding
from symgen.reading.assemble import LoadedRobot
from symgen.reading.geometry import shapes
from symgen.reading.options import SourceOptions
from symgen.text import quoted
from symgen.text import shown as shown_text

PLOTTED: Final = ("regressor", "base_regressor", "mass_matrix", "christoffel_symbols_full")
"""What an identification engineer looks at first, as far as it is registered."""


def look(
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
        shown, remarks = drawing(job, loaded)
        played = None if motion is None else read_motion(motion, loaded.model)
        contents[targets["html"]] = page_of(job, loaded, data, shown, played).encode()
    if "plot" in targets:
        progress("drawing")
        contents[targets["plot"]] = _plot(job, loaded, data, targets["plot"])
    write_files(contents)
    notices = (*job.beside(loaded), *remarks)
    if as_json:
        return output.as_json(data), notices
    if latex:
        return groupings_as_latex(data), notices
    if groupings:
        print_groupings(data)
    elif html is None and plot is None:
        on_terminal(data)
    return "", notices


OWNER: Final = "symgen inspect"
PAGE: Final = holding(
    OWNER, b"<!doctype html>", b'<meta name="generator" content="symgen inspect">'
)


def _targets(file: str, html: Path | None, plot: Path | None) -> dict[str, OutputFile]:
    """The files to be written, by what they are. Raises OptionError where one may not be."""
    targets = {}
    if html is not None:
        targets["html"] = OutputFile(html, PAGE, (file,))
    if plot is not None:
        targets["plot"] = picture_target("--plot", plot, OWNER, [file])
    check_targets(targets.values())
    return targets


def drawing(job: Job, loaded: LoadedRobot) -> tuple[RobotGeometry, tuple[Notice, ...]]:
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
    found = drawing(job, loaded)[0] if shown is None else shown
    return page(data, module, sparsity(module), found, motion)


def _plot(job: Job, loaded: LoadedRobot, data: dict[str, Any], target: OutputFile) -> bytes:
    named = job.changed(quantities=tuple(name for name in PLOTTED if name in QUANTITIES))
    try:
        return draw(data, sparsity(named.module(loaded)), target)
    except ValueError as error:  # matplotlib's, of names that it takes for formulas
        reason = shown_text(str(error).partition("\n")[0])
        raise OptionError(f"{str(target.path)!r} cannot be drawn: {reason}") from error
