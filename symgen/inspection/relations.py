"""``symgen inspect --groupings --symbolic lengths``: base parameters in closed form."""

from typing import Any

import sympy

from symgen import output
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.mechanics.parameter_names import latex_name
from symgen.symbolic.base import Relation, relations
from symgen.symbolic.gathering import as_fraction
from symgen.symbolic.setting import Setting, meanings
from symgen.text import cited


def look_at_relations(job: Job, symbolic: str, latex: bool, as_json: bool) -> str:
    """The grouping relations of a robot, a line each, as LaTeX or as data. Raises SymgenError."""
    if symbolic not in ("lengths", "masses,lengths", "lengths,masses"):
        raise OptionError(f"--symbolic {cited(symbolic)}: for --groupings use lengths")
    robot, setting = job.robot(job.load()), Setting(masses=True, lengths=True)
    lines = relations(robot, setting, as_fraction)
    if as_json:
        return output.as_json(_data(lines, meanings(robot, setting)))
    return (_latex if latex else _text)(lines)


def _text(relations: tuple[Relation, ...]) -> str:
    return "\n".join(f"{row.name} = {row.expression}" for row in relations)


def _latex(relations: tuple[Relation, ...]) -> str:
    rows = [rf"{latex_name(row.name)} &= {sympy.latex(row.expression)} \\" for row in relations]
    return "\n".join([r"\begin{align*}", *rows, r"\end{align*}"])


def _data(relations: tuple[Relation, ...], known: Any) -> dict[str, Any]:
    used = {str(s) for row in relations for s in row.expression.free_symbols}
    return {
        "groupings": {row.name: str(row.expression) for row in relations},
        "links": {row.name: row.link for row in relations},
        "symbols": {
            name: {"meaning": row.meaning, "unit": row.unit, "value": row.value}
            for name, row in known.items()
            if name in used
        },
    }
