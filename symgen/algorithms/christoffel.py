"""Christoffel symbols of the first kind, Γ_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i).

For a cloud of point masses Γ_ijk = ∫ J_i · ∂J_j/∂q_k dm, and moving a joint a turns the field J_b
of a joint b further out as a whole: ∂J_b/∂q_a = ∂J_a/∂q_b = σ_a × J_b. So for i ⪯ j ⪯ k two numbers
are left of a triple,

    Γ_ijk = S_i · (force field σ_j × J_k),     Γ_jik = σ_i · ∫ J_k × J_j dm = -Γ_kij,

both read off the moments K, p of J_k (`Moments`) at j.

The velocities of a joint whose axes turn with its body are a twist, not the derivatives of
coordinates. There the connection Γ_ijk, with C_ij = Σ_k Γ_ijk v_k, has a torsion: it is not
symmetric in j and k, Γ_ijk - Γ_ikj = M_i·(S_k × S_j), the momentum of joint i along the commutator
of two unit twists. The equations Ṁ = C + Cᵀ and C v + g = bias hold there, too."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import C_MATRIX, square_matrix
from symgen.algorithms.registry import PACKED_PAIRS, Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel, cached_by_positions
from symgen.mechanics.inertia import NO_INERTIA, Inertia
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.moments import (
    Moments,
    joint_label,
    moments_of,
    shift_to_ancestors,
    shift_to_parent_named,
)
from symgen.mechanics.spatial import Force, Step, Twist, Vector
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, plain

Symbols = dict[tuple[int, int, int], Scalar]

SOURCE = "Echeandia & Wensing (2021); Echeandia, Rigid-body dynamics algorithms (2020), algorithm 5"
UNIT = "kg m^2 | kg m | kg, per rad | m"


@dataclass(frozen=True, slots=True)
class JointPairColumn:
    """The effect of a pair j ⪯ k on the ancestors of j: the force field σ_j × J_k, and its
    counterpart ∫ J_k × J_j dm."""

    force: Force
    product: Vector

    def to_parent(self, step: Step) -> "JointPairColumn":
        """The column about the frame from which `step` leads to the present one."""
        product = self.product.to_parent(step)
        return JointPairColumn(self.force.to_parent(step), product)


def pair_column(joint: Freedom, moments: Moments) -> JointPairColumn:
    """From the moments of J_k at joint j."""
    force, turning = moments.z_cross_u, joint.S.w.z
    product = moments.u_cross_turning.scaled(turning) + moments.p.cross(joint.S.v)
    return JointPairColumn(force.scaled(turning), product)


Readings = Iterator[tuple[int, Scalar, Scalar]]
Read = Callable[[int, JointPairColumn], Readings]
"""S_i · force and σ_i · product for every ancestor i of j, from the pair in j's joint frame."""


def read_in_ancestor_frames(system: CanonicalModel, q: Coordinates) -> Read:
    """Each ancestor reads in its own frame: nine numbers carried up for every pair."""

    def read(j: int, at: JointPairColumn) -> Readings:
        for i, column, _ in shift_to_ancestors(system, j, q, at):
            joint = system.body(i).joint
            yield i, joint.project(column.force), column.product.dot(joint.S.w)

    return read


def read_in_joint_frame(system: CanonicalModel, q: Coordinates) -> Read:
    """All ancestors read in the joint frame of j, to which their axes are carried down once."""
    axes: dict[int, dict[int, Twist]] = {0: {}}
    at_joint: dict[int, dict[int, Twist]] = {}
    for j in system.outward:
        place = system.body(j).placement
        before, approach = axes[system.body(j).parent], place.to_joint_frame(q[j - 1])
        at_joint[j] = {i: axis.to_child(approach) for i, axis in before.items()}
        axes[j] = {i: axis.to_child(system.to_body(j, q)) for i, axis in at_joint[j].items()}
        axes[j][j] = place.freedom.S

    def read(j: int, at: JointPairColumn) -> Readings:
        for i, axis in at_joint[j].items():
            yield (
                i,
                axis.power(at.force),
                axis.w.dot(at.product),
            )

    return read


@cached_by_positions
def symbols(
    system: CanonicalModel, q: Coordinates, reading: Callable[[CanonicalModel, Coordinates], Read]
) -> Symbols:
    """Γ_ijk by (i, j, k) with j <= k, without the structural zeros; `reading` is
    `read_in_ancestor_frames` or `read_in_joint_frame`.

    Where velocities are a twist, so that Γ_ijk and Γ_ikj differ, their mean.
    """
    entries = _symbols(system, q, reading(system, q))
    for (i, j, k), half in torsion(system, q).items():
        at = i, min(j, k), max(j, k)
        entries[at] = entries.get(at, ZERO) + half
    return entries


def _symbols(system: CanonicalModel, q: Coordinates, read: Read) -> Symbols:
    """The symbols Γ_ijk by (i, j, k), as if all velocities were rates of coordinates."""
    entries: Symbols = {}
    for k, inertia in composites(system, q):
        moments = moments_of(inertia, system.body(k).S)
        with system.section(k, "symbols"):
            entries |= {
                (i, k, k): entry
                for i, entry, _ in read(k, pair_column(system.body(k).joint, moments))
            }
            for j, at_body, at_joint in shift_to_ancestors(system, k, q, moments):
                joint = system.body(j).joint
                symbol = joint.project(pair_column(joint, at_body).force)
                entries |= _triple(j, j, k, symbol, symbol)
                for i, entry, other in read(j, pair_column(joint, at_joint)):
                    entries |= _triple(i, j, k, entry, other)
    return entries


def _triple(i: int, j: int, k: int, entry: Scalar, other: Scalar) -> Symbols:
    """The symbols of i ⪯ j ≺ k: `entry` is Γ_ijk and `other` Γ_jik."""
    rows = {(i, j, k): entry, (j, i, k): other, (k, i, j): -other}
    return {(a, min(b, c), max(b, c)): x for (a, b, c), x in rows.items()}


def composites(system: CanonicalModel, q: Coordinates) -> Iterator[tuple[int, Inertia]]:
    """Every body, from the leaves to the base, with its composite inertia in its joint frame."""
    total = dict.fromkeys(range(system.size + 1), NO_INERTIA)
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "composite body"):
            composite = (total[i] + body.inertia).named(f"{i}")
            to_body, approach = system.to_body(i, q), body.placement.to_joint_frame(q[i - 1])
            at_joint = shift_to_parent_named(composite, to_body, f"{i}").named(joint_label(i))
            total[body.parent] = total[body.parent] + shift_to_parent_named(
                at_joint, approach, joint_label(i)
            )
        yield i, at_joint


PACKED = Array(
    "Gamma", "Christoffel symbols of the first kind, packed", UNIT, ("n", "n2"), PACKED_PAIRS
)
FULL = Array("Gamma_full", "Christoffel symbols of the first kind", UNIT, ("n", "n", "n"))
as_packed = quantity(
    "christoffel_symbols",
    "Gamma_ijk(q), j <= k",
    inputs=("q",),
    needs_gravity=False,
    outputs=(PACKED,),
    source=SOURCE,
    only_minimal_competitive=True,
)
as_full = quantity(
    "christoffel_symbols_full",
    "Gamma_ijk(q)",
    inputs=("q",),
    needs_gravity=False,
    outputs=(FULL,),
    source=SOURCE,
    only_minimal_competitive=True,
)
as_coriolis = quantity(
    "coriolis_matrix",
    "C(q, qd)",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(C_MATRIX,),
    source=SOURCE,
    only_minimal_competitive=True,
)


@as_packed
def christoffel_symbols(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Γ_ijk packed, n x n(n+1)/2: row i, and in it the pairs j <= k in the order (0, 0) ... (0,
    n-1), (1, 1) ...

    With indices from 0, Γ_ijk is at i n(n+1)/2 + j n - j (j - 1)/2 + k - j.
    """
    return _packed(system, symbols(system, q, read_in_joint_frame))


@as_packed
def christoffel_symbols_up(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Christoffel symbols Γ_ijk, packed as by the other formulation, read by the ancestors in their
    own frames: fewer operations where joint centres coincide."""
    return _packed(system, symbols(system, q, read_in_ancestor_frames))


def _packed(system: CanonicalModel, symbols: Symbols) -> list[Scalar]:
    n = system.size
    return [
        symbols.get((i, j, k), ZERO)
        for i in range(1, n + 1)
        for j in range(1, n + 1)
        for k in range(j, n + 1)
    ]


@as_full
def christoffel_symbols_full(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Γ_ijk, n x n x n, row-major; symmetric in j and k but for the twist of a floating joint."""
    return _full(system, q, symbols(system, q, read_in_joint_frame))


@as_full
def christoffel_symbols_full_up(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """All Christoffel symbols, n x n x n, read by the ancestors in their own frames."""
    return _full(system, q, symbols(system, q, read_in_ancestor_frames))


def _full(system: CanonicalModel, q: Coordinates, symbols: Symbols) -> list[Scalar]:
    n = range(1, system.size + 1)
    by_all = {
        (i, j, k): symbols.get((i, min(j, k), max(j, k)), ZERO) for i in n for j in n for k in n
    }
    for (i, j, k), half in torsion(system, q).items():
        by_all[i, j, k] = by_all[i, j, k] + half
        by_all[i, k, j] = by_all[i, k, j] - half
    return [*by_all.values()]


@as_coriolis
def coriolis_matrix_from_symbols(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """C_ij = Σ_k Γ_ijk q̇_k, n x n, row-major."""
    return _contracted(system, q, symbols(system, q, read_in_joint_frame), qd)


@as_coriolis
def coriolis_matrix_from_symbols_up(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """C from Christoffel symbols, n x n, the symbols read by the ancestors in their own frames."""
    return _contracted(system, q, symbols(system, q, read_in_ancestor_frames), qd)


def _contracted(
    system: CanonicalModel, q: Coordinates, symbols: Symbols, qd: Coordinates
) -> list[Scalar]:
    entries: dict[tuple[int, int], Scalar] = {}
    for (i, j, k), symbol in symbols.items():
        for a, b in dict.fromkeys(((j, k), (k, j))):
            entries[i, a] = entries.get((i, a), ZERO) + symbol * qd[b - 1]
    for (i, j, k), half in torsion(system, q).items():
        entries[i, j] = entries.get((i, j), ZERO) + half * qd[k - 1]
        entries[i, k] = entries.get((i, k), ZERO) - half * qd[j - 1]
    return square_matrix(system, entries)


Entries = dict[tuple[int, int], Scalar]


def commutators(system: CanonicalModel) -> Iterator[tuple[int, int, int, float]]:
    """The cross products of the unit twists of bodies that stay together: k, j, l and ±1 where S_k
    × S_j = ±S_l, j before k."""
    for run in dict.fromkeys(system.joint_bodies.values()):
        units = dict(zip(run, system.body(run[0]).placement.twists, strict=True))
        for j, k in combinations(run, 2):
            x = units[k].cross(units[j])
            for i, unit in units.items():
                product = x.w.dot(unit.w) + x.v.dot(unit.v)
                if product is not ZERO and product:
                    yield k, j, i, plain(product)


@cached_by_positions
def torsion(system: CanonicalModel, q: Coordinates) -> dict[tuple[int, int, int], Scalar]:
    """½ M_i·(S_k × S_j) by (i, j, k), for j before k in a run of bodies that stay together; the
    negative where they are swapped."""
    if not system.joint_bodies:
        return {}
    m, n = mass_matrix(system, q), system.size
    return {
        (i, j, k): 0.5 * sign * m[(i - 1) * n + along - 1]
        for k, j, along, sign in commutators(system)
        for i in range(1, n + 1)
    }


def velocity_derivatives(
    system: CanonicalModel, twice_c: Entries, m: Entries, qd: Coordinates
) -> Entries:
    """∂(C v)/∂v from 2 C and M: where velocities are a twist v, column k less M (v × S_k)."""
    entries = dict(twice_c)
    for k, j, along, sign in commutators(system):
        for i in range(1, system.size + 1):
            weight = sign * m.get((i, along), ZERO)
            entries[i, k] = entries.get((i, k), ZERO) + weight * qd[j - 1]
            entries[i, j] = entries.get((i, j), ZERO) - weight * qd[k - 1]
    return entries
