"""A second factorisation of C q̇: the Coriolis matrix of Newton-Euler equations, with B = v ×* I in
the recursion.

C = Σ Jᵀ (I dJ/dt + v ×* I J) over all bodies, with everything in one fixed frame; C + Cᵀ = dM/dt,
so it serves where Christoffel's does. (Garofalo, Ott & Albu-Schäffer, IROS 2013, eqs. 6b, 13b, 16,
24b, 24c, 25b; Cărmizaru 2022, eq. 4.7.) It is Christoffel's C and a skew matrix K, with
K_ij = Σ J_iᵀ D J_j and D = (v ×* I + I v× - (I v) ×̄*)/2 of every body. With x the unit twist of
joint j and β = v × x,

    D x = I β and the couple ∫ (v + w × r) × (x_v + x_w × r) dm.

Of a body with mass m, first moment h and second moment S it has the force a × x_v + G x_w and the
couple -Gᵀ x_v + b × x_w, a = m w, b = h × v + tr(S) w, G = m [v]x - w hᵀ + (h·w) 1. The D of all
bodies that a joint carries add up to one of the same form (`SkewOperator`), which is passed inward
like a composite inertia (Echeandia & Wensing 2021, algorithm 4 with their B for this C). D reads
how the mass of each body is spread, so nothing may be regrouped; of a rotor it has the inertia
about its axis."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from symgen.algorithms.coriolis import coriolis_entries, square_matrix
from symgen.algorithms.motion import twists, unit_twists
from symgen.algorithms.parameter_tensors import SHAPE, coriolis_matrix_by_parameters
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.regressors import Y, slotine_li_regressor
from symgen.algorithms.term_derivatives import CUBE, coriolis_gradients, rate
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import twist_at_frame
from symgen.mechanics.spatial import (
    ZERO_VECTOR,
    Force,
    Step,
    Turn,
    Twist,
    Vector,
    axis_vector,
)
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

GOA13 = "Garofalo, Ott & Albu-Schäffer, IROS 2013, eq. {}, as Christoffel's C and a skew matrix"
UNIT = "kg m^2/s | kg m/s | kg/s"
_coriolis_quantity = partial(quantity, needs_gravity=False, regroupings=(WHOLE,))


@dataclass(frozen=True, slots=True)
class SkewOperator:
    """A skew-symmetric map of twists to forces at a frame: force a × x_v + G x_w and couple
    -Gᵀ x_v + b × x_w, G by its columns."""

    a: Vector = ZERO_VECTOR
    g: tuple[Vector, Vector, Vector] = (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR)
    b: Vector = ZERO_VECTOR

    @classmethod
    def of_body(cls, inertia: Inertia, trace: Scalar, x: Twist) -> "SkewOperator":
        """D of a body that moves at `x`, from its inertia and the trace of its second moment."""
        a, p, h, w = x.w.scaled(inertia.m), x.v.scaled(inertia.m), inertia.h, x.w
        hw = h.dot(w)
        columns = (
            p.cross(e) - w.scaled(h[k]) + axis_vector(k, hw)
            for k, e in enumerate(axis_vector(k, 1.0) for k in range(3))
        )
        first, second, third = columns
        return cls(a, (first, second, third), h.cross(x.v) + w.scaled(trace))

    def __add__(self, other: "SkewOperator") -> "SkewOperator":
        first, second, third = (x + y for x, y in zip(self.g, other.g, strict=True))
        return SkewOperator(self.a + other.a, (first, second, third), self.b + other.b)

    def to_parent(self, step: Step) -> "SkewOperator":
        """The map at the frame from which `step` leads to the present one. A shift by p makes
        G - p aᵀ + (a·p) 1 of G, and b + tr(G) p - G p + (a·p) p of b."""
        if isinstance(step, Turn):
            return self._turned(-step)
        k, d, a = step.axis, step.length, self.a
        i, j = (k + 1) % 3, (k + 2) % 3
        along, moved = d * a[k], [[*column] for column in self.g]
        for c in (i, j):
            moved[c][c] = moved[c][c] + along
            moved[c][k] = moved[c][k] - d * a[c]
        b = [*(self.b - self.g[k].scaled(d))]
        b[k] = self.b[k] + d * (self.g[i][i] + self.g[j][j] + along)
        first, second, third = (Vector(*column) for column in moved)
        return SkewOperator(a, (first, second, third), Vector(*b))

    def _turned(self, back: Turn) -> "SkewOperator":
        """R G Rᵀ, and the vectors in other axes: first the columns, then the rows."""
        half = [column.expressed_after(back) for column in self.g]
        rows = [Vector(*(column[k] for column in half)).expressed_after(back) for k in range(3)]
        first, second, third = (Vector(*(row[k] for row in rows)) for k in range(3))
        return SkewOperator(
            self.a.expressed_after(back), (first, second, third), self.b.expressed_after(back)
        )

    def along_axis(self, joint: Freedom) -> Force:
        """The force that the map makes of the unit twist of a joint, which is along z."""
        turn, slide = joint.S.w, joint.S.v
        force = self.a.cross(slide) + self.g[2].scaled(turn.z)
        rows = Vector(*(column.z for column in self.g))
        return Force(force, self.b.cross(turn) - rows.scaled(slide.z))


def _trace(system: CanonicalModel, i: int) -> Scalar:
    s = system.body(i).inertia.s
    disc = system.body(i).joint.is_balanced
    return 0.5 * s.polar if disc else s.xx + s.yy + s.zz


def _skew(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> dict[int, Force]:
    """D S of each joint, in its joint frame, with the D of all bodies that it carries."""
    moving, forces = twists(system, q, qd), dict[int, Force]()
    total = dict.fromkeys(range(system.size + 1), SkewOperator())
    for i in system.inward:
        body = system.body(i)
        own = SkewOperator.of_body(body.inertia, _trace(system, i), moving[i])
        operator = total[i] + own
        for step in reversed(system.to_body(i, q)):
            operator = operator.to_parent(step)
        forces[i] = operator.along_axis(body.joint)
        for step in reversed(body.placement.to_joint_frame(q[i - 1])):
            operator = operator.to_parent(step)
        total[body.parent] = total[body.parent] + operator
    return forces


@_coriolis_quantity(
    "coriolis_matrix_newton_euler",
    "C(q, qd) with B = v x* I",
    inputs=("q", "qd"),
    source=GOA13.format("6b"),
    outputs=(
        Array(
            "C_ne",
            "Coriolis matrix of Newton-Euler, dM/dt - 2 C is skew-symmetric",
            UNIT,
            ("n", "n"),
        ),
    ),
)
def coriolis_matrix_newton_euler(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """C = Σ Jᵀ (I dJ/dt + v ×* I J), n x n, row-major: C q̇ + g is the bias and dM/dt = C + Cᵀ, as
    with Christoffel's, from which it differs."""
    return square_matrix(system, coriolis_entries(system, q, qd, _skew(system, q, qd)))


@_coriolis_quantity(
    "coriolis_matrix_newton_euler_rate",
    "dC/dt with B = v x* I",
    inputs=("q", "qd", "qdd"),
    source=GOA13.format("25b"),
    outputs=(Array("C_ne_dot", "time derivative of C_ne", f"{UNIT}, per s", ("n", "n")),),
)
def coriolis_matrix_newton_euler_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """Ċ(q, q̇, q̈), n x n."""
    return rate(coriolis_matrix_newton_euler, system, *flow)


@_coriolis_quantity(
    "coriolis_matrix_newton_euler_gradient",
    "dC/dq, dC/dqd with B = v x* I",
    inputs=("q", "qd"),
    source=GOA13.format("24b and 24c"),
    outputs=(
        Array("C_ne_q", "dC_ne_ij/dq_k at [i, j, k]", "units of C per rad | m", CUBE),
        Array("C_ne_qd", "dC_ne_ij/dqd_k at [i, j, k]", "units of C per rad/s | m/s", CUBE),
    ),
)
def coriolis_matrix_newton_euler_gradient(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[list[Scalar], list[Scalar]]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k, n x n x n each."""
    return coriolis_gradients(coriolis_matrix_newton_euler, system, q, qd)


# -- by parameters ---------------------------------------------------------------------------------


def _entries(system: CanonicalModel, b: int, v: Twist, y: Twist, x: Twist) -> list[Scalar]:
    """The power of y in D x for each parameter of body `b`; all in its canonical frame."""
    if b in system.rotors:
        moment = system.body(b).joint.rotor_moment
        spin = 0.5 * y.w.dot(v.w.cross(x.w))
        return [{"J": spin, "Jo": 3.0 * spin, "m": _mass_entry(v, y, x)}[moment]]
    v, y, x = (twist_at_frame(twist, system.link_pose(b)) for twist in (v, y, x))
    w = v.w
    mass = _mass_entry(v, y, x)
    turned = [
        y.w.dot(Vector(*(1.0 if k == c else ZERO for k in range(3))).cross(v.v).cross(x.w))
        for c in range(3)
    ]
    across = [
        y.v.dot(x.w) * w[c] - x.w[c] * y.v.dot(w) - (x.v.dot(y.w) * w[c] - y.w[c] * x.v.dot(w))
        for c in range(3)
    ]
    spin = 0.5 * y.w.dot(w.cross(x.w))
    first = [a + t for a, t in zip(across, turned, strict=True)]
    return [mass, *first, spin, ZERO, ZERO, spin, ZERO, spin]


def _mass_entry(v: Twist, y: Twist, x: Twist) -> Scalar:
    """The entry of a unit mass at the body's origin."""
    return y.v.dot(v.w.cross(x.v) + v.v.cross(x.w)) + y.w.dot(v.v.cross(x.v))


@_coriolis_quantity(
    "coriolis_matrix_newton_euler_by_parameters",
    "dC/dpi with B = v x* I",
    inputs=("q", "qd"),
    needs_inertia=False,
    source=GOA13.format("13b"),
    outputs=(
        Array("C_ne_pi", "dC_ne_ij/dpi_p at [i, j, p]", "units of C per kg, kg m, kg m^2", SHAPE),
    ),
)
def coriolis_matrix_newton_euler_by_parameters(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """∂C_ij/∂π_p, n x n x 10 n, row-major."""
    return with_skew(coriolis_matrix_by_parameters(system, q, qd), system, q, qd)


def with_skew(
    entries: list[Scalar], system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """Entries n x n x 10 n of the bodies' joints, to which those of K are added."""
    n, width = system.size, system.parameters
    moving, units = twists(system, q, qd), unit_twists(system, q)
    for b, columns in system.columns.items():
        for (j, x), (i, y) in combinations(units[b].items(), 2):
            pairs = zip(columns, _entries(system, b, moving[b], y, x), strict=True)
            for p, e in pairs:
                upper = ((i - 1) * n + j - 1) * width + p
                lower = ((j - 1) * n + i - 1) * width + p
                entries[upper], entries[lower] = entries[upper] + e, entries[lower] - e
    return entries


@_coriolis_quantity(
    "slotine_li_regressor_newton_euler",
    "Y(q, qd, qd_r, qdd_r) pi = M qdd_r + C qd_r + g with B = v x* I",
    closed_loops=True,
    inputs=("q", "qd", "qd_r", "qdd_r"),
    needs_gravity=True,
    needs_inertia=False,
    source=GOA13.format("16"),
    outputs=(replace(Y, name="Y_ne"),),
)
def slotine_li_regressor_newton_euler(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qd_r: Coordinates, qdd_r: Coordinates
) -> list[Scalar]:
    """Y with Y π = M q̈_r + C q̇_r + g, C that of `coriolis_matrix_newton_euler`; n x 10 n,
    row-major."""
    entries = slotine_li_regressor(system, q, qd, qd_r, qdd_r)
    moving, units = twists(system, q, qd), unit_twists(system, q)
    reference = twists(system, q, qd_r)
    width = len(entries) // system.size
    for b, columns in system.columns.items():
        for i, y in units[b].items():
            for p, e in zip(columns, _entries(system, b, moving[b], y, reference[b]), strict=True):
                at = (i - 1) * width + p
                entries[at] = entries[at] + e
    return entries
