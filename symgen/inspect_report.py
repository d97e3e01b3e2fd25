"""A look at a robot for people: on a terminal, as a page, as LaTeX, as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import sympy
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from symgen.errors import OptionError
from symgen.inspect import Data
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.render import render
from symgen.report import console, table

SIGNS: Final = {
    "no effect": ("·", "dim"),
    "identifiable by itself": ("●", "bold green"),
    "identifiable only with others": ("○", "green"),
    "regrouped into": ("→", "yellow"),
}
"""The mark of a parameter by the beginning of its reason, most telling first."""

LEGEND: Final = "● identifiable by itself   ○ only with others   → regrouped into another body   · no effect"


def sign(reason: str) -> tuple[str, str]:
    """Mark and style of a parameter."""
    return next(mark for start, mark in SIGNS.items() if reason.startswith(start))


def on_terminal(data: Data) -> None:
    """The whole robot on one screen."""
    out = console()
    out.print(_bodies(data))
    out.print(_frames(data))
    out.print(_parameters(data))


def _bodies(data: Data) -> RenderableType:
    rows = table(f"{data['robot']}: {data['dof']} joints", ["body", "carried by", "joint", "type"],
                 ["mass kg", "centre of mass m", "inertia"])
    for b in data["bodies"]:
        centre = "" if b["center_of_mass"] is None else " ".join(f"{x:.4g}" for x in b["center_of_mass"])
        texts = map(escape, (b["name"], b["parent"], b["joint"], b["type"]))
        rows.add_row(*texts, f"{b['mass']:.4g}", centre, b["pseudo_inertia"])
    return rows


def _frames(data: Data) -> RenderableType:
    names = ("gamma", "b", "d", "alpha", "beta", "theta0", "r")
    rows = table("canonical frames: Rot_z γ  Trans_z b  Trans_x d  Rot_x α  Rot_y β  Rot_z q+θ0  Trans_z r",
                 ["body"], ["γ", "b", "d", "α", "β", "θ0", "r"])
    for frame in data["canonical_frames"]:
        rows.add_row(escape(frame["body"]), *(_short(frame[name], name) for name in names))
    return rows


ANGLES: Final = ("gamma", "alpha", "beta", "theta0")


def _short(x: float, name: str) -> str:
    """A constant as people write it: right angles as fractions of π."""
    if x == 0:
        return "·"
    quarters = x / (np.pi / 2)
    if name in ANGLES and abs(quarters - round(quarters)) < 1e-12:
        return {1: "π/2", -1: "-π/2", 2: "π", -2: "-π"}[round(quarters)]
    return f"{x:.5g}"


def _parameters(data: Data) -> RenderableType:
    base = data["base_parameters"]
    title = f"{base['count']} base parameters of {len(base['parameters'])}"
    rows = table(title, ["body", *PARAMETER_NAMES])
    reasons = list(base["parameters"].values())
    for k, body in enumerate(data["bodies"]):
        marks = (Text(*sign(reason)) for reason in reasons[10 * k : 10 * k + 10])
        rows.add_row(escape(body["name"]), *marks)
    gap = f"rank decided between {base['smallest_kept']:.1e} and {base['largest_dropped']:.1e} of the largest"
    return Group(rows, Text(LEGEND, style="dim"), Text(gap, style="dim"), Text(""))


def groupings(data: Data) -> None:
    """Every base parameter in the users' parameters."""
    rows = table("base parameters", ["name", "in the parameters of the file"])
    for name, text in data["base_parameters"]["groupings"].items():
        rows.add_row(name, text)
    console().print(rows)


def latex(data: Data) -> str:
    """The groupings as a LaTeX ``align*``."""
    rows = data["base_parameters"]["groupings"].items()
    lines = (f"  {sympy.latex(sympy.Symbol(name))} &= {sympy.latex(sympy.sympify(text))} \\\\" for name, text in rows)
    return "\\begin{align*}\n" + "\n".join(lines) + "\n\\end{align*}"


def page(data: Data) -> str:
    """One self-contained HTML file."""
    reasons = list(data["base_parameters"]["parameters"].items())
    rows = [
        (body["name"], [(*sign(reason), f"{name}: {reason}") for name, reason in reasons[10 * k : 10 * k + 10]])
        for k, body in enumerate(data["bodies"])
    ]
    return render("html/inspect.html.jinja", data=data, rows=rows, parameters=PARAMETER_NAMES, short=_short,
                  angles=("gamma", "b", "d", "alpha", "beta", "theta0", "r"), legend=LEGEND)


def plot(data: Data, patterns: Mapping[str, np.ndarray[Any, Any]], path: Path) -> None:
    """Draw the sparsity of each pattern into one picture. Raises OptionError where matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise OptionError("--plot needs matplotlib: pip install 'symgen[plot]'") from None
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(patterns), figsize=_size(patterns), squeeze=False,
                                   width_ratios=[_columns(p) for p in patterns.values()], layout="constrained")
    for axis, (name, pattern) in zip(axes[0], patterns.items(), strict=True):
        _draw(axis, name, pattern, data)
    figure.suptitle(f"{data['robot']}: what is not zero in every state")
    figure.savefig(path, dpi=150, metadata={"Software": None})
    pyplot.close(figure)


def _flat(pattern: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return pattern.reshape(pattern.shape[0], -1)


def _columns(pattern: np.ndarray[Any, Any]) -> int:
    return int(_flat(pattern).shape[1])


def _size(patterns: Mapping[str, np.ndarray[Any, Any]]) -> tuple[float, float]:
    cells = sum(_columns(p) for p in patterns.values())
    rows = max(p.shape[0] for p in patterns.values())
    return min(24.0, max(8.0, 0.14 * cells + 2.0)), min(10.0, max(2.6, 0.24 * rows + 1.6))


def _draw(axis: Any, name: str, pattern: np.ndarray[Any, Any], data: Data) -> None:
    cells = _flat(pattern)
    axis.imshow(cells, cmap="Blues", vmin=0, vmax=1.4, aspect="auto", interpolation="nearest")
    axis.set_title(f"{name}: {int(cells.sum())} of {cells.size}", fontsize=9)
    axis.set_yticks(range(cells.shape[0]), [b["joint"] for b in data["bodies"]][: cells.shape[0]], fontsize=7)
    step = cells.shape[1] // len(data["bodies"])
    starts = range(0, cells.shape[1], max(step, 1))
    axis.set_xticks([s + (step - 1) / 2 for s in starts], [str(k) for k, _ in enumerate(starts, 1)], fontsize=7)
    for s in starts:
        axis.axvline(s - 0.5, color="0.6", linewidth=0.6)
    for s in range(cells.shape[0]):
        axis.axhline(s - 0.5, color="0.9", linewidth=0.4)
    axis.set_xlabel("body" if step > 1 else "joint", fontsize=8)


__all__: Sequence[str] = ("groupings", "latex", "on_terminal", "page", "plot")
