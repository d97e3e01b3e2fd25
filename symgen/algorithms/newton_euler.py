"""Inverse dynamics by the recursive Newton-Euler algorithm in pseudo-inertia form."""

from collections.abc import Sequence
from dataclasses import dataclass

from symgen.mechanics.spatial import EZ, NO_FORCE, NULL, Force, Inertia, Vector, along
from symgen.mechanics.system import System
from symgen.scalar import ZERO, Scalar


@dataclass(frozen=True, slots=True)
class Swirl:
    """U = [ω̇]× + [ω]×[ω]×, the field of accelerations round a point: a(r) = a + U r (Khalil & Kleinfinger 1986).

    Nine entries from six products; differences of its diagonal are single subtractions of squares.
    """

    w: Vector
    wd: Vector

    def __getitem__(self, ij: tuple[int, int]) -> Scalar:
        i, j = ij
        w, wd = self.w, self.wd
        if i == j:
            return -(w[(i + 1) % 3] * w[(i + 1) % 3] + w[(i + 2) % 3] * w[(i + 2) % 3])
        product = w[min(i, j)] * w[max(i, j)]
        k = 3 - i - j
        return product + wd[k] if (j + 1) % 3 == i else product - wd[k]

    def __matmul__(self, r: Vector) -> Vector:
        return Vector(*(self[i, 0] * r.x + self[i, 1] * r.y + self[i, 2] * r.z for i in range(3)))

    def gap(self, i: int, j: int) -> Scalar:
        """U_ii - U_jj."""
        return self.w[i] * self.w[i] - self.w[j] * self.w[j]


def moment(u: Swirl, inertia: Inertia) -> Vector:
    """vee(U S - (U S)ᵀ), the moment of the inertial forces about the frame's origin."""
    s = inertia.s
    return Vector(*(
        u[k, i] * s[i, j] - u[j, i] * s[i, k] + diagonal(u,s,i,j,k) + u.gap(k, j) * s[j, k]
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ))

def diagonal(u,s,i,j,k):
    if s[j,j] is ZERO or s[k,k] is ZERO or isinstance(s[j,j],Value):
        return u[k, j] * s[j, j] - u[j, k] * s[k, k]
    return u.w[j]*u.w[k]*(s[j,j]-s[k,k])+u.wd[i]*(s[j,j]+s[k,k])
from symgen.compiler.program import Value

@dataclass(frozen=True, slots=True)
class State:
    """Motion of a body in its own frame: angular velocity, its derivative, acceleration of the origin."""

    w: Vector
    wd: Vector
    a: Vector

    @property
    def swirl(self) -> Swirl:
        return Swirl(self.w, self.wd)


Coordinates = Sequence[Scalar]


def inverse_dynamics(system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates) -> list[Scalar]:
    """Joint forces τ = M q̈ + C q̇ + g (N m or N, shape n). Khalil & Kleinfinger 1986; F08 table 5.1."""
    states, forces = {}, {}
    for i in system.outward:
        states[i] = advance(system, i, states, q[i - 1], qd[i - 1], qdd[i - 1])
    tau = [ZERO] * system.dof
    for i in system.inward:
        body = system.body(i)
        forces[i] = forces.get(i, NO_FORCE) + inertial_force(body.inertia, states[i])
        tau[i - 1] = body.joint.project(forces[i])
        force = forces[i]
        for step in reversed(body.placement.steps(q[i - 1])):
            force = force.moved_in(step)
        forces[body.parent] = forces.get(body.parent, NO_FORCE) + force
    return tau


def advance(system, i, states, q, qd, qdd):
    body = system.body(i)
    place, joint = body.placement, body.joint
    if body.parent:
        before = states[body.parent]
        lifted = before.a + before.swirl @ place.landing.offset
    else:
        before, lifted = REST, system.gravity[i].scaled(-1.0)
    w, wd, a = before.w, before.wd, lifted
    for turn in place.turns(q):
        w, wd, a = w.turned(turn), wd.turned(turn), a.turned(turn)
    e = joint.spin(qd)
    wd = wd + w.cross(EZ).scaled(e) + along(2, joint.spin(qdd))
    w = w + along(2, e)
    a = a + Swirl(w, wd) @ along(2, place.slide(q)) + joint.thrust(w, qd, qdd)
    return State(w, wd, a)


REST = State(NULL, NULL, NULL)


def inertial_force(inertia, x):
    f = x.a.scaled(inertia.m) + x.swirl @ inertia.h
    return Force(f, moment(x.swirl, inertia) + inertia.h.cross(x.a))
