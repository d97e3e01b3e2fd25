"""The Coriolis matrix whose Ṁ - 2C is skew.

Notes for this file, `christoffel` and `derivatives`. J_i(r) is the velocity of a point r at unit
rate of joint i, J_i = σ × ρ + t with ρ = r - o_i; σ is the joint's axis where it turns and t where
it slides. For a cloud of point masses C_ij = ∫ J_iᵀ J̇_j dm, so that for an ancestor j of i

    C_ji = S_jᵀ F1,   F1 = ∫ J̇_i dm and its moment,
    C_ij = σ̇_j·n2 + σ_j·n3 + (v_j × σ_j + ṫ_j)·f2,
    (f2, n2) = ∫ J_i dm and its moment,   n3 = ∫ ṙ × J_i dm.

These are the products of E20's algorithm 4, written for moments of mass. Three choices keep them
small. The rates of a composite body are taken against the frame at hand, ρ̇ = w × ρ + ρ', so that
ρ' comes from the joints further out alone and constant steps do not change it. All is formed in the
joint frame, the one that the parent carries and from which the joint turns: what is turned there by
the joint's angle is the composite body, once, and none of its columns. And n3 has no linear part to
carry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from symgen.algorithms.fluids import momenta_of_added_mass
from symgen.algorithms.motion import Velocity, twists, velocities
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import second_moment_times, spatial_momentum
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.moments import (
    MovingBody,
    joint_label,
    shift_to_ancestors,
    shift_to_parent_named,
)
from symgen.mechanics.spatial import (
    UNIT_Z,
    ZERO_FORCE,
    ZERO_VECTOR,
    Force,
    Step,
    Twist,
    Vector,
)
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Entries = dict[tuple[int, int], Scalar]


def composites(
    system: CanonicalModel, q: Coordinates, moving: Mapping[int, Velocity]
) -> Iterator[tuple[int, MovingBody, MovingBody]]:
    """Every body, from the leaves to the base, with its composite body in its joint frame: as seen
    from what carries its joint, and from what its joint's axes move with."""
    total = dict.fromkeys(range(system.size + 1), MovingBody())
    for i in system.inward:
        body = system.body(i)
        place = body.placement
        with system.section(i, "composite body"):
            composite = MovingBody(total[i].inertia + body.inertia, total[i].rates).named(f"{i}")
            from_body = shift_to_parent_named(composite, system.to_body(i, q), f"{i}").named(
                joint_label(i)
            )
            from_carrier = from_body.moving(moving[i].relative)
            passed = from_body if system.same_joint_as_parent(i) else from_carrier
            total[body.parent] = total[body.parent] + shift_to_parent_named(
                passed, place.to_joint_frame(q[i - 1]), joint_label(i)
            )
        yield i, from_carrier, place.select_by_axes(parent=from_carrier, body=from_body)


@dataclass(frozen=True, slots=True)
class CoriolisColumn:
    """The effect of joint i on its ancestors: momentum (f2, n2), the force whose moment is n3 of
    the module's formulas, without a linear part for Christoffel's C, and forces like F1."""

    momentum: Force
    n3: Force
    forces: tuple[Force, ...]

    def to_parent(self, step: Step) -> "CoriolisColumn":
        """The column about the frame from which `step` leads to the present one."""
        return CoriolisColumn(
            self.momentum.to_parent(step),
            self.n3.to_parent(step),
            tuple(f.to_parent(step) for f in self.forces),
        )

    def named(self, label: str) -> "CoriolisColumn":
        """This column, named for generated code: f, n, e and, of its forces, F and N."""
        self.momentum.named(label)
        self.n3.angular.named(f"e{label}")
        for force in self.forces:
            force.linear.named(f"F{label}")
            force.angular.named(f"N{label}")
        return self

    def with_skew(self, force: Force) -> "CoriolisColumn":
        """The column of another C: S_jᵀ times the force is added to C_ji and taken from C_ij."""
        first, *others = self.forces
        return CoriolisColumn(self.momentum, self.n3 + -force, (first + force, *others))

    def with_force(self, force: Force) -> "CoriolisColumn":
        """One more force to carry."""
        return CoriolisColumn(self.momentum, self.n3, (*self.forces, force))


def column(joint: Freedom, composite: MovingBody, x: Twist) -> CoriolisColumn:
    """The column of a joint from its composite body in the joint frame, which moves at `x`.

    With σ̇ = w × σ, ρ × (w × (σ × ρ)) + ρ × (σ × ρ') sums up to S_ii σ̇ - S σ̇ + w_z z × n2 + ∫ ρ ×
    (σ × ρ'), where S σ̇ serves n3 as well, and n2 is that of the turning part of the joint."""
    inertia, rates = composite.inertia, composite.rates
    w, h, s, sigma, t = x.w, inertia.h, inertia.s, joint.S.w, joint.S.v
    sigma_rate, t_rate = w.cross(sigma), w.cross(t)
    momentum, stretch = joint.momentum(inertia), second_moment_times(s, sigma_rate)
    turning = Vector(-s.xz, -s.yz, s.polar)
    lever = (UNIT_Z.cross(turning).scaled(w.z) + rates.z_cross_u.angular).scaled(sigma.z)
    force = (w.cross(UNIT_Z.cross(h)) + rates.z_cross_u.linear).scaled(sigma.z)
    force = force + t_rate.scaled(inertia.m)
    moment = sigma_rate.scaled(s.polar) + lever - stretch.without(2) + h.cross(t_rate)
    n3 = stretch + rates.u_cross_turning.scaled(sigma.z) + (w.cross(h) + rates.p).cross(t)
    turned = Force(ZERO_VECTOR, n3 + x.v.cross(momentum.linear))
    return CoriolisColumn(momentum, turned, (Force(force, moment),))


def row_entry(joint: Freedom, x: Twist, at: CoriolisColumn) -> Scalar:
    """∫ J_iᵀ J̇_j dm: the ancestor's joint j, whose body moves at `x`, against the column of joint
    i."""
    sigma, t = joint.S.w, joint.S.v
    rate = Force(x.v.cross(sigma) + x.w.cross(t), x.w.cross(sigma))
    return (
        rate.angular.dot(at.momentum.angular)
        + rate.linear.dot(at.momentum.linear)
        + at.n3.angular.dot(sigma)
        + at.n3.linear.dot(t)
    )


def square_matrix(
    system: CanonicalModel, entries: Mapping[tuple[int, int], Scalar]
) -> list[Scalar]:
    """The n x n matrix with these entries, row-major."""
    n = range(1, system.size + 1)
    return [entries.get((i, j), ZERO) for i in n for j in n]


C_MATRIX = Array(
    "C", "Coriolis matrix, dM/dt - 2 C is skew-symmetric", "kg m^2/s | kg m/s | kg/s", ("n", "n")
)


@quantity(
    "coriolis_matrix",
    "C(q, qd)",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(C_MATRIX,),
    source="Echeandia, Rigid-body dynamics algorithms (2020), algorithm 4; Echeandia & Wensing "
    "(2021)",
)
def coriolis_matrix(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """C(q, q̇), n x n, row-major: C q̇ + g is the bias, dM/dt = C + Cᵀ, and C_ij = Σ_k Γ_ijk
    q̇_k."""
    return square_matrix(system, coriolis_entries(system, q, qd))


def coriolis_entries(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    skew: Mapping[int, Force] | None = None,
) -> Entries:
    """The entries of C by row and column, from 1. With `skew`, a force K S in the joint frame of
    each joint with unit twist S and a skew-symmetric K, they are those of C and the matrix with the
    entries S_jᵀ K_i S_i of another C with the same Ṁ - 2 C."""
    moving = velocities(system, q, qd)
    entries: Entries = {}
    for i, _, composite in composites(system, q, moving):
        with system.section(i, "column"):
            own_column = column(system.body(i).joint, composite, moving[i].joint)
            entries[i, i] = system.body(i).joint.project(own_column.forces[0])
            if skew:
                own_column = own_column.with_skew(skew[i])
            for j, at, _ in shift_to_ancestors(system, i, q, own_column.named(joint_label(i))):
                joint, at = system.body(j).joint, at.named(f"{i}_{j}")
                entries[j, i] = joint.project(at.forces[0])
                entries[i, j] = row_entry(joint, moving[j].body, at)
    return entries


@quantity(
    "coriolis_transpose_product",
    "C(q, qd)^T qd",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(Array("tau_ct", "gradient of the kinetic energy in q", "N m | N"),),
    source="Cᵀ q̇ = ∂T/∂q for the C of Christoffel symbols; De Luca & Mattone, ICRA 2005, for "
    "its use in observers",
)
def coriolis_transpose_product(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """Cᵀ q̇ = ∂T/∂q (N m or N, shape n), T the kinetic energy: what a momentum observer needs,
    without forming C.

    Moving joint i moves all bodies beyond it in the parent's velocity field, (Cᵀ q̇)_i = (v ×
    S_i)·P with P the momentum of these bodies."""
    moving = twists(system, q, qd)
    momenta = dict.fromkeys(range(system.size + 1), ZERO_FORCE)
    momenta |= momenta_of_added_mass(system, moving)
    entries: list[Scalar] = [ZERO] * system.size
    for i in system.inward:
        body, x = system.body(i), moving[i]
        with system.section(i, "momentum"):
            momenta[i] = (momenta[i] + spatial_momentum(body.inertia, x)).named(f"{i}")
            entries[i - 1] = row_entry(body.joint, x, CoriolisColumn(momenta[i], ZERO_FORCE, ()))
            momenta[body.parent] = momenta[body.parent] + body.placement.to_parent(
                momenta[i], q[i - 1]
            )
    return entries
