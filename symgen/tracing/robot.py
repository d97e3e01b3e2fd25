"""A robot with what stays open until run time, and how the regrouped parameters of a run come
about."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program, Value
from symgen.mechanics.canonical import CanonicalFrame, canonical_frames
from symgen.mechanics.independence import independent
from symgen.mechanics.inertia import Inertia, Second
from symgen.mechanics.model import PARAMETER_NAMES, Body, Joint, Model
from symgen.mechanics.parameters import WHOLE, lumped, parameter_blocks, system, turned_gravity
from symgen.mechanics.spatial import Vector
from symgen.mechanics.system import NO_FRICTION, Friction, Sections, System, SystemBody, no_section
from symgen.mechanics.tip_frames import turned_frames
from symgen.numbers.scalar import Scalar, structural


@dataclass(frozen=True)
class Robot:
    """A model with what stays open until run time.

    `runtime` names the links whose ten parameters are inputs (see `parameter_blocks`),
    `runtime_gravity` makes the vector of free fall one; `wrenches` names the links that an external
    wrench acts on; `friction` has the kinds of joint friction, with the coefficients of the file or
    (`runtime_friction`) as an input; the step of Coulomb friction has a `friction_width` (rad/s or
    m/s), 0 for the sign."""

    model: Model
    runtime: tuple[str, ...] = ()
    runtime_gravity: bool = False
    wrenches: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    runtime_friction: bool = False
    friction_width: float = 0.0

    @cached_property
    def lumped(self) -> Model:
        """The model with one set of ten for each body that a runtime name means as a whole."""
        return lumped(self.model, self.runtime)

    @cached_property
    def blocks(self) -> dict[str, tuple[float, ...]]:
        """The runtime parameters by link name, with the values of the file, in the order of the
        input array."""
        return parameter_blocks(self.lumped, self.runtime)

    def frictions(self, given: Sequence[Scalar] | None) -> list[Friction]:
        """The friction of each body's joint, from the input array or from the file."""
        if given is None:
            return [
                self._friction(b, [FRICTION_FIELDS[kind](b.joint) for kind in self.friction])
                for b in self.model.bodies
            ]
        rest = iter(given)
        return [
            self._friction(b, [next(rest) for _ in self.friction] if b.rubs else ())
            for b in self.model.bodies
        ]

    @property
    def frictionless(self) -> tuple[str, ...]:
        """The kinds of friction that are asked for but that no joint has a coefficient of."""
        if self.runtime_friction:
            return ()
        joints = [body.joint for body in self.model.bodies if body.rubs]
        return tuple(kind for kind in self.friction if not any(map(FRICTION_FIELDS[kind], joints)))

    def _friction(self, body: Body, coefficients: Sequence[Scalar]) -> Friction:
        """From a coefficient for each kind."""
        if not body.rubs:
            return NO_FRICTION
        row = dict(zip(self.friction, map(structural, coefficients), strict=True))
        return Friction(**row, width=self.friction_width)

    def regroup(self, regrouping: str, frames: Sequence[CanonicalFrame] | None = None) -> "Regroup":
        """How the regrouped parameters come from the user's, and the system they belong to.

        The bodies have canonical frames, or `frames`.
        """
        program = Program()
        flat = program.input("pi", (10 * len(self.blocks),))
        given = {name: flat[10 * k : 10 * k + 10] for k, name in enumerate(self.blocks)}
        free_fall = (
            Vector(*Program().input("g", (3,))) if self.runtime_gravity else None
        )  # only its place matters
        layout = system(self.lumped, given, free_fall, regrouping, frames)
        entries = [
            x for body in layout.bodies for x in _entries(body.inertia) if isinstance(x, Value)
        ]
        program.output("par", (len(entries),), entries)
        return Regroup(self, regrouping, program, layout)


FRICTION_FIELDS: Final[dict[str, Callable[[Joint], float]]] = {
    "viscous": lambda joint: joint.damping,
    "coulomb": lambda joint: joint.friction,
    "offset": lambda joint: joint.offset,
}
"""By kind of friction, the coefficient that the file gives a joint."""


def _entries(inertia: Inertia) -> tuple[Scalar, ...]:
    return (inertia.m, *inertia.h, *inertia.s)


@dataclass(frozen=True)
class Regroup:
    """The regrouped parameters: constants where known, the entries of `par` where they come at run
    time."""

    robot: Robot
    regrouping: str
    program: Program
    layout: System

    @cached_property
    def turned(self) -> "Regroup":
        """The same with the frames of `symgen.mechanics.tip_frames`, where all is known at
        generation."""
        model = self.robot.model
        known = not self.robot.runtime and not self.robot.wrenches
        turns = known and turned_frames(model) != canonical_frames(model)
        return self.robot.regroup(self.regrouping, turned_frames(model)) if turns else self

    @property
    def size(self) -> int:
        """Length of the input `par`."""
        return len(self.program.outputs[0].refs)

    @property
    def input(self) -> str:
        """The input array that runtime parameters come in: regrouped, or as the user has them."""
        return "pi" if self.regrouping == WHOLE else "par"

    def system(
        self, given: Sequence[Scalar], gravity: Vector | None, sections: Sections = no_section
    ) -> System:
        """The system with runtime parameters and `gravity` (root link axes) put in.

        `given` are those of `input`; without them the system serves only what depends on no
        inertia."""
        whole = self.regrouping == WHOLE and given
        rest = iter(evaluate(self.program, {"pi": given})["par"] if whole else given)
        bodies = (
            tuple(_filled(body, rest) for body in self.layout.bodies)
            if given
            else self.layout.bodies
        )
        pull = (
            self.layout.gravity if gravity is None else turned_gravity(self.robot.lumped, gravity)
        )
        return replace(self.layout, bodies=bodies, gravity=pull, sections=sections)


def _filled(body: SystemBody, par: Iterator[Scalar]) -> SystemBody:
    entries = _entries(body.inertia)
    m, hx, hy, hz, *s = (next(par) if isinstance(x, Value) else x for x in entries)
    known = not any(isinstance(x, Value) for x in entries)
    return replace(body, inertia=Inertia(m, Vector(hx, hy, hz), Second(*s)), constant=known)


class Sizes(dict[str, int]):
    """Named sizes of arrays; the number of base parameters is found out when it is asked for."""

    def __init__(self, regroup: Regroup) -> None:
        robot, layout = regroup.robot, regroup.layout
        n, own, rubbing = (
            robot.model.dof,
            layout.parameters,
            len(robot.friction) * len(layout.rubbing_joints),
        )
        super().__init__(
            n=n, n2=n * (n + 1) // 2, nq=layout.coupling.positions, par=regroup.size, ten=own
        )
        pi, wrench = len(PARAMETER_NAMES) * len(robot.blocks), 6 * len(robot.wrenches)
        self |= {"pi": pi, "wrench": wrench, "friction": rubbing, "y": own + rubbing}
        self.friction_columns = rubbing
        self.layout = layout

    def __missing__(self, name: str) -> int:
        if name not in ("b", "y_b"):
            raise KeyError(name)
        return len(independent(self.layout).keys) + (self.friction_columns if name == "y_b" else 0)


def dimensions(regroup: Regroup) -> dict[str, int]:
    """The named sizes of arrays: n velocities, n2 pairs of them, nq positions, b base parameters,
    ten those of all bodies, par regrouped runtime parameters, pi those of the user."""
    return Sizes(regroup)
