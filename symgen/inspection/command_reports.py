"""The reports of the commands ``generate``, ``ops``, ``verify`` and ``check``."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from symgen.advice import command
from symgen.errors import Notice
from symgen.inspection.report_tables import Cell, Report, ReportTable, StyledText
from symgen.languages.c.options import COptions
from symgen.languages.module import Module
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.inertia_checks import INDEFINITE, InertiaVerdict
from symgen.mechanics.joint_listing import (
    index_range,
    listed_joints,
    listed_motors,
    rotor_of,
)
from symgen.mechanics.model import Joint, constant_of_velocity
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown
from symgen.tracing.function import Function
from symgen.tracing.singular import joint_phrase, moves_inertia, remedy, singular_joints

if TYPE_CHECKING:  # it brings compilers along
    from symgen.jobs.tune import TimedFormulation
    from symgen.languages.verification import Check


def generation(module: Module, paths: Sequence[Path], notices: Sequence[Notice] = ()) -> Report:
    """The result of ``symgen generate``: operation counts of the functions, their sizes if a target
    was named, and the folder. The data have the notices as well."""
    folder = next(path for path in paths if path.name == "manifest.json").parent
    report = next((path for path in paths if path.name == f"{module.name}_report.json"), None)
    counts, parts = operations(module), list[ReportTable | Cell]()
    if module[COptions].target and report:
        parts.append(_sizes(module, json.loads(report.read_text(encoding="utf-8"))))
    advice = command("verify", folder=str(folder))
    parts.append(f"{len(paths)} files in {folder}; verify them: {advice}")
    names = [Path(os.path.relpath(path, folder)).as_posix() for path in paths]
    data = {
        "folder": str(folder),
        "files": sorted(names),
        "notices": [notice.data() for notice in notices],
    }
    return Report([*counts.parts, *parts], {**counts.data, **data})


def _sizes(module: Module, data: Mapping[str, Any]) -> ReportTable:
    """Bytes of stack and code of each function, and the entries of its work array."""
    keys = ("stack", "work", "code")
    return ReportTable(
        f"{module[COptions].target}, {module[COptions].scalar}",
        ["function"],
        keys,
        [
            (name, *("?" if row[key] is None else str(row[key]) for key in keys))
            for name, row in data["functions"].items()
        ],
    )


def operations(module: Module) -> Report:
    """The result of ``symgen ops``: operation counts of each function, and the cycles of its
    operations and of its longest chain of dependent operations on a model of the processor."""
    rows = {f.name: _row(module, f) for f in module.functions}
    return Report([_counts(module, module.functions, ())], _counts_data(module, rows))


def formulations(module: Module, traced: Sequence[Function]) -> Report:
    """The result of ``symgen ops --all``: the same for each formulation, the chosen one in bold;
    the data have a list of rows for each quantity."""
    chosen = [(f.name, f.formulation) for f in module.functions]
    rows = {f.name: [_row(module, g) for g in traced if g.name == f.name] for f in module.functions}
    return Report([_counts(module, traced, chosen)], _counts_data(module, rows))


def _counts(
    module: Module, functions: Sequence[Function], chosen: Collection[tuple[str, str]]
) -> ReportTable:
    machine, rows = module[COptions].machine, list[tuple[str, ...]]()
    for f in functions:
        c, cost = f.counts, f.cost(machine)
        figures = (c.add, c.mul, c.div, c.trig, c.total, round(cost.work), round(cost.path))
        rows.append((f.name, f.kind, *map(str, figures)))
    return ReportTable(
        f"{module.robot.model.name}: {counted(module.dof, module.dimensions['nq'])}",
        ["function", "formulation"],
        ["+ -", "*", "/", "sin cos", "total", "work", "path"],
        rows,
        frozenset(k for k, f in enumerate(functions) if (f.name, f.formulation) in chosen),
    )


def tuning(module: Module, times: Sequence["TimedFormulation"]) -> Report:
    """The times that ``--tune`` has measured, the choice in bold."""
    rows = [
        (
            row.quantity,
            row.formulation,
            str(row.operations),
            str(round(row.cost.work)),
            str(round(row.cost.path)),
            f"{row.time:.1f}",
        )
        for row in times
    ]
    return Report(
        [
            ReportTable(
                f"{module.robot.model.name}: times of a call",
                ["quantity", "formulation"],
                ["total", "work", "path", "ns"],
                rows,
                frozenset(k for k, row in enumerate(times) if row.chosen),
            )
        ]
    )


def _counts_data(module: Module, rows: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "robot": module.robot.model.name,
        "dof": module.dof,
        "machine": module[COptions].machine.name,
        "quantities": rows,
    }


def _row(module: Module, f: Function) -> dict[str, Any]:
    cost = f.cost(module[COptions].machine)
    return {
        **f.counts.as_dict(),
        "work": cost.work,
        "path": cost.path,
        "formulation": f.formulation,
        "trees": f.trees,
    }


def verification(folder: Path, results: Sequence["Check"]) -> Report:
    """The result of ``symgen verify``: the checks of a folder."""
    failed, not_run = StyledText("FAILED", "bold red"), StyledText("not run", "bold yellow")
    marks = [(OK if c.passed else failed) if c.ran else not_run for c in results]
    rows = [(mark, c.what, c.detail) for mark, c in zip(marks, results, strict=True)]
    data = [
        {"check": c.what, "passed": c.passed, "ran": c.ran, "figure": c.detail} for c in results
    ]
    return Report(
        [ReportTable(f"{folder}", ["", "check", "figure"], (), rows), _conclusion(results)],
        {"passed": all(c.passed for c in results), "checks": data},
    )


OK: Final = StyledText("ok", "green")


def _conclusion(results: Sequence["Check"]) -> str:
    missed = sum(not check.ran for check in results)
    failed = sum(not check.passed for check in results) - missed
    if not missed + failed:
        return f"all {len(results)} checks passed"
    counts = [f"{failed} of {len(results)} checks failed"] if failed or not missed else []
    counts += [f"{missed} of {len(results)} checks could not be run"] if missed else []
    return "; ".join(counts)


def counted(velocities: int, positions: int) -> str:
    """The numbers of coordinates."""
    return (
        f"{velocities} joints"
        if velocities == positions
        else f"{velocities} velocities, {positions} positions"
    )


def robot(loaded: LoadedRobot, verdicts: Sequence[InertiaVerdict]) -> Report:
    """The result of ``symgen check``: the joints of a robot and the verdicts on its inertia."""
    model = loaded.model
    joints = [*listed_joints(model), *listed_motors(model)]
    wide = coupling_of(model).positions != model.dof
    remarks = []
    for joint in joints:
        follows = f"follows: {joint.follows}" if joint.follows else ""
        rotor = f"rotor: {rotor_of(joint.body)}" if rotor_of(joint.body) else ""
        remarks.append("; ".join(filter(None, (follows, rotor, *_springs(joint.body.joint)))))
    head = [*(["q", "qd"] if wide else ["index"]), "joint", "type", "moves link", "with", "range"]
    rows = []
    for joint, remark in zip(joints, remarks, strict=True):
        indices = [joint.positions, joint.velocities] if wide else [joint.velocities]
        is_motor, limits = joint.body.joint.type.is_rotor, joint.body.joint.limits
        limited = limits.lower is not None and limits.upper is not None
        texts = (
            joint.name,
            "motor" if is_motor else joint.kind,
            "" if is_motor else joint.body.name,
            ", ".join(link.name for link in joint.body.links[1:]),
            f"{limits.lower:g} .. {limits.upper:g} {joint.unit}" if limited else "",
            *([remark] if any(remarks) else []),
        )
        rows.append((*map(index_range, indices), *texts))
    title = f"{model.name}: {counted(model.dof, coupling_of(model).positions)}"
    table = ReportTable(title, [*head, *(["remark"] if any(remarks) else [])], (), rows)
    return Report([table, _verdicts(verdicts)])


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


def _verdicts(verdicts: Sequence[InertiaVerdict]) -> ReportTable:
    """The verdicts, without those of links that are as they should be."""
    rows = []
    for v in verdicts:
        if v.kind == "link" and not v.warning:
            continue
        is_odd = v.warning or v.status == INDEFINITE
        mark = StyledText("warning", "bold yellow") if is_odd else OK
        rows.append((mark, f"{v.kind} {v.name}", v.status, v.message))
    return ReportTable("inertia", ["", "of", "pseudo-inertia", "remark"], (), rows)


def warnings(loaded: LoadedRobot, verdicts: Sequence[InertiaVerdict]) -> list[Notice]:
    """The warnings among the verdicts, placed in the file, or joints that move nothing of their
    own; none of a robot that has no mass at all, of which one is said where it is read."""
    telling = [v for v in verdicts if v.warning]
    if not moves_inertia(loaded.model):
        return []
    joints = [] if telling else singular_joints(loaded.model)
    if joints:
        names, move, _ = joint_phrase([joint.name for joint in joints])
        message = f"{move} no inertia that the others do not, so the mass matrix is singular"
        place = loaded.link_locations[joints[0].body.name]
        sentence = f"{message}: {remedy(loaded.model, joints)}"
        return [Notice(place, "warning", names, sentence)]
    return [
        Notice(
            loaded.link_locations[v.name],
            "warning",
            f"{v.kind} '{shown(v.name)}'",
            v.message,
            v.summary,
        )
        for v in telling
    ]


def gain_limits(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Report:
    """The gains that a controller can have at a sample rate: gain, entry and two numbers in each
    row."""
    return Report([ReportTable("", head[:2], head[2:], rows)])
