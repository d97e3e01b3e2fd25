"""Functions whose code is loops over the bodies of a robot (``--body-loops``): what they support,
and their operations, counted by formula. Nothing is traced: time grows as the robot does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.algorithms.registry import INPUTS, Quantity
from symgen.compiler.passes import counts
from symgen.compiler.program import LoopProgram
from symgen.errors import OptionError
from symgen.mechanics.body_tables import BodyTables, unsupported
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.operations import COUNTED
from symgen.tracing.function import Function, inputs_by_option
from symgen.tracing.physical_inertia import check_physical_inertia, mass_matrix_at
from symgen.tracing.request import FunctionRequest, quantities_of_robot
from symgen.tracing.robot import ParametricModel, Sizes
from symgen.tracing.singular import check_defined
from symgen.tracing.trace import differs

FLAG: Final = "--body-loops"

StraightLineCost = tuple[int, int, int]
"""Operations for each coordinate, each pair of coordinates on a path, and each three of them."""
OperationTerms = tuple[int, int, int, int]
"""Additions, products, quotients, and sines or cosines (`COUNTED`)."""
NO_OPERATIONS: Final = (0, 0, 0, 0)


@dataclass(frozen=True)
class LoopCost:
    """The operations of a quantity: for each column, each coordinate, each pair of a coordinate and
    one that it moves, each pair of a row and a column in solutions, each coordinate that moves a
    link, and three coordinates on a path. `compared` is the formulation that results are compared
    with. `straight` is what straight-line code takes for joints in general directions, measured at
    chains of 10 to 32 joints; robots with right angles take less."""

    compared: str
    column: OperationTerms
    coordinate: OperationTerms
    pair: OperationTerms = NO_OPERATIONS
    solved: OperationTerms = NO_OPERATIONS
    path: OperationTerms = NO_OPERATIONS
    triple: OperationTerms = NO_OPERATIONS
    straight: StraightLineCost = (150, 0, 0)

    def straight_line(self, tables: BodyTables) -> int:
        """About how many operations straight-line code takes at most."""
        numbers = (tables.n, tables.outer, tables.triples)
        return sum(a * b for a, b in zip(numbers, self.straight, strict=True))

    def operations(self, tables: BodyTables, path: int) -> dict[str, int]:
        """The operations for a robot; those where a tree branches, of slides and of a floating base
        are left out, a few percent."""
        n = tables.n
        numbers = (tables.columns, n, tables.outer, tables.solved, path, tables.triples)
        rows = (self.column, self.coordinate, self.pair, self.solved, self.path, self.triple)
        terms = zip(*rows, strict=True)
        totals = [sum(a * b for a, b in zip(numbers, row, strict=True)) for row in terms]
        return dict(zip(COUNTED, totals, strict=True))


SUPPORTED_FRICTION: Final = ("viscous", "coulomb", "offset")
"""The laws of friction that such code has."""

NEWTON_EULER: Final = "newton_euler/minimal"
DERIVATIVES: Final = "derivatives/minimal"
KINEMATICS: Final = "kinematics/whole"
TASK_SPACE: Final = "task_space/whole"

SUM_COSTS: Final = {
    "kinetic_energy": LoopCost("energies/minimal", (75, 120, 0, 2), (39, 42, 0, 0)),
    "potential_energy": LoopCost("energies/whole", (9, 18, 0, 2), (39, 48, 0, 0)),
    "com": LoopCost("energies/whole", (9, 18, 0, 2), (39, 48, 0, 0)),
    "com_jacobian": LoopCost("energies/whole", (70, 114, 0, 2), (45, 39, 0, 0)),
    "centroidal_momentum_matrix": LoopCost("energies/whole", (70, 114, 0, 2), (51, 42, 0, 0)),
    "momentum": LoopCost("energies/minimal", (75, 120, 0, 2), (39, 36, 0, 0)),
}
"""The quantities that are sums over bodies."""

_FRAME_COSTS: Final = {
    "jacobian": LoopCost(KINEMATICS, (9, 18, 0, 2), (27, 36, 0, 0), path=(18, 24, 0, 0)),
    "velocity": LoopCost(TASK_SPACE, (9, 24, 0, 2), (33, 36, 0, 0)),
    "acceleration": LoopCost(TASK_SPACE, (27, 54, 0, 2), (39, 36, 0, 0)),
    "jacobian_rate": LoopCost(KINEMATICS, (21, 48, 0, 2), (39, 36, 0, 0)),
}
FRAME_COSTS: Final = {
    "frame_pose": LoopCost(KINEMATICS, (9, 18, 0, 2), (27, 36, 0, 0)),
    **{
        f"frame_{name}_{axes}": cost
        for name, cost in _FRAME_COSTS.items()
        for axes in ("body", "world", "aligned")
    },
    "frame_acceleration_classical": _FRAME_COSTS["acceleration"],
}
"""The quantities of a link."""

COSTS: Final = {
    "inverse_dynamics": LoopCost(
        NEWTON_EULER, (95, 135, 0, 2), (51, 48, 0, 0), straight=(140, 0, 0)
    ),
    "bias": LoopCost(NEWTON_EULER, (95, 135, 0, 2), (45, 42, 0, 0), straight=(140, 0, 0)),
    "gravity": LoopCost(NEWTON_EULER, (26, 45, 0, 2), (33, 36, 0, 0), straight=(33, 0, 0)),
    "coriolis_matrix": LoopCost(
        "coriolis/minimal",
        (161, 250, 0, 2),
        (76, 42, 0, 0),
        (13, 15, 0, 0),
        straight=(71, 87, 0),
    ),
    "christoffel_symbols": LoopCost(
        "christoffel/minimal",
        (82, 127, 0, 2),
        (71, 69, 0, 0),
        (25, 33, 0, 0),
        triple=(7, 9, 0, 0),
        straight=(0, 0, 23),
    ),
    "regressor": LoopCost(
        "regressors/whole",
        (27, 54, 0, 2),
        (341, 438, 0, 0),
        (50, 60, 0, 0),
        straight=(65, 108, 0),
    ),
    "mass_matrix": LoopCost(
        "composite/minimal",
        (75, 114, 0, 2),
        (42, 42, 0, 0),
        (5, 6, 0, 0),
        straight=(22, 33, 0),
    ),
    "inverse_dynamics_derivatives": LoopCost(
        DERIVATIVES,
        (317, 430, 0, 2),
        (100, 72, 0, 0),
        (31, 36, 0, 0),
        straight=(249, 137, 0),
    ),
    "forward_dynamics": LoopCost(
        "forward_dynamics_articulated/minimal",
        (143, 213, 0, 2),
        (188, 169, 1, 0),
        straight=(360, 0, 0),
    ),
    "forward_dynamics_derivatives": LoopCost(
        DERIVATIVES,
        (385, 529, 0, 2),
        (288, 241, 1, 0),
        (26, 30, 0, 0),
        (24, 25, 0, 0),
        straight=(249, 137, 28),
    ),
    **SUM_COSTS,
    **FRAME_COSTS,
}
"""The quantities that have such code; those of a link for each link."""

SCALED_CONDITION_MARGIN: Final = 8
"""Margin on the condition number of the matrix with a diagonal of ones, by trial: results are
compared with the largest entry, and not coordinate by coordinate."""
MAX_CHRISTOFFEL_VELOCITIES: Final = 32
"""``--quantity all`` has Christoffel symbols of robots with at most this many velocities: of 100
there are half a million, which the self-test would state."""
ROUNDINGS_PER_BODY: Final = 16
"""An error of a result, in roundings of the largest entry, for each body on the longest path."""

CACHE_OPERATIONS: Final = 20_000
"""Operations of straight-line code from which on its instructions leave the caches."""
LOOP_SPEEDUP: Final = 2.5
"""How many operations loops do in the time of one of straight-line code, since compilers make
vectors of them: measured at the snake of 16 joints."""


BYTES_PER_OPERATION: Final = 27
"""Bytes of C of an operation of straight-line code."""
MIN_LOOP_OPERATIONS: Final = 130_000
"""Operations of straight-line code from which on ``--body-loops auto`` writes loops: the code takes
some 4 MB of C, leaves all caches, and takes 10 s and more to generate and to compile."""


def large_functions(robot: ParametricModel, functions: Sequence[FunctionRequest]) -> dict[str, int]:
    """About how many operations straight-line code of some functions takes at most: of those that
    loops over bodies can compute and of which it would be `MIN_LOOP_OPERATIONS`."""
    possible = [f for f in functions if _has_cost(f) and not _has_columns(robot, f)]
    if not possible or _reason_against_loops(robot):
        return {}
    tables = body_tables(robot)
    counts = {f.name: COSTS[_stem(f.quantities[0])].straight_line(tables) for f in possible}
    return {name: count for name, count in counts.items() if count >= MIN_LOOP_OPERATIONS}


def functions_in_loops(
    when: bool | str, robot: ParametricModel, functions: Sequence[FunctionRequest]
) -> set[str]:
    """The names of the functions that are loops over bodies: with ``yes`` (True) all of them, with
    ``no`` (False) none, with ``auto`` the `large_functions` ones."""
    if isinstance(when, bool):
        return {f.name for f in functions if when}
    return {*large_functions(robot, functions)}


def loop_functions(robot: ParametricModel, functions: Sequence[FunctionRequest]) -> list[Function]:
    """The functions with loops over bodies. Raises OptionError for what these do not support, and
    for an inertia that no body has."""
    if not functions:
        return []
    refusal = _reason_against_loops(robot)
    if refusal:
        raise OptionError(f"{FLAG}: {refusal}")
    quantities = [q for request in functions for q in request.quantities]
    check_physical_inertia(robot, quantities, lambda q, other: differs(q, robot, other))
    tables = body_tables(robot)
    return [_function(robot, tables, request) for request in functions]


def body_tables(robot: ParametricModel) -> BodyTables:
    """The tables of a robot that has them."""
    has_passive_forces = robot.friction or robot.springs
    return BodyTables(
        robot.model,
        tuple(robot.joint_forces(("friction", "springs"), {})) if has_passive_forces else (),
    )


def has_loops(robot: ParametricModel, request: FunctionRequest) -> bool:
    """Whether a function of a robot can have such code and is not too large for ``--quantity
    all``."""
    if not _has_cost(request) or _has_columns(robot, request):
        return False
    return (
        request.quantities[0].name != "christoffel_symbols"
        or robot.model.dof <= MAX_CHRISTOFFEL_VELOCITIES
    )


def _has_cost(request: FunctionRequest) -> bool:
    return len(request.quantities) == 1 and _stem(request.quantities[0]) in COSTS


def _has_columns(robot: ParametricModel, request: FunctionRequest) -> bool:
    """Whether a function is a regressor with columns of armature, friction or springs."""
    rotors = any(body.joint.type.is_rotor for body in robot.model.bodies)
    is_regressor = request.quantities[0].name == "regressor"
    return is_regressor and (rotors or bool(robot.passive_kinds))


def _stem(quantity: Quantity) -> str:
    return quantity.name.partition(":")[0]


def _reason_against_loops(robot: ParametricModel) -> str:
    """Why functions of a robot cannot have such code; empty if they can."""
    unsupported_parts = unsupported(robot.model)
    if unsupported_parts:
        return f"{unsupported_parts} cannot be in loops over bodies; remove the option"
    unsupported_options = {
        "--parameters": robot.runtime,
        "--external-wrench": robot.wrenches,
        "--thruster": robot.thrusters,
        **{f"--friction {law}": law not in SUPPORTED_FRICTION for law in robot.friction},
        "--friction runtime": robot.runtime_friction,
        "--runtime-springs": robot.runtime_springs,
        "--friction-width": any(map(robot.width, robot.model.bodies)) if robot.friction else 0,
        "--fluid": robot.fluid,
    }
    flag = next((name for name, value in unsupported_options.items() if value), None)
    return f"{flag} cannot be in loops over bodies; remove one of the two" if flag else ""


def kind_notes(robot: ParametricModel, functions: Sequence[Function]) -> list[str]:
    """A sentence for each function that is loops over bodies, and for each one of straight-line
    code that is longer than `CACHE_OPERATIONS` and probably slower than these."""
    looped = {f.name: f.program for f in functions if isinstance(f.program, LoopProgram)}
    notes = [
        f"{name} is loops over the bodies, {counts(program).total:,} operations in C only, because "
        f"straight-line code would take about {program.straight_line:,} operations and "
        f"{program.straight_line * BYTES_PER_OPERATION / 1e6:.0f} MB; --body-loops no writes that"
        for name, program in looped.items()
    ]
    long = [
        f
        for f in functions
        if f.name not in looped
        and len(f.quantities) == 1
        and f.quantities[0].name in COSTS
        and f.counts.total >= CACHE_OPERATIONS
    ]
    if not long or _reason_against_loops(robot):
        return notes
    tables = body_tables(robot)
    totals = [sum(COSTS[f.quantities[0].name].operations(tables, 0).values()) for f in long]
    return notes + [
        f"{f.name} is straight-line code of {f.counts.total:,} operations; loops over the bodies "
        f"take {total:,} in vectors and code of constant size, which is probably faster"
        for f, total in zip(long, totals, strict=True)
        if total < LOOP_SPEEDUP * f.counts.total
    ]


def _function(robot: ParametricModel, tables: BodyTables, request: FunctionRequest) -> Function:
    if not _has_cost(request):
        raise OptionError(
            f"{FLAG}: {request.name} cannot be computed in loops over bodies; the quantities that "
            f"can, one for each function, are {', '.join(COSTS)}"
        )
    check_defined(robot, request.quantities)
    (quantity,) = quantities_of_robot(robot, request.quantities)
    if _has_columns(robot, request):
        raise OptionError(
            f"{FLAG}: the regressor of armature, friction or springs cannot be computed in loops "
            "over bodies; remove the option"
        )
    cost = COSTS[_stem(quantity)]
    formulation = next(f for f in quantity.formulations if f.name == cost.compared)
    regroup = robot.regroups[formulation.regrouping]
    sizes = Sizes(regroup)
    error_growth = float(ROUNDINGS_PER_BODY * max(tables.depths))
    if quantity.needs_inverse:
        error_growth *= _condition(regroup.layout)
    if quantity.link:
        regroup.layout.link_frame(quantity.link)  # refused if there is none
    column = tables.frame(quantity.link)[0] if quantity.link else tables.n
    path = tables.depths[column] if column < tables.n else 0
    program = LoopProgram(cost.operations(tables, path), error_growth, cost.straight_line(tables))
    used = {*quantity.inputs, *inputs_by_option(robot, [quantity])}
    arrays = [program.input(name, INPUTS[name].sizes(sizes)) for name in INPUTS if name in used]
    outputs = [(out.name, out.sizes(sizes)) for out in quantity.outputs]
    program.declare(outputs, [array[0] for array in arrays])
    return Function(
        request.name, ((quantity, formulation),), {formulation.regrouping: regroup}, program
    )


def mass_matrix_at_zero(layout: CanonicalModel) -> NDArray[np.float64]:
    """The mass matrix at positions 0."""
    q = [0.0] * layout.coupling.positions
    for quaternion in layout.coupling.quaternions:
        q[quaternion.stop - 1] = 1.0
    return mass_matrix_at(layout, q)


def _condition(layout: CanonicalModel) -> float:
    """The condition number of the mass matrix at positions 0, or `SCALED_CONDITION_MARGIN` times
    that of the matrix with a diagonal of ones, if that is less."""
    m = mass_matrix_at_zero(layout)
    root_diagonal = np.sqrt(m.diagonal())
    return float(
        min(
            np.linalg.cond(m),
            SCALED_CONDITION_MARGIN * np.linalg.cond(m / np.outer(root_diagonal, root_diagonal)),
        )
    )
