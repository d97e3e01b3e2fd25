"""The reports of the commands ``generate``, ``ops``, ``verify``, ``check`` and ``list``."""

import json
import os
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES, Quantity
from symgen.errors import Notice
from symgen.inspection.rendering import Cell, Report, ReportTable, StyledText
from symgen.languages import LANGUAGES
from symgen.languages.c.options import COptions
from symgen.languages.describe import argument_text
from symgen.languages.module import Module
from symgen.mechanics.inertia_checks import INDEFINITE, InertiaVerdict
from symgen.mechanics.joint_listing import (
    index_range,
    listed_joints,
    listed_motors,
    position_coordinates,
    rotor_of,
    springs_of,
)
from symgen.reading.assemble import LoadedRobot
from symgen.reading.joint_kinds import JOINTS
from symgen.text import command
from symgen.tracing.function import Function

if TYPE_CHECKING:  # it brings compilers along
    from symgen.jobs.generating import TimedFormulation
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
    keys, title = ("stack", "work", "code"), f"{module[COptions].target}, {module[COptions].scalar}"
    rows = [
        (name, *("?" if row[key] is None else str(row[key]) for key in keys))
        for name, row in data["functions"].items()
    ]
    return ReportTable(title, ["function"], keys, rows)


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
    rows = list[tuple[str, ...]]()
    for row in times:
        figures = map(str, (row.operations, round(row.cost.work), round(row.cost.path)))
        rows.append((row.quantity, row.formulation, *figures, f"{row.time:.1f}"))
    title = f"{module.robot.model.name}: times of a call"
    chosen = frozenset(k for k, row in enumerate(times) if row.chosen)
    head = ["quantity", "formulation"], ["total", "work", "path", "ns"]
    return Report([ReportTable(title, *head, rows, chosen)])


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
    table = ReportTable(f"{folder}", ["", "check", "figure"], (), rows)
    passed = all(c.passed for c in results)
    return Report([table, _conclusion(results)], {"passed": passed, "checks": data})


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
    wide = len(position_coordinates(model)) != model.dof
    remarks = []
    for joint in joints:
        follows = f"follows: {joint.follows}" if joint.follows else ""
        rotor = f"rotor: {rotor_of(joint.body)}" if rotor_of(joint.body) else ""
        remarks.append("; ".join(filter(None, (follows, rotor, *springs_of(joint.body.joint)))))
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
    title = f"{model.name}: {counted(model.dof, len(position_coordinates(model)))}"
    table = ReportTable(title, [*head, *(["remark"] if any(remarks) else [])], (), rows)
    return Report([table, _verdicts(verdicts)])


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


# -- tables of registries --------------------------------------------------------------------------

SECTIONS: Final = {
    "Dynamics": ("newton_euler", "composite", "forward_dynamics", "elastic"),
    "Coriolis terms": ("coriolis", "christoffel", "coriolis_newton_euler"),
    "Energy, momentum, centre of mass": ("energies", "centroidal"),
    "Derivatives": ("derivatives", "products", "adjoints", "adjoint_hessians", "tensors"),
    "Time derivatives": ("rates",),
    "Integration": ("steps", "step_jacobians"),
    "Joint wrenches": ("joint_wrenches",),
    "Regressors and parameters": ("regressors", "parameter_tensors"),
    "Controllers and observers": (
        "controllers",
        "observers",
        "learning",
        "cartesian_impedance",
        "elastic_control",
    ),
    "Links and frames": (
        "kinematics",
        "task_space",
        "inverse_kinematics",
        "operational_space",
    ),
    "Closed loops": ("loop_closure", "transmission", "motor_transmissions"),
}
"""The sections of the list: the groups of quantities (`Quantity.group`) that belong to each."""
OTHER_SECTION: Final = "Other"
"""The section of quantities that another package has registered."""


def sections() -> dict[str, list[Quantity]]:
    """The quantities by section, in the order of `SECTIONS`."""
    of_group = {group: section for section, groups in SECTIONS.items() for group in groups}
    found: dict[str, list[Quantity]] = {section: [] for section in (*SECTIONS, OTHER_SECTION)}
    for quantity in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        found[of_group.get(quantity.group, OTHER_SECTION)] += [quantity]
    return {section: quantities for section, quantities in found.items() if quantities}


def overview(width: int) -> Iterator[str]:
    """The names of the quantities by section, and of the languages, in lines of a width."""
    for section, quantities in sections().items():
        yield section
        yield from _wrapped(_combined_frames(map(_quantity_argument, quantities)), width)
    yield "Languages"
    yield from _wrapped(LANGUAGES, width)
    yield "symgen list --all prints formulas, inputs and outputs."


def _quantity_argument(quantity: Quantity) -> str:
    named = quantity.name in LINK_QUANTITIES
    return f"{quantity.name}:{quantity.subject.upper()}" if named else quantity.name


FRAME_ENDINGS: Final = ("_body", "_world", "_aligned")
"""The endings of quantities that exist for several frames."""


def _combined_frames(names: Iterable[str]) -> Iterator[str]:
    """The names, those that differ only in the frame as one: ``frame_hessian_{body,world}``."""
    frames: dict[str, list[str]] = {}
    for name in names:
        start, link, _ = name.partition(":LINK")
        end = next((end for end in FRAME_ENDINGS if start.endswith(end)), "")
        stem = f"{start.removesuffix(end)}{'_' if end else ''}|{link}"
        frames.setdefault(stem, []).append(end.removeprefix("_"))
    for stem, ends in frames.items():
        start, _, link = stem.partition("|")
        yield f"{start}{{{','.join(ends)}}}{link}" if len(ends) > 1 else f"{start}{ends[0]}{link}"


def _wrapped(names: Iterable[str], width: int) -> list[str]:
    """The names in lines of at most `width` characters, and of at most 100."""
    return textwrap.wrap(
        "  ".join(names),
        min(width, 100),
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


WITH_QUATERNION: Final = " and ".join(
    row.kind for row in JOINTS.values() if row.type.quaternion is not None
)
SIZES: Final = (
    f"sizes: n velocities, nq positions (nq = n without {WITH_QUATERNION} joints), "
    "n2 = n (n + 1) / 2, ten inertial parameters (10 for each body, 1 for each rotor), y = ten "
    "plus columns of friction and springs, b base parameters"
)


def registry() -> Report:
    """Tables of the quantities, with formulas and arguments, and of the languages."""
    parts: list[ReportTable | str] = [
        ReportTable(
            section,
            ["name", "formula", "arguments"],
            (),
            [(_quantity_argument(q), q.formula, argument_text(q)) for q in quantities],
        )
        for section, quantities in sections().items()
    ]
    languages = [(language.name, language.summary) for language in LANGUAGES.values()]
    table = ReportTable("Languages", ["name", "generated code"], (), languages)
    return Report([*parts, SIZES, table], registry_data())


def registry_data() -> dict[str, Any]:
    """The data of ``symgen list --json``."""
    return {
        "quantities": {
            q.name: _quantity_row(q, section) for section, rows in sections().items() for q in rows
        },
        "languages": list(LANGUAGES),
    }


def _quantity_row(q: Quantity, section: str) -> dict[str, Any]:
    return {
        "section": section,
        "formula": q.formula,
        "of_link": q.name in LINK_QUANTITIES and q.subject == "link",
        "of_joint": q.name in LINK_QUANTITIES and q.subject == "joint",
        "inputs": list(q.inputs),
        "outputs": [{"name": a.name, "shape": list(a.shape), "unit": a.unit} for a in q.outputs],
        "formulations": [formulation.name for formulation in q.formulations],
        "sources": list(dict.fromkeys(formulation.source for formulation in q.formulations)),
    }
