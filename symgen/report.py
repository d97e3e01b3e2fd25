"""What the command line tells people: tables on a terminal, plain text elsewhere, data for --json."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.errors import Notice
from symgen.mechanics.assemble import Loaded
from symgen.mechanics.consistency import Verdict
from symgen.mechanics.joints import JOINT_TYPES
from symgen.mechanics.xml_reader import shown
from symgen.module import Module
from symgen.singular import singular_joint
from symgen.targets import LANGUAGES
from symgen.targets.describe import arguments_in_words
from symgen.tracing import Function
from symgen.verify import Check

PIPE_WIDTH = 200


def console() -> Console:
    """For people: colours on a terminal, plain text and full width elsewhere."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=PIPE_WIDTH, color_system=None)


def table(title: str, left: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A table with columns of text and then of numbers."""
    made = Table(title=escape(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for name in left:
        made.add_column(name, overflow="fold")
    for name in right:
        made.add_column(name, justify="right")
    return made


def generated(module: Module, paths: Sequence[Path]) -> None:
    """The counts of a new module, its sizes for the target if one was named, and where it is."""
    operations(module)
    report = next((path for path in paths if path.name == f"{module.name}_report.json"), None)
    if module.target and report:
        sizes(module, json.loads(report.read_text()))
    folder = paths[0].parent
    console().print(f"{len(paths)} files in {escape(str(folder))}; prove them: symgen verify {escape(str(folder))}")


def sizes(module: Module, data: Mapping[str, Any]) -> None:
    """Bytes of stack and code of each function, and the entries of its work array."""
    rows = table(f"{module.target}, {module.scalar}", ["function"], ["stack", "work", "code"])
    for name, row in data["functions"].items():
        rows.add_row(name, *("?" if row[key] is None else str(row[key]) for key in ("stack", "work", "code")))
    console().print(rows)


def operations(module: Module) -> None:
    """Operation counts of each function."""
    _counted(module, module.functions, chosen=())


def formulations(module: Module, traced: Sequence[Function]) -> None:
    """Operation counts of each function in each formulation, the chosen one marked."""
    _counted(module, traced, chosen=[(f.name, f.formulation) for f in module.functions])


def _counted(module: Module, functions: Sequence[Function], chosen: Collection[tuple[str, str]]) -> None:
    rows = table(f"{module.robot.model.name}: {module.dof} joints", ["function", "formulation"],
                   ["+ -", "*", "/", "sin cos", "total"])
    for f in functions:
        c, style = f.counts, "bold" if (f.name, f.formulation) in chosen else ""
        rows.add_row(f.name, f.formulation, *map(str, (c.add, c.mul, c.div, c.trig, c.total)), style=style)
    console().print(rows)


def operations_data(module: Module) -> dict[str, Any]:
    """The data of ``symgen ops --json``."""
    rows = {f.name: _row(f) for f in module.functions}
    return {"robot": module.robot.model.name, "dof": module.dof, "quantities": rows}


def formulations_data(module: Module, traced: Sequence[Function]) -> dict[str, Any]:
    """The data of ``symgen ops --all --json``: a list of rows for each quantity."""
    rows = {f.name: [_row(g) for g in traced if g.name == f.name] for f in module.functions}
    return {"robot": module.robot.model.name, "dof": module.dof, "quantities": rows}


def _row(f: Function) -> dict[str, Any]:
    return {**f.counts.as_dict(), "formulation": f.formulation}


def checks(folder: Path, results: Sequence[Check]) -> bool:
    """The checks of a folder; returns whether all passed."""
    rows = table(f"{folder}", ["", "check", "figure"])
    for check in results:
        mark = "[green]ok[/]" if check.passed else "[bold red]FAILED[/]"
        rows.add_row(mark, escape(check.what), escape(check.detail))
    failed = sum(not check.passed for check in results)
    out = console()
    out.print(rows)
    out.print(f"{failed} of {len(results)} checks failed" if failed else f"all {len(results)} checks passed")
    return not failed


def robot(loaded: Loaded, verdicts: Sequence[Verdict]) -> None:
    """The joints of a robot and the judgement of its bodies."""
    model = loaded.model
    rows = table(f"{model.name}: {model.dof} joints", ["index", "joint", "type", "moves link", "with", "range"])
    for k, body in enumerate(model.bodies):
        limits, unit = body.joint.limits, JOINT_TYPES[body.joint.kind].coordinate_unit
        span = "" if limits.lower is None or limits.upper is None else f"{limits.lower:g} .. {limits.upper:g} {unit}"
        fixed = ", ".join(link.name for link in body.links[1:])
        rows.add_row(str(k), *map(escape, (body.joint.name, body.joint.kind, body.name, fixed, span)))
    out = console()
    out.print(rows)
    out.print(_verdicts(verdicts))


def _verdicts(verdicts: Sequence[Verdict]) -> Table:
    rows = table("inertia", ["", "of", "pseudo-inertia", "remark"])
    for v in verdicts:
        if v.kind == "link" and not v.warning:
            continue  # a sound link is no news beside its body
        mark = "[bold yellow]warning[/]" if v.warning else "[green]ok[/]"
        rows.add_row(mark, escape(f"{v.kind} {v.name}"), v.status, escape(v.message))
    return rows


def warnings(loaded: Loaded, verdicts: Sequence[Verdict]) -> list[Notice]:
    """The warnings among the verdicts, placed in the file."""
    found = [v for v in verdicts if v.warning]
    joint = None if found else singular_joint(loaded.model)
    if joint is not None:
        link = next(body.name for body in loaded.model.bodies if body.joint.name == joint)
        message = "moves no inertia that the others do not, so the mass matrix is singular"
        return [Notice(loaded.places[link], "warning", f"joint '{shown(joint)}'", message)]
    return [Notice(loaded.places[v.name], "warning", f"{v.kind} '{shown(v.name)}'", v.message) for v in found]


def registry() -> None:
    """The quantities and languages."""
    rows = table("quantities", ["name", "formula", "arguments"])
    for q in QUANTITIES.values():
        rows.add_row(q.name, escape(q.formula), escape(arguments_in_words(q)))
    for q in LINK_QUANTITIES.values():
        rows.add_row(f"{q.name}:LINK", escape(q.formula), escape(arguments_in_words(q)))
    out = console()
    out.print(rows)
    out.print("sizes: n joints, n2 = n (n + 1) / 2, ten = 10 n, y = ten and friction columns, b base parameters")
    out.print(f"languages: {', '.join(LANGUAGES)}")


def registry_data() -> dict[str, Any]:
    """The data of ``symgen list --json``."""
    quantities = {
        q.name: {
            "formula": q.formula,
            "of_link": q.name in LINK_QUANTITIES,
            "inputs": list(q.inputs),
            "outputs": [{"name": a.name, "shape": list(a.shape), "unit": a.unit} for a in q.outputs],
            "formulations": [way.name for way in q.formulations],
            "sources": list(dict.fromkeys(way.source for way in q.formulations)),
        }
        for q in [*QUANTITIES.values(), *LINK_QUANTITIES.values()]
    }
    return {"quantities": quantities, "languages": list(LANGUAGES)}
