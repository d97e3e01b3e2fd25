"""A look at a robot as one self-contained page that moves."""

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

import numpy as np

from symgen import __version__
from symgen.inspection.command_reports import counted
from symgen.inspection.robot_data import Data
from symgen.inspection.robot_report import (
    LEGEND,
    TITLES,
    columns,
    groups,
    kind,
    reasons_by_body,
    short,
    sign,
    tree_lines,
)
from symgen.inspection.viewer_data import live
from symgen.inspection.visual_geometry import NO_GEOMETRY, RobotGeometry
from symgen.languages.conventions import conventions
from symgen.languages.module import Module
from symgen.render import asset, render

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
    sign, factor, stem, body = match.groups()
    minus = "<mo>−</mo>" if sign else ""
    return f"{minus}{_factor(factor)}{_name(f'{stem}_{body}')}"


def _factor(factor: str | None) -> str:
    if factor is None:
        return ""
    mantissa, e, exponent = factor.partition("e")
    power = f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>" if e else ""
    return f"<mn>{mantissa}</mn>{power}<mspace width='0.17em'/>"


def _name(name: str) -> str:
    """m with its body below, Ixx with axes and body; regrouped names stay in one word, upright."""
    stem, _, body = name.rpartition("_")
    if stem.endswith("R"):
        return f'<msub><mi mathvariant="normal">{stem}</mi><mn>{body}</mn></msub>'
    below = " ".join(filter(None, (stem[1:], body)))
    return f"<msub><mi>{SYMBOLS[stem[0]]}</mi><mtext>{below}</mtext></msub>"


CONSTANTS: Final = ("gamma", "b", "d", "alpha", "beta", "theta0", "r")
SHOWN: Final = ("M", "Y_b", "Y")
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
    drawn = live(module, shapes, motion)
    scene = drawn["scene"]
    rows = [
        (body, [(*sign(why), f"{name}: {why}") if why else None for name, why in reasons])
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
        short=short,
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
    for name in (name for name in SHOWN if name in patterns):
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
