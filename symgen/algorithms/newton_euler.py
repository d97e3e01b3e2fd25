"""Inverse dynamics, bias and gravity by the recursive Newton-Euler algorithm in pseudo-inertia
form.

Symbols: w angular velocity, wd its derivative, a acceleration of the body's origin less gravity, f
and n the force and moment on the body at its origin, all in the body's own axes; U the field of
accelerations."""

from collections.abc import Sequence
from dataclasses import dataclass

from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.floating import twist_of
from symgen.mechanics.inertia import Second
from symgen.mechanics.spatial import EZ, NO_FORCE, NULL, Force, Turn, Vector, along, axial
from symgen.mechanics.system import Position, System, SystemBody
from symgen.numbers.scalar import ZERO, Scalar, named

Coordinates = Sequence[Scalar]
SOURCE = (
    "Khalil & Kleinfinger, ICRA 1986; Featherstone, Rigid Body Dynamics Algorithms (2008), "
    "table 5.1"
)


@dataclass(frozen=True, slots=True)
class Swirl:
    """U = [wd]x + [w]x[w]x, the field of accelerations about a point: a(r) = a + U r (Khalil &
    Kleinfinger 1986).

    Nine entries from six products; a difference on its diagonal is one subtraction of squares.
    """

    w: Vector
    wd: Vector
    label: str = "U"

    def __getitem__(self, ij: tuple[int, int]) -> Scalar:
        i, j = ij
        if i == j:
            entry = -(self.square(i + 1) + self.square(i + 2))
        else:
            k = 3 - i - j
            entry = self.product(i, j) + (self.wd[k] if (j + 1) % 3 == i else -self.wd[k])
        return named(entry, f"{self.label}_{'xyz'[i]}{'xyz'[j]}")

    def __matmul__(self, r: Vector) -> Vector:
        return Vector(*(self[i, 0] * r.x + self[i, 1] * r.y + self[i, 2] * r.z for i in range(3)))

    def product(self, i: int, j: int) -> Scalar:
        """w_i w_j."""
        return self.w[min(i, j)] * self.w[max(i, j)]

    def square(self, i: int) -> Scalar:
        """w_i²."""
        return self.w[i % 3] * self.w[i % 3]

    def moment(self, s: Second, constant: bool) -> Vector:
        """vee(U S - (U S)ᵀ), the moment of the inertial forces (design notes 4)."""
        return Vector(
            *(
                self[k, i] * s[i, j]
                - self[j, i] * s[i, k]
                + self._diagonal(s, i, constant)
                + (self.square(k) - self.square(j)) * s[j, k]
                for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
            )
        )

    def _diagonal(self, s: Second, i: int, constant: bool) -> Scalar:
        """U_kj S_jj - U_jk S_kk; with constant S its sum and difference save the two entries of
        U."""
        j, k = (i + 1) % 3, (i + 2) % 3
        sj, sk = s[j, j], s[k, k]
        if constant and sj is not ZERO and sk is not ZERO:
            return self.product(j, k) * (sj - sk) + self.wd[i] * (sj + sk)
        return self[k, j] * sj - self[j, k] * sk


@dataclass(frozen=True, slots=True)
class State:
    """How a body moves, in its own frame.

    Along a run of parallel joints, whose rates add up to `run`, wd = `base` + w × run z: what turns
    from joint to joint is then `base` alone, which mostly has zeros in the plane."""

    w: Vector = NULL
    wd: Vector = NULL
    a: Vector = NULL
    label: str = ""
    base: Vector = NULL
    run: Scalar = ZERO

    @property
    def swirl(self) -> Swirl:
        return Swirl(self.w, self.wd, f"U{self.label}")


@quantity(
    "inverse_dynamics",
    "tau = M(q) qdd + C(q, qd) qd + g(q)",
    feels_wrench=True,
    inputs=("q", "qd", "qdd"),
    source=SOURCE,
    outputs=(Array("tau", "joint forces", "N m | N"),),
)
def inverse_dynamics(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """Joint forces that cause the accelerations `qdd`: tau = M q̈ + C q̇ + g (N m or N, shape
    n)."""
    states: dict[int, State] = {0: State()}
    for i in system.outward:
        with system.section(i, "motion"):
            states[i] = moved(system, i, states[system.body(i).parent], q, qd, qdd)
    forces = dict.fromkeys(range(system.size + 1), NO_FORCE)
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "forces"):
            forces[i] = (forces[i] + inertial_force(body, states[i])).named(f"{i}")
            forces[body.parent] = forces[body.parent] + body.placement.carried_in(
                forces[i], q[i - 1]
            )
    bodies = ((i, system.body(i)) for i in range(1, system.size + 1))
    return [body.joint.project(forces[i]) + body.friction.force(qd[i - 1]) for i, body in bodies]


@quantity(
    "gravity",
    "g(q)",
    inputs=("q",),
    source=SOURCE,
    outputs=(Array("tau_g", "joint forces", "N m | N"),),
)
def gravity(system: System, q: Coordinates) -> list[Scalar]:
    """Joint forces that hold the robot still: g(q) (N m or N, shape n); inverse dynamics with q̇ =
    q̈ = 0."""
    return inverse_dynamics(system, q, _still(system), _still(system))


@quantity(
    "bias",
    "C(q, qd) qd + g(q)",
    inputs=("q", "qd"),
    source=SOURCE,
    outputs=(Array("tau_b", "joint forces", "N m | N"),),
)
def bias(system: System, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """Joint forces at rest acceleration: C q̇ + g (N m or N, shape n); inverse dynamics with q̈ =
    0."""
    return inverse_dynamics(system, q, qd, _still(system))


def _still(system: System) -> Coordinates:
    return [ZERO] * system.size


def moved(
    system: System, i: int, before: State, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> State:
    """The motion of body `i` from its parent's: carry over, add the joint's own part, shift along
    its axis."""
    if system.body(i).free:
        return _drifting(system, i, before, q, qd, qdd)
    return _moved(system, i, before, q[i - 1], qd[i - 1], qdd[i - 1])


def _drifting(
    system: System, i: int, before: State, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> State:
    """The same in a floating joint, whose first body moves at all its rates and whose others stay
    with that one."""
    at = carried_out(system, i, before, q[i - 1])
    if system.body(i).free > 1:
        return at
    (u, spin), (ud, spind) = (twist_of(rates[i - 1 : i + 5]) for rates in (qd, qdd))
    w = (at.w + spin).named(f"w{i}")
    wd = (at.wd + spind + at.w.cross(spin)).named(f"wd{i}")
    return State(w, wd, (at.a + ud + (at.w + w).cross(u)).named(f"a{i}"), f"{i}", base=wd)


def carried_out(system: System, i: int, before: State, q: Position) -> State:
    """The motion at the joint frame of body `i`, as if it were fixed to the parent."""
    w, wd, a = before.w, before.wd, before.a if system.body(i).parent else -system.gravity[i]
    for step in system.body(i).placement.approach(q):
        if isinstance(step, Turn):
            w, wd, a = (v.turned(step) for v in (w, wd, a))
        else:
            a = a + Swirl(w, wd) @ along(step.axis, step.length)
    return State(w, wd, a, f"{i}", base=wd)


def _moved(system: System, i: int, before: State, q: Scalar, qd: Scalar, qdd: Scalar) -> State:
    body = system.body(i)
    place, joint = body.placement, body.joint
    a = before.a + before.swirl @ place.landing.offset if body.parent else -system.gravity[i]
    turns = place.turns(q)
    parallel = all(turn.axis == 2 for turn in turns)
    base, run = (before.base, before.run) if parallel else (before.wd, ZERO)
    base, run = axial(base.turned_all(turns), joint.spin(qdd)), run + joint.spin(qd)
    w = axial(before.w.turned_all(turns), joint.spin(qd)).named(f"w{i}")
    wd = (base + w.cross(EZ).scaled(run)).named(f"wd{i}")
    slide = Swirl(w, wd, f"U{i}") @ along(2, place.slide(q))
    a = a.turned_all(turns) + slide + joint.thrust(w, qd, qdd)
    return State(w, wd, a.named(f"a{i}"), f"{i}", base, run)


def inertial_force(body: SystemBody, x: State) -> Force:
    """F = m a + U h and N = vee(U S - (U S)ᵀ) + h × a about the body's origin, less what the
    surroundings give."""
    inertia = body.inertia
    force = x.a.scaled(inertia.m) + x.swirl @ inertia.h
    return (
        Force(force, x.swirl.moment(inertia.s, body.constant) + inertia.h.cross(x.a)) + -body.wrench
    )
