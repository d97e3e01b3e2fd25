"""Bounds of the difference of each result of a module from its reference, for each entry."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np

from symgen.compiler.evaluate import levels
from symgen.compiler.program import LoopProgram, Program
from symgen.mechanics.body_tables import BodyTables
from symgen.mechanics.canonical_frames import ROUNDING, longest_joint_distance
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.caching import cached_method
from symgen.numbers.decimals import number
from symgen.numbers.scalar import Numbers
from symgen.proof.bounds import (
    ROUNDOFF,
    BoundedArray,
    ProgramRun,
    RoundingErrors,
    error_bounds,
    representation_error,
)
from symgen.tracing.body_loops import mass_matrix_at_zero
from symgen.tracing.robot import ParametricModel, RegroupedModel

SAFETY_FACTOR: Final = 1.25
"""Factor on error bounds, for rounding in the bound itself and in the comparison, for terms of
second order, and for a C library whose sines are worse than stated."""

CONSTANT_ROUNDING: Final = 2.0 * ROUNDING
"""Error of a constant of the expression graph, relative to the largest one. Constants are computed
from the robot's file in double precision. A difference that nearly cancels (an almost vertical
axis) keeps the error of its terms, and a remainder below `ROUNDING` is set to zero."""

FULL_TURN: Final = 2.0 * math.pi
"""Upper limit of positions in estimates of size, as larger ones are angles of many turns."""

GRAVITY_OUTPUTS: Final = ("tau", "tau_g", "tau_b")
"""Outputs in which the moments of weights may cancel."""
INERTIA_OUTPUTS: Final = ("tau", "dtau_dq")
"""Outputs in which moments of inertial forces cancel if accelerations follow from forces."""
VELOCITY_TERMS: Final = {
    "Gamma": (True, False),
    "C": (True, True),
    "dtau_dqd": (True, True),
    "dqdd_dqd": (False, True),
}
"""Outputs made of terms in velocities, which cancel where a slide carries other joints: whether a
term is proportional to a moment of inertia, and to a speed."""

BASE_PARAMETERS: Final = "beta"
"""The output with the base parameters."""

StateRows = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Accuracy:
    """The errors of functions of a robot at some states."""

    robot: ParametricModel
    regroup: RegroupedModel | None
    scalar: str
    trig: str
    states: StateRows
    """Rows of each input, `pi` among them where parameters come at run time."""

    @cached_property
    def inputs(self) -> dict[str, BoundedArray]:
        """The inputs as exact numbers with the errors of rounding them to the scalar type; `par` as
        the module computes it."""
        return self._inputs(self.scalar)

    @cached_property
    def _inputs_in_double(self) -> dict[str, BoundedArray]:
        return self._inputs(
            "double", self._constant_error(self.regroup.program) if self.regroup else 0.0
        )

    def _inputs(self, scalar: str, slack: float = 0.0) -> dict[str, BoundedArray]:
        rows = {name: np.array(x, float).T for name, x in self.states.items()}
        inputs = {
            name: BoundedArray(x, representation_error(x, scalar) + self._input_deviation(name, x))
            for name, x in rows.items()
        }
        if self.regroup is not None:
            inputs |= error_bounds(self.regroup.program, {"pi": inputs["pi"]}, scalar, slack=slack)
        return inputs

    def _input_deviation(self, name: str, rows: Numbers) -> Numbers:
        """The difference of rounded inputs from those of the reference, which has unit quaternions
        and positions at which the loops close exactly; lengths of a loop may be off by two
        roundings."""
        distances = np.zeros(rows.shape)
        if name == "q":
            coupling = coupling_of(self.robot.model)
            for quaternion in coupling.quaternions:
                squared_norms = [
                    sum(Fraction(x) ** 2 for x in one) for one in rows[quaternion].T.tolist()
                ]
                deviation = [
                    float(abs(square - 1)) for square in squared_norms
                ]  # at least the error of lengths
                distances[quaternion] = np.abs(rows[quaternion]) * deviation
            held = [place for _, place in coupling.newton_positions]
            for k, q in enumerate(rows.T.tolist() if held else []):
                corrected, _ = coupling.newton_step([*map(number, q)], at=q)
                length_error = 2 * ROUNDOFF["double"] / (coupling.sine(q) or 1.0)
                distances[held, k] = [float(abs(corrected[n] - q[n])) + length_error for n in held]
        return distances

    @cached_method
    def bounds(self, program: Program) -> dict[str, BoundedArray]:
        """The outputs of a program with bounds of their errors."""
        return self.errors(program).outputs()

    @cached_method
    def errors(self, program: Program) -> RoundingErrors:
        """The rounding errors of a program's outputs at the states, by output."""
        values = {name: x.values for name, x in self.inputs.items()}
        return RoundingErrors(ProgramRun(program, values), self.inputs, self.scalar, self.trig)

    def allowed(self, program: Program, expected: Mapping[str, Any]) -> dict[str, Numbers]:
        """The tolerance of each entry of each output, given its reference values (states first).

        It is `SAFETY_FACTOR` times the sum of the running error bound, the effect of the rounded
        constants of the graph (at most what their rounding explains), the rounding of the reference
        and a squared rounding of the largest entry, for squares of values that vanish except for
        rounding. For loops over bodies it is a stated number of roundings of the largest entry; for
        a single number, of the largest in any state."""
        if isinstance(program, LoopProgram):
            return {
                name: self._relative_to_largest(program, x, name) for name, x in expected.items()
            }
        bounds = self.bounds(program)
        run, slack = self.errors(program).run, self._constant_error(program)
        constant_errors = RoundingErrors(
            run, self._inputs_in_double, "double", "inline", slack
        ).outputs(False)
        limits = {}
        for name, reference in expected.items():
            x = bounds[name]
            exact = np.array(reference, float).T.reshape(len(x.values), -1)
            limit = np.where(
                constant_errors[name].bounds > 0,
                constant_errors[name].bounds,
                self._zero_entry_error,
            )
            limit = limit + (self._base_parameter_error if name == BASE_PARAMETERS else 0.0)
            with np.errstate(invalid="ignore"):  # infinite references
                deviation = np.abs(x.values - exact)
                half_ulp = 0.5 * np.spacing(np.abs(exact))  # the reference had more digits
                sum_of_errors = (
                    np.where(deviation <= limit, deviation, 0.0)
                    + representation_error(exact, self.scalar)
                    + half_ulp
                )
                largest = np.abs(exact).max(axis=0, initial=0.0, where=np.isfinite(exact))
                sum_of_errors += ROUNDOFF[self.scalar] ** 2 * largest
            sums = SAFETY_FACTOR * (x.bounds + sum_of_errors).T
            limits[name] = np.where(np.isnan(sums), np.inf, sums)
        return limits

    def _relative_to_largest(self, program: LoopProgram, expected: Any, name: str) -> Numbers:
        """Tolerances relative to the largest entry, which counts at least as the moment of the
        weight at the longest distance (between joints, with slides extended), as the terms that
        cancel if accelerations follow from forces, and as those of `VELOCITY_TERMS`."""
        rows = np.array(expected, float)
        flat = rows.reshape(len(rows), -1)
        single = flat.shape[1] == 1  # an energy, whose terms may cancel in a state
        largest = np.abs(flat).max(axis=None if single else 1, keepdims=True, initial=0.0)
        angles = np.abs(np.array(self.states["q"], float)).max(axis=1, keepdims=True)
        slides = self._body_tables.slide[6 * self._body_tables.floating :].any()
        reach = longest_joint_distance(self.robot.lumped) + (angles if slides else 0.0)  # in m
        weight = self._total_mass * math.hypot(*self.robot.model.gravity)
        largest = np.maximum(largest, weight * reach if name in GRAVITY_OUTPUTS else 0.0)
        if "tau" in self.states and "qdd" in self.states:
            kind = "A_frame" if name.startswith("A_frame") else name
            largest = np.maximum(largest, self._cancelling_terms.get(kind, 0.0))
        if name in VELOCITY_TERMS:
            has_inertia, has_speed = VELOCITY_TERMS[name]
            terms = self._largest_inertia if has_inertia else 1.0
            if has_speed:
                terms = terms * np.abs(np.array(self.states["qd"], float)).max(
                    axis=1, keepdims=True
                )
            largest = np.maximum(largest, terms)
        growth = program.error_growth * np.maximum(
            1.0, angles / FULL_TURN
        )  # of other code: sums of angles
        return np.broadcast_to(growth * ROUNDOFF[self.scalar] * largest, flat.shape)

    @cached_property
    def _largest_inertia(self) -> float:
        """The largest entry of the mass matrix at positions 0."""
        return float(np.abs(mass_matrix_at_zero(self.robot.regroups[WHOLE].layout)).max())

    @cached_property
    def _body_tables(self) -> BodyTables:
        return BodyTables(self.robot.model)

    @cached_property
    def _cancelling_terms(self) -> dict[str, Numbers]:
        """The terms of joint forces and of accelerations of links in each state, by output."""
        qd, qdd = (np.array(self.states[name], float) for name in ("qd", "qdd"))
        accelerations, moments = self._body_tables.largest_terms(
            qd, qdd, math.hypot(*self.robot.model.gravity)
        )
        return {
            "A_frame": accelerations[:, None],
            **dict.fromkeys(INERTIA_OUTPUTS, moments[:, None]),
        }

    def _constant_error(self, program: Program) -> float:
        """Absolute error of the constants of an expression graph."""
        at = levels(program)
        numbers = [n.a for group in at.groups if group.op == "const" for n in at.nodes[group.rows]]
        return float(CONSTANT_ROUNDING * max([self._parameter_scale, *numbers]))

    @cached_property
    def _parameter_scale(self) -> float:
        """The size of the terms that parameters are computed from: the robot's weight at the
        longest distance between joints, with 1 added to mass and gravity, and the moments of
        inertia of all links about their origins. A frame far away along the axis of a body has
        terms of this size, although regrouping removes them."""
        weight = (1.0 + self._total_mass) * self._gravity_scale
        return max(
            float(weight) * max(1.0, longest_joint_distance(self.robot.lumped)) ** 2,
            float(
                sum(abs(x) for parameters in self._link_parameters for x in parameters[1:])
                * self._gravity_scale
            ),
        )

    @property
    def _total_mass(self) -> float:
        """The mass of all links that move (kg)."""
        return sum(abs(parameters[0]) for parameters in self._link_parameters)

    @cached_property
    def _link_parameters(self) -> list[tuple[float, ...]]:
        """The ten parameters of each link that moves."""
        links = (link for body in self.robot.lumped.bodies for link in body.links)
        return [link.parameters for link in links if link.parameters is not None]

    @property
    def _gravity_scale(self) -> float:
        """The acceleration of free fall, with 1 added."""
        return 1.0 + math.hypot(*self.robot.model.gravity)

    @cached_property
    def _base_parameter_error(self) -> float:
        """The ambiguity of base parameters if a dropped dependency is more than rounding (axes that
        are parallel within 1e-6): least squares at other states gives other values, which predict
        the same forces."""
        columns = independent_parameters(self.robot.regroups[WHOLE].layout)
        if columns.largest_dropped <= ROUNDING:
            return 0.0
        largest = max(
            float(np.abs(np.array(x, float)).max(initial=0.0)) for x in self.states.values()
        )
        return 10 * largest * columns.largest_dropped / columns.smallest_kept

    @cached_property
    def _zero_entry_error(self) -> float:
        """The error of entries that are zero in the graph: of terms that cancelled in constants."""
        largest = max(
            float(
                np.minimum(np.abs(x.values), FULL_TURN if name == "q" else np.inf).max(initial=0.0)
            )
            for name, x in self.inputs.items()
        )
        return float(CONSTANT_ROUNDING * self._parameter_scale * (1.0 + largest) ** 3)


QUANTUM: Final = 0.9
MAX_CODE: Final = 254
ZERO_CODE: Final = 255


@dataclass(frozen=True)
class QuantizedErrors:
    """Allowed errors in a byte each: `top` times `QUANTUM` to the power of a code; `ZERO_CODE` is
    zero."""

    top: float
    codes: tuple[tuple[int, ...], ...]


def quantize_errors(allowed: Numbers) -> QuantizedErrors:
    """Allowed errors, rounded up to the next quantum; an infinite one becomes the largest finite
    one."""
    finite = allowed[np.isfinite(allowed)]
    largest = float(finite.max(initial=0.0))
    top = float(f"{largest:.2e}")  # three digits, so that no machine's last bits are seen
    top = top if top >= largest else float(f"{largest * 1.005:.2e}")
    upward = top * _QUANTA
    below = np.searchsorted(upward, allowed)  # how many steps do not reach that far
    codes = np.where(allowed == 0.0, ZERO_CODE, np.maximum(MAX_CODE - below, 0))
    return QuantizedErrors(top, tuple(map(tuple, codes.tolist())))


_QUANTA: Final = np.array([QUANTUM**code for code in range(MAX_CODE, -1, -1)])
