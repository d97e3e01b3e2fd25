"""An FMU of FMI 3.0 as source code: Model Exchange and Co-Simulation of the forward dynamics.

The value references are the places in an array of the time and of q, q̇, τ and q̈ of all joints.
(Functional Mock-up Interface 3.0.2, Modelica Association, 2024.)"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from symgen.errors import OptionError
from symgen.languages.c.options import FMU, COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.module import Module
from symgen.text import in_ascii

STEP: Final = 0.001
"""The largest step of Co-Simulation, in seconds."""
UNITS: Final = {
    "rad": 'rad="1"',
    "rad/s": 'rad="1" s="-1"',
    "rad/s2": 'rad="1" s="-2"',
    "N.m": 'kg="1" m="2" s="-2"',
    "m": 'm="1"',
    "m/s": 'm="1" s="-1"',
    "m/s2": 'm="1" s="-2"',
    "N": 'kg="1" m="1" s="-2"',
}
"""Units as FMI states them, by powers of base units."""
FUNCTION: Final = "forward_dynamics"
ARRAYS: Final = ("q", "qd", "tau", "qdd")
"""The arguments of the function, in the order of the value references."""


@dataclass(frozen=True)
class FmuVariable:
    """A scalar variable of the model description."""

    name: str
    reference: int
    causality: str
    initial: str
    """Empty for inputs."""
    derivative: int
    """The value reference of the variable whose rate this is, 0 if there is none."""
    unit: str
    meaning: str


def fmu_context(module: Module, functions: Sequence[CFunction]) -> dict[str, Any]:
    """The variables of the templates. Raises OptionError for a module that cannot be an FMU."""
    forward = next((f for f in functions if f.d.name == FUNCTION), None)
    if forward is None:
        raise OptionError(
            f"--glue fmi: an FMU needs the forward dynamics; add --quantity {FUNCTION}"
        )
    others = [a.name for a in forward.d.ins if a.name not in ARRAYS]
    if others:
        raise OptionError(
            f"--glue fmi: the forward dynamics has the input {others[0]}, which an FMU does not "
            "have; remove the option that makes it an input"
        )
    if module[COptions].scalar != "double":
        raise OptionError("--glue fmi: variables of an FMU are double; use --scalar double")
    if module.velocity_rows():
        raise OptionError(
            "--glue fmi: the velocities of this robot are not the rates of its positions; use a "
            "fixed base and no ball joints"
        )
    arrays = {a: f"v + {a.upper()}" for a in ARRAYS} | {"w": "x->work"}
    return {
        "forward": forward,
        "call": [arrays[a.name] for a in forward.arguments],
        "variables": list(_variables(module)),
        "units": UNITS,
        "step": STEP,
    }


def _variables(module: Module) -> Iterator[FmuVariable]:
    """Positions, velocities, forces and accelerations, joint by joint."""
    n, rows = module.dof, module.joint_rows()
    kinds = (
        ("q", "output", "exact", 0, "position"),
        ("qd", "output", "exact", 1, "velocity"),
        ("tau", "input", "", 0, "force"),
        ("qdd", "output", "calculated", 1 + n, "acceleration"),
    )
    for block, (array, causality, initial, rate_of, meaning) in enumerate(kinds):
        for k, joint, _, _, unit in rows:
            units = {"q": unit, "qd": f"{unit}/s", "qdd": f"{unit}/s2"}
            name = escape(in_ascii(joint, "(U+{:x})"))
            yield FmuVariable(
                f"{array}[{name}]",
                1 + block * n + k,
                causality,
                initial,
                rate_of + k if rate_of else 0,
                units.get(array, "N.m" if unit == "rad" else "N"),
                f"{meaning} of {name}",
            )


def fmu_sources(module: Module, texts: Mapping[str, str]) -> dict[str, str]:
    """The C of a module as files of its FMU, name to text; those in folders are left out."""
    folder = FMU.format(name=module.name)
    return {
        f"{folder}/sources/{name}": text
        for name, text in texts.items()
        if "/" not in name and name.endswith((".h", ".c")) and "selftest" not in name
    }
