"""How far each result of a module may be from its reference, entry by entry."""

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
from symgen.numbers.types import Numbers
from symgen.proof.bounds import (
    ROUNDOFF,
    BoundedArray,
    ProgramRun,
    RoundingErrors,
    error_bounds,
    representation_error,
)
from symgen.tracing.robot import ParametricModel, RegroupedModel

FACTOR: Final = 1.25
"""Results may be off by this times what is bounded: for rounding in the bound itself and in the
comparison, for what is of second order, and for a C library whose sines are worse than stated."""

CONSTANTS: Final = 2.0 * ROUNDING
"""What any number of a tape may be off, as a part of the largest number around. They are made from
the robot's file in double precision; what nearly cancels there (an axis that is all but vertical)
keeps the error of what it was, and what is left of it below `ROUNDING` is taken for zero."""

TURN: Final = 2.0 * math.pi
"""Positions count as no more where sizes are estimated: larger ones are angles of many turns."""

GRAVITATIONAL: Final = ("tau", "tau_g", "tau_b")
"""Outputs that are sums of moments of weights, which may cancel."""
ACCELERATED: Final = ("tau", "dtau_dq")
"""Outputs in which moments of inertial forces cancel where accelerations follow from forces."""

BASE_PARAMETERS: Final = "beta"
"""The output that holds them."""

States = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Accuracy:
    """The errors of functions of a robot at some states."""

    robot: ParametricModel
    regroup: RegroupedModel | None
    scalar: str
    trig: str
    states: States
    """Rows of each input, `pi` among them where parameters come at run time."""

    @cached_property
    def inputs(self) -> dict[str, BoundedArray]:
        """Exact numbers that are rounded to the scalar type when a function gets them; `par` as
        the module makes it."""
        return self._inputs(self.scalar)

    @cached_property
    def _doubles(self) -> dict[str, BoundedArray]:
        return self._inputs("double", self._slack(self.regroup.program) if self.regroup else 0.0)

    def _inputs(self, scalar: str, slack: float = 0.0) -> dict[str, BoundedArray]:
        rows = {name: np.array(x, float).T for name, x in self.states.items()}
        inputs = {
            name: BoundedArray(x, representation_error(x, scalar) + self._off_reference(name, x))
            for name, x in rows.items()
        }
        if self.regroup is not None:
            inputs |= error_bounds(self.regroup.program, {"pi": inputs["pi"]}, scalar, slack=slack)
        return inputs

    def _off_reference(self, name: str, rows: Numbers) -> Numbers:
        """How far rounded numbers are from those of the reference: quaternions from unit ones, and
        positions that Newton's method found from those at which the loops close, whose lengths may
        be off by two roundings."""
        distances = np.zeros(rows.shape)
        if name == "q":
            coupling = coupling_of(self.robot.model)
            for four in coupling.quaternions:
                squares = [sum(Fraction(x) ** 2 for x in one) for one in rows[four].T.tolist()]
                off = [
                    float(abs(square - 1)) for square in squares
                ]  # at least the error of lengths
                distances[four] = np.abs(rows[four]) * off
            held = [place for _, place in coupling.held]
            for k, q in enumerate(rows.T.tolist() if held else []):
                closer, _ = coupling.closer([*map(number, q)], at=q)
                of_lengths = 2 * ROUNDOFF["double"] / (coupling.sine(q) or 1.0)
                distances[held, k] = [float(abs(closer[n] - q[n])) + of_lengths for n in held]
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

    def allowed(self, program: Program, wanted: Mapping[str, Any]) -> dict[str, Numbers]:
        """How far each entry of each output may be from what is wanted (states first).

        `FACTOR` times the sum of the running error bound, what the tape itself is off (its numbers
        were made in double precision) unless that is more than such an origin explains, and what
        rounding the reference takes; and of the largest entry what two errors make together, which
        is all there is of the square of what is zero but for rounding. Of a function with loops
        over bodies it is the stated number of roundings of the largest entry, of a single number of
        the largest in any state."""
        if isinstance(program, LoopProgram):
            return {name: self._by_largest(program, x, name) for name, x in wanted.items()}
        bounds = self.bounds(program)
        run, slack = self.errors(program).run, self._slack(program)
        loose = RoundingErrors(run, self._doubles, "double", "inline", slack).outputs(False)
        limits = {}
        for name, reference in wanted.items():
            x = bounds[name]
            exact = np.array(reference, float).T.reshape(len(x.values), -1)
            limit = np.where(loose[name].bounds > 0, loose[name].bounds, self._dust)
            limit = limit + (self._grouped if name == BASE_PARAMETERS else 0.0)
            with np.errstate(invalid="ignore"):  # infinite references
                off = np.abs(x.values - exact)
                last = 0.5 * np.spacing(np.abs(exact))  # the reference had more digits
                smaller = (
                    np.where(off <= limit, off, 0.0)
                    + representation_error(exact, self.scalar)
                    + last
                )
                largest = np.abs(exact).max(axis=0, initial=0.0, where=np.isfinite(exact))
                smaller += ROUNDOFF[self.scalar] ** 2 * largest
            sums = FACTOR * (x.bounds + smaller).T
            limits[name] = np.where(np.isnan(sums), np.inf, sums)
        return limits

    def _by_largest(self, program: LoopProgram, wanted: Any, name: str) -> Numbers:
        """The weight acts at the longest distance between joints and on the longest slide, since
        moments are about the origin of the root: what the largest entry is at least. Where
        accelerations follow from forces, so are the terms that cancel."""
        rows = np.array(wanted, float)
        flat = rows.reshape(len(rows), -1)
        single = flat.shape[1] == 1  # an energy, whose terms may cancel in a state
        largest = np.abs(flat).max(axis=None if single else 1, keepdims=True, initial=0.0)
        angles = np.abs(np.array(self.states["q"], float)).max(axis=1, keepdims=True)
        slides = self._tables.slide[6 * self._tables.floating :].any()
        reach = longest_joint_distance(self.robot.lumped) + (angles if slides else 0.0)  # in m
        weight = self._mass * math.hypot(*self.robot.model.gravity)
        largest = np.maximum(largest, weight * reach if name in GRAVITATIONAL else 0.0)
        if "tau" in self.states and "qdd" in self.states:
            kind = "A_frame" if name.startswith("A_frame") else name
            largest = np.maximum(largest, self._terms.get(kind, 0.0))
        growth = program.growth * np.maximum(1.0, angles / TURN)  # of other code: sums of angles
        return np.broadcast_to(growth * ROUNDOFF[self.scalar] * largest, flat.shape)

    @cached_property
    def _tables(self) -> BodyTables:
        return BodyTables(self.robot.model)

    @cached_property
    def _terms(self) -> dict[str, Numbers]:
        """The terms of joint forces and of accelerations of links in each state, by output."""
        qd, qdd = (np.array(self.states[name], float) for name in ("qd", "qdd"))
        pushed, moments = self._tables.largest_terms(qd, qdd, math.hypot(*self.robot.model.gravity))
        return {"A_frame": pushed[:, None], **dict.fromkeys(ACCELERATED, moments[:, None])}

    def _slack(self, program: Program) -> float:
        """Absolute error of the numbers of a tape from how they were made."""
        at = levels(program)
        numbers = [n.a for group in at.groups if group.op == "const" for n in at.nodes[group.rows]]
        return float(CONSTANTS * max([self._natural, *numbers]))

    @cached_property
    def _natural(self) -> float:
        """The size of the terms that parameters are made from: the robot's weight at the longest
        distance between joints, with 1 added to mass and gravity, and the moments of inertia of all
        links about their origins. A frame far away along the axis of a body has terms of this size,
        although regrouping removes them."""
        weight = (1.0 + self._mass) * self._fall
        return max(
            float(weight) * max(1.0, longest_joint_distance(self.robot.lumped)) ** 2,
            float(sum(abs(x) for ten in self._tens for x in ten[1:]) * self._fall),
        )

    @property
    def _mass(self) -> float:
        """The mass of all links that move (kg)."""
        return sum(abs(ten[0]) for ten in self._tens)

    @cached_property
    def _tens(self) -> list[tuple[float, ...]]:
        """The ten parameters of each link that moves."""
        links = (link for body in self.robot.lumped.bodies for link in body.links)
        return [link.parameters for link in links if link.parameters is not None]

    @property
    def _fall(self) -> float:
        """The acceleration of free fall, with 1 added."""
        return 1.0 + math.hypot(*self.robot.model.gravity)

    @cached_property
    def _grouped(self) -> float:
        """How far base parameters may be apart where a dependency that is left out is no mere
        rounding (axes that are parallel but for 1e-6): least squares at other states give others,
        which predict the same forces."""
        columns = independent_parameters(self.robot.regroups[WHOLE].layout)
        if columns.largest_dropped <= ROUNDING:
            return 0.0
        largest = max(
            float(np.abs(np.array(x, float)).max(initial=0.0)) for x in self.states.values()
        )
        return 10 * largest * columns.largest_dropped / columns.smallest_kept

    @cached_property
    def _dust(self) -> float:
        """For entries that are zero on the tape: what cancelled when it was made."""
        largest = max(
            float(np.minimum(np.abs(x.values), TURN if name == "q" else np.inf).max(initial=0.0))
            for name, x in self.inputs.items()
        )
        return float(CONSTANTS * self._natural * (1.0 + largest) ** 3)


STEP: Final = 0.9
LAST: Final = 254
NONE: Final = 255


@dataclass(frozen=True)
class Steps:
    """Allowed errors in a byte each: `top` times `STEP` to the power of a code; `NONE` is zero."""

    top: float
    codes: tuple[tuple[int, ...], ...]


def steps(allowed: Numbers) -> Steps:
    """The smallest steps that are not below the allowed errors; an infinite one becomes the
    largest finite one."""
    finite = allowed[np.isfinite(allowed)]
    largest = float(finite.max(initial=0.0))
    top = float(f"{largest:.2e}")  # three digits, so that no machine's last bits are seen
    top = top if top >= largest else float(f"{largest * 1.005:.2e}")
    upward = top * _POWERS
    below = np.searchsorted(upward, allowed)  # how many steps do not reach that far
    codes = np.where(allowed == 0.0, NONE, np.maximum(LAST - below, 0))
    return Steps(top, tuple(map(tuple, codes.tolist())))


_POWERS: Final = np.array([STEP**code for code in range(LAST, -1, -1)])
