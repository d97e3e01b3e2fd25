"""Reports of the command line for people: tables on a terminal, plain text elsewhere, data for
--json."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from symgen.advice import command
from symgen.compiler.costs import Processor
from symgen.errors import Notice
from symgen.inspection.console_tables import table
from symgen.languages.c.options import COptions
from symgen.languages.module import Module
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.inertia_checks import INDEFINITE, InertiaVerdict
from symgen.mechanics.joint_listing import (
    ListedJoint,
    index_range,
    listed_joints,
    listed_motors,
    rotor_of,
)
from symgen.mechanics.model import Joint, constant_of_velocity
from symgen.output import console
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown
from symgen.tracing.function import Function
from symgen.tracing.singular import in_words, moves_inertia, remedy, singular_joints

if TYPE_CHECKING:  # it brings compilers along
    from symgen.jobs.tune import TimedFormulation
    from symgen.languages.verification import Check


def generated(module: Module, paths: Sequence[Path]) -> None:
    """The counts of a new module, its sizes for the target if one was named, and where it is."""
    operations(module)
    report = next((path for path in paths if path.name == f"{module.name}_report.json"), None)
    if module[COptions].target and report:
        sizes(module, json.loads(report.read_text(encoding="utf-8")))
    folder = next(path for path in paths if path.name == "manifest.json").parent
    advice = command("verify", folder=str(folder))
    console().print(escape(f"{len(paths)} files in {folder}; verify them: {advice}"))


def generated_data(
    module: Module, paths: Sequence[Path], notices: Sequence[Notice]
) -> dict[str, Any]:
    """The data of ``symgen generate --json``."""
    folder = next(path for path in paths if path.name == "manifest.json").parent
    names = [path.relative_to(folder).as_posix() for path in paths]
    return operations_data(module) | {
        "folder": str(folder),
        "files": sorted(names),
        "notices": [notice.data() for notice in notices],
    }


def sizes(module: Module, data: Mapping[str, Any]) -> None:
    """Bytes of stack and code of each function, and the entries of its work array."""
    rows = table(
        f"{module[COptions].target}, {module[COptions].scalar}",
        ["function"],
        ["stack", "work", "code"],
    )
    for name, row in data["functions"].items():
        rows.add_row(
            name, *("?" if row[key] is None else str(row[key]) for key in ("stack", "work", "code"))
        )
    console().print(rows)


def operations(module: Module) -> None:
    """Operation counts of each function, and the cycles of its operations and of its longest chain
    of them on a model of the processor."""
    _counted(module, module.functions, chosen=())


def formulations(module: Module, traced: Sequence[Function]) -> None:
    """Operation counts of each function in each formulation, the chosen one marked."""
    _counted(module, traced, chosen=[(f.name, f.formulation) for f in module.functions])


def _counted(
    module: Module, functions: Sequence[Function], chosen: Collection[tuple[str, str]]
) -> None:
    rows = table(
        f"{module.robot.model.name}: {counted(module.dof, module.dimensions['nq'])}",
        ["function", "formulation"],
        ["+ -", "*", "/", "sin cos", "total", "work", "path"],
    )
    machine = module[COptions].machine
    for f in functions:
        c, style = f.counts, "bold" if (f.name, f.formulation) in chosen else ""
        cost = f.cost(machine)
        figures = (c.add, c.mul, c.div, c.trig, c.total, round(cost.work), round(cost.path))
        rows.add_row(f.name, f.formulation, *map(str, figures), style=style)
    console().print(rows)


def timed(module: Module, times: Sequence["TimedFormulation"]) -> None:
    """The times that ``--tune`` has measured, the choice in bold."""
    rows = table(
        f"{module.robot.model.name}: times of a call",
        ["quantity", "formulation"],
        ["total", "work", "path", "ns"],
    )
    for row in times:
        figures = (row.operations, round(row.cost.work), round(row.cost.path), f"{row.time:.1f}")
        style = "bold" if row.chosen else ""
        rows.add_row(row.quantity, row.formulation, *map(str, figures), style=style)
    console().print(rows)


def operations_data(module: Module) -> dict[str, Any]:
    """The data of ``symgen ops --json``."""
    machine = module[COptions].machine
    rows = {f.name: _row(f, machine) for f in module.functions}
    return _counts_data(module, rows)


def formulations_data(module: Module, traced: Sequence[Function]) -> dict[str, Any]:
    """The data of ``symgen ops --all --json``: a list of rows for each quantity."""
    machine = module[COptions].machine
    rows = {
        f.name: [_row(g, machine) for g in traced if g.name == f.name] for f in module.functions
    }
    return _counts_data(module, rows)


def _counts_data(module: Module, rows: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "robot": module.robot.model.name,
        "dof": module.dof,
        "machine": module[COptions].machine.name,
        "quantities": rows,
    }


def _row(f: Function, machine: Processor) -> dict[str, Any]:
    cost = f.cost(machine)
    return {
        **f.counts.as_dict(),
        "work": cost.work,
        "path": cost.path,
        "formulation": f.formulation,
        "trees": f.trees,
    }


def checks(folder: Path, results: Sequence["Check"]) -> None:
    """The checks of a folder."""
    rows = table(f"{folder}", ["", "check", "figure"])
    for check in results:
        rows.add_row(_mark(check), escape(check.what), escape(check.detail))
    out = console()
    out.print(rows)
    out.print(_conclusion(results))


def _mark(check: "Check") -> str:
    if not check.ran:
        return "[bold yellow]not run[/]"
    return "[green]ok[/]" if check.passed else "[bold red]FAILED[/]"


def _conclusion(results: Sequence["Check"]) -> str:
    missed = sum(not check.ran for check in results)
    failed = sum(not check.passed for check in results) - missed
    if not missed + failed:
        return f"all {len(results)} checks passed"
    counts = [f"{failed} of {len(results)} checks failed"] if failed or not missed else []
    counts += [f"{missed} of {len(results)} checks could not be run"] if missed else []
    return "; ".join(counts)


def checks_data(results: Sequence["Check"]) -> dict[str, Any]:
    """The data of ``symgen verify --json``."""
    rows = [
        {"check": c.what, "passed": c.passed, "ran": c.ran, "figure": c.detail} for c in results
    ]
    return {"passed": all(c.passed for c in results), "checks": rows}


def counted(velocities: int, positions: int) -> str:
    """The numbers of coordinates."""
    return (
        f"{velocities} joints"
        if velocities == positions
        else f"{velocities} velocities, {positions} positions"
    )


def robot(loaded: LoadedRobot, verdicts: Sequence[InertiaVerdict]) -> None:
    """The joints of a robot and the judgement of its bodies."""
    model = loaded.model
    joints = [*listed_joints(model), *listed_motors(model)]
    wide = coupling_of(model).positions != model.dof
    remarks = [_remark(joint) for joint in joints]
    rows = table(
        f"{model.name}: {counted(model.dof, coupling_of(model).positions)}",
        [
            *(["q", "qd"] if wide else ["index"]),
            "joint",
            "type",
            "moves link",
            "with",
            "range",
            *(["remark"] if any(remarks) else []),
        ],
    )
    for joint, remark in zip(joints, remarks, strict=True):
        indices = [joint.positions, joint.velocities] if wide else [joint.velocities]
        fixed = ", ".join(link.name for link in joint.body.links[1:])
        texts = (
            joint.name,
            "motor" if joint.body.joint.type.is_rotor else joint.kind,
            "" if joint.body.joint.type.is_rotor else joint.body.name,
            fixed,
            _range(joint),
            *([remark] if any(remarks) else []),
        )
        rows.add_row(*map(index_range, indices), *map(escape, texts))
    out = console()
    out.print(rows)
    out.print(_verdicts(verdicts))


def _range(joint: ListedJoint) -> str:
    limits = joint.body.joint.limits
    if limits.lower is None or limits.upper is None:
        return ""
    return f"{limits.lower:g} .. {limits.upper:g} {joint.unit}"


def _remark(joint: ListedJoint) -> str:
    follows = f"follows: {joint.follows}" if joint.leader else ""
    rotor = f"rotor: {rotor_of(joint.body)}" if rotor_of(joint.body) else ""
    return "; ".join(filter(None, (follows, rotor, *_springs(joint.body.joint))))


def _springs(joint: Joint) -> Iterator[str]:
    """The spring of each coordinate of a joint that has one."""
    for k, row in enumerate(joint.type.velocities):
        stiffness, at = (
            constant_of_velocity(joint.stiffness, k),
            constant_of_velocity(joint.reference, k),
        )
        unit, of = "N/m" if row.unit == "m" else "N m/rad", f" ({row.suffix})" if row.suffix else ""
        if stiffness:
            yield f"spring{of}: {stiffness:.6g} {unit} at {at:.6g} {row.unit}"


def _verdicts(verdicts: Sequence[InertiaVerdict]) -> Table:
    rows = table("inertia", ["", "of", "pseudo-inertia", "remark"])
    for v in verdicts:
        if v.kind == "link" and not v.warning:
            continue  # a sound link is no news beside its body
        is_odd = v.warning or v.status == INDEFINITE
        mark = "[bold yellow]warning[/]" if is_odd else "[green]ok[/]"
        rows.add_row(mark, escape(f"{v.kind} {v.name}"), v.status, escape(v.message))
    return rows


def warnings(loaded: LoadedRobot, verdicts: Sequence[InertiaVerdict]) -> list[Notice]:
    """The warnings among the verdicts, placed in the file, or joints that move nothing of their
    own; none of a robot that has no mass at all, of which one is said where it is read."""
    telling = [v for v in verdicts if v.warning]
    if not moves_inertia(loaded.model):
        return []
    joints = [] if telling else singular_joints(loaded.model)
    if joints:
        names, move, _ = in_words([joint.name for joint in joints])
        message = f"{move} no inertia that the others do not, so the mass matrix is singular"
        place = loaded.places[joints[0].body.name]
        sentence = f"{message}: {remedy(loaded.model, joints)}"
        return [Notice(place, "warning", names, sentence)]
    return [
        Notice(
            loaded.places[v.name], "warning", f"{v.kind} '{shown(v.name)}'", v.message, v.summary
        )
        for v in telling
    ]


def sampled(head: Sequence[str], gains: Sequence[Sequence[str]]) -> None:
    """The gains that a controller can have at a sample rate: gain, entry and two numbers in each
    row."""
    rows = table("", head[:2], head[2:])
    for row in gains:
        rows.add_row(*row)
    console().print(rows)
