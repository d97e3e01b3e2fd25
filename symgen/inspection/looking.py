"""The actions of ``symgen inspect``."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import sympy

from symgen import output
from symgen.algorithms import QUANTITIES
from symgen.errors import OptionError
from symgen.inspection.data import inspect, sparsity
from symgen.inspection.page import groupings as print_groupings
from symgen.inspection.page import latex as groupings_as_latex
from symgen.inspection.page import on_terminal, page
from symgen.inspection.page import plot as draw
from symgen.inspection.symbolic import entry as closed_form
from symgen.jobs.job import Job
from symgen.jobs.publish import exists

PLOTTED: Final = ("regressor", "base_regressor", "mass_matrix", "christoffel_symbols_full")
"""What an identification engineer looks at first, as far as it is registered."""


def look_at_entry(
    file: str, entry: str, symbolic: str | None, latex: bool, options: Mapping[str, Any]
) -> str:
    """One entry of a quantity in closed form, as text. Raises SymgenError."""
    job = Job.of(file, **options)
    kinds = symbolic.split(",") if symbolic else []
    found = closed_form(job.robot(job.load()), entry, kinds)
    return str(sympy.latex(found) if latex else found)


def look(
    file: str,
    options: Mapping[str, Any],
    progress: Callable[[str], None],
    as_json: bool,
    latex: bool,
    html: Path | None,
    plot: Path | None,
    groupings: bool,
) -> str:
    """Everything about a robot in the forms asked for; returns what is to be printed. Raises
    SymgenError."""
    for path, mark in ((html, b"symgen inspect"), (plot, b"\x89PNG")):
        _check_target(path, file, mark)
    progress("tracing and finding base parameters")
    data = inspect(Job.of(file, **options))
    if html is not None:
        _write(html, page(data))
    if plot is not None:
        progress("drawing")
        _plot(file, options, data, plot)
    if as_json:
        return output.as_json(data)
    if latex:
        return groupings_as_latex(data)
    if groupings:
        print_groupings(data)
    elif html is None and plot is None:
        on_terminal(data)
    return ""


def _plot(file: str, options: Mapping[str, Any], data: dict[str, Any], path: Path) -> None:
    job = Job.of(file, quantities=tuple(name for name in PLOTTED if name in QUANTITIES), **options)
    try:
        draw(data, sparsity(job.module(job.load())), path)
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write {str(path)!r}: {error}") from error


def _check_target(path: Path | None, file: str, mark: bytes) -> None:
    """Only what an earlier look left may be overwritten."""
    if path is None or not exists(path) or not path.is_file():
        return
    with path.open("rb") as stream:
        ours = mark in stream.read(4096)
    if not ours or path.samefile(file):
        raise OptionError(
            f"{str(path)!r} exists and is not from symgen inspect; choose another name or move "
            f"it away"
        )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
