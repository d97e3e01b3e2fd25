"""Forward dynamics and the inverse of the mass matrix.

Here accelerations come out and joint forces go in, so these are the algorithms that work with the
coordinates of the user themselves, not with those of the bodies (see `symgen.mechanics.coupling`).
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from symgen.algorithms.composite import coupled, coupled_mass_matrix, factorize, factorize_in_pairs
from symgen.algorithms.motion import motions, rotate_wrenches
from symgen.algorithms.newton_euler import bias, inertial_force, inverse_dynamics, with_solved_loads
from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import (
    NO_SECOND,
    UPPER_TRIANGLE,
    Inertia,
    SecondMoment,
    second_moment_times,
)
from symgen.mechanics.joint_forces import JointState
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.moments import rotated_matrix, shift_to_parent_named
from symgen.mechanics.spatial import (
    ZERO_FORCE,
    ZERO_TWIST,
    ZERO_VECTOR,
    Force,
    Step,
    Turn,
    Twist,
    Vector,
    axis_vector,
)
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, named

FACTORS = "Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.3 and section 6.5"


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The articulated-body inertia IA at a frame (F08, section 7.1), the inertia that is felt there
    where joints further out give way: f = M a + B α, n = Bᵀ a + I α."""

    m: SecondMoment
    b: tuple[Vector, Vector, Vector]
    i: SecondMoment
    label: str = field(default="", compare=False, repr=False)

    def __add__(self, other: "ArticulatedInertia") -> "ArticulatedInertia":
        (a, b, c), (x, y, z) = self.b, other.b
        return ArticulatedInertia(self.m + other.m, (a + x, b + y, c + z), self.i + other.i)

    def times(self, x: Twist) -> Force:
        """The force that moves the body with acceleration `x`."""
        rows, (a, b, c) = self.b, x.v
        linear = second_moment_times(self.m, x.v) + Vector(*(row.dot(x.w) for row in rows))
        return Force(
            linear,
            second_moment_times(self.i, x.w)
            + rows[0].scaled(a)
            + rows[1].scaled(b)
            + rows[2].scaled(c),
        )

    def apparent(self, joint: Freedom, u_force: Force, u_over_d: Force) -> "ArticulatedInertia":
        """The inertia left where the joint gives way: IA - U Uᵀ/D of `u_force` U and `u_over_d`
        U/D.

        It has no inertia along S, so a row and a column vanish where the joint only turns or only
        slides."""
        turning, sliding = joint.turn is not ZERO, joint.slide is not ZERO
        if turning and sliding:
            return self.minus_outer_product(u_force, u_over_d)
        m = _minus_outer_product(self.m, u_over_d.linear, u_force.linear, without_z=sliding)
        i = _minus_outer_product(self.i, u_over_d.angular, u_force.angular, without_z=turning)
        b = [
            row - u_force.angular.scaled(x) for row, x in zip(self.b, u_over_d.linear, strict=True)
        ]
        x, y, z = (row.without(2) for row in b) if turning else (b[0], b[1], ZERO_VECTOR)
        return ArticulatedInertia(m, (x, y, z), i)

    def minus_outer_product(self, u_force: Force, u_over_d: Force) -> "ArticulatedInertia":
        """IA - U Uᵀ/D, with nothing known to vanish."""
        b = [
            row - u_force.angular.scaled(x) for row, x in zip(self.b, u_over_d.linear, strict=True)
        ]
        m = _minus_outer_product(self.m, u_over_d.linear, u_force.linear, without_z=False)
        return ArticulatedInertia(
            m,
            (b[0], b[1], b[2]),
            _minus_outer_product(self.i, u_over_d.angular, u_force.angular, without_z=False),
        )

    def to_parent(self, step: Step) -> "ArticulatedInertia":
        """The same inertia at the frame from which `step` leads to the present one."""
        if isinstance(step, Turn):
            return ArticulatedInertia(
                self.m.rotated(step),
                rotated_matrix(self.b, step, self.label),
                self.i.rotated(step),
            )
        return self._shifted(axis_vector(step.axis, step.length))

    def _shifted(self, arm: Vector) -> "ArticulatedInertia":
        """B' = B - M [d]x and I' = I - Bᵀ [d]x + [d]x B'."""
        rows = [
            row + arm.cross(Vector(*(self.m[k, n] for n in range(3))))
            for k, row in enumerate(self.b)
        ]
        before, after = (
            [arm.cross(Vector(*(row[k] for row in b))) for k in range(3)] for b in (self.b, rows)
        )
        added = SecondMoment(*(before[r][s] + after[s][r] for r, s in UPPER_TRIANGLE))
        return ArticulatedInertia(self.m, (rows[0], rows[1], rows[2]), self.i + added)

    def named(self, label: str, kind: str = "A") -> "ArticulatedInertia":
        """This inertia, its entries named for generated code: MA, BA and IA with row and column,
        and Ma, Ba and Ia where the joint gives way (`kind` a)."""
        for j, row in zip("xyz", self.b, strict=True):
            row.named(f"B{kind}{label}_{j}", "")
        m, i = self.m.named(f"M{kind}", label), self.i.named(f"I{kind}", label)
        return ArticulatedInertia(m, self.b, i, f"B{kind}{label}")


def _minus_outer_product(s: SecondMoment, a: Vector, b: Vector, without_z: bool) -> SecondMoment:
    """s - a bᵀ, symmetric; its third row structurally zero if so told."""
    return SecondMoment(
        *(ZERO if without_z and k == 2 else s[i, k] - a[i] * b[k] for i, k in UPPER_TRIANGLE)
    )


def articulated_from_rigid(inertia: Inertia) -> ArticulatedInertia:
    """The articulated inertia of a body without joints further out: its rigid-body inertia."""
    m, h, s = inertia.m, inertia.h, inertia.s
    b = (Vector(ZERO, h.z, -h.y), Vector(-h.z, ZERO, h.x), Vector(h.y, -h.x, ZERO))
    usual = SecondMoment(s.yy + s.zz, -s.xy, -s.xz, s.xx + s.zz, -s.yz, s.xx + s.yy)
    return ArticulatedInertia(SecondMoment(m, ZERO, ZERO, m, ZERO, m), b, usual)


NO_ARTICULATED = ArticulatedInertia(NO_SECOND, (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR), NO_SECOND)


ACCELERATION = Array("qdd", "joint accelerations", "rad/s^2 | m/s^2")
INVERSE = Array(
    "Minv",
    "inverse of the joint-space inertia, symmetric",
    "1/(kg m^2) | 1/(kg m) | 1/kg",
    ("n", "n"),
)
accelerations = partial(
    quantity,
    "forward_dynamics",
    "qdd = M(q)^-1 (tau - C(q, qd) qd - g(q))",
    inputs=("q", "qd", "tau"),
    outputs=(ACCELERATION,),
    source=FACTORS,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    needs_inverse=True,
)
_inverse_row = partial(
    quantity,
    "mass_matrix_inverse",
    "M(q)^-1",
    inputs=("q",),
    needs_gravity=False,
    outputs=(INVERSE,),
    source=FACTORS,
    needs_inverse=True,
)


def accelerating_forces(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> list[Scalar]:
    """The joint forces left for acceleration, τ - (C q̇ + g), of the user."""
    return [t - b for t, b in zip(tau, system.coupling.forces(bias(system, q, qd)), strict=True)]


MAX_ELIMINATIONS_PER_JOINT: Final = 500
"""Pairs of ancestors of a joint, on the average of all joints, up to which the factors of M can
cost less than articulated bodies. Each pair is an addition and a multiplication of the elimination,
and articulated bodies take at most some 300 operations a joint."""


def factorization_is_cheaper(system: CanonicalModel) -> bool:
    """Robots with coupled joints, and those whose joints have few ancestors: up to some 38 joints
    in a chain. The factors of a chain of n joints take n^3/3 operations."""
    if coupled(system):
        return True
    depths = {0: 0}
    for i in system.outward:
        depths[i] = depths[system.body(i).parent] + 1
    return sum(d * (d - 1) for d in depths.values()) <= MAX_ELIMINATIONS_PER_JOINT * system.size


@accelerations(competitive=factorization_is_cheaper, closed_loops=True)
@with_solved_loads
def forward_dynamics(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> list[Scalar]:
    """Joint accelerations under the joint forces `tau` (rad/s² or m/s², shape n), from the factors
    of M."""
    return factorize(system, coupled_mass_matrix(system, q)).solve(
        accelerating_forces(system, q, qd, tau)
    )


@quantity(
    "forward_dynamics_residual",
    "tau - (M(q) qdd + C(q, qd) qd + g(q))",
    inputs=("q", "qd", "qdd", "tau"),
    outputs=(Array("residual", "joint forces that accelerations leave over", "N m | N"),),
    source="Khalil & Kleinfinger, ICRA 1986",
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    coordinates=JOINTS,
    closed_loops=True,
)
def forward_dynamics_residual(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, tau: Coordinates
) -> list[Scalar]:
    """Joint forces that accelerations of forward dynamics leave over: τ - (M q̈ + C q̇ + g) (N m or
    N, shape n), zero for the exact ones. The error of q̈ is M⁻¹ times this."""
    state, x, xd = system.at_state(q, qd)
    needed = inverse_dynamics(state, x, xd, state.coupling.body_accelerations(qdd))
    return [t - f for t, f in zip(tau, state.coupling.forces(needed), strict=True)]


@requirement("only robots whose joints all move by themselves")
def uncoupled(system: CanonicalModel) -> bool:
    """Whether no joint follows another one and there are no rotors."""
    return not coupled(system)


@dataclass(frozen=True, slots=True)
class JointResponse:
    """How a joint gives way to forces: U/D, in the body's frame unless told otherwise, and u/D,
    what drives it by D (F08, table 7.1)."""

    u_over_d: Force
    drive_over_d: Scalar


_chain = accelerations(applicable=uncoupled)


@_chain
@with_solved_loads
def forward_dynamics_articulated(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> list[Scalar]:
    """Joint accelerations q̈ = M⁻¹ (τ - C q̇ - g), shape n, by articulated bodies (F08, table 7.1),
    best for long chains.

    The forces of the motion without q̈ and those that the joints pass on travel inward together.
    """
    joints = _inward(system, q, qd, system.coupling.body_rates(tau), forces_at_rest(system, q, qd))
    moving = {0: ZERO_TWIST}
    qdd: list[Scalar] = [ZERO] * system.size
    for i in system.outward:
        body = system.body(i)
        with system.section(i, "acceleration"):
            x = moving[body.parent].to_child(system.steps(i, q))
            u_over_d = joints[i].u_over_d
            qdd[i - 1] = (
                joints[i].drive_over_d - u_over_d.angular.dot(x.w) - u_over_d.linear.dot(x.v)
            )
            moving[i] = x + body.S.at_rate(named(qdd[i - 1], f"qdd{i}"))
            moving[i].v.named(f"da{i}")
            moving[i].w.named(f"dwd{i}")
    return system.coupling.forces(qdd)


def forces_at_rest(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> dict[int, Force]:
    """The force on each single body while q̈ = 0."""
    moving, system = motions(system, q, qd, [ZERO] * system.size), rotate_wrenches(system, q)
    forces = {0: ZERO_FORCE}
    for i in system.outward:
        with system.section(i, "forces at rest"):
            forces[i] = inertial_force(system.body(i), moving[i]).named(f"{i}")
    return forces


def _named(force: Force, label: str, i: int) -> Force:
    """The force, named for generated code after its symbol (Featherstone 2008, table 7.1)."""
    force.linear.named(f"{label}f{i}")
    force.angular.named(f"{label}n{i}")
    return force


def _inward(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
    force: dict[int, Force],
) -> dict[int, JointResponse]:
    """The articulated bodies and the forces on them, from the leaves to the base."""
    inertia = dict.fromkeys(range(system.size + 1), NO_ARTICULATED)
    joints = {}
    for i in system.inward:
        body, joint = system.body(i), system.body(i).joint
        with system.section(i, "articulated body"):
            articulated = (inertia[i] + articulated_from_rigid(body.inertia)).named(f"{i}")
            u_force = articulated.times(joint.S)
            inverse_d = named(1.0 / joint.project(u_force), f"d{i}")
            u_over_d = _named(u_force.scaled(inverse_d), "K", i)
            at_rest = _named(force[i], "p", i)
            drive = (
                tau[i - 1]
                - body.passive.force(JointState(q[i - 1], qd[i - 1]))
                - joint.project(at_rest)
            )
            drive = named(drive, f"u{i}")
            joints[i] = JointResponse(u_over_d, named(drive * inverse_d, f"r{i}"))
            force_on_parent = _named(at_rest + u_over_d.scaled(drive), "pa", i)
            apparent, steps = (
                articulated.apparent(joint, u_force, u_over_d),
                system.steps(i, q),
            )
            apparent = apparent.named(f"{i}", "a")
            inertia[body.parent] = inertia[body.parent] + shift_to_parent_named(
                apparent, steps, f"{i}"
            )
            force[body.parent] = force[body.parent] + shift_to_parent_named(
                force_on_parent, steps, f"{i}"
            )
    return joints


def has_deep_and_shallow_trees(system: CanonicalModel) -> bool:
    """Robots with trees on the base that are deeper than `MAX_DEPTH_FOR_FACTORS`, and others that
    are not."""
    deepest: dict[int, int] = {}
    roots, depths = dict[int, int](), {0: 0}
    for i in system.outward:
        parent = system.body(i).parent
        roots[i], depths[i] = roots.get(parent, i), depths[parent] + 1
        deepest[roots[i]] = max(deepest.get(roots[i], 0), depths[i])
    return min(deepest.values()) <= MAX_DEPTH_FOR_FACTORS < max(
        deepest.values()
    ) and factorization_is_cheaper(system)


@accelerations(applicable=uncoupled, competitive=has_deep_and_shallow_trees)
def forward_dynamics_by_tree(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> list[Scalar]:
    """Joint accelerations q̈, shape n: factors of M for each tree on the base up to
    `MAX_DEPTH_FOR_FACTORS` joints deep, articulated bodies for the others."""
    accelerations = (
        f(system, q, qd, tau) for f in (forward_dynamics, forward_dynamics_articulated)
    )
    shallow, deep = (system.coupling.body_rates(qdd) for qdd in accelerations)
    paths = {i: (i, *system.ancestors(i)) for i in system.outward}
    long_trees = {
        j
        for path in paths.values()
        if len(path) > MAX_DEPTH_FOR_FACTORS
        for j in path
        if not system.body(j).parent
    }
    qdd = [
        (deep if long_trees & {*paths[i]} else shallow)[i - 1] for i in range(1, system.size + 1)
    ]
    return system.coupling.forces(qdd)


MAX_DEPTH_FOR_FACTORS = 7
"""From about eight joints on, carrying articulated bodies costs less than the columns of M and
their factors."""


@_inverse_row(closed_loops=True)
def mass_matrix_inverse(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """M⁻¹, n x n, symmetric, row-major."""
    return factorize(system, coupled_mass_matrix(system, q)).inverse()


@_inverse_row(applicable=uncoupled, only_minimal_competitive=True)
def mass_matrix_inverse_by_pairs(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """M⁻¹, n x n, by pivots of two coordinates, half as many divisions in a row (M⁻¹ of a Panda in
    138 in place of 156 ns; forward dynamics gain nothing)."""
    return factorize_in_pairs(system, coupled_mass_matrix(system, q)).inverse()
