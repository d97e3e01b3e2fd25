"""Controllers and observers as functions: measurement, references, gains and state go in, joint
forces and the state after a time h come out.

A state is zero at the start (`started` says so where a first measurement is kept), and whoever
calls keeps it: C has a struct and a step for each (`symgen.languages.c.controller_code`). Errors of
position are q_ref ⊖ q (`steps.difference`), so that floating and ball joints are no exception.
Joint forces stay within `limit`, which must be finite; nothing branches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from types import MappingProxyType
from typing import Final

from symgen.algorithms.manifold import bracket, transported
from symgen.algorithms.newton_euler import check_own_coordinates, joint_loads, reference_dynamics
from symgen.algorithms.registry import JOINTS, Array, Registered, quantity
from symgen.algorithms.steps import difference
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import Coupling
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, sum_in_order
from symgen.text import shown

TwoVectors = tuple[list[Scalar], list[Scalar]]

COMMAND = ("joint forces to apply", "N m | N")


@dataclass(frozen=True, slots=True)
class ControllerType:
    """A controller as its caller sees it: what is kept between steps, each state, an input, and the
    output that follows it. What else is read is a `measured` or wanted value that changes with
    every step, or a gain."""

    name: str
    summary: str
    step: tuple[str, ...]
    """The inputs that change with every step, but the sample time."""
    gains: Mapping[str, tuple[float, ...]]
    """The other inputs, with the values of the recorded closed loop: one for all, or each."""
    state: Mapping[str, str] = field(default_factory=dict)
    start: Mapping[str, str | float] = field(default_factory=dict)
    """States that do not start at zero: as a gain is, or a number, which is that of the diagonal
    where the state is among `packed`."""
    packed: tuple[str, ...] = ()
    """States of which a triangle is kept, row by row."""
    by_inertia: tuple[str, ...] = ()
    """Gains of which the closed loop has so many times the inertia of each joint."""
    forces: str = ""
    """The output that drives the robot; empty of an observer, which only looks on."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of the inputs whose unit depends on the controller."""

    @property
    def is_elastic(self) -> bool:
        """Whether it drives motors behind springs, whose deflections are measured."""
        return "delta" in self.step

    def initial_values(self, state: str, size: int) -> list[float]:
        """The numbers of a state of that size at the start, where it is none that a gain tells."""
        start = self.start.get(state, 0.0)
        assert not isinstance(start, str), "a gain tells"
        filled = diagonal_indices(size) if state in self.packed else range(size)
        return [start if k in filled else 0.0 for k in range(size)]


def diagonal_indices(size: int) -> list[int]:
    """Where the diagonal is in a triangle of that many entries, row by row."""
    return [i * (i + 3) // 2 for i in range(round((2 * size) ** 0.5 - 0.5))]


@dataclass(frozen=True, slots=True)
class ValidRange:
    """The values that an input of a controller may have, finite ones: from `low` (not itself where
    it is `excluded`) to `high`."""

    description: str
    low: float = 0.0
    high: float = inf
    excluded: bool = False

    def contains(self, x: float) -> bool:
        """Whether x is one of them; NaN is not."""
        return isfinite(x) and (self.low < x if self.excluded else self.low <= x) and x <= self.high


NOT_NEGATIVE: Final = ValidRange("finite and not negative")
VALID_RANGES: Final = {
    "h": ValidRange("finite and positive", excluded=True),
    "forget": ValidRange("above 0 and at most 1", high=1.0, excluded=True),
    "joint_stiffness": ValidRange("finite and positive", excluded=True),
    **dict.fromkeys(("limit", "gain", "k_x", "d_x", "k_p", "k_d", "k_i", "damping"), NOT_NEGATIVE),
    **dict.fromkeys(("gamma", "leak", "beta_reach", "k_a", "k_j", "motor_inertia"), NOT_NEGATIVE),
}
"""The inputs that a step refuses outside their ranges: a negative limit or gain would turn the sign
of a force."""
UNIT_TOLERANCE: Final = 0.01
"""The largest difference of the square of a quaternion's length from 1 that a step accepts: half a
per cent of length, which scales the moment of an orientation error as much."""
QUATERNION_INPUTS: Final = ("q", "q_ref", "quat_ref")
"""The inputs that may contain quaternions."""


def quaternions_in(name: str, coupling: Coupling) -> list[slice]:
    """Where an input of a controller has quaternions."""
    if name == "quat_ref":
        return [slice(0, 4)]
    return coupling.quaternions if name in QUATERNION_INPUTS else []


CONTROLLERS: Final[dict[str, ControllerType]] = {}
"""By name of the quantity, which is the controller's."""

STIFFNESS_UNITS: Final = MappingProxyType({"k_p": "N m/rad | N/m", "k_d": "N m s/rad | N s/m"})
"""Units of gains that act as the stiffness and the damping of joints."""


def input_units(quantity_name: str) -> Mapping[str, str]:
    """Units of the inputs of a quantity whose unit depends on the controller; empty for a quantity
    that is no controller."""
    row = CONTROLLERS.get(quantity_name.partition(":")[0])
    return row.units if row else {}


def controller(row: ControllerType, formula: str) -> partial[Callable[[Registered], Registered]]:
    """Add a row of `CONTROLLERS`; returns `quantity` with its name and formula given."""
    CONTROLLERS[row.name] = row
    return partial(quantity, row.name, formula, coordinates=JOINTS)


def unknown_controller(name: str) -> OptionError:
    """The error for a name that no controller has."""
    return OptionError(
        f"no controller is called '{shown(name)}'; there are {', '.join(CONTROLLERS)}"
    )


# -- parts -----------------------------------------------------------------------------------------


def _is_within(x: Scalar, limit: Scalar) -> Scalar:
    """1 where |x| < limit, 0 where it is more."""
    return 0.5 + 0.5 * sign(limit - x * sign(x))


def clamped(x: Scalar, limit: Scalar) -> Scalar:
    """x, within ±limit."""
    inside = _is_within(x, limit)
    return inside * x + (1.0 - inside) * (sign(x) * limit)


def saturated(tau: Coordinates, limit: Coordinates) -> list[Scalar]:
    """Forces within ±limit."""
    return [clamped(x, bound) for x, bound in zip(tau, limit, strict=True)]


def difference_of(a: Coordinates, b: Coordinates) -> list[Scalar]:
    """a - b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def sum_of(*parts: Coordinates) -> list[Scalar]:
    """The sum of all."""
    return [sum_in_order(row[1:], row[0]) for row in zip(*parts, strict=True)]


def scaled_by(gains: Coordinates, x: Coordinates) -> list[Scalar]:
    """Each by its gain."""
    return [k * e for k, e in zip(gains, x, strict=True)]


def state_of_bodies(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qd_r: Coordinates | None = None,
    qdd_r: Coordinates = (),
) -> tuple[CanonicalModel, Coordinates, Coordinates, Coordinates, Coordinates]:
    """The system at a state, and positions and rates of the bodies' joints there, with the rates
    and accelerations of a reference (the same rates and none by default)."""
    system, positions, rates = system.at_state(q, qd, qd_r)
    reference_rates = rates if qd_r is None else system.coupling.body_rates(qd_r)
    reference_accelerations = system.coupling.body_accelerations(qdd_r) if qdd_r else ()
    return system, positions, rates, reference_rates, reference_accelerations


def friction_rates(
    system: CanonicalModel, measured: Coordinates, reference: Coordinates
) -> Coordinates | None:
    """The joint rates at which a controller compensates friction; None where it does not.

    Friction f(q̇) is monotone in the rate, so that compensation at the reference leaves
    f(q̇) - f(q̇_ref), which opposes the rate error whatever the coefficients; compensation at the
    measured rate takes the physical damping away, and more of it than there is where a coefficient
    is too large (Olsson et al., Friction models and friction compensation, Eur. J. Control
    1998)."""
    at = {"measured": measured, "reference": reference, "none": None}
    return at[system.friction_compensation]


def passive_forces(
    system: CanonicalModel, q: Coordinates, rates: Coordinates | None, loads: Coordinates
) -> list[Scalar]:
    """The forces of springs and, at these joint rates and loads, of friction; no friction for
    None."""
    return [
        system.body(i).passive.spring(x)
        + (ZERO if rates is None else system.body(i).passive.friction(rates[i - 1], loads[i - 1]))
        for i, x in enumerate(q, 1)
    ]


def model_forces(
    system: CanonicalModel,
    positions: Coordinates,
    velocities: tuple[Coordinates, Coordinates],
    accelerations: Coordinates,
    friction_at: Coordinates | None,
) -> list[Scalar]:
    """The joint forces of the module's model, M q̈ + C(q, q̇) q̇_r + g, springs and external
    wrenches included, with friction at the rates `friction_at`. All arguments are those of the
    bodies, `velocities` are q̇ and q̇_r; the result is the user's."""
    qd, qd_r = velocities
    inertial = reference_dynamics(
        system, positions, qd, accelerations, None if qd_r is qd else qd_r
    )
    check_own_coordinates(system)
    loads = joint_loads(system, inertial)
    return system.coupling.forces(
        sum_of(inertial, passive_forces(system, positions, friction_at, loads))
    )


def reference_motion(
    system: CanonicalModel, measured: Sequence[Coordinates], reference: Sequence[Coordinates]
) -> tuple[list[Scalar], list[Scalar]]:
    """Velocity and acceleration of a reference in the axes of the bodies where they are.

    `measured` are q and q̇, `reference` q_ref, q̇_ref and q̈_ref. Twists are transported, v_r = Ad
    v_ref by the transform from the reference's axes to the body's, whose own rate adds the bracket:
    v̇_r = Ad v̇_ref + [v_r, v] (Bullo & Murray, Tracking for fully actuated mechanical systems: a
    geometric framework, Automatica 1999). Rates of coordinates stay as they are."""
    (q, qd), (q_ref, qd_ref, qdd_ref), coupling = measured, reference, system.coupling
    velocity = transported(coupling, q, q_ref, qd_ref)
    change = transported(coupling, q, q_ref, qdd_ref)
    return velocity, sum_of(change, bracket(coupling, velocity, qd))


# -- controllers -----------------------------------------------------------------------------------


@controller(
    ControllerType(
        "gravity_compensation",
        "gravity compensation with damping",
        step=("q", "qd"),
        gains={"k_d": (2.0,), "limit": (500.0,)},
        by_inertia=("k_d",),
        forces="u_gravity",
        units=STIFFNESS_UNITS,
    ),
    "g(q) - k_d qd within limit",
)(
    closed_loops=True,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    inputs=("q", "qd", "k_d", "limit"),
    source="Siciliano et al., Robotics (2009), section 8.5.1",
    outputs=(Array("u_gravity", *COMMAND),),
)
def gravity_compensation(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, k_d: Coordinates, limit: Coordinates
) -> list[Scalar]:
    """g(q) - k_d q̇ with the springs' forces, shape n, within ±limit; the reference is at rest."""
    system, at, rates = system.at_state(q, qd)
    zeros = [ZERO] * system.size
    friction_at = friction_rates(system, rates, zeros)
    holding = model_forces(system, at, (zeros, zeros), zeros, friction_at)
    return saturated(difference_of(holding, scaled_by(k_d, qd)), limit)


@controller(
    ControllerType(
        "computed_torque",
        "computed torque: follows a reference motion",
        state={"e_int": "e_int_next"},
        step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
        gains={"k_p": (400.0,), "k_d": (40.0,), "k_i": (100.0,), "limit": (500.0,)},
        forces="u_computed",
        units={"k_p": "1/s^2", "k_d": "1/s"},
    ),
    "u_computed = M (qdd_ref + k_d de + k_p e + k_i int e) + C qd + g within limit",
)(
    closed_loops=True,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    inputs=(
        *("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
        *("e_int", "k_p", "k_d", "k_i", "limit", "h"),
    ),
    source="Siciliano et al., Robotics (2009), section 8.5.2",
    outputs=(
        Array("u_computed", *COMMAND),
        Array("e_int_next", "integral of the errors after the step", "rad s | m s"),
    ),
)
def computed_torque(system: CanonicalModel, *inputs: Coordinates) -> TwoVectors:
    """τ = M (q̈_r + k_d (q̇_r - q̇) + k_p e + k_i ∫e) + C q̇ + g within ±limit, and ∫e after the
    step; the integral of a joint stands still while its force is at the limit. q̇_r and q̈_r are
    those of `reference_motion`."""
    q, qd, q_ref, qd_ref, qdd_ref, e_int, k_p, k_d, k_i, limit, (h,) = inputs
    e = difference(system, q, q_ref)
    qd_r, qdd_r = reference_motion(system, (q, qd), (q_ref, qd_ref, qdd_ref))
    de = difference_of(qd_r, qd)
    total = [x + h * y for x, y in zip(e_int, e, strict=True)]
    desired = sum_of(qdd_r, scaled_by(k_d, de), scaled_by(k_p, e), scaled_by(k_i, total))
    system, at, rates = system.at_state(q, qd)
    reference = system.coupling.body_rates(qd_r)
    accelerations = system.coupling.body_accelerations(desired)
    friction_at = friction_rates(system, rates, reference)
    tau = model_forces(system, at, (rates, rates), accelerations, friction_at)
    unsaturated = [_is_within(x, bound) for x, bound in zip(tau, limit, strict=True)]
    e_int_next = [x + h * (k * y) for x, k, y in zip(e_int, unsaturated, e, strict=True)]
    return saturated(tau, limit), e_int_next


@controller(
    ControllerType(
        "joint_impedance",
        "joint impedance: springs and dampers about a reference motion",
        step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
        gains={"k_p": (100.0,), "k_d": (20.0,), "limit": (500.0,)},
        by_inertia=("k_p", "k_d"),
        forces="u_impedance",
        units=STIFFNESS_UNITS,
    ),
    "M qdd_ref + C qd_ref + g + k_p e + k_d de within limit",
)(
    closed_loops=True,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    inputs=("q", "qd", "q_ref", "qd_ref", "qdd_ref", "k_p", "k_d", "limit"),
    source="Hogan, Impedance control, J. Dyn. Sys. Meas. Control 1985; natural inertia, C(q, qd) "
    "qd_ref as in Paden & Panja, Int. J. Control 1988",
    outputs=(Array("u_impedance", *COMMAND),),
)
def joint_impedance(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """τ = M q̈_r + C(q, q̇) q̇_r + g + k_p e + k_d (q̇_r - q̇), shape n, within ±limit; q̇_r and
    q̈_r are those of `reference_motion`. Since Ṁ - 2 C is skew-symmetric, the loop is passive from
    external forces to the velocity error."""
    q, qd, q_ref, qd_ref, qdd_ref, k_p, k_d, limit = inputs
    qd_r, qdd_r = reference_motion(system, (q, qd), (q_ref, qd_ref, qdd_ref))
    e, de = difference(system, q, q_ref), difference_of(qd_r, qd)
    system, at, rates, reference, accelerations = state_of_bodies(system, q, qd, qd_r, qdd_r)
    friction_at = friction_rates(system, rates, reference)
    feedforward = model_forces(system, at, (rates, reference), accelerations, friction_at)
    return saturated(sum_of(feedforward, scaled_by(k_p, e), scaled_by(k_d, de)), limit)
