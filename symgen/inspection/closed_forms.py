"""Closed forms of ``symgen inspect --entry`` and ``--groupings`` as text, LaTeX or data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sympy

from symgen import output
from symgen.algorithms import LINK_QUANTITIES
from symgen.compiler.program import Output
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.mechanics.base_parameters import latex_name
from symgen.mechanics.model import RigidBodyModel
from symgen.symbolic.closed_form import grouping_relations
from symgen.symbolic.symbol_graph import Meaning, as_fraction, as_latex, as_text
from symgen.symbolic.symbolic import Symbolic
from symgen.symbolic.symbolic_trace import SYMBOL_KINDS, SymbolChoice, meanings
from symgen.text import cited, shown
from symgen.tracing.request import find_quantity


@dataclass(frozen=True, slots=True)
class WantedEntry:
    """The request ``QUANTITY[:OUTPUT][:I,J]``. `indices` start at 1; None stands for all
    entries."""

    quantity: str
    output: str | None
    indices: tuple[int, ...] | None

    @classmethod
    def parse(cls, text: str, model: RigidBodyModel) -> "WantedEntry":
        """The quantity, one of its outputs and indices; a quantity of a link has its link's name
        behind. Raises OptionError."""
        name, behind = _quantity(text, model)
        pieces = behind.split(":") if behind else []
        indices = None
        if behind is not None and pieces and re.fullmatch(NUMBERS, pieces[-1]):
            indices = tuple(int(k) for k in pieces.pop().split(","))
        if len(pieces) > 1 or (behind is not None and not all(pieces)) or behind == "":
            raise OptionError(f"--entry {cited(text)}: {GIVE}")
        return cls(name, pieces[0] if pieces else None, indices)


NUMBERS: Final = r"-?\d+(,-?\d+)*"
GIVE: Final = "give QUANTITY, QUANTITY:I,J or QUANTITY:OUTPUT:I,J, as in mass_matrix:1,1"


def _quantity(text: str, model: RigidBodyModel) -> tuple[str, str | None]:
    """The name of the quantity and the text after it, None if there is none. Raises OptionError."""
    name, colon, behind = text.partition(":")
    if name not in LINK_QUANTITIES or not colon:
        find_quantity(name)
        return name, behind if colon else None
    links = [link.name for body in model.bodies for link in body.links]
    names = [*links, *(link.name for link in model.base)]
    if LINK_QUANTITIES[name].subject == "joint":
        names = [joint.name for _, joint in model.joints]
    fitting = [link for link in names if behind == link or behind.startswith(f"{link}:")]
    if not fitting:
        return f"{name}:{behind.partition(':')[0]}", behind.partition(":")[2] or None
    link = max(fitting, key=len)
    return f"{name}:{link}", behind[len(link) + 1 :] if behind != link else None


@dataclass(frozen=True)
class OutputExpressions:
    """Closed forms: the expressions of an output or one of its entries, and the symbols in them."""

    wanted: WantedEntry
    out: Output
    unit: str
    expression: Any
    meanings: dict[str, Meaning]

    def text(self) -> str:
        """An expression, or a line for each entry of an array with its indices."""
        if self.wanted.indices is not None:
            return as_text(self.expression)
        name, entries = shown(self.out.name), sympy.flatten(self.expression)
        places = [",".join(str(k + 1) for k in at) for at in np.ndindex(self.out.shape)]
        return "\n".join(
            f"{name}[{at}] = {as_text(x)}" for at, x in zip(places, entries, strict=True)
        )

    def latex(self) -> str:
        """The entries in LaTeX, an array as a matrix."""
        return as_latex(self.expression)

    def data(self) -> dict[str, Any]:
        """The entries as plain data (documented in docs/formats.md)."""
        single = self.wanted.indices is not None
        expressions = [self.expression] if single else sympy.flatten(self.expression)
        entries = np.array([as_text(x) for x in expressions], object)
        return {
            "quantity": self.wanted.quantity,
            "output": self.out.name,
            "shape": list(self.out.shape),
            "unit": self.unit,
            "indices": list(self.wanted.indices) if self.wanted.indices else None,
            "entries": entries[0] if single else entries.reshape(self.out.shape).tolist(),
            "latex": self.latex(),
            "symbols": _symbols(self.meanings),
        }

    def legend(self) -> list[str]:
        """A line for each symbol that is not a coordinate: its meaning and its value."""
        rows = {name: row for name, row in self.meanings.items() if row.value is not None}
        return [
            f"{name}: {shown(row.meaning)}; {row.value:.6g} {row.unit}"
            for name, row in rows.items()
        ]


def closed_form_of(job: Job, text: str, symbolic: str | None) -> OutputExpressions:
    """The entry that `text` asks for in closed form, with symbols for the kinds in `symbolic`.
    Raises SymgenError."""
    kinds = symbolic.split(",") if symbolic else []
    unknown = [kind for kind in kinds if kind not in SYMBOL_KINDS]
    if unknown:
        raise OptionError(f"--symbolic {cited(unknown[0])}: use {' or '.join(SYMBOL_KINDS)}")
    robot = Symbolic(job)
    wanted = WantedEntry.parse(text, robot.model)
    options = dict.fromkeys(kinds, "symbols")
    out, unit = robot.output(wanted.quantity, wanted.output, **options)
    at = wanted.indices or ()
    fits = all(1 <= k <= n for k, n in zip(at, out.shape, strict=False))
    if wanted.indices is not None and not (fits and len(at) == len(out.shape)):
        sizes = " x ".join(map(str, out.shape))
        raise OptionError(
            f"--entry {cited(text)}: {wanted.quantity} has {sizes} entries, counted from 1"
        )
    if wanted.indices is None:
        entries = robot.quantity(wanted.quantity, output=out.name, **options)
    else:
        entries = robot.entry(wanted.quantity, *wanted.indices, output=out.name, **options)
    meanings = robot.meanings(wanted.quantity, **options)
    used = {str(s) for s in entries.free_symbols}
    return OutputExpressions(
        wanted, out, unit, entries, {name: row for name, row in meanings.items() if name in used}
    )


def entry_command(
    job: Job, text: str, symbolic: str | None, latex: bool, as_json: bool
) -> tuple[str, list[str]]:
    """The printed text of an entry, and the legend of its symbols. Raises SymgenError."""
    entry = closed_form_of(job, text, symbolic)
    if as_json:
        return output.as_json(entry.data()), []
    return (entry.latex() if latex else entry.text()), entry.legend()


def grouping_command(job: Job, symbolic: str, latex: bool, as_json: bool) -> str:
    """The grouping relations of a robot, a line each, as LaTeX or as data. Raises SymgenError."""
    if symbolic not in ("lengths", "masses,lengths", "lengths,masses"):
        raise OptionError(f"--symbolic {cited(symbolic)}: for --groupings use lengths")
    robot, setting = job.robot(job.load()), SymbolChoice(masses=True, lengths=True)
    lines = grouping_relations(robot, setting, as_fraction)
    if as_json:
        used = {str(s) for row in lines for s in row.expression.free_symbols}
        known = meanings(robot, setting)
        data = {
            "groupings": {row.name: str(row.expression) for row in lines},
            "links": {row.name: row.link for row in lines},
            "symbols": _symbols({name: row for name, row in known.items() if name in used}),
        }
        return output.as_json(data)
    if latex:
        rows = [rf"{latex_name(row.name)} &= {sympy.latex(row.expression)} \\" for row in lines]
        return "\n".join([r"\begin{align*}", *rows, r"\end{align*}"])
    return "\n".join(f"{row.name} = {row.expression}" for row in lines)


def _symbols(meanings: Mapping[str, Meaning]) -> dict[str, Any]:
    return {
        name: {"meaning": row.meaning, "unit": row.unit, "value": row.value}
        for name, row in meanings.items()
    }
