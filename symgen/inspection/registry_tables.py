"""The tables and the data of ``symgen list``: the quantities and the languages."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Final

from symgen import output
from symgen.algorithms import LINK_QUANTITIES, QUANTITIES, Quantity
from symgen.inspection.report_tables import Report, ReportTable
from symgen.languages import LANGUAGES
from symgen.languages.describe import arguments_in_words
from symgen.reading.joint_kinds import JOINTS

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
"""The sections of the list: files of `symgen.algorithms` whose quantities belong to each."""
OTHER: Final = "Other"
"""The section of quantities that another package has registered."""


def sections() -> dict[str, list[Quantity]]:
    """The quantities by section, in the order of `SECTIONS`."""
    of_file = {file: section for section, files in SECTIONS.items() for file in files}
    found: dict[str, list[Quantity]] = {section: [] for section in (*SECTIONS, OTHER)}
    for quantity in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        module = quantity.formulations[0].algorithm.__module__
        package, _, file = module.rpartition(".")
        found[of_file.get(file, OTHER) if package == "symgen.algorithms" else OTHER] += [quantity]
    return {section: quantities for section, quantities in found.items() if quantities}


def overview() -> None:
    """Print the names of the quantities by section, and of the languages."""
    width = output.console().width
    for section, quantities in sections().items():
        output.say(section)
        for line in _wrapped(_folded(map(_spelled, quantities)), min(width, 100)):
            output.say(line)
    output.say("Languages")
    for line in _wrapped(LANGUAGES, min(width, 100)):
        output.say(line)
    output.say("symgen list --all prints formulas, inputs and outputs.")


def _spelled(quantity: Quantity) -> str:
    named = quantity.name in LINK_QUANTITIES
    return f"{quantity.name}:{quantity.subject.upper()}" if named else quantity.name


FRAMES: Final = ("_body", "_world", "_aligned")
"""The endings of quantities that exist for several frames."""


def _folded(names: Iterable[str]) -> Iterator[str]:
    """The names, those that differ only in the frame as one: ``frame_hessian_{body,world}``."""
    frames: dict[str, list[str]] = {}
    for name in names:
        start, link, _ = name.partition(":LINK")
        end = next((end for end in FRAMES if start.endswith(end)), "")
        stem = f"{start.removesuffix(end)}{'_' if end else ''}|{link}"
        frames.setdefault(stem, []).append(end.removeprefix("_"))
    for stem, ends in frames.items():
        start, _, link = stem.partition("|")
        yield f"{start}{{{','.join(ends)}}}{link}" if len(ends) > 1 else f"{start}{ends[0]}{link}"


def _wrapped(names: Iterable[str], width: int) -> list[str]:
    """The names in lines of at most `width` characters."""
    return textwrap.wrap(
        "  ".join(names),
        width,
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
            [(_spelled(q), q.formula, arguments_in_words(q)) for q in quantities],
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
            q.name: _row(q, section) for section, rows in sections().items() for q in rows
        },
        "languages": list(LANGUAGES),
    }


def _row(q: Quantity, section: str) -> dict[str, Any]:
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
