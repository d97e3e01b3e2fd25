"""Fields of acceleration of rigid bodies, and what a twist finds in them for each inertial
parameter.

What a twist (σ, t) of a body finds in a field of accelerations a + U r is ∫ (t + σ × r)·(a + U r)
dm: an entry of a regressor for each of the ten moments of mass (Garofalo, Ott & Albu-Schäffer, IROS
2013, eqs. 13-16)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from symgen.algorithms.motions import Coordinates, Twist, columns_of, place_of, times, twists
from symgen.mechanics.floating import twist_of
from symgen.mechanics.flow import slide_axis
from symgen.mechanics.model import Pose
from symgen.mechanics.spatial import EZ, NULL, Turn, Vector, along
from symgen.mechanics.system import Position, System
from symgen.numbers.scalar import ZERO, Scalar

CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


@dataclass(frozen=True, slots=True)
class Field:
    """The accelerations a + U r of a rigid body's points along its motion at `w`, where their
    velocities (or reference velocities) turn at `wr`, whose rate is `wrd`: U = [wrd]x + [wr]x[w]x.
    """

    a: Vector
    w: Vector = NULL
    wr: Vector = NULL
    wrd: Vector = NULL

    def __getitem__(self, ij: tuple[int, int]) -> Scalar:
        i, j = ij
        if i == j:
            return -(self.square((i + 1) % 3) + self.square((i + 2) % 3))
        spin = self.wrd[3 - i - j]
        return self.w[i] * self.wr[j] + (spin if (j + 1) % 3 == i else -spin)

    def column(self, k: int) -> Vector:
        """U e_k."""
        return Vector(*(self[i, k] for i in range(3)))

    def at(self, r: Vector) -> Vector:
        """The acceleration at `r`."""
        parts = (self.column(k).scaled(x) for k, x in enumerate(r) if x is not ZERO)
        return sum(parts, self.a)

    def square(self, i: int) -> Scalar:
        return self.w[i] * self.wr[i]

    def mixed(self, i: int, j: int) -> Scalar:
        """Half of U_ij + U_ji."""
        if self.w is self.wr:
            return self.w[min(i, j)] * self.w[max(i, j)]
        return 0.5 * (self.w[i] * self.wr[j] + self.w[j] * self.wr[i])

    def whirl(self, k: int) -> Scalar:
        """Half of U_ji - U_ij for a cycle (i, j, k)."""
        i, j = (k + 1) % 3, (k + 2) % 3
        return self.wrd[k] if self.w is self.wr else 0.5 * (self[j, i] - self[i, j])

    def seen_in(self, pose: Pose) -> "Field":
        """The same field about a frame of constant pose."""
        axes = columns_of(pose)
        w, wrd = times(axes, self.w), times(axes, self.wrd)
        wr = w if self.w is self.wr else times(axes, self.wr)
        return Field(times(axes, self.at(place_of(pose))), w, wr, wrd)

    def named(self, label: str) -> "Field":
        self.a.named(f"a{label}")
        self.w.named(f"w{label}")
        self.wr.named(f"wr{label}")
        self.wrd.named(f"wd{label}")
        return self


@dataclass(frozen=True, slots=True)
class Rates:
    """Of a joint: velocity, reference velocity and the rate of the latter."""

    own: Scalar
    reference: Scalar
    change: Scalar


def fields(system: System, q: Coordinates, rates: Sequence[Rates]) -> dict[int, Field]:
    """The fields of all bodies, less gravity."""
    found: dict[int, Field] = {0: Field(NULL)}
    for i in system.outward:
        with system.section(i, "motion"):
            before = found[system.body(i).parent]
            moved = (
                _drifting(system, i, before, q[i - 1], rates)
                if system.body(i).free
                else _moved(system, i, before, q[i - 1], rates[i - 1])
            )
            found[i] = moved.named(f"{i}")
    return found


def _moved(system: System, i: int, before: Field, q: Scalar, rate: Rates) -> Field:
    """The field of body `i` from its parent's; its shift along its own axis belongs to both."""
    place, joint = system.body(i).placement, system.body(i).joint
    start = before.at(place.landing.offset) if system.body(i).parent else -system.gravity[i]
    a, w, wr, wrd = (v.turned_all(place.turns(q)) for v in (start, before.w, before.wr, before.wrd))
    wrd = wrd + w.cross(EZ).scaled(joint.spin(rate.reference)) + along(2, joint.spin(rate.change))
    w, wr = w + along(2, joint.spin(rate.own)), wr + along(2, joint.spin(rate.reference))
    w, wr = (w, w) if before.w is before.wr and rate.own is rate.reference else (w, wr)
    axis = slide_axis(joint)
    drag = (
        w.cross(axis).scaled(rate.reference)
        + wr.cross(axis).scaled(rate.own)
        + axis.scaled(rate.change)
    )
    return Field(Field(a, w, wr, wrd).at(along(2, place.slide(q))) + drag, w, wr, wrd)


def _drifting(system: System, i: int, before: Field, q: Position, rates: Sequence[Rates]) -> Field:
    """The field of a floating joint's body, whose first moves at all its rates and whose others
    stay with that one.

    The joint's axes turn with the body, at w: the rate of its share of the reference velocity is
    ȧ_r + w × v_r."""
    a, w, wr, wrd = (
        before.a if system.body(i).parent else -system.gravity[i],
        before.w,
        before.wr,
        before.wrd,
    )
    for step in system.body(i).placement.approach(q):
        if isinstance(step, Turn):
            a, w, wr, wrd = (v.turned(step) for v in (a, w, wr, wrd))
        else:
            a = Field(a, w, wr, wrd).at(along(step.axis, step.length))
    same = before.w is before.wr
    if system.body(i).free > 1:
        return Field(a, w, w if same else wr, wrd)
    six = rates[i - 1 : i + 5]
    same = same and all(rate.own is rate.reference for rate in six)
    (u, spin), (ur, spinr) = twist_of([r.own for r in six]), twist_of([r.reference for r in six])
    urd, spinrd = twist_of([r.change for r in six])
    whole = w + spin
    return Field(
        a + wr.cross(u) + whole.cross(ur) + urd,
        whole,
        whole if same else wr + spinr,
        wrd + spinrd + whole.cross(spinr),
    )


def accelerations(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> dict[int, Field]:
    """The true accelerations of all bodies, less gravity."""
    return fields(system, q, [Rates(v, v, a) for v, a in zip(qd, qdd, strict=True)])


def velocities(system: System, q: Coordinates, qd: Coordinates) -> dict[int, Field]:
    """The velocities of all bodies, as fields of points at momentary rest."""
    return {i: Field(twist.linear, wrd=twist.angular) for i, twist in twists(system, q, qd).items()}


# -- entries ---------------------------------------------------------------------------------------


def mass_entry(twist: Twist, field: Field) -> Scalar:
    """Of unit mass at the origin."""
    return twist.linear.dot(field.a)


def first_entry(twist: Twist, field: Field, k: int) -> Scalar:
    """Of unit first moment along axis `k`."""
    i, j = (k + 1) % 3, (k + 2) % 3
    z, a = twist.angular, field.a
    return twist.linear.dot(field.column(k)) + (a[i] * z[j] - a[j] * z[i])


def second_entry(twist: Twist, field: Field, i: int, j: int) -> Scalar:
    """Of unit second moment of the axes `i` and `j`: i, or j next to i."""
    z, k = twist.angular, 3 - i - j
    if i == j:
        j, k = (i + 1) % 3, (i + 2) % 3
        return z[k] * field[j, i] - z[j] * field[k, i]
    difference = field.square(j) - field.square(i)  # U_jj - U_ii
    return z[i] * field[k, i] - z[j] * field[k, j] + z[k] * difference


def reader(system: System, i: int, field: Field) -> Callable[[Twist], list[Scalar]]:
    """What a twist of body `i` finds in its field (both in its canonical frame) for each of its
    parameters: the users' ten, or of a rotor the inertia about its axis."""
    if system.body(i).joint.balanced:
        return lambda twist: [_spin_entry(twist.angular, field, *CYCLES[2])]
    own = system.own(i)
    seen = field.seen_in(own)
    return lambda twist: ten_entries(twist.seen_in(own), seen)


def moment_entries(twist: Twist, field: Field) -> list[Callable[[], Scalar]]:
    """An entry, to be computed, for each of `symgen.mechanics.base_parameters.MOMENTS`."""
    pairs = ((0, 0), (0, 1), (2, 0), (1, 1), (1, 2), (2, 2))
    return [
        lambda: mass_entry(twist, field),
        *(partial(first_entry, twist, field, k) for k in range(3)),
        *(partial(second_entry, twist, field, i, j) for i, j in pairs),
        lambda: 0.5 * (second_entry(twist, field, 0, 0) + second_entry(twist, field, 1, 1)),
    ]


def ten_entries(twist: Twist, field: Field) -> list[Scalar]:
    """An entry for each of the users' ten: the second moments as they make up the usual inertia."""
    xy, yz, zx = (-second_entry(twist, field, i, j) for i, j, _ in CYCLES)
    xx, yy, zz = (_spin_entry(twist.angular, field, *cycle) for cycle in CYCLES)
    first = (first_entry(twist, field, k) for k in range(3))
    return [mass_entry(twist, field), *first, xx, xy, zx, yy, yz, zz]


def _spin_entry(z: Vector, field: Field, i: int, j: int, k: int) -> Scalar:
    """Of unit I_ii: half of S_jj + S_kk - S_ii."""
    return z[i] * field.whirl(i) + z[j] * field.mixed(i, k) - z[k] * field.mixed(i, j)
