"""The quantities symgen can compute: one row each, read by the compiler, the languages, the CLI and
the tests."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Final, TypeVar

from symgen.algorithms.requirements import Requirement, SystemPredicate, any_robot
from symgen.algorithms.titles import printable_name, quantity_for
from symgen.errors import OptionError, SymgenError
from symgen.mechanics.parameters import REGROUPINGS
from symgen.text import repeated, shown

Algorithm = Callable[..., Any]
"""Called with a System and the quantity's inputs; returns the entries of the output, row-major, as
a list, or a tuple of such lists where there are several outputs."""

Registered = TypeVar("Registered", bound=Algorithm)

Shape = tuple[str | int, ...]
"""Sizes of an array: numbers, or names of sizes that depend on the robot (``"n"``: coordinates)."""

BODIES: Final = "bodies"
"""Coordinates with an entry for each moving body, those of coupled joints and rotors among them."""
JOINTS: Final = "joints"
"""The independent coordinates, which the user of generated code has."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array that a generated function reads or writes, row-major.

    `layout` names an order for which every language gives a function of the indices."""

    name: str
    meaning: str
    unit: str
    shape: Shape = ("n",)
    layout: str = ""
    coordinates: str = BODIES
    """Coordinates in which algorithms take inputs of joints; those of forces are `JOINTS`."""

    def sizes(self, dimensions: Mapping[str, int]) -> tuple[int, ...]:
        """The sizes of the axes, by the named sizes of a robot's arrays."""
        return tuple(dimensions[d] if isinstance(d, str) else d for d in self.shape)


PACKED_PAIRS: Final = "packed pairs"
"""The layout of X_ijk = X_ikj: in each of n rows i the pairs j <= k in the order (0, 0) ... (0,
n-1), (1, 1) ..."""

INPUTS: Final[dict[str, Array]] = {
    row.name: row
    for row in (
        Array("q", "joint positions", "rad | m", ("nq",)),
        Array("q_end", "final joint positions", "rad | m", ("nq",)),
        Array("qd", "joint velocities", "rad/s | m/s"),
        Array("qdd", "joint accelerations", "rad/s^2 | m/s^2"),
        Array("qd_r", "reference velocities", "rad/s | m/s"),
        Array("qdd_r", "reference accelerations", "rad/s^2 | m/s^2"),
        Array("qddd", "joint jerks", "rad/s^3 | m/s^3"),
        Array("qdddd", "rates of the joint jerks", "rad/s^4 | m/s^4"),
        Array("ten", "inertial parameters, ten per body", "kg, kg m, kg m^2", ("ten",)),
        Array("tau", "joint forces", "N m | N", coordinates=JOINTS),
        Array("dq", "change of joint positions", "rad | m"),
        Array("dqd", "change of joint velocities", "rad/s | m/s"),
        Array("dqdd", "change of joint accelerations", "rad/s^2 | m/s^2"),
        Array("dtau", "change of joint forces", "N m | N", coordinates=JOINTS),
        Array("lam_tau", "weights of the joint forces, one per velocity", "1"),
        Array("lam_qdd", "weights of the joint accelerations", "1", coordinates=JOINTS),
        Array("h", "time step", "s", (1,)),
        Array("q_ref", "reference joint positions", "rad | m", ("nq",)),
        Array("qd_ref", "reference joint velocities", "rad/s | m/s"),
        Array("qdd_ref", "reference joint accelerations", "rad/s^2 | m/s^2"),
        Array("qddd_ref", "reference joint jerks", "rad/s^3 | m/s^3"),
        Array("qdddd_ref", "rates of the reference joint jerks", "rad/s^4 | m/s^4"),
        Array("p_ref", "reference position of a link's origin", "m", (3,)),
        Array("quat_ref", "reference orientation of a link, unit quaternion x, y, z, w", "1", (4,)),
        Array("task_weight", "weights of a link's linear and angular errors, root axes", "1", (6,)),
        Array("null_gain", "part of the way to q_ref per step in the null space", "1", (1,)),
        Array("q_min", "least joint positions", "rad | m", ("nq",)),
        Array("q_max", "largest joint positions", "rad | m", ("nq",)),
        Array("k_x", "stiffness of a link, along and about root axes", "N/m, N m/rad", (6,)),
        Array("d_x", "damping of a link, along and about root axes", "N s/m, N m s/rad", (6,)),
        Array("started", "0 at the first step, then 1", "1", (1,)),
        Array("e_int", "integral of position errors", "rad s | m s"),
        Array("p_last", "momentum at the last step", "N m s | N s"),
        Array("r", "residual", "N m | N"),
        Array("beta_hat", "estimate of base parameters", "kg | kg m | kg m^2", ("y_b",)),
        Array("P", "covariance of beta as U D U^T, packed", "(beta / tau)^2", ("y_b2",)),
        Array("k_p", "gain of position errors", "1/s^2, N m/rad | N/m, 1/s, 1/s^4"),
        Array("k_d", "gain of velocity errors", "1/s, N m s/rad | N s/m, 1/s^3"),
        Array("k_a", "gain of acceleration errors", "1/s^2"),
        Array("k_j", "gain of jerk errors", "1/s"),
        Array("k_i", "gain of the integral", "1/s^3"),
        Array("gain", "gain of the observer, 1 / time constant", "1/s"),
        Array("gamma", "adaptation gain of each parameter", "beta^2 / tau", ("y_b",)),
        Array("leak", "rate of the return to beta_mean", "1/s", (1,)),
        Array("beta_mean", "centre of the bounds", "kg | kg m | kg m^2", ("y_b",)),
        Array("beta_reach", "half width of the bounds", "kg | kg m | kg m^2", ("y_b",)),
        Array("forget", "forgetting factor, above 0, at most 1", "1", (1,)),
        Array("limit", "largest absolute joint forces", "N m | N"),
        Array("joint_stiffness", "stiffness of joints", "N m/rad | N/m", coordinates=JOINTS),
        Array("motor_inertia", "inertia of motors at joints", "kg m^2 | kg", coordinates=JOINTS),
        Array("spring_damping", "damping of springs", "N m s/rad | N s/m", coordinates=JOINTS),
        Array("delta", "deflections of springs, motor minus link", "rad | m", coordinates=JOINTS),
        Array("deltad", "rates of the deflections", "rad/s | m/s", coordinates=JOINTS),
        Array("q_m", "motor positions", "rad | m", coordinates=JOINTS),
        Array("qd_m", "motor velocities", "rad/s | m/s", coordinates=JOINTS),
        Array("tau_m", "motor torques at joints", "N m | N", coordinates=JOINTS),
        Array("damping", "damping of the inverse inertia of a task, 0: none", "1/sqrt(kg)", (1,)),
        Array("presliding", "states of presliding friction, -1 to 1", "1"),
        Array("wrench", "external wrenches, six entries per link", "N, N m", ("wrench",)),
        Array("thrust", "thrusts along the axes of the thrusters", "N", ("thrust",)),
        Array(
            "friction",
            "coefficients of joint friction",
            "N m s/rad | N s/m, N m | N",
            ("friction",),
        ),
        Array(
            "springs",
            "stiffness and reference of joint springs",
            "N m/rad | N/m, rad | m",
            ("springs",),
        ),
        Array("g", "gravitational acceleration in the root link's axes", "m/s^2", (3,)),
        Array("par", "regrouped inertial parameters", "kg, kg m, kg m^2", ("par",)),
        Array("pi", "inertial parameters, ten per link", "kg, kg m, kg m^2", ("pi",)),
    )
}
"""Every input, in argument order. The last eight come by options, not by quantity."""

FRICTION_COLUMNS: Final = frozenset({"y", "y_b", "y_b2"})
SPRING_COLUMNS: Final = FRICTION_COLUMNS | {"y_v"}
"""Sizes that count columns of friction and of springs besides those of inertial parameters."""

EXTERNAL_SIZES: Final = frozenset({"wrench", "thrust"})
"""Sizes that count external inputs; outputs with them exist only for robots with such inputs."""


@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to compute a quantity: an algorithm on a choice of regrouped parameters, and the
    robots it is for."""

    name: str
    regrouping: str
    algorithm: Algorithm
    source: str
    applicable: Requirement = any_robot
    competitive: SystemPredicate = any_robot
    """For which of these robots it can be the cheapest; for the others it is used by name only."""
    auto_selected: bool = True
    """Whether it is considered where the regrouping is free; the others are used with runtime
    parameters, which all functions share, and by name."""
    coordinates: str = BODIES
    """Coordinates in which the algorithm takes motions and returns outputs. Where M is inverted,
    outputs are always those of `JOINTS`."""
    closed_loops: bool = False
    """Whether it is right for robots with closed loops, whose coupling depends on the state."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity: its inputs in argument order, its outputs and its formulations."""

    name: str
    formula: str
    inputs: tuple[str, ...]
    outputs: tuple[Array, ...]
    needs_gravity: bool
    formulations: tuple[Formulation, ...]
    needs_inertia: bool = True
    depends_on_external_forces: bool = False
    """Whether external wrenches, joint friction and springs are in it: in all that is the joint
    forces or the accelerations they cause, and in every derivative and rate of these. Wrenches
    count as constant in the axes that they are given in, their links' or the root's."""
    wrenches_only: bool = False
    """Whether it contains external wrenches, but no joint friction and springs."""
    depends_on_springs: bool = False
    """Whether springs are in it: in what feels wrenches, and in potential energy."""
    needs_inverse: bool = False
    needs_mass: bool = False
    supports: frozenset[str] = frozenset()
    """What joint friction may depend on besides position and rate: fields of
    `symgen.mechanics.joint_forces.JointState`."""
    loops: tuple[str, ...] = ()
    """The quantities that its C calls in loops, by the template of its name (``c/loops``)."""
    link: str = ""
    """The link or joint that it belongs to, if it is one of `LINK_QUANTITIES`."""
    group: str = ""
    """The method of its first formulation: its place in lists (`symgen.algorithms.titles`)."""
    subject: str = ""
    """What a row of `LINK_QUANTITIES` belongs to: ``link`` or ``joint``."""

    @property
    def passive(self) -> tuple[str, ...]:
        """Which forces of joints it contains: ``friction``, ``springs``."""
        has_friction = self.depends_on_external_forces and not self.wrenches_only
        friction = ("friction",) if has_friction else ()
        return (*friction, "springs") if self.depends_on_springs else friction

    @property
    def tags(self) -> frozenset[str]:
        """What options can change about it: ``inertia``, ``wrench``, ``friction`` and ``springs``,
        each where it is contained, or has columns in a regressor."""
        dimensions = {size for array in self.outputs for size in array.shape}
        parts = {
            "inertia": self.needs_inertia,
            "wrench": self.depends_on_external_forces,
            "friction": "friction" in self.passive or dimensions & FRICTION_COLUMNS,
            "springs": "springs" in self.passive or dimensions & SPRING_COLUMNS,
        }
        return frozenset(name for name, contained in parts.items() if contained)

    def of(self, link: str) -> "Quantity":
        """The quantity for a link or joint, whose name is appended to those of the outputs."""
        suffix = re.sub(r"\W", "_", link, flags=re.ASCII)
        formulations = tuple(
            replace(formulation, algorithm=partial(formulation.algorithm, **{self.subject: link}))
            for formulation in self.formulations
        )
        outputs = tuple(replace(out, name=f"{out.name}_{suffix}") for out in self.outputs)
        return replace(
            self,
            name=f"{self.name}:{link}",
            formula=self.formula.replace(
                f"a {self.subject}", f"{self.subject} {printable_name(link)}"
            ),
            formulations=formulations,
            outputs=outputs,
            link=link,
        )


QUANTITIES: Final[dict[str, Quantity]] = {}
LINK_QUANTITIES: Final[dict[str, Quantity]] = {}
"""The quantities of a named link or joint, as in ``frame_pose:tool0``; their algorithms take its
name as the keyword argument `Quantity.subject`."""


def unknown_quantity(name: str) -> OptionError:
    """The error for a name that no quantity has, with the one that it means or those near it."""
    known = quantity_for(name)
    if known is not None:
        return OptionError(
            f"no quantity is called '{shown(name)}'; use {known}, or see symgen list for all"
        )
    near = difflib.get_close_matches(name, [*QUANTITIES, *LINK_QUANTITIES], 3, 0.4)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return OptionError(f"no quantity is called '{shown(name)}'; {hint}symgen list shows them all")


class RegistryError(SymgenError):
    """A quantity that cannot be registered."""


def _check_arrays(row: Quantity) -> None:
    """Raise RegistryError for an input that is not one of `INPUTS`, and for an output that has the
    name of another array with another meaning."""
    start = f"error: quantity '{row.name}': "
    unknown = [name for name in row.inputs if name not in INPUTS]
    if unknown:
        raise RegistryError(f"{start}no input is called '{unknown[0]}'; add a row to INPUTS")
    twice = repeated(out.name for out in row.outputs)
    for known in (*QUANTITIES.values(), *LINK_QUANTITIES.values(), row):
        for out, other in product(row.outputs, known.outputs):
            if out.name == other.name and out != other:
                raise RegistryError(
                    f"{start}the quantity '{known.name}' has an output '{out.name}' with another "
                    "meaning; rename one of the two outputs"
                )
    if twice is not None:
        raise RegistryError(f"{start}two outputs are called '{twice}'; rename one of them")


def quantity(
    name: str,
    formula: str,
    *,
    inputs: Sequence[str],
    outputs: Sequence[Array],
    source: str,
    needs_gravity: bool = True,
    needs_inertia: bool = True,
    subject: str = "",
    depends_on_external_forces: bool = False,
    wrenches_only: bool = False,
    depends_on_springs: bool = False,
    needs_inverse: bool = False,
    needs_mass: bool = False,
    coordinates: str = BODIES,
    supports: Sequence[str] = ("presliding",),
    loops: Sequence[str] = (),
    regroupings: Sequence[str] = tuple(REGROUPINGS),
    applicable: Requirement = any_robot,
    competitive: SystemPredicate = any_robot,
    only_minimal_competitive: bool = False,
    closed_loops: bool = False,
    method: str = "",
    variant: str | None = None,
) -> Callable[[Registered], Registered]:
    """Register the decorated algorithm as a way to compute `name`, on each of `regroupings`.

    A second algorithm registered for one name is one more formulation of it. The arguments are
    those of `Quantity` and of `formulation_of`. Raises RegistryError."""
    row = Quantity(
        name,
        formula,
        tuple(inputs),
        tuple(outputs),
        needs_gravity,
        (),
        needs_inertia,
        depends_on_external_forces,
        wrenches_only,
        depends_on_springs or (depends_on_external_forces and not wrenches_only),
        needs_inverse,
        needs_mass,
        frozenset(supports),
        tuple(loops),
        subject=subject,
    )
    return formulation_of(
        row,
        source=source,
        applicable=applicable,
        competitive=competitive,
        only_minimal_competitive=only_minimal_competitive,
        coordinates=coordinates,
        closed_loops=closed_loops,
        regroupings=regroupings,
        method=method,
        variant=variant,
    )


def formulation_of(
    quantity: Quantity | str,
    *,
    source: str,
    applicable: Requirement = any_robot,
    competitive: SystemPredicate = any_robot,
    only_minimal_competitive: bool = False,
    coordinates: str = BODIES,
    closed_loops: bool = False,
    regroupings: Sequence[str] = ("minimal",),
    method: str = "",
    variant: str | None = None,
) -> Callable[[Registered], Registered]:
    """Register the decorated algorithm as one more formulation of a quantity, or of the registered
    one of that name, on each of `regroupings`.

    It is used for robots that meet `applicable`, and considered without being named for those of
    them that are `competitive`. With `only_minimal_competitive`, no robot was found that is cheaper
    on another regrouping. `coordinates` are those in which the algorithm takes positions,
    velocities and accelerations, and returns its outputs: `BODIES` (results are projected
    afterwards) or `JOINTS`. `closed_loops` tells that it is right for robots with closed loops: it
    reads rates, accelerations and projections from the coupling, and takes no derivative. It is
    called after its `method`, by default its module, and its `variant`, by default what its name
    adds to that of the quantity. Raises RegistryError for unknown coordinates."""
    name = quantity if isinstance(quantity, str) else quantity.name
    row = {**QUANTITIES, **LINK_QUANTITIES}[name] if isinstance(quantity, str) else quantity
    rows = LINK_QUANTITIES if row.subject else QUANTITIES
    _check_arrays(row)
    if coordinates not in (BODIES, JOINTS):
        raise RegistryError(
            f"error: quantity '{name}': coordinates must be '{BODIES}' or '{JOINTS}', not "
            f"'{coordinates}'"
        )

    def register(algorithm: Registered) -> Registered:
        group = method or algorithm.__module__.rsplit(".", 1)[-1]
        _, _, own = getattr(algorithm, "__name__", "").partition(name.replace(":", "_"))
        title = group + (own if variant is None else variant)
        added = tuple(
            Formulation(
                f"{title}/{regrouping}",
                regrouping,
                algorithm,
                source,
                applicable,
                competitive,
                not only_minimal_competitive or regrouping == "minimal",
                coordinates,
                closed_loops,
            )
            for regrouping in regroupings
        )
        before = rows.get(name, replace(row, group=group))
        formulations = before.formulations + added
        rows[name] = replace(row, group=before.group, formulations=formulations)
        return algorithm

    return register
