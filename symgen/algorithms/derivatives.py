"""Derivatives of inverse and forward dynamics.

Symbols of `coriolis`: J_i the velocity field of joint i, (f2, n2) its momentum and n3 its whirl at
an ancestor j. The acceleration of a point depends on q_i through J_i alone, ∂r̈/∂q_i = J̈_i and
∂r̈/∂q̇_i = 2 J̇_i. Hence for j ⪯ i

    ∂τ_j/∂q_i = S_jᵀ F4,   F4 = ∫ J̈_i dm with its moment and, turned or moved with joint i, the
                           force on all bodies beyond it: σ × F, σ × N + t × F,
    ∂τ_i/∂q_j = σ̈_j·n2 + 2 σ̇_j·n3 + (a_j × σ_j + ẗ_j)·f2,
    ∂τ/∂q̇    = 2 C,   ∂τ/∂q̈ = M,

which are the expressions of Singh, Russell & Wensing (RA-L 2022), written for moments of mass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from symgen.algorithms.christoffel import coriolis_matrix_from_symbols_up
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import (
    Column,
    Entries,
    Spin,
    clouds,
    column,
    drifted,
    lean,
    spins,
    square,
)
from symgen.algorithms.factors import Factors, factors
from symgen.algorithms.floating import by_rates, runs
from symgen.algorithms.forward_dynamics import INVERSE
from symgen.algorithms.joint_motions import Motion, loads, motions
from symgen.algorithms.newton_euler import State, gravity, inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.flow import Cloud, climb, slide_axis, spin_axis, times, usual_times
from symgen.mechanics.joints import JointType
from symgen.mechanics.spatial import EZ, Force, Vector
from symgen.mechanics.system import System
from symgen.numbers.dual import along as along_direction
from symgen.numbers.dual import tangents, unit
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
SOURCE = (
    "Singh, Russell & Wensing, Efficient analytical derivatives of rigid-body dynamics, RA-L 2022"
)
DIFFERENTIATED = "forward differentiation of inverse dynamics, Christoffel symbols"
MATRIX = ("n", "n")


def drift_rate(joint: JointType, cloud: Cloud, x: State) -> Force:
    """F4 of the module's formulas less the load, in the joint frame; the rates of `cloud` are
    doubled.

    With ρ̇ = w × ρ + ρ': 2 σ̇ × ρ̇ = 2 w (σ̇·ρ) + 2 σ̇ × ρ', and the pull of the origin's
    acceleration a is taken off."""
    spin, slide, inertia = spin_axis(joint), slide_axis(joint), cloud.inertia
    h, bend = inertia.h, x.swirl @ EZ
    turning, sliding, tilt = bend.scaled(spin.z), bend.scaled(slide.z), x.w.cross(spin)
    twice = tilt.scaled(2.0)
    pull = spin.cross(x.a)
    force = turning.cross(h) + x.w.scaled(twice.dot(h)) + tilt.cross(cloud.rates.p)
    moment = (
        usual_times(inertia.s, turning)
        + times(inertia.s, twice).cross(x.w)
        + cloud.rates.moment_about(tilt)
    )
    return Force(force + (sliding - pull).scaled(inertia.m), moment + h.cross(sliding - pull))


def carried_along(joint: JointType, load: Force) -> Force:
    """The load, turned and moved with the joint."""
    spin, slide = spin_axis(joint), slide_axis(joint)
    return Force(spin.cross(load.linear), spin.cross(load.angular) + slide.cross(load.linear))


@dataclass(frozen=True, slots=True)
class Bend:
    """S̈ of an ancestor's joint as its column is read: ∂τ_i/∂q_j = turned·n2 + moved·f2 + σ̇·(2
    n3)."""

    turned: Vector
    moved: Vector
    tilt: Vector

    def on(self, at: Column) -> Scalar:
        pulled = self.turned.dot(at.momentum.angular) + self.moved.dot(at.momentum.linear)
        return pulled + self.tilt.dot(at.whirl)


def bend_of(joint: JointType, x: State, v: Vector) -> Bend:
    """At the body's own frame, whose origin moves at `v`."""
    spin, slide, swirl = spin_axis(joint), slide_axis(joint), x.swirl
    bend, tilt = swirl @ EZ, x.w.cross(spin)
    moved = x.a.cross(spin) + v.cross(tilt.scaled(2.0)) + bend.scaled(slide.z)
    return Bend(bend.scaled(spin.z), moved, tilt)


def twice(x: Spin) -> Spin:
    """The same motion at double speed."""
    w_joint, v_joint, w, v = (vector.scaled(2.0) for vector in (x.w_joint, x.v_joint, x.w, x.v))
    return Spin(w_joint, v_joint, w, v)


@dataclass(frozen=True, slots=True)
class Gradients:
    """Entries of ∂τ/∂q, ∂τ/∂q̇ and M by row and column."""

    dq: Entries
    dqd: Entries
    m: Entries


def gradients(system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates) -> Gradients:
    """The derivatives of inverse dynamics; joint by joint, what it does to its ancestors and they
    to it."""
    motion, moving, out = motions(system, q, qd, qdd), spins(system, q, qd), Gradients({}, {}, {})
    load = loads(system, q, motion)
    fast = {i: twice(x) for i, x in moving.items()}
    bends = {i: _bend(system, i, motion[i], moving[i]) for i in system.outward}
    for i, _, cloud in clouds(system, q, [x * 2.0 for x in qd]):
        joint, free = system.body(i).joint, bool(system.body(i).free)
        seen = (
            drifted(cloud, *(x.scaled(2.0) for x in (moving[i].relative.v, moving[i].relative.w)))
            if free
            else cloud
        )
        with system.section(i, "column"):
            drift, along_it = (
                drift_rate(joint, seen, motion[i].joint),
                carried_along(joint, load[i]),
            )
            own = column(joint, cloud, fast[i]).with_force(drift if free else drift + along_it)
            whole = own.with_force(along_it) if free else own
            _diagonal(out, i, joint, own)
            for j, at, _ in climb(system, i, q, whole):
                _pair(out, i, j, system, fast[j], bends[j], at)
    return Gradients(out.dq, by_rates(system, out.dqd, out.m, qd), out.m)


def _bend(system: System, i: int, motion: Motion, moving: Spin) -> Bend:
    """A floating joint's axes turn with its body, so that what counts is how its carrier moves."""
    joint = system.body(i).joint
    if system.body(i).free:
        return bend_of(joint, motion.joint, moving.carrier.v)
    return bend_of(joint, motion.body, moving.v)


def _diagonal(out: Gradients, i: int, joint: JointType, own: Column) -> None:
    out.m[i, i] = joint.project(own.momentum)
    out.dqd[i, i], out.dq[i, i] = (joint.project(f) for f in own.forces)


def _pair(
    out: Gradients, i: int, j: int, system: System, fast: Spin, bend: Bend, at: Column
) -> None:
    """What joint i does to its ancestor j, and j to i. The load of a floating joint turns its own
    axes too."""
    joint, one_run = (
        system.body(j).joint,
        system.body(j).free and system.first_of_run(j) == system.first_of_run(i),
    )
    rate, drift, *load = at.forces
    out.m[i, j] = out.m[j, i] = joint.project(at.momentum)
    out.dqd[j, i], out.dq[j, i] = (
        joint.project(rate),
        joint.project(drift if one_run else sum(load, drift)),
    )
    out.dqd[i, j], out.dq[i, j] = lean(joint, fast, at), bend.on(at)


def gradients_by_duals(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Gradients:
    """The same from inverse dynamics on numbers that carry tangents, 2 C from the Christoffel
    symbols, and M.

    Where many joints are parallel or axes meet (UR5), what vanishes there makes this the shorter
    way."""
    n = system.size
    columns = [
        tangents(inverse_dynamics(system, along_direction(q, unit(n, k)), qd, qdd))
        for k in range(n)
    ]
    dq = {(i + 1, k + 1): x for k, column in enumerate(columns) for i, x in enumerate(column)}
    return Gradients(dq, rates_by_symbols(system, q, qd), by_entry(mass_matrix(system, q), n))


def rates_by_symbols(system: System, q: Coordinates, qd: Coordinates) -> Entries:
    """∂τ/∂q̇, 2 C from the Christoffel symbols; of floating joints the derivative in the rates of
    their twists."""
    twice_c = by_entry(
        coriolis_matrix_from_symbols_up(system, q, [x * 2.0 for x in qd]), system.size
    )
    m = by_entry(mass_matrix(system, q), system.size) if runs(system) else {}
    return by_rates(system, twice_c, m, qd)


def by_entry(values: Sequence[Scalar], n: int) -> Entries:
    """The entries of an n x n matrix by row and column, from 1."""
    return {(k // n + 1, k % n + 1): x for k, x in enumerate(values)}


Three = tuple[list[Scalar], list[Scalar], list[Scalar]]
Way = Callable[[System, Coordinates, Coordinates, Coordinates], Gradients]

_of_inverse = partial(
    quantity,
    "inverse_dynamics_derivatives",
    "dtau/dq, dtau/dqd, dtau/dqdd = M",
    feels_wrench=True,
    inputs=("q", "qd", "qdd"),
    outputs=(
        Array(
            "dtau_dq",
            "derivative of joint forces in q, row by force",
            "N m/rad | N m/m | N/rad | N/m",
            MATRIX,
        ),
        Array(
            "dtau_dqd",
            "derivative of joint forces in qd, row by force",
            "N m s/rad | N s/m",
            MATRIX,
        ),
        Array("M", "joint-space inertia, symmetric", "kg m^2 | kg m | kg", MATRIX),
    ),
)
_of_forward = partial(
    quantity,
    "forward_dynamics_derivatives",
    "dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1",
    feels_wrench=True,
    needs_inverse=True,
    inputs=("q", "qd", "tau"),
    outputs=(
        Array(
            "dqdd_dq",
            "derivative of accelerations in q, row by acceleration",
            "1/s^2 | rad/(m s^2)",
            MATRIX,
        ),
        Array(
            "dqdd_dqd",
            "derivative of accelerations in qd, row by acceleration",
            "1/s | rad/(m s)",
            MATRIX,
        ),
        INVERSE,
    ),
)


@_of_inverse(source=SOURCE)
def inverse_dynamics_derivatives(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Three:
    """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M of τ = M q̈ + C q̇ + g, each n x n, row-major with a row for
    each force."""
    return _matrices(system, qd, gradients(system, q, qd, qdd))


@_of_inverse(source=DIFFERENTIATED, regroupings=("minimal",))
def inverse_dynamics_derivatives_by_duals(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Three:
    """The same by forward differentiation and Christoffel symbols."""
    return _matrices(system, qd, gradients_by_duals(system, q, qd, qdd))


def _matrices(system: System, qd: Coordinates, found: Gradients) -> Three:
    return (
        square(system, found.dq),
        square(system, damped(system, qd, found.dqd)),
        square(system, found.m),
    )


def damped(system: System, qd: Coordinates, dqd: Entries) -> Entries:
    """∂τ/∂q̇ with that of joint friction, which is viscous and, where it is smooth, Coulomb's."""
    return dqd | {
        (i, i): dqd[i, i] + system.body(i).friction.slope(qd[i - 1]) for i in system.outward
    }


@_of_forward(source=SOURCE)
def forward_dynamics_derivatives(
    system: System, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> Three:
    """∂q̈/∂q = -M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇ and ∂q̈/∂τ = M⁻¹ at the accelerations that `tau`
    causes, n x n."""
    return _forward(system, q, qd, tau, gradients)


@_of_forward(source=DIFFERENTIATED, regroupings=("minimal",))
def forward_dynamics_derivatives_by_duals(
    system: System, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> Three:
    """The same from the other derivatives of inverse dynamics."""
    return _forward(system, q, qd, tau, gradients_by_duals)


def _forward(system: System, q: Coordinates, qd: Coordinates, tau: Coordinates, way: Way) -> Three:
    """Solved with the sparse factors column by column; M⁻¹ itself would fill the zeros between
    branches."""
    at_rest = way(system, q, qd, [ZERO] * system.size)
    coupling = system.coupling
    solver = factors(system, coupling.matrix(square(system, at_rest.m)))
    coriolis = _half_product(square(system, at_rest.dqd), qd)
    rubbing = [
        system.body(i).friction.moving(rate) for i, rate in enumerate(qd, 1)
    ]  # g has what remains at rest
    parts = (coupling.forces(part) for part in (coriolis, gravity(system, q), rubbing))
    driving = [t - c - g - f for t, c, g, f in zip(tau, *parts, strict=True)]
    found = way(system, q, qd, coupling.rates(solver.solve(driving)))
    matrices = (
        coupling.matrix(square(system, x)) for x in (found.dq, damped(system, qd, found.dqd))
    )
    dq, dqd = (_minus_solved(solver, matrix) for matrix in matrices)
    return dq, dqd, solver.inverse()


def _half_product(twice_c: Sequence[Scalar], qd: Coordinates) -> list[Scalar]:
    """C q̇ from 2 C, which is on the tape: with g it is the bias, for far less than another
    recursion."""
    half, n = [0.5 * x for x in qd], len(qd)
    return [sum((twice_c[i * n + j] * half[j] for j in range(n)), ZERO) for i in range(n)]


def _minus_solved(solver: Factors, matrix: Sequence[Scalar]) -> list[Scalar]:
    n = len(solver.inverse_d)
    columns = [solver.solve([-x for x in matrix[k::n]]) for k in range(n)]
    return [column[i] for i in range(n) for column in columns]
