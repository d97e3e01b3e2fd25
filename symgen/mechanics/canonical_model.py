"""The robot as algorithms see it: canonical frames and regrouped inertial parameters,
scalar-generic."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from symgen.errors import OptionError
from symgen.mechanics.coupling import UNCOUPLED, Coupling
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.joint_forces import NO_JOINT_FORCE, SPRINGS, JointForce
from symgen.mechanics.joints import Freedom
from symgen.mechanics.placement import Placement
from symgen.mechanics.pose import Pose
from symgen.mechanics.spatial import ZERO_FORCE, ZERO_TWIST, Force, Step, Twist, Vector
from symgen.numbers.scalar import ZERO, Scalar
from symgen.text import hint, shown

Sections = Callable[[str], AbstractContextManager[None]]


def no_section(title: str) -> AbstractContextManager[None]:
    """Where no tape listens."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class CanonicalBody:
    """One body: its parent's number, its link's name, its placement and its regrouped inertia.

    `constant` tells whether the inertia is known at generation, so that sums of its parts cost
    nothing. `wrench` is what the surroundings do to the body, about its frame's origin."""

    parent: int
    name: str
    placement: Placement
    inertia: Inertia
    constant: bool = True
    wrench: Force = ZERO_FORCE
    passive: JointForce = NO_JOINT_FORCE

    on_robot: bool = True
    """False of a body that stands for what only its joint feels, and so has no momentum of the
    robot's."""

    @property
    def joint(self) -> Freedom:
        """The motion that its coordinate gives it, and what feels it."""
        return self.placement.freedom

    @property
    def S(self) -> Twist:
        """The twist of the body at unit rate of its coordinate, in its own axes."""
        return self.joint.S

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The part of an inertia that the body keeps, and the part that its parent can carry."""
        return self.placement.regrouped(inertia)


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """Where a link's frame is: on which body (0: the base), and its pose in that body's frame (0:
    the root's)."""

    body: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class CanonicalModel:
    """A tree in canonical frames. `gravity[i]` is free-fall acceleration in the base axes of base
    joint i.

    `roots[i]` is the pose of those base axes in the root link's frame, `link_frames` has every
    link of the file by name. `gravity_is_input` tells that free fall is not known at generation."""

    bodies: tuple[CanonicalBody, ...]
    order: tuple[int, ...]
    gravity: Mapping[int, Vector]
    sections: Sections = no_section
    roots: Mapping[int, Pose] = field(default_factory=dict)
    link_frames: Mapping[str, LinkFrame] = field(default_factory=dict)
    gravity_is_input: bool = False
    passive_kinds: tuple[str, ...] = ()
    """The laws of friction and springs that regressors have columns of, behind those of the
    inertial parameters (`passive_columns`): keys of `symgen.mechanics.joint_forces.LAWS`."""
    friction_compensation: str = "reference"
    """The velocity at which controllers compensate friction, one of
    `symgen.mechanics.joint_forces.COMPENSATION`."""
    coupling: Coupling = UNCOUPLED
    link_bodies: tuple[int, ...] = ()
    """The bodies that consist of links, which have ten parameters each."""
    rotors: tuple[int, ...] = ()
    """The bodies with one parameter, inertia about their axis; in regressors they come behind the
    others."""
    friction_bodies: tuple[int, ...] = ()
    """The bodies for whose coordinate friction counts (`symgen.mechanics.model.Body`)."""
    spring_bodies: tuple[int, ...] = ()
    """The bodies for whose coordinate a spring counts."""
    root_wrenches: tuple[tuple[str, Sequence[Scalar]], ...] = ()
    """External wrenches in root axes by link, six numbers each: what algorithms are to turn into
    link axes where the robot is."""
    wrenches_in_root_axes: bool = False
    """Whether external wrenches come in root axes, so that they turn against their links."""
    shared: Mapping[int, range] = field(default_factory=dict)
    """For every body of a joint with all its axes in the body: the numbers of all that it has."""
    known: dict[Any, tuple[Any, Any]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """What positions were last asked for, and what is there: steps of bodies, and terms that are
    `cached_by_positions`."""

    def section(self, i: int, step: str) -> AbstractContextManager[None]:
        """Marks what is computed inside as one step for body `i`; only a tape cares."""
        return self.sections(f"body {i}, {self.body(i).name}: {step}")

    def body(self, i: int) -> CanonicalBody:
        """Body number `i`, from 1."""
        return self.bodies[i - 1]

    def link_frame(self, name: str) -> LinkFrame:
        """Where the link `name` is. Raises OptionError."""
        if name not in self.link_frames:
            raise OptionError(
                f"no link is called '{shown(name)}'; {hint(name, list(self.link_frames))}"
            )
        return self.link_frames[name]

    def pushed(self, links: Sequence[str], wrenches: Sequence[Scalar]) -> "CanonicalModel":
        """The system under external wrenches: six numbers a link, force then moment, link axes,
        link origin.

        Those on links of the base have no effect. Raises OptionError for a link that does not
        exist."""
        total = {i: body.wrench for i, body in enumerate(self.bodies, 1)}
        for k, link in enumerate(links):
            frame, six = self.link_frame(link), wrenches[6 * k : 6 * k + 6]
            if frame.body:
                total[frame.body] = total[frame.body] + Force(
                    Vector(*six[:3]), Vector(*six[3:])
                ).placed(frame.pose)
        return replace(
            self, bodies=tuple(replace(b, wrench=total[i]) for i, b in enumerate(self.bodies, 1))
        )

    def with_passive(self, forces: Sequence[JointForce]) -> "CanonicalModel":
        """The system with friction and springs in its joints, in body order."""
        pairs = zip(self.bodies, forces, strict=True)
        return replace(
            self, bodies=tuple(replace(body, passive=passive) for body, passive in pairs)
        )

    @property
    def without_friction(self) -> "CanonicalModel":
        """The system with springs in its joints, but no friction."""
        return self.with_passive([body.passive.without_friction for body in self.bodies])

    def with_presliding_after(self, change: Sequence[Scalar]) -> "CanonicalModel":
        """The system with the states of presliding friction after a change of the user's positions,
        in the coordinates of velocities."""
        if all(body.passive.presliding is ZERO for body in self.bodies):
            return self
        return self.with_passive(
            [
                body.passive.after(x)
                for body, x in zip(self.bodies, self.coupling.rates(change), strict=True)
            ]
        )

    def link_pose(self, i: int) -> Pose:
        """The pose of body `i`'s own link, whose axes its ten parameters are in, in its canonical
        frame."""
        return self.link_frames[self.body(i).name].pose

    @property
    def size(self) -> int:
        """The number of bodies, each with one coordinate."""
        return len(self.bodies)

    @property
    def dof(self) -> int:
        """The number of the user's velocities."""
        return self.coupling.velocities

    @property
    def columns(self) -> dict[int, range]:
        """The columns of regressors that belong to each body: ten, or one for a rotor."""
        ten, first = 10, 10 * len(self.link_bodies)
        of_links = {i: range(ten * k, ten * k + ten) for k, i in enumerate(self.link_bodies)}
        return of_links | {i: range(first + k, first + k + 1) for k, i in enumerate(self.rotors)}

    @property
    def passive_columns(self) -> tuple[tuple[int, str], ...]:
        """The columns of friction and springs in regressors, body by body: the number of the body
        and the kind."""
        springs, friction = {*self.spring_bodies}, {*self.friction_bodies}
        return tuple(
            (i, kind)
            for i in range(1, self.size + 1)
            for kind in self.passive_kinds
            if i in (springs if kind in SPRINGS else friction)
        )

    @property
    def parameters(self) -> int:
        """The number of inertial parameters of all bodies."""
        return 10 * len(self.link_bodies) + len(self.rotors)

    def together(self, i: int) -> range:
        """The bodies that stay with body `i`, each with a coordinate of the joint that moves them
        all: mostly itself alone."""
        return self.shared.get(i, range(i, i + 1))

    def stays(self, i: int) -> bool:
        """Whether body `i` stays with its parent, which moves by its coordinate too."""
        return i > self.together(i)[0]

    def to_body(self, i: int, q: Sequence[Scalar]) -> tuple[Step, ...]:
        """The elementary steps from the joint frame of body `i` to its own; the same ones for the
        same scalar, so that sine and cosine are looked up once."""
        at, steps = self.known.get(i, (None, ()))
        if at is not q[i - 1]:
            steps = self.body(i).placement.to_body(q[i - 1])
            self.known[i] = q[i - 1], steps
        return tuple(steps)

    def steps(self, i: int, q: Sequence[Scalar]) -> tuple[Step, ...]:
        """The elementary steps from the frame of the parent of body `i` to its own."""
        return *self.body(i).placement.to_joint_frame(q[i - 1]), *self.to_body(i, q)

    def relative(self, i: int, rates: Sequence[Scalar]) -> Twist:
        """The twist of body `i` against its parent at the rates of all coordinates, in its axes.

        Of bodies that stay together it is the first that moves, by the coordinates of all."""
        units = self.body(i).placement.twists
        return sum((S.at_rate(rates[i - 1 + k]) for k, S in enumerate(units)), ZERO_TWIST)

    @property
    def leaders(self) -> tuple[tuple[int, ...], ...]:
        """For each body those that have its coordinates: itself, unless it follows others."""
        leading: dict[int, int] = {}
        for i, drive in enumerate(self.coupling.drives, 1):
            if not drive.follows:
                leading[drive.index] = i
        return tuple(tuple(leading[t.index] for t in d.terms) for d in self.coupling.drives)

    @property
    def coordinates_inward(self) -> tuple[int, ...]:
        """The numbers of the user's coordinates, from 1, those of the outermost bodies first."""
        coordinates: dict[int, None] = {}
        for i in self.outward:
            for term in self.coupling.drives[i - 1].terms:
                coordinates.setdefault(term.index + 1)
        return tuple(reversed(coordinates))

    @property
    def outward(self) -> Iterator[int]:
        """Body numbers, every parent before its children."""
        return iter(self.order)

    @property
    def inward(self) -> Iterator[int]:
        """Body numbers, every parent after its children."""
        return reversed(self.order)

    def ancestors(self, i: int) -> Iterator[int]:
        """`i`'s parent, its parent, ... down to the body on the base."""
        while i := self.body(i).parent:
            yield i


Options = ParamSpec("Options")
Term = TypeVar("Term")


def cached_by_positions(
    term: Callable[Concatenate[CanonicalModel, Sequence[Scalar], Options], Term],
) -> Callable[Concatenate[CanonicalModel, Sequence[Scalar], Options], Term]:
    """A term that depends on positions alone, computed once where it is asked for again at the very
    same scalars: derivatives along velocities do so for each of them. What it returns is shared, so
    nobody may change it, nor arrays that are given as scalars in place."""

    @wraps(term)
    def once(
        system: CanonicalModel,
        q: Sequence[Scalar],
        /,
        *options: Options.args,
        **others: Options.kwargs,
    ) -> Term:
        key = term, options, *others.items()
        last, value = system.known.get(key, ((), None))
        if len(last) != len(q) or any(a is not b for a, b in zip(last, q, strict=True)):
            value = term(system, q, *options, **others)
            system.known[key] = tuple(q), value
        return value  # type: ignore[no-any-return]

    return once
