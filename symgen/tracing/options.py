"""The options of functions: what they compute, how, and which numbers are inputs."""

import re
from collections.abc import Collection, Iterable
from typing import Any, ClassVar, Final

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS, unknown_controller
from symgen.algorithms.registry import unknown_quantity
from symgen.compiler.objective import HOST, OBJECTIVES, Objective, Processor
from symgen.errors import OptionError
from symgen.mechanics.joint_forces import COMPENSATION, FRICTION, LAWS
from symgen.mechanics.model import RigidBodyModel, is_nonzero
from symgen.options import group, option
from symgen.options.kinds import FLAG, NAMES, NUMBER, PAIRS, TEXTS, choice
from symgen.reading.options import links, moving_joints
from symgen.text import cited, repeated, shown
from symgen.tracing.request import (
    RUNTIME,
    FunctionRequest,
    check_fluid,
    check_support,
    known_links,
    parse_runtime_names,
    parse_thrusters,
)
from symgen.tracing.robot import ParametricModel, check_coefficients

DEFAULT_QUANTITIES: Final = ("inverse_dynamics", "gravity", "bias", "mass_matrix")
"""What is computed where nothing else is asked for: a module small enough to be read."""

MIN_FRICTION_WIDTH: Final = 1e-9
"""Coulomb friction with a narrower step (rad/s or m/s) is better a sign."""

COMPENSATING: Final = frozenset(k for k, x in CONTROLLERS.items() if x.forces and not x.is_elastic)
"""The controllers that can compensate friction."""

ALL: Final = "all"

NO_FRICTION: Final = "none"


def _complete_parameters(robot: Any, start: str) -> Iterable[str]:
    """The kinds; after ``runtime:`` links."""
    return links(robot, start) if start else ("constant", RUNTIME, f"{RUNTIME}:")


def _complete_friction(robot: Any, start: str) -> Iterable[str]:
    """The kinds of friction, also after ``runtime:``."""
    return FRICTION if start else (*FRICTION, f"{RUNTIME}:")


def complete_quantities(robot: Any, start: str) -> Iterable[str]:
    """Quantities; after one of a link or joint, the links or joints."""
    if start.endswith(":"):
        row = LINK_QUANTITIES.get(re.split("[=+]", start.rstrip(":"))[-1])
        return (moving_joints if row and row.subject == "joint" else links)(robot, start)
    names = [*QUANTITIES, *(f"{name}:" for name in LINK_QUANTITIES)]
    return names if start else [ALL, *names]


def _complete_formulations(robot: Any, start: str) -> Iterable[str]:
    """Quantities, and after one its formulations."""
    of = QUANTITIES.get(start.removesuffix("="))
    return (
        [formulation.name for formulation in of.formulations]
        if of
        else [f"{name}=" for name in QUANTITIES]
    )


@group
class FunctionOptions:
    """The options of functions: what is computed, and which of the robot's numbers are inputs."""

    SECTION: ClassVar[str] = "Functions"

    parameters: str = option(
        "--parameters",
        "KIND",
        "How the inertial parameters enter: constant (numbers in the code), runtime (inputs of the "
        "functions, ten for each body) or runtime:LINK[,LINK...] (inputs for these links only, "
        "such as a payload).",
        default="constant",
        names=_complete_parameters,
        separators=":,",
        applies_to=("inertia",),
        requests=lambda kind: kind != "constant",
    )
    external_wrench: tuple[str, ...] = option(
        "--external-wrench",
        "LINK[,LINK...]",
        "Add an external wrench on each of these links as an input of inverse and forward dynamics "
        "and their derivatives: force x y z, then moment x y z about the link's origin, in the "
        "link's axes.",
        NAMES.with_example('["LINK"]'),
        default=(),
        names=links,
        separators=",",
        applies_to=("wrench",),
        requests=bool,
    )
    thrusters: tuple[str, ...] = option(
        "--thruster",
        "LINK:AXIS[:RATIO]",
        "Add a thrust (N) on this link as an input of the functions that have external wrenches. "
        "It acts through the link's origin along AXIS (x, -x, y, -y, z, -z or X,Y,Z in link axes) "
        "with the moment RATIO (m) times the thrust about AXIS.",
        TEXTS.with_example('["rotor1:z:0.016"]'),
        default=(),
        names=links,
        separators=":",
        applies_to=("wrench",),
        requests=bool,
    )
    wrench_axes: str = option(
        "--wrench-axes",
        "AXES",
        "Axes in which --external-wrench is given: link or root. Derivatives hold the wrench "
        "constant in these axes. The moment is about the link's origin in both cases.",
        choice("link", "root"),
        rare=True,
        default="link",
    )
    friction: str = option(
        "--friction",
        "KINDS",
        "Add joint friction to inverse and forward dynamics, their derivatives and regressors. "
        f"KINDS is a list of {', '.join(FRICTION)} (see symgen docs friction). The "
        "coefficients are those of --actuators or, for viscous and coulomb, of the robot's file. "
        "runtime:KINDS makes them inputs. With --estimate, none leaves out the identified "
        "friction. sign(0) is 0.",
        default="",
        shown_default="none; with --estimate, all its laws",
        names=_complete_friction,
        separators=":,",
        applies_to=("friction",),
        requests=bool,
    )
    friction_width: float = option(
        "--friction-width",
        "W",
        "Smooth friction at rest: use tanh(qd / W) instead of sign(qd), with W in rad/s or m/s. 0 "
        "uses sign(qd).",
        NUMBER,
        rare=True,
        default=0.0,
        applies_to=("friction",),
        requests=bool,
    )
    friction_compensation: str = option(
        "--friction-compensation",
        "VELOCITY",
        "Velocity at which controllers compensate the friction of --friction: reference (the "
        "remaining friction is dissipative; controllers without a reference velocity compensate "
        "offsets only), measured (cancels the damping of the joints; may cause limit cycles if a "
        "coefficient is too large) or none. Observers and estimators always use the measured "
        "velocity.",
        choice(*COMPENSATION),
        rare=True,
        default=COMPENSATION[0],
    )
    springs: bool = option(
        "--springs",
        None,
        "Add the joint springs, stiffness (q - reference), of the robot's file or of --actuators "
        "to inverse and forward dynamics, their derivatives, potential energy and regressors.",
        FLAG,
        default=False,
        applies_to=("springs",),
        requests=bool,
    )
    runtime_springs: bool = option(
        "--runtime-springs",
        None,
        "Like --springs, with the stiffness and reference of every joint as inputs.",
        FLAG,
        rare=True,
        default=False,
        applies_to=("springs",),
        requests=bool,
    )
    fluid: bool = option(
        "--fluid",
        None,
        "Add the forces of the fluid around links: added mass, drag, buoyancy and current.",
        FLAG,
        default=False,
        applies_to=("inertia",),
        requests=bool,
    )
    quantities: tuple[str, ...] = option(
        "--quantity",
        "NAME",
        "Quantity to compute (see symgen list). NAME=A+B defines one function that computes A and "
        "B together; all selects every quantity of the robot. The default is "
        "inverse_dynamics, gravity, bias and mass_matrix.",
        TEXTS.with_example('["inverse_dynamics", "terms=bias+mass_matrix"]'),
        default=(),
        names=complete_quantities,
        separators="=+:",
    )
    controllers: tuple[str, ...] = option(
        "--controller",
        "NAME",
        "Generate a controller or an observer (see symgen docs controllers): a function and, in C, "
        "a struct with its state and a step function.",
        TEXTS.with_example('["momentum_observer"]'),
        default=(),
        names=tuple(CONTROLLERS),
    )
    formulations: tuple[tuple[str, str], ...] = option(
        "--formulation",
        "QUANTITY=NAME",
        "Formulation of a quantity (see symgen ops --all). The default is the cheapest one.",
        PAIRS.with_example('{ mass_matrix = "composite/minimal" }'),
        default=(),
        give="give QUANTITY=NAME, as in mass_matrix=composite/minimal",
        rare=True,
        names=_complete_formulations,
        separators="=",
    )
    optimize: str | None = option(
        "--optimize",
        "AIM",
        "Objective when choosing between formulations: operations (fewest operations, or cycles "
        "for a Cortex-M --target), latency (shortest time on a processor model; sums may be "
        "reordered) or size (smallest code, with loops in C). The default is latency, or "
        "operations for a Cortex-M --target.",
        choice(*OBJECTIVES),
        default=None,
    )

    def wanted(self) -> list[FunctionRequest]:
        """The requested functions, CORE by default. Raises OptionError."""
        texts = [
            x
            for text in self.quantities or DEFAULT_QUANTITIES
            for x in (QUANTITIES if text == ALL else [text])
        ]
        functions = [FunctionRequest.parse(text) for text in (*texts, *self._controllers(texts))]
        self._check_wrenches(functions)
        quantities = [q for function in functions for q in function.quantities]
        check_support(parse_runtime_names(self.friction)[1], quantities)
        names = [function.name for function in functions]
        twice = repeated(names)
        if twice is not None:
            raise OptionError(
                f"two functions have the name {cited(twice)}; give one of them another name"
            )
        return functions

    def _check_wrenches(self, functions: Collection[FunctionRequest]) -> None:
        """Raises OptionError for root axes without wrenches, and for a controller without an input
        for external wrenches."""
        if self.wrench_axes == "root" and not self.external_wrench:
            raise OptionError("--wrench-axes root has no effect without --external-wrench LINK")
        quantities = [q for function in functions for q in function.quantities]
        without_input = [
            q.name
            for q in quantities
            if q.name.partition(":")[0] in CONTROLLERS and not q.depends_on_external_forces
        ]
        flag = "--external-wrench" if self.external_wrench else "--thruster"
        if (self.external_wrench or self.thrusters) and without_input:
            raise OptionError(
                f"{flag}: {without_input[0]} has no input for external wrenches; remove one of them"
            )

    def _controllers(self, texts: Collection[str]) -> list[str]:
        """The controllers that are not among the quantities already. Raises OptionError."""
        for text in self.controllers:
            if text.partition(":")[0] not in CONTROLLERS:
                raise unknown_controller(text)
        return [text for text in self.controllers if text not in texts]

    def choice(self) -> dict[str, str]:
        """The formulation by quantity, where given. Raises OptionError."""
        for name, _ in self.formulations:
            if name not in QUANTITIES:
                raise unknown_quantity(name)
        twice = repeated(name for name, _ in self.formulations)
        if twice is not None:
            raise OptionError(f"--formulation {twice}: two values are given; keep one of them")
        return dict(self.formulations)

    def aim(self, machine: Processor) -> Objective:
        """The aim that formulations are chosen by, for code that is meant for a processor."""
        return Objective(self.optimize or ("latency" if machine is HOST else "operations"), machine)

    def friction_kinds(self, has_actuators: bool) -> tuple[bool, tuple[str, ...]]:
        """Whether the coefficients of joint friction are inputs, and its laws; `has_actuators` if
        an actuator file gives coefficients. Raises OptionError."""
        inputs, kinds = parse_runtime_names(self.friction)
        if self.friction == NO_FRICTION:
            return False, ()
        if any(name not in FRICTION for name in kinds) or len(set(kinds)) != len(kinds):
            raise OptionError(
                f"--friction {self.friction}: give a list of {', '.join(FRICTION)}; write "
                "runtime: before the list to make the coefficients inputs"
            )
        missing = [law for law in kinds if law not in ("viscous", "coulomb")]
        if missing and not inputs and not has_actuators:
            raise OptionError(
                f"--friction {missing[0]}: a robot file does not contain this coefficient; give it "
                f"in --actuators, or use runtime:{missing[0]} to make it an input"
            )
        return inputs, kinds

    def width(self, kinds: Collection[str]) -> float:
        """The width of the step of Coulomb friction, 0 for the sign. Raises OptionError."""
        width = self.friction_width
        if width and not MIN_FRICTION_WIDTH <= width <= 1 / MIN_FRICTION_WIDTH:
            raise OptionError(
                f"--friction-width {width:g}: give a velocity (rad/s or m/s) such as 0.01, "
                "or 0 for sign(qd)"
            )
        if width and not any(LAWS[law].has_width for law in kinds):
            laws = ", ".join(law for law in FRICTION if LAWS[law].has_width)
            raise OptionError(f"--friction-width: only {laws} have a width; add --friction coulomb")
        return width

    def _compensation(self, kinds: Collection[str]) -> str:
        """The velocity at which controllers compensate friction. Raises OptionError if no requested
        controller compensates friction."""
        chosen = self.friction_compensation
        flag = f"--friction-compensation {chosen}"
        if chosen != COMPENSATION[0] and not kinds:
            raise OptionError(f"{flag}: there is no friction to compensate; add --friction")
        names = {text.partition(":")[0] for text in (*self.controllers, *self.quantities)}
        if chosen != COMPENSATION[0] and not names & COMPENSATING:
            raise OptionError(
                f"{flag}: no requested controller compensates friction; the controllers that do "
                f"are {', '.join(sorted(COMPENSATING))}"
            )
        return chosen

    def runtime_links(self, model: RigidBodyModel) -> tuple[str, ...]:
        """The links whose inertial parameters are inputs. Raises OptionError."""
        inputs, names = parse_runtime_names(self.parameters)
        if self.parameters == "constant":
            return ()
        if self.parameters == RUNTIME:
            return tuple(body.name for body in model.moving)
        if not inputs or not names:
            raise OptionError(
                f"--parameters {cited(self.parameters)}: "
                "use constant, runtime or runtime:LINK[,LINK...]"
            )
        return known_links(model, names, "--parameters")

    def robot(
        self,
        model: RigidBodyModel,
        runtime_gravity: bool,
        has_actuators: bool,
        estimated: bool = False,
    ) -> ParametricModel:
        """The model with the inputs that these options request. An `estimated` model has all laws
        of joint forces of its file, unless ``--friction`` names others. Raises OptionError."""
        inputs, kinds = self.friction_kinds(has_actuators)
        springs = self.springs or self.runtime_springs
        if estimated and not self.friction:
            kinds = tuple(law for law in FRICTION if any(b.coefficient(law) for b in model.bodies))
            springs = springs or any(b.coefficient("stiffness") for b in model.bodies)
        missing = {
            f"--friction {self.friction}": inputs and not any(b.has_friction for b in model.bodies),
            "--runtime-springs": self.runtime_springs
            and not any(b.has_spring for b in model.bodies),
        }
        for flag in (flag for flag, is_missing in missing.items() if is_missing):
            raise OptionError(
                f"{flag}: no joint of this robot has a coordinate with this effect (a joint with "
                "several coordinates has one only if the file gives it friction or a spring); "
                "remove the option"
            )
        check_coefficients(model, kinds, inputs, self.friction_width)
        check_fluid(model, self.fluid, kinds)
        joints = [b.joint for b in model.bodies if is_nonzero(b.joint.stiffness) and b.in_body_axes]
        if springs and joints:
            raise OptionError(
                f"--springs: joint '{shown(joints[0].name)}' is a {joints[0].kind} joint, whose "
                "spring would not be linear in its coordinates; remove its stiffness"
            )
        return ParametricModel(
            model,
            runtime=self.runtime_links(model),
            runtime_gravity=runtime_gravity,
            wrenches=known_links(model, self.external_wrench, "--external-wrench"),
            friction=kinds,
            runtime_friction=inputs,
            friction_width=self.width(kinds),
            friction_compensation=self._compensation(kinds),
            springs=springs,
            runtime_springs=self.runtime_springs,
            root_axes=self.wrench_axes == "root",
            estimated=estimated,
            fluid=self.fluid,
            thrusters=parse_thrusters(model, self.thrusters),
        )
