"""Controllers and observers as functions: measurement, references, gains and state go in, joint
forces and the state after a time h come out.

A state is zero at the start (`started` says so where a first measurement is kept), and whoever
calls keeps it: C has a struct and a step for each (`symgen.languages.c.controllers`). Errors of
position are q_ref ⊖ q (`steps.difference`), so that floating and ball joints are no exception.
Joint forces stay within `limit`, which must be finite; nothing branches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.factors import coupled_mass_matrix
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import Array, Registered, quantity
from symgen.algorithms.steps import difference
from symgen.errors import OptionError
from symgen.mechanics.system import System
from symgen.numbers.operations import sign
from symgen.numbers.scalar import ZERO, Scalar
from symgen.text import shown

Coordinates = Sequence[Scalar]
Pair = tuple[list[Scalar], list[Scalar]]

COMMAND = ("joint forces to apply", "N m | N")


@dataclass(frozen=True, slots=True)
class ControllerType:
    """A controller as its caller sees it: what is kept between steps, each state, an input, and the
    output that follows it. What else is read is a `measured` or wanted value that changes with
    every step, or a gain."""

    name: str
    summary: str
    state: Mapping[str, str]
    step: tuple[str, ...]
    """The inputs that change with every step, but the sample time."""
    gains: Mapping[str, tuple[float, ...]]
    """The other inputs, with the values of the recorded closed loop: one for all, or each."""
    start: Mapping[str, str | float] = field(default_factory=dict)
    """States that do not start at zero: as a gain is, or a number, which is that of the diagonal
    where the state is among `packed`."""
    packed: tuple[str, ...] = ()
    """States of which a triangle is kept, row by row."""
    by_inertia: tuple[str, ...] = ()
    """Gains of which the closed loop has so many times the inertia of each joint."""
    forces: str = ""
    """The output that drives the robot; empty of an observer, which only looks on."""
    loops: str = ""
    """The quantity whose output it goes through in loops where a language has these (in C by the
    template of its name); empty where all is straight lines."""

    def beginning(self, state: str, size: int) -> list[float]:
        """The numbers of a state of that size at the start, where it is none that a gain tells."""
        how = self.start.get(state, 0.0)
        assert not isinstance(how, str), "a gain tells"
        filled = diagonal(size) if state in self.packed else range(size)
        return [how if k in filled else 0.0 for k in range(size)]


def diagonal(size: int) -> list[int]:
    """Where the diagonal is in a triangle of that many entries, row by row."""
    return [i * (i + 3) // 2 for i in range(round((2 * size) ** 0.5 - 0.5))]


CONTROLLERS: Final[dict[str, ControllerType]] = {}
"""By name of the quantity, which is the controller's."""


def controller(
    name: str,
    summary: str,
    formula: str,
    *,
    step: Sequence[str],
    gains: Mapping[str, float | tuple[float, ...]],
    state: Mapping[str, str] | None = None,
    start: Mapping[str, str | float] | None = None,
    packed: Sequence[str] = (),
    by_inertia: Sequence[str] = (),
    forces: str = "",
    loops: str = "",
) -> partial[Callable[[Registered], Registered]]:
    """A row of `CONTROLLERS` and of quantities, whose remaining facts are still to be told."""
    by_name = {k: x if isinstance(x, tuple) else (x,) for k, x in gains.items()}
    states, starts = state or {}, start or {}
    row = ControllerType(
        name,
        summary,
        states,
        tuple(step),
        by_name,
        starts,
        tuple(packed),
        tuple(by_inertia),
        forces,
        loops,
    )
    CONTROLLERS[name] = row
    return partial(quantity, name, formula, of_user=True)


def unknown_controller(name: str) -> OptionError:
    """The error for a name that no controller has."""
    return OptionError(
        f"no controller is called '{shown(name)}'; there are {', '.join(CONTROLLERS)}"
    )


# -- parts -----------------------------------------------------------------------------------------


def _inside(x: Scalar, limit: Scalar) -> Scalar:
    """1 where |x| < limit, 0 where it is more."""
    return 0.5 + 0.5 * sign(limit - x * sign(x))


def clamped(x: Scalar, limit: Scalar) -> Scalar:
    """x, within ±limit."""
    inside = _inside(x, limit)
    return inside * x + (1.0 - inside) * (sign(x) * limit)


def saturated(tau: Coordinates, limit: Coordinates) -> list[Scalar]:
    """Forces within ±limit."""
    return [clamped(x, most) for x, most in zip(tau, limit, strict=True)]


def minus(a: Coordinates, b: Coordinates) -> list[Scalar]:
    """a - b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def plus(*parts: Coordinates) -> list[Scalar]:
    """The sum of all."""
    return [sum(row[1:], row[0]) for row in zip(*parts, strict=True)]


def by(gains: Coordinates, x: Coordinates) -> list[Scalar]:
    """Each by its gain."""
    return [k * e for k, e in zip(gains, x, strict=True)]


def joints(system: System, *at: Coordinates) -> list[Coordinates]:
    """Positions, then rates, of the bodies' joints."""
    q, *rates = at
    return [system.coupling.places(q), *(system.coupling.rates(x) for x in rates)]


def _forces(system: System, tau: Coordinates) -> list[Scalar]:
    return system.coupling.forces(tau)


# -- controllers -----------------------------------------------------------------------------------


@controller(
    "gravity_compensation",
    "holds the robot against gravity, and brakes it",
    "g(q) - k_d qd within limit",
    step=("q", "qd"),
    gains={"k_d": 2.0, "limit": 500.0},
    by_inertia=("k_d",),
    forces="u_gravity",
)(
    inputs=("q", "qd", "k_d", "limit"),
    source="Siciliano et al., Robotics (2009), section 8.5.1",
    outputs=(Array("u_gravity", *COMMAND),),
)
def gravity_compensation(
    system: System, q: Coordinates, qd: Coordinates, k_d: Coordinates, limit: Coordinates
) -> list[Scalar]:
    """g(q) - k_d q̇, shape n, within ±limit."""
    held = _forces(system, gravity(system, *joints(system, q)))
    return saturated(minus(held, by(k_d, qd)), limit)


@controller(
    "computed_torque",
    "follows a motion: inverse dynamics with position, rate and integral errors",
    "M (qdd_ref + k_d de + k_p e + k_i int e) + C qd + g within limit",
    state={"e_int": "e_int_next"},
    step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
    gains={"k_p": 400.0, "k_d": 40.0, "k_i": 100.0, "limit": 500.0},
    forces="u_computed",
)(
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
def computed_torque(system: System, *inputs: Coordinates) -> Pair:
    """τ = M (q̈_ref + k_d ė + k_p e + k_i ∫e) + C q̇ + g within ±limit, and ∫e after the step; the
    integral of a joint stands still while its force is at the limit."""
    q, qd, q_ref, qd_ref, qdd_ref, e_int, k_p, k_d, k_i, limit, (h,) = inputs
    e, de = difference(system, q, q_ref), minus(qd_ref, qd)
    total = [x + h * y for x, y in zip(e_int, e, strict=True)]
    wanted = plus(qdd_ref, by(k_d, de), by(k_p, e), by(k_i, total))
    tau = _forces(system, inverse_dynamics(system, *joints(system, q, qd, wanted)))
    free = [_inside(x, most) for x, most in zip(tau, limit, strict=True)]
    e_int_next = [x + h * (k * y) for x, k, y in zip(e_int, free, e, strict=True)]
    return saturated(tau, limit), e_int_next


@controller(
    "joint_impedance",
    "lets every joint give way like a spring and a damper about a motion",
    "M qdd_ref + C qd + g + k_p e + k_d de within limit",
    step=("q", "qd", "q_ref", "qd_ref", "qdd_ref"),
    gains={"k_p": 100.0, "k_d": 20.0, "limit": 500.0},
    by_inertia=("k_p", "k_d"),
    forces="u_impedance",
)(
    inputs=("q", "qd", "q_ref", "qd_ref", "qdd_ref", "k_p", "k_d", "limit"),
    source="Hogan, Impedance control, J. Dyn. Sys. Meas. Control 1985; inertia as it is",
    outputs=(Array("u_impedance", *COMMAND),),
)
def joint_impedance(system: System, *inputs: Coordinates) -> list[Scalar]:
    """τ = M q̈_ref + C q̇ + g + k_p e + k_d ė, shape n, within ±limit."""
    q, qd, q_ref, qd_ref, qdd_ref, k_p, k_d, limit = inputs
    ahead = _forces(system, inverse_dynamics(system, *joints(system, q, qd, qdd_ref)))
    e, de = difference(system, q, q_ref), minus(qd_ref, qd)
    return saturated(plus(ahead, by(k_p, e), by(k_d, de)), limit)


@controller(
    "momentum_observer",
    "tells the external joint forces from the momentum, without accelerations",
    "r = gain (M qd - int (u + C^T qd - g + r)), u the forces applied",
    state={"started": "started_next", "p_int": "p_int_next", "r": "tau_ext"},
    step=("q", "qd", "tau"),
    gains={"gain": 100.0},
)(
    inputs=("q", "qd", "tau", "started", "p_int", "r", "gain", "h"),
    source="De Luca & Mattone, Sensorless robot collision detection and hybrid force/motion "
    "control, ICRA 2005",
    outputs=(
        Array("tau_ext", "external joint forces", "N m | N"),
        Array("p_int_next", "momentum that is explained, after the step", "N m s | N s"),
        Array("started_next", "1", "1", (1,)),
    ),
)
def momentum_observer(
    system: System, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The residual r, which follows the external joint forces with the time constants 1/gain, and
    the state after the step: r = gain (M q̇ - ∫(τ + Cᵀ q̇ - g + r) dt), zero at the first one."""
    q, qd, tau, (started,), p_int, r, gain, (h,) = inputs
    at, rates = joints(system, q, qd)
    n, m = system.dof, coupled_mass_matrix(system, at)
    p = [sum((m[i * n + j] * qd[j] for j in range(n)), ZERO) for i in range(n)]
    moved = _forces(system, coriolis_transpose_product(system, at, rates))
    change = plus(tau, moved, [-x for x in _forces(system, gravity(system, at))], r)
    explained = [
        started * (x + h * y) + (1.0 - started) * z
        for x, y, z in zip(p_int, change, p, strict=True)
    ]
    return by(gain, minus(p, explained)), explained, [1.0]
