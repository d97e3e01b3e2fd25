"""The robot as algorithms see it: canonical frames and regrouped inertial parameters,
scalar-generic."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from symgen.errors import OptionError
from symgen.mechanics.coupling import UNCOUPLED, Coupling
from symgen.mechanics.fluid import FluidOnBody
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.joint_forces import NO_JOINT_FORCE, SPRINGS, JointForce
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.placement import Placement
from symgen.mechanics.spatial import (
    ZERO_FORCE,
    ZERO_TWIST,
    ZERO_VECTOR,
    Force,
    Pose,
    Step,
    Triple,
    Twist,
    Vector,
    scale_constant,
)
from symgen.numbers.caching import IdentityCache
from symgen.numbers.scalar import ZERO, Scalar, structural
from symgen.text import hint, shown

Sections = Callable[[str], AbstractContextManager[None]]


def no_section(title: str) -> AbstractContextManager[None]:
    """A section that records nothing, used when algorithms run on numbers."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class CanonicalBody:
    """A body: the number of its parent, the name of its link, its placement and its regrouped
    inertia. `constant` is True if the inertia is known at generation, so that sums of its entries
    cost nothing. `wrench` is the external wrench on the body about the origin of its frame, in its
    axes."""

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
        """The freedom of its coordinate."""
        return self.placement.freedom

    @property
    def S(self) -> Twist:
        """The twist of the body at unit rate of its coordinate, in its own axes."""
        return self.joint.S

    def split_inertia(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The part of an inertia that the body keeps, and the part that its parent can carry."""
        return self.placement.split_inertia(inertia)


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """The pose of a link frame in the frame of its body (0: the base, with the frame of the
    root)."""

    body: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class Thruster:
    """A thrust on a link along a unit axis through the link's origin, in link axes. The reaction
    moment about the axis is `moment_ratio` (m) times the thrust."""

    link: str
    axis: Triple
    moment_ratio: float = 0.0

    def wrench(self, thrust: Scalar) -> list[Scalar]:
        """The six numbers of the external wrench on the link at a thrust (N)."""
        directions = (*self.axis, *(self.moment_ratio * x for x in self.axis))
        return [scale_constant(structural(x), thrust) for x in directions]


@dataclass(frozen=True, slots=True)
class CanonicalModel:
    """The tree of bodies in canonical frames, which algorithms read. `gravity[i]` is the
    acceleration of free fall in the base axes of base joint i. `roots[i]` is the pose of these axes
    in the frame of the root link. `link_frames` has all links of the file by name.
    `gravity_is_input` is True if gravity is an input of generated code."""

    bodies: tuple[CanonicalBody, ...]
    order: tuple[int, ...]
    gravity: Mapping[int, Vector]
    sections: Sections = no_section
    roots: Mapping[int, Pose] = field(default_factory=dict)
    link_frames: Mapping[str, LinkFrame] = field(default_factory=dict)
    joint_frames: Mapping[str, LinkFrame] = field(default_factory=dict)
    """For each moving joint the last of its bodies, and the pose of the joint's frame in it: the
    frame of the file, which moves with the child link."""
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
    wrench_links: tuple[str, ...] = ()
    """The links on which external wrenches are inputs."""
    thrusters: tuple[Thruster, ...] = ()
    """The thrusters whose thrusts are inputs."""
    joint_bodies: Mapping[int, range] = field(default_factory=dict)
    """For every body of a joint with all its axes in the body: the numbers of all that it has."""
    fluids: tuple[FluidOnBody, ...] = ()
    """The fluids around links whose forces count."""
    cache: IdentityCache = field(
        default_factory=IdentityCache, init=False, compare=False, repr=False
    )
    """Steps of bodies, and terms that are `cached_by_positions`, for the latest positions."""

    def section(self, i: int, step: str) -> AbstractContextManager[None]:
        """A context in which all operations are marked as one step for body `i` in generated
        code."""
        return self.sections(f"body {i}, {self.body(i).name}: {step}")

    def body(self, i: int) -> CanonicalBody:
        """Body number `i`, from 1."""
        return self.bodies[i - 1]

    def link_frame(self, name: str) -> LinkFrame:
        """The body and pose of the link `name`. Raises OptionError for an unknown link."""
        if name not in self.link_frames:
            raise OptionError(
                f"no link is called '{shown(name)}'; {hint(name, list(self.link_frames))}"
            )
        return self.link_frames[name]

    def joint_frame(self, name: str) -> LinkFrame:
        """The body and pose of the moving joint `name`. Raises OptionError for another name."""
        if name not in self.joint_frames:
            raise OptionError(
                f"no moving joint is called '{shown(name)}'; {hint(name, list(self.joint_frames))}"
                "; --keep-fixed JOINT keeps a fixed joint"
            )
        return self.joint_frames[name]

    def with_external_wrench(
        self, links: Sequence[str], wrenches: Sequence[Scalar]
    ) -> "CanonicalModel":
        """The model with external wrenches: six numbers per link, force (N) then moment (N m),
        about the link origin in link axes. Wrenches on links of the base have no effect. Raises
        OptionError for an unknown link."""
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
                for body, x in zip(self.bodies, self.coupling.body_rates(change), strict=True)
            ]
        )

    def at_state(
        self,
        q: Sequence[Scalar],
        qd: Sequence[Scalar] | None = None,
        qd_r: Sequence[Scalar] | None = None,
    ) -> tuple["CanonicalModel", list[Any], list[Scalar]]:
        """The system with its coupling at a state of the user, and the positions and rates of its
        bodies' joints (no rates without `qd`); for the accelerations of a reference with its
        velocities `qd_r`."""
        x = self.coupling.body_positions(q)
        system = self.at_positions(x, qd, qd_r)
        return system, x, [] if qd is None else system.coupling.body_rates(qd)

    def at_positions(
        self,
        x: Sequence[Any],
        qd: Sequence[Scalar] | None = None,
        qd_r: Sequence[Scalar] | None = None,
    ) -> "CanonicalModel":
        """The same from positions of the bodies' joints."""
        coupling = self.coupling.at_positions(x, qd, qd_r)
        return self if coupling is self.coupling else replace(self, coupling=coupling)

    @property
    def bias_accelerations(self) -> list[Scalar]:
        """The accelerations of the bodies' joints at q̈ = 0: zero but in closed loops."""
        return [*self.coupling.bias_accelerations] or [ZERO] * self.size

    def link_pose(self, i: int) -> Pose:
        """The pose of the frame of body `i`'s first link, in whose axes its ten parameters are, in
        its canonical frame."""
        return self.link_frames[self.body(i).name].pose

    @property
    def weightless(self) -> "CanonicalModel":
        """The robot without gravity."""
        return replace(self, gravity=dict.fromkeys(self.gravity, ZERO_VECTOR))

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
        """The columns of regressors of each body: ten, or one for a rotor."""
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

    def bodies_of_joint(self, i: int) -> range:
        """The bodies of the joint of body `i`, one per coordinate, if all its axes are fixed in the
        body; otherwise body `i` alone."""
        return self.joint_bodies.get(i, range(i, i + 1))

    def same_joint_as_parent(self, i: int) -> bool:
        """True if body `i` and its parent belong to one joint whose axes are fixed in the body, so
        that they move together."""
        return i > self.bodies_of_joint(i)[0]

    def to_body(self, i: int, q: Sequence[Scalar]) -> tuple[Step, ...]:
        """The elementary steps from the joint frame of body `i` to its own frame. The same steps
        are returned for the same scalar, so that its sine and cosine are computed once."""
        place, x = self.body(i).placement, q[i - 1]
        steps: tuple[Step, ...] = self.cache.latest(i, (x,), lambda: place.to_body(x))
        return steps

    def steps(self, i: int, q: Sequence[Scalar]) -> tuple[Step, ...]:
        """The elementary steps from the frame of the parent of body `i` to its own."""
        return *self.body(i).placement.to_joint_frame(q[i - 1]), *self.to_body(i, q)

    def relative_twist(self, i: int, rates: Sequence[Scalar]) -> Twist:
        """The twist of body `i` relative to its parent at the rates of all coordinates, in the axes
        of body `i`. Of bodies of one joint, the first moves by the coordinates of all."""
        units = self.body(i).placement.twists
        return sum((S.at_rate(rates[i - 1 + k]) for k, S in enumerate(units)), ZERO_TWIST)

    @property
    def leaders(self) -> tuple[tuple[int, ...], ...]:
        """For each body, the bodies whose coordinates it has: itself, unless it follows others."""
        leading: dict[int, int] = {}
        for i, drive in enumerate(self.coupling.maps, 1):
            if not drive.follows:
                leading[drive.velocity_index] = i
        return tuple(tuple(leading[t.velocity_index] for t in d.terms) for d in self.coupling.maps)

    @property
    def coordinates_inward(self) -> tuple[int, ...]:
        """The numbers of the user's coordinates, from 1, those of the outermost bodies first."""
        coordinates: dict[int, None] = {}
        for i in self.outward:
            for term in self.coupling.maps[i - 1].terms:
                coordinates.setdefault(term.velocity_index + 1)
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
    """Cache a term that depends on positions for the latest positions, compared by identity.
    Derivatives with respect to velocities evaluate such terms once for each velocity. Results are
    shared, so callers must not change them, nor change arrays that are used as scalars in place."""

    @wraps(term)
    def once(
        system: CanonicalModel,
        q: Sequence[Scalar],
        /,
        *options: Options.args,
        **others: Options.kwargs,
    ) -> Term:
        key = term, options, *others.items()
        value: Term = system.cache.latest(key, q, lambda: term(system, q, *options, **others))
        return value

    return once
