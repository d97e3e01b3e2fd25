"""The tape of a function: its algorithms run once, on tape values."""

from collections.abc import Mapping, Sequence
from math import isfinite

from symgen.algorithms.registry import INPUTS, Quantity
from symgen.compiler.program import Program
from symgen.errors import OptionError
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.scalar import Scalar
from symgen.tracing.function import Function
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel, RegroupedModel, dimensions
from symgen.tracing.running import Part, outputs


def traced(
    regroups: Mapping[str, RegroupedModel], wanted: FunctionRequest, parts: tuple[Part, ...]
) -> Function:
    """The program of a function in the formulations given. Raises OptionError."""
    program = Program()
    chosen = _regroups_of(regroups, parts)
    sizes = dimensions(
        next((r for name, r in chosen.items() if name != WHOLE), chosen[parts[0][1].regrouping])
    )
    arrays = {
        name: program.input(name, INPUTS[name].sizes(sizes))
        for name in _inputs(chosen, wanted, parts)
    }
    for part in parts:
        values = _values(part, chosen[part[1].regrouping], arrays, program)
        for out in part[0].outputs:
            if all(out.name != done.name for done in program.outputs):
                program.output(out.name, out.sizes(sizes), values[out.name])
    _check_finite(wanted, program)
    return Function(wanted.name, parts, chosen, program)


def _values(
    part: Part, regroup: RegroupedModel, arrays: Mapping[str, Sequence[Scalar]], program: Program
) -> dict[str, list[Scalar]]:
    """The outputs of one quantity. Raises OptionError for one that is defined in no state."""
    try:
        with program.section(part[0].formula):  # what belongs to no step of an algorithm
            return outputs(part, regroup, arrays, program.section)
    except ZeroDivisionError:
        raise OptionError(
            f"{part[0].name} divides by an expression that is zero in every state of this "
            "robot, so it is never defined; remove it"
        ) from None


def _regroups_of(
    regroups: Mapping[str, RegroupedModel], parts: tuple[Part, ...]
) -> dict[str, RegroupedModel]:
    """The regroupings of a function; frames of tip bodies are turned where nothing in it reads
    parameters or poses of links."""
    chosen = {f.regrouping: regroups[f.regrouping] for _, f in parts}
    return (
        chosen
        if WHOLE in chosen
        else {name: regroup.with_tip_frames for name, regroup in chosen.items()}
    )


def _check_finite(wanted: FunctionRequest, program: Program) -> None:
    """Refuses numbers that overflowed on the way, which no source code can hold."""
    if not all(isfinite(node.a) for node in program.nodes if node.op == "const"):
        raise OptionError(
            f"{wanted.name}: constants overflow because numbers of the robot are too "
            "large or too small; use m, kg and rad"
        )


def _inputs(
    regroups: Mapping[str, RegroupedModel], wanted: FunctionRequest, parts: Sequence[Part]
) -> list[str]:
    """The inputs of a function in argument order."""
    robot = next(iter(regroups.values())).robot
    used = {name for q in wanted.quantities for name in q.inputs}
    used |= read_by_option(robot, wanted.quantities)
    if robot.runtime:
        used |= {regroups[f.regrouping].input for q, f in parts if q.needs_inertia}
    return [name for name in INPUTS if name in used]


def read_by_option(robot: ParametricModel, quantities: Sequence[Quantity]) -> set[str]:
    """The inputs that quantities read beside their own, those of parameters left out."""
    by_option = {
        "g": robot.runtime_gravity and any(q.needs_gravity for q in quantities),
        "friction": robot.runtime_friction
        and any(q.depends_on_external_forces for q in quantities),
        "springs": robot.runtime_springs and any(q.depends_on_springs for q in quantities),
        "presliding": robot.has_presliding and any("friction" in q.tags for q in quantities),
        "wrench": bool(robot.wrenches) and any(q.depends_on_external_forces for q in quantities),
    }
    return {name for name, read in by_option.items() if read}
