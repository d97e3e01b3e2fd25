"""States of a robot in many digits, and derivatives by steps so small that they are exact.

Central differences with steps of 10⁻¹⁷ in 75 digits are right to more than 20 digits even where
three are nested: far below the rounding of a double. Where none are, a step of 10⁻³⁰ forth alone is
as right, for half of the work. All states of a batch, and all the steps of a derivative, are arrays
of one textbook run. Products of matrices are over the last axes of such arrays, since NumPy's own
products do not accept decimals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from math import factorial, prod
from typing import Any, Final, TypeVar

import numpy as np

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.spatial import Vector
from symgen.numbers.caching import IdentityCache, cached_method
from symgen.numbers.scalar import ZERO, DecimalArray, Scalar
from symgen.proof.reference_kinematics import (
    JointPositions,
    JointTrajectory,
    LinkWrench,
    State,
    velocity_matrix,
)
from symgen.proof.reference_model import ReferenceModel, normalize, reference_model
from symgen.proof.tangent import displaced, turned_accelerations
from symgen.tracing.robot import SPRING_COEFFICIENTS, ParametricModel

NOT_DIFFERENTIATED: Final[set[Any]] = set()
"""The terms of states that take no derivative by steps on the way."""

Flat = TypeVar("Flat")


def not_differentiated(term: Flat) -> Flat:
    """Register a term that contains no numerical derivative, so that one-sided steps suffice."""
    NOT_DIFFERENTIATED.add(term)
    return term


DIGITS: Final = 75
STEP: Final = Decimal("1e-17")
ONE_SIDED_STEP: Final = Decimal("1e-30")
MOTION: Final = ("q", "qd", "qdd", "qddd", "qdddd")
"""Positions and their derivatives by time."""


MAX_SHARED_SIZE: Final = 10_000
"""Numbers in a batch, times bodies, up to which what they have in common is kept."""


@dataclass(frozen=True)
class States:
    """A batch of states of a robot: `inputs` has every input by name, entries last, and `shape` the
    axes of the batch. `link_parameters` and `passive` are those of the textbook's `State`.

    New axes come in front, so that what does not depend on them stays as it is."""

    robot: ParametricModel
    mechanism: ReferenceModel
    inputs: Mapping[str, DecimalArray]
    shape: tuple[int, ...]
    link_parameters: Mapping[str, list[Scalar]] = field(default_factory=dict)
    passive: Mapping[int, Mapping[str, Scalar]] = field(default_factory=dict)
    has_wrenches: bool = False
    shared: IdentityCache = field(default_factory=IdentityCache)
    stepped: bool = False
    """Whether they are steps of a derivative."""

    @classmethod
    def of(
        cls,
        robot: ParametricModel,
        inputs: Mapping[str, DecimalArray],
        has_external_forces: bool,
        springs: bool | None = None,
    ) -> "States":
        """The states from the inputs of a generated function (states first), whether or not it
        `has_external_forces` friction and external wrenches, and `springs` (as these, where nothing
        is said)."""
        decimal_inputs = {name: decimals(values) for name, values in inputs.items()}
        for name in decimal_inputs.keys() & {"q", "q_end", "q_ref"}:
            decimal_inputs[name] = with_unit_quaternions(
                decimal_inputs[name], coupling_of(robot.model).quaternions
            )
        mechanism = reference_model(robot.lumped, Decimal)
        count = len(next(iter(decimal_inputs.values())))
        pi = decimal_inputs.get("pi")
        link_parameters = {
            name: list(np.moveaxis(pi[:, 10 * k : 10 * k + 10], -1, 0))
            for k, name in enumerate(robot.blocks)
            if pi is not None
        }
        states = cls(
            robot,
            mechanism,
            decimal_inputs,
            (count,),
            link_parameters,
            has_wrenches=has_external_forces,
        )
        return replace(
            states,
            passive=states._passive(
                has_external_forces, has_external_forces if springs is None else springs
            ),
        )

    def _passive(self, has_external_forces: bool, springs: bool) -> dict[int, dict[str, Scalar]]:
        """The numbers of a textbook's `State` for every joint that may have them, of the file or of
        the inputs."""
        by_input = {
            "friction": self.robot.friction if has_external_forces else (),
            "springs": SPRING_COEFFICIENTS if springs and self.robot.springs else (),
        }
        numbers = {k: iter(_columns(self.inputs[k])) for k in by_input if k in self.inputs}
        by_body = dict[int, dict[str, Scalar]]()
        for i, body in enumerate(self.robot.lumped.bodies, 1):
            counts = {"friction": body.has_friction, "springs": body.has_spring}
            row = {
                name: next(numbers[array]) if array in numbers else Decimal(body.coefficient(name))
                for array, names in by_input.items()
                if counts[array]
                for name in names
            }
            if row:
                by_body[i] = {**row, **self.force_shape(i)}
        return by_body

    def force_shape(self, i: int) -> dict[str, Scalar]:
        """The shape parameters of the friction of body `i`, and the state of its presliding."""
        body = self.robot.lumped.bodies[i - 1]
        shape = {"width": self.robot.width(body), **self.robot.shape(body)}
        numbers: dict[str, Scalar] = {name: Decimal(x) if x else ZERO for name, x in shape.items()}
        if "presliding" in self.inputs and body.follows is None:
            index = self.mechanism.part(i).terms[0][0]
            numbers["state"] = self.inputs["presliding"][..., index]
        return numbers

    @property
    def n(self) -> int:
        """The number of independent velocities."""
        return self.mechanism.velocities

    def input(self, name: str) -> DecimalArray:
        """An input, zero where there is none."""
        return self.inputs[name] if name in self.inputs else decimals(np.zeros((1, self.n)))

    @property
    def textbook(self) -> State:
        """The state as the textbook reads it."""
        return State(
            self.shared.value(
                "course", [self.inputs.get(k) for k in (*MOTION[:3], "g")], self._trajectory
            ),
            self.link_parameters,
            self._external_wrenches if self.has_wrenches else (),
            self.passive,
        )

    def _trajectory(self) -> JointTrajectory:
        """The motion that the inputs tell; without them at rest, with the gravity of the file."""
        q = self.inputs.get("q")
        positions = self.shared.value(
            "q", [q], lambda: JointPositions(() if q is None else _columns(q))
        )
        qd, qdd = (
            _columns(self.inputs[k]) if k in self.inputs else [ZERO] * self.n for k in MOTION[1:3]
        )
        gravity = Vector(*_columns(self.inputs["g"])) if "g" in self.inputs else None
        return JointTrajectory(positions, qd, qdd, gravity or self.mechanism.gravity)

    def pull_back(self, of_bodies: DecimalArray, axes: int = 1, inner: int = 0) -> DecimalArray:
        """Gᵀ on the last `axes` axes of an array, from the joints of the bodies to the velocities;
        `inner` axes are between those of the batch and these."""
        g = velocity_matrix(self.mechanism, self.textbook.trajectory.positions)
        pulled: DecimalArray = self.mechanism.pull_back(of_bodies, axes, g, inner)
        return pulled

    @property
    def _external_wrenches(self) -> tuple[LinkWrench, ...]:
        """External wrenches and those of thrusters."""
        named = ("wrench", "thrust")
        six, thrusts = (_columns(self.inputs[k]) if k in self.inputs else [] for k in named)
        wrenches = [
            LinkWrench(link, six[6 * k : 6 * k + 6], self.robot.root_axes)
            for k, link in enumerate(self.robot.wrenches if six else ())
        ]
        for thruster, thrust in zip(self.robot.thrusters if thrusts else (), thrusts, strict=True):
            direction = normalize(Vector(*map(Decimal, thruster.axis)), Decimal("0.5"))
            force = [thrust * x for x in direction]
            moment = [Decimal(thruster.moment_ratio) * x for x in force]
            wrenches.append(LinkWrench(thruster.link, [*force, *moment], False))
        return tuple(wrenches)

    def with_inputs(self, **values: DecimalArray) -> "States":
        """The states with other values of some inputs; None takes one away."""
        others = {k: v for k, v in self.inputs.items() if k not in values}
        return replace(self, inputs=others | {k: v for k, v in values.items() if v is not None})

    def without_external_forces(self) -> "States":
        """The states without friction, springs and external wrenches."""
        return replace(self, passive={}, has_wrenches=False)

    def displaced_by(self, front: tuple[int, ...], **changes: DecimalArray) -> "States":
        """Displaced by changes of inputs whose arrays begin with the new axes `front`."""
        displaced_inputs = {
            name: displaced(self.mechanism, self.inputs[name], change)
            if name == "q"
            else self.input(name) + change
            for name, change in changes.items()
        }
        return self.with_inputs(**displaced_inputs).widened(front)

    def widened(self, front: tuple[int, ...]) -> "States":
        """The states with the new axes `front`, which some of the inputs have already."""
        shape = (*front, *self.shape)
        small = prod(shape) * len(self.mechanism.parts) <= MAX_SHARED_SIZE
        shared = self.shared if small else IdentityCache(stores=False)
        return replace(self, shape=shape, shared=shared, stepped=True)

    def at_times(self, times: DecimalArray) -> "States":
        """The states at times (first axis) along the motion that q̇, q̈, ... define, to second
        order in q."""
        t = times.reshape(-1, *(1 for _ in self.shape), 1)
        known = [self.input(name) for name in MOTION[1:]]
        half = t * t / 2
        change = {
            "q": t * known[0] + half * (known[1] + turned_accelerations(self.mechanism, known[0]))
        }
        for k, name in enumerate(MOTION[1:]):
            if name in self.inputs:
                change[name] = sum(
                    (t**p * x / factorial(p) for p, x in enumerate(known[k + 1 :], 1)), 0 * t
                )
        return self.displaced_by((len(times),), **change)


def decimals(values: DecimalArray) -> DecimalArray:
    """Numbers as decimal ones, exactly."""
    return np.frompyfunc(lambda x: x if isinstance(x, Decimal) else Decimal(float(x)), 1, 1)(
        np.asarray(values)
    )


decimal_sqrt: Final = np.frompyfunc(Decimal.sqrt, 1, 1)
"""The square root of each entry of an array of decimals."""


def normalized(vectors: DecimalArray) -> DecimalArray:
    """Vectors, along the last axis, divided by their lengths."""
    return vectors / decimal_sqrt((vectors * vectors).sum(axis=-1, keepdims=True))


def with_unit_quaternions(q: DecimalArray, quaternions: Sequence[slice]) -> DecimalArray:
    """Positions with quaternions made unit ones, as far as the digits go: one of doubles is off by
    as much as they are rounded, and laws turn vectors by it that algorithms never turn."""
    positions = q.copy()
    with localcontext(prec=DIGITS):
        for quaternion in quaternions:
            positions[..., quaternion] = normalized(positions[..., quaternion])
    return positions


def _columns(values: DecimalArray) -> list[DecimalArray]:
    return [values[..., k] for k in range(values.shape[-1])]


Term = Callable[[States], DecimalArray]
"""What depends on a state: an array with the axes of the batch first."""


def units(x: States) -> DecimalArray:
    """The unit changes of all velocities, one after another on a new first axis."""
    return decimals(np.eye(x.n)).reshape(x.n, *(1 for _ in x.shape), x.n)


def slope_by_input(term: Term, x: States, name: str) -> DecimalArray:
    """The derivative of a term in every entry of an input of any size, the last axis."""
    return slope(term, x, **{name: input_units(x, name)})


def input_units(x: States, name: str) -> DecimalArray:
    """The unit changes of all entries of an input, one after another on a new first axis."""
    size = x.inputs[name].shape[-1]
    return decimals(np.eye(size)).reshape(size, *(1 for _ in x.shape), size)


def slope(term: Term, x: States, **directions: DecimalArray) -> DecimalArray:
    """The derivative of a term along directions of inputs (first axis), which becomes the last."""
    count, offsets = len(next(iter(directions.values()))), step_sizes(x, STEP, -STEP)
    stepped = x.displaced_by((2, count), **{k: offsets * d[None] for k, d in directions.items()})
    return _difference(term(stepped))


def step_sizes(x: States, *sizes: Decimal) -> DecimalArray:
    """Steps on a new first axis, for directions on the second."""
    return np.array(sizes).reshape(-1, 1, *(1 for _ in x.shape), 1)


@cached_method
def after_steps(
    x: States, name: str, directions: Callable[[States], DecimalArray], *sizes: Decimal
) -> Any:
    """The states after steps of some sizes along directions of an input."""
    changes = directions(x)
    key, front = ("stepped", name, directions, *sizes, len(x.shape)), (len(sizes), len(changes))

    def stepped() -> DecimalArray:
        return x.displaced_by(front, **{name: step_sizes(x, *sizes) * changes[None]}).inputs[name]

    values = x.shared.value(key, [x.inputs.get(name), x.mechanism.motion_key], stepped)
    return x.with_inputs(**{name: values}).widened(front)


def _difference(values: DecimalArray) -> DecimalArray:
    return np.moveaxis((values[0] - values[1]) / (2 * STEP), 0, -1)


def gradient(term: Term, x: States, name: str = "q") -> DecimalArray:
    """The derivative of a term in every coordinate of an input, the last axis.

    Forces of fluids contain derivatives themselves, so that one-sided steps are too small."""
    if term in NOT_DIFFERENTIATED and not x.stepped and not x.robot.fluid:
        forth = term(after_steps(x, name, units, ONE_SIDED_STEP))[0]
        return np.moveaxis((forth - term(x)) / ONE_SIDED_STEP, 0, -1)
    return _difference(term(after_steps(x, name, units, STEP, -STEP)))


def rate(term: Term, x: States) -> DecimalArray:
    """d/dt of a term along the motion."""
    after, before = term(_states_at_times(x, STEP, -STEP))
    return (after - before) / (2 * STEP)


def second_rate(term: Term, x: States) -> DecimalArray:
    """d²/dt² of a term along the motion."""
    return second_difference(term, x, _states_at_times(x, STEP, -STEP), 0)


def second_difference(term: Term, x: States, stepped: States, axes: int) -> DecimalArray:
    """The second derivatives along directions, the first `axes` axes of the states after steps
    forth and back, which become the last."""
    after, before = term(stepped)
    along = (after - 2 * term(_without_step(x)) + before) / STEP**2
    return np.moveaxis(along, range(axes), range(-axes, 0))


@cached_method
def _without_step(x: States) -> Any:
    """The states as steps of no size: a slope in a term has the error that it has after a step."""
    return replace(x, stepped=True)


@cached_method
def _states_at_times(x: States, *times: Decimal) -> Any:
    """The states at times along the motion: several terms are wanted there."""
    return x.at_times(np.array(times))


def batch_matvec(matrix: DecimalArray, v: DecimalArray) -> DecimalArray:
    """M v: (..., m, n) and (..., n) give (..., m)."""
    return (matrix * v[..., None, :]).sum(-1)


def batch_transposed_matvec(matrix: DecimalArray, v: DecimalArray) -> DecimalArray:
    """Mᵀ v: (..., m, n) and (..., m) give (..., n)."""
    return (matrix * v[..., :, None]).sum(-2)


def batch_matmul(a: DecimalArray, b: DecimalArray) -> DecimalArray:
    """A B: (..., l, m) and (..., m, n) give (..., l, n)."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


def eye(size: int) -> DecimalArray:
    """The unit matrix of decimals."""
    return decimals(np.eye(size))
