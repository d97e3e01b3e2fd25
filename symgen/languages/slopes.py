"""Derivatives of functions among the functions of the same module: which output is the derivative
of which, for languages whose users differentiate what they call."""

from collections.abc import Sequence
from typing import Final

from symgen.languages.describe import FunctionDescription
from symgen.languages.module import Module

SLOPES: Final = {
    ("tau", "q"): "dtau_dq",
    ("tau", "qd"): "dtau_dqd",
    ("tau", "qdd"): "M",
    ("qdd", "q"): "dqdd_dq",
    ("qdd", "qd"): "dqdd_dqd",
    ("qdd", "tau"): "Minv",
    ("tau_g", "q"): "g_q",
    ("M", "q"): "M_q",
    ("C", "q"): "C_q",
    ("C", "qd"): "C_qd",
    ("c", "q"): "J_c",
}
"""The output of some quantity that is the derivative of an output in an input; its axes are those
of the output, then that of the input."""


def smooth(module: Module, name: str) -> bool:
    """Whether a derivative in an input is one by its entries: not in positions with a quaternion,
    where our derivatives are along velocities."""
    return name != "q" or module.dimensions["nq"] == module.dof


def slope(
    module: Module,
    described: Sequence[FunctionDescription],
    d: FunctionDescription,
    output: str,
    name: str,
) -> tuple[FunctionDescription, str] | None:
    """The function of the module, with its output, that is the derivative of an output of `d` in an
    input: the cheapest, None where there is none."""
    wanted = SLOPES.get((output, name), "")
    arguments = {a.name for a in d.ins}
    candidates = [
        other
        for other in described
        if any(a.name == wanted for a in other.outs)
        and arguments.issuperset(a.name for a in other.ins)
    ]
    if not smooth(module, name) or not candidates:
        return None
    return min(candidates, key=lambda other: len(other.program.nodes)), wanted
