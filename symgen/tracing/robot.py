"""A robot with what stays open until run time, how the regrouped parameters of a run come about,
and checks that its laws of joint friction fit quantities and files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Final

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program, Value
from symgen.errors import OptionError
from symgen.mechanics.canonical_frames import CanonicalFrame, canonical_frames
from symgen.mechanics.canonical_model import (
    CanonicalBody,
    CanonicalModel,
    Sections,
    Thruster,
    no_section,
)
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.inertia import Inertia, SecondMoment
from symgen.mechanics.joint_forces import COMPENSATION, FRICTION_WIDTH, LAWS, SPRINGS, JointForce
from symgen.mechanics.model import PARAMETER_NAMES, Body, RigidBodyModel
from symgen.mechanics.parameters import (
    REGROUPINGS,
    WHOLE,
    canonical_model,
    fluids_on_bodies,
    gravity_by_base_joint,
    lump_links,
    parameter_blocks,
    tip_aligned_frames,
)
from symgen.mechanics.spatial import Vector
from symgen.numbers.scalar import ZERO, Scalar, structural
from symgen.text import shown


@dataclass(frozen=True)
class ParametricModel:
    """A model with what stays open until run time.

    `runtime` names the links whose ten parameters are inputs (see `parameter_blocks`),
    `runtime_gravity` makes the vector of free fall one; `wrenches` names the links that an external
    wrench acts on; `friction` has the kinds of joint friction, with the coefficients of the file or
    (`runtime_friction`) as an input; the step of Coulomb friction has a `friction_width` (rad/s or
    m/s), 0 for the sign. `springs` tells that springs of joints count, those of the file or
    (`runtime_springs`) with stiffness and reference as an input."""

    model: RigidBodyModel
    runtime: tuple[str, ...] = ()
    runtime_gravity: bool = False
    wrenches: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    runtime_friction: bool = False
    friction_width: float = 0.0
    springs: bool = False
    runtime_springs: bool = False
    friction_compensation: str = COMPENSATION[0]
    """The velocity at which controllers compensate friction, one of `COMPENSATION`."""
    root_axes: bool = False
    """Whether external wrenches are in the root's axes, not in those of their links."""
    thrusters: tuple[Thruster, ...] = ()
    """The thrusters whose thrusts are inputs."""
    fluid: bool = False
    """Whether the forces of fluids around links count."""
    allow_unphysical: bool = False
    """Whether inertia that no body has is used as written where the mass matrix is positive
    definite."""
    estimated: bool = False
    """Whether the links have only the base parameters of an estimate
    (`symgen.reading.assemble`): joint forces and M are right, single links are not."""

    def with_external_forces(
        self, system: CanonicalModel, inputs: Mapping[str, Sequence[Scalar]]
    ) -> CanonicalModel:
        """A system of this robot under the external wrenches and thrusts of the inputs."""
        if "thrust" in inputs:
            pairs = zip(self.thrusters, inputs["thrust"], strict=True)
            wrench_components = [x for thruster, thrust in pairs for x in thruster.wrench(thrust)]
            links = [thruster.link for thruster in self.thrusters]
            system = system.with_external_wrench(links, wrench_components)
        if "wrench" not in inputs:
            return system
        wrench = inputs["wrench"]
        if not self.root_axes:
            return system.with_external_wrench(self.wrenches, wrench)
        wrenches = [wrench[6 * k : 6 * k + 6] for k in range(len(self.wrenches))]
        return replace(system, root_wrenches=tuple(zip(self.wrenches, wrenches, strict=True)))

    @cached_property
    def lumped(self) -> RigidBodyModel:
        """The model with one set of ten for each body that a runtime name means as a whole."""
        return lump_links(self.model, self.runtime)

    @cached_property
    def blocks(self) -> dict[str, tuple[float, ...]]:
        """The runtime parameters by link name, with the values of the file, in the order of the
        input array."""
        return parameter_blocks(self.lumped, self.runtime)

    @property
    def passive_kinds(self) -> tuple[str, ...]:
        """The kinds of friction and springs that count: what regressors have columns of."""
        return (*self.friction, *(SPRINGS if self.springs else ()))

    def joint_forces(
        self, included: Sequence[str], inputs: Mapping[str, Sequence[Scalar]]
    ) -> list[JointForce]:
        """The force of friction and springs at each body's joint, of ``friction`` and ``springs``
        those in `included`, from the input arrays of these names or else from the file. The shapes
        of their laws are those of all that regressors have columns of."""
        fields = {
            "friction": dict.fromkeys(self.friction) if "friction" in included else {},
            "springs": dict.fromkeys(SPRING_COEFFICIENTS)
            if self.springs and "springs" in included
            else {},
        }
        numbers = {name: iter(inputs[name]) for name in fields if name in inputs}
        forces = [self._joint_force(body, fields, numbers) for body in self.model.bodies]
        states = inputs.get("presliding")
        drives = coupling_of(self.model).maps
        return [
            force
            if states is None or drive.follows
            else replace(force, presliding=states[drive.velocity_index])
            for force, drive in zip(forces, drives, strict=True)
        ]

    @property
    def has_presliding(self) -> bool:
        """Whether friction has a state of presliding."""
        return any("presliding" in LAWS[law].reads for law in self.friction)

    @property
    def depends_on_load(self) -> bool:
        """Whether friction depends on the load of the joint."""
        return any("load" in LAWS[law].reads for law in self.friction)

    @property
    def presliding_distances(self) -> list[float]:
        """The distance of presliding of each velocity (rad or m), infinite where it has none."""
        distances = [inf] * self.model.dof
        for body, drive in zip(self.model.bodies, coupling_of(self.model).maps, strict=True):
            if not drive.follows and body.has_friction:
                shape = self.shape(body)
                distances[drive.velocity_index] = shape.get("presliding_distance", inf)
        return distances

    def _joint_force(
        self,
        body: Body,
        fields: Mapping[str, Iterable[str]],
        numbers: Mapping[str, Iterator[Scalar]],
    ) -> JointForce:
        """From the next numbers of the input arrays, or from the file."""
        counts = {"friction": body.has_friction, "springs": body.has_spring}
        row = {
            field: next(numbers[name]) if name in numbers else body.coefficient(field)
            for name, kinds in fields.items()
            if counts[name]
            for field in kinds
        }
        shape: dict[str, Scalar] = {"width": self.width(body), **self.shape(body)}
        known = {field: structural(x) for field, x in row.items()}
        shape["reference"] = known.get("reference", ZERO)
        laws = {law: x for law, x in known.items() if law in LAWS and x is not ZERO}
        return JointForce(laws, shape)

    def width(self, body: Body) -> float:
        """The width of the sign of the rate at a body's coordinate (rad/s or m/s): that of
        ``--friction-width``, else that of the file, 0 for none."""
        return self.friction_width or body.coefficient(FRICTION_WIDTH.name)

    def shape(self, body: Body) -> dict[str, float]:
        """The shape parameters that the files give the friction of a body's coordinate."""
        parameters = (p for law in self.friction for p in LAWS[law].shape)
        values = {p.name: (p, body.coefficient(p.name)) for p in parameters}
        return {name: value for name, (p, value) in values.items() if p.allowed(value)}

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of friction and springs that are asked for but that no joint has a coefficient
        of."""
        constant = () if self.runtime_friction else self.friction
        constant += ("stiffness",) if self.springs and not self.runtime_springs else ()
        return tuple(
            law for law in constant if not any(body.coefficient(law) for body in self.model.bodies)
        )

    @cached_property
    def regroups(self) -> Mapping[str, "RegroupedModel"]:
        """The regrouped parameters by the name of the regrouping, shared by all functions of a
        robot. Each is computed at its first use."""
        return _RegroupedModels(self)

    def regroup(
        self, regrouping: str, frames: Sequence[CanonicalFrame] | None = None
    ) -> "RegroupedModel":
        """How the regrouped parameters come from the user's, and the system they belong to.

        The bodies have canonical frames, or `frames`.
        """
        program = Program()
        flat = program.input("pi", (10 * len(self.blocks),))
        parameters = {name: flat[10 * k : 10 * k + 10] for k, name in enumerate(self.blocks)}
        free_fall = (
            Vector(*Program().input("g", (3,))) if self.runtime_gravity else None
        )  # only its place matters
        known = canonical_model(self.lumped, parameters, free_fall, regrouping, frames)
        layout = replace(
            known,
            wrenches_in_root_axes=self.root_axes and bool(self.wrenches),
            wrench_links=self.wrenches,
            thrusters=self.thrusters,
            fluids=fluids_on_bodies(self.model, known) if self.fluid else (),
        )
        entries = [
            x for body in layout.bodies for x in _entries(body.inertia) if isinstance(x, Value)
        ]
        program.output("par", (len(entries),), entries)
        return RegroupedModel(self, regrouping, program, layout)


SPRING_COEFFICIENTS: Final = ("stiffness", "reference")
"""What the input of springs has for each coordinate."""


def _entries(inertia: Inertia) -> tuple[Scalar, ...]:
    return (inertia.m, *inertia.h, *inertia.s)


@dataclass(frozen=True)
class RegroupedModel:
    """The regrouped parameters: constants where known, the entries of `par` where they come at run
    time."""

    robot: ParametricModel
    regrouping: str
    program: Program
    layout: CanonicalModel

    @cached_property
    def with_tip_frames(self) -> "RegroupedModel":
        """The regrouped parameters with the frames of `symgen.mechanics.parameters`, where all is
        known at generation."""
        model = self.robot.model
        known = not (self.robot.runtime or self.robot.wrenches or self.robot.thrusters)
        uses_tip_frames = known and tip_aligned_frames(model) != canonical_frames(model)
        return (
            self.robot.regroup(self.regrouping, tip_aligned_frames(model))
            if uses_tip_frames
            else self
        )

    @property
    def size(self) -> int:
        """Length of the input `par`."""
        return len(self.program.outputs[0].refs)

    @property
    def input(self) -> str:
        """The input array that runtime parameters come in: regrouped, or as the user has them."""
        return "pi" if self.regrouping == WHOLE else "par"

    def system(
        self, parameters: Sequence[Scalar], gravity: Vector | None, sections: Sections = no_section
    ) -> CanonicalModel:
        """The system with runtime parameters and `gravity` (root link axes) put in.

        `parameters` are those of `input`; without them the system serves only what depends on no
        inertia."""
        by_user = self.regrouping == WHOLE and parameters
        numbers = iter(evaluate(self.program, {"pi": parameters})["par"] if by_user else parameters)
        bodies = (
            tuple(_with_values(body, numbers) for body in self.layout.bodies)
            if parameters
            else self.layout.bodies
        )
        free_fall = (
            self.layout.gravity
            if gravity is None
            else gravity_by_base_joint(self.robot.lumped, gravity)
        )
        return replace(self.layout, bodies=bodies, gravity=free_fall, sections=sections)


class _RegroupedModels(Mapping[str, RegroupedModel]):
    """Every regrouping of the parameters of a robot, computed at its first use."""

    def __init__(self, robot: ParametricModel) -> None:
        self._robot = robot
        self._computed: dict[str, RegroupedModel] = {}

    def __getitem__(self, regrouping: str) -> RegroupedModel:
        if regrouping not in self._computed:
            self._computed[regrouping] = self._robot.regroup(regrouping)
        return self._computed[regrouping]

    def __contains__(self, regrouping: object) -> bool:
        return regrouping in (*REGROUPINGS, WHOLE)

    def __iter__(self) -> Iterator[str]:
        return iter((*REGROUPINGS, WHOLE))

    def __len__(self) -> int:
        return len(REGROUPINGS) + 1


def _with_values(body: CanonicalBody, par: Iterator[Scalar]) -> CanonicalBody:
    entries = _entries(body.inertia)
    m, hx, hy, hz, *s = (next(par) if isinstance(x, Value) else x for x in entries)
    known = not any(isinstance(x, Value) for x in entries)
    return replace(body, inertia=Inertia(m, Vector(hx, hy, hz), SecondMoment(*s)), constant=known)


class Sizes(dict[str, int]):
    """The named sizes of arrays: n velocities, n2 pairs of them, nq positions, b base parameters
    (y_b with the columns of joints' own, y_b2 pairs of those), ten those of all bodies, par
    regrouped runtime parameters, joints moving joints, pi those of the user. The number of base
    parameters is found out when it is asked for."""

    def __init__(self, regroup: RegroupedModel) -> None:
        robot, layout = regroup.robot, regroup.layout
        n, inertial = robot.model.dof, layout.parameters
        passive = replace(layout, passive_kinds=robot.passive_kinds).passive_columns
        super().__init__(
            n=n,
            n2=n * (n + 1) // 2,
            n_twice=2 * n,
            nq=layout.coupling.positions,
            par=regroup.size,
            ten=inertial,
            joints=len(layout.joint_frames),
        )
        pi, wrench = len(PARAMETER_NAMES) * len(robot.blocks), 6 * len(robot.wrenches)
        energy_columns = sum(LAWS[law].energy is not None for _, law in passive)
        self |= {"pi": pi, "wrench": wrench, "y": inertial + len(passive)}
        self["thrust"] = len(robot.thrusters)
        self["friction"] = len(robot.friction) * len(layout.friction_bodies)
        self["springs"] = len(SPRING_COEFFICIENTS) * len(layout.spring_bodies)
        self["y_v"] = inertial + energy_columns
        self.passive_columns = len(passive)
        self.layout = layout

    def __missing__(self, name: str) -> int:
        if name not in ("b", "y_b", "y_b2"):
            raise KeyError(name)
        if name == "y_b2":
            return self["y_b"] * (self["y_b"] + 1) // 2
        return len(independent_parameters(self.layout).keys) + (
            self.passive_columns if name == "y_b" else 0
        )


def check_coefficients(
    model: RigidBodyModel, laws: Iterable[str], inputs: bool, width: float
) -> None:
    """Raises OptionError for a joint whose files do not fit a law of friction. With `inputs` the
    coefficients come at run time; `width` is that of --friction-width."""
    bodies_with_friction = [body for body in model.bodies if body.has_friction]
    for body, law in ((body, law) for law in laws for body in bodies_with_friction):
        for fault in _reasons_against_law(
            body, law, inputs, width or body.coefficient(FRICTION_WIDTH.name)
        ):
            raise OptionError(f"--friction {law}: joint '{shown(body.velocity)}' {fault}")


def _reasons_against_law(body: Body, law: str, inputs: bool, width: float) -> list[str]:
    """The reasons why a law cannot hold for the coordinate of a body."""
    row, value = LAWS[law], body.coefficient(law)
    acts = inputs or value != 0
    per_load = sum(abs(body.coefficient(k)) for k, law in LAWS.items() if "load" in law.reads)
    absent = [p.name for p in row.shape if not p.allowed(body.coefficient(p.name))]
    has_fractional_power = law == "power" and body.coefficient("power_exponent") % 1 != 0
    is_motor, follows = body.joint.type.is_rotor, body.follows is not None
    faults = {
        f"has no {''.join(absent[:1])}; give it in --actuators": acts and bool(absent),
        "has an exponent that is not an integer, so the slope at rest is not defined; add "
        "--friction-width": has_fractional_power and not width,
        "has coefficients of 1 or more in total, so it cannot move under its load; correct them in "
        "--actuators": "load" in row.reads and not inputs and per_load >= 1,
        "follows other joints, so it has no state of presliding; "
        + ("use --coordinates actuators" if is_motor else "remove its coefficient"): acts
        and "presliding" in row.reads
        and follows,
        "is a motor of several joints, whose load is not defined; remove its coefficient": acts
        and "load" in row.reads
        and is_motor,
    }
    return [text for text, found in faults.items() if found]
