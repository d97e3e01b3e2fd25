"""Lagrange's equations by SymPy for small robots, and the algorithms on SymPy symbols.

Kinematics, energies and equations of motion are derived here from joint axes and points in the
world, by matrix exponentials, without any part of symgen."""

from dataclasses import dataclass

import numpy as np
import pytest
import sympy
from sympy import Matrix, Rational, cos, eye, sin, symbols, zeros

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.mechanics.model import Body, Joint, Link, RigidBodyModel
from symgen.mechanics.parameters import canonical_model
from symgen.mechanics.spatial import IDENTITY, Pose

FREE_FALL = (1.5, -2.0, -9.0)


@dataclass(frozen=True)
class Screw:
    """A joint in the robot's zero position: its axis as small integers, a point on it, and the body
    it moves.

    `mass`, `centre` and the moments `inertia` about the centre, all in world axes at the zero
    position."""

    kind: str
    axis: tuple[int, int, int]
    point: tuple[float, float, float]
    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


ROUND = (0.3, 0.02, -0.01, 0.25, 0.015, 0.2)
FLAT = (0.08, 0.0, 0.0, 0.11, 0.0, 0.09)
A = Screw("revolute", (0, 0, 1), (0.0, 0.0, 0.0), 3.0, (0.1, 0.05, 0.2), ROUND)
B = Screw("revolute", (0, 1, 0), (0.3, 0.0, 0.2), 2.0, (0.5, -0.1, 0.3), FLAT)
C = Screw("revolute", (1, 2, 2), (0.6, 0.1, 0.5), 1.0, (0.7, 0.2, 0.4), ROUND)
D = Screw("revolute", (-1, 0, 0), (0.5, 0.1, 0.4), 0.7, (0.7, 0.2, 0.4), FLAT)
PARALLEL = Screw("revolute", (0, 0, -1), (0.4, 0.1, 0.0), 1.5, (0.6, 0.2, 0.1), ROUND)
SLIDE = Screw("prismatic", (1, 0, 0), (0.0, 0.0, 0.0), 2.5, (0.4, 0.1, -0.2), ROUND)
SKEW_SLIDE = Screw("prismatic", (2, -1, 2), (0.2, 0.0, 0.1), 1.2, (0.3, 0.2, 0.1), FLAT)

CHAINS = {
    "RR": (A, B),
    "RP": (A, SLIDE),
    "PR": (SLIDE, C),
    "PP": (SLIDE, SKEW_SLIDE),
    "parallel": (A, PARALLEL),
    "RRR": (A, B, D),
    "PRP": (SKEW_SLIDE, A, SLIDE),
}

# -- by Lagrange -----------------------------------------------------------------------------------


def unit(axis):
    """Exact: the axes above have whole lengths."""
    return Matrix(axis) / sympy.sqrt(sum(x * x for x in axis))


def rotation(axis, angle):
    cross = Matrix([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return eye(3) + sin(angle) * cross + (1 - cos(angle)) * cross * cross


def displacement(screw, coordinate):
    """Rotation and translation of everything behind a joint."""
    axis, point = unit(screw.axis), Matrix(screw.point)
    if screw.kind == "prismatic":
        return eye(3), coordinate * axis
    turn = rotation(axis, coordinate)
    return turn, point - turn * point


def rate(thing, x, v):
    """The time derivative of what depends on coordinates x, whose rates are v."""
    return sum((thing.diff(a) * b for a, b in zip(x, v, strict=True)), 0 * thing)


def lagrangian(chain, x, v):
    """Kinetic less potential energy at coordinates x and their rates v."""
    turn, shift, total = eye(3), zeros(3, 1), 0
    for screw, coordinate in zip(chain, x, strict=True):
        own_turn, own_shift = displacement(screw, coordinate)
        turn, shift = turn * own_turn, shift + turn * own_shift
        centre = turn * Matrix(screw.centre) + shift
        velocity, spin = rate(centre, x, v), turn.T * rate(turn, x, v)
        w = Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        xx, xy, xz, yy, yz, zz = screw.inertia
        tensor = Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        kinetic = screw.mass * velocity.dot(velocity) + w.dot(tensor * w)
        total += kinetic / 2 + screw.mass * Matrix(FREE_FALL).dot(centre)
    return total


def equations(name):
    """A numeric function of (x, v, a) for the joint forces, d/dt ∂L/∂v - ∂L/∂x, and the mass
    matrix.

    SymPy has the Lagrangian, which is quadratic in v; complex steps have its derivatives by x,
    without the seconds that SymPy takes for those of products."""
    n = len(CHAINS[name])
    x, v = state = [symbols(f"{letter}:{n}") for letter in "xv"]
    energy = sympy.lambdify(state, lagrangian(CHAINS[name], x, v), "numpy", cse=True)
    e, step = np.eye(n), 1e-30

    def mass(x):
        own = [energy(x, e[i]) for i in range(n)]
        rest = energy(x, 0 * e[0])
        pairs = [[energy(x, e[i] + e[j]) for j in range(n)] for i in range(n)]
        return np.array(pairs) - own - np.reshape(own, (n, 1)) + rest

    def forces(x, v, a):
        rate_of_mass = mass(x + 1j * step * v).imag / step
        slopes = [np.imag(energy(x + 1j * step * e[k], v)) / step for k in range(n)]
        return mass(x) @ a + rate_of_mass @ v - slopes, mass(x)

    return forces


# -- the same robot for symgen ---------------------------------------------------------------------


def robot(name):
    """A model whose link frames sit on the axes, parallel to the world at the zero position."""
    bodies, origin = [], np.zeros(3)
    for i, screw in enumerate(CHAINS[name]):
        axis = tuple(x / np.sqrt(sum(y * y for y in screw.axis)) for x in screw.axis)
        place = np.array(screw.point)
        bodies.append(
            Body(
                Joint(f"j{i}", screw.kind, axis),
                i,
                Pose(IDENTITY, tuple(place - origin)),
                (Link(f"l{i}", Pose(), ten(screw, np.array(screw.centre) - place)),),
            )
        )
        origin = place
    return RigidBodyModel(name, tuple(bodies), (Link("root"),), FREE_FALL)


def ten(screw, c):
    """The ten parameters about the link origin, by Steiner's theorem."""
    xx, xy, xz, yy, yz, zz = screw.inertia
    steiner = screw.mass * (c @ c * np.eye(3) - np.outer(c, c))
    whole = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + steiner
    return tuple(float(x) for x in (screw.mass, *(screw.mass * c), *whole[np.triu_indices(3)]))


def states(name):
    return np.random.default_rng(5).uniform(-2, 2, (5, 3, len(CHAINS[name])))


@pytest.mark.parametrize("name", CHAINS)
def test_joint_forces_and_mass_matrix_are_those_of_lagrange_equations(name):
    of, by_lagrange = canonical_model(robot(name)), equations(name)
    for state in states(name):
        forces, inertia = by_lagrange(*state)
        agree(inverse_dynamics(of, *state.tolist()), forces)
        agree(mass_matrix(of, state[0].tolist()), inertia)


def agree(found, expected):
    a, b = np.array([float(x) for x in found]), np.array(expected, float).ravel()
    assert np.abs(a - b).max() <= 1e-12 * np.abs(b).max()


# -- closed forms ----------------------------------------------------------------------------------


@pytest.fixture
def pendulum():
    """A point mass m at distance l along x, turning about the level axis y."""
    body = Body(Joint("hinge", "revolute", (0.0, 1.0, 0.0)), 0, Pose(), (Link("rod"),))
    model = RigidBodyModel("pendulum", (body,), (Link("root"),), (0.0, 0.0, -1.0))
    m, length = symbols("m l", positive=True)
    inertia = m * length**2
    return canonical_model(
        model, {"rod": (m, m * length, 0.0, 0.0, 0.0, 0.0, 0.0, inertia, 0.0, inertia)}
    )


def test_the_algorithms_give_the_pendulum_in_closed_form(pendulum):
    m, length = symbols("m l", positive=True)
    q, qd, qdd = symbols("q qd qdd", real=True)
    (tau,) = inverse_dynamics(pendulum, [q], [qd], [qdd])
    assert sympy.simplify(sympy.nsimplify(tau) - (m * length**2 * qdd - m * length * cos(q))) == 0
    assert sympy.simplify(sympy.nsimplify(gravity(pendulum, [q])[0]) + m * length * cos(q)) == 0
    assert sympy.simplify(sympy.nsimplify(mass_matrix(pendulum, [q])[0]) - m * length**2) == 0


def test_two_links_in_closed_form():
    """The elbow arm of the textbooks: point masses at the ends of two rods in the level plane."""
    m1, m2, l1, l2, q1, q2 = symbols("m1 m2 l1 l2 q1 q2", real=True)
    reach = Rational(1, 2)
    bodies = tuple(
        Body(
            Joint(f"j{i}", "revolute", (0.0, 0.0, 1.0)),
            i,
            Pose(IDENTITY, (float(reach) * i, 0.0, 0.0)),
            (Link(f"l{i}"),),
        )
        for i in range(2)
    )
    point = {
        f"l{i}": (m, m * x, 0, 0, 0, 0, 0, m * x**2, 0, m * x**2)
        for i, (m, x) in enumerate(((m1, l1), (m2, l2)))
    }
    of = canonical_model(RigidBodyModel("elbow", bodies, (Link("root"),)), point)
    coupling = m2 * l2 * (l2 + reach * cos(q2))
    first = m1 * l1**2 + m2 * (reach**2 + l2**2 + 2 * reach * l2 * cos(q2))
    expected = [first, coupling, coupling, m2 * l2**2]
    found = mass_matrix(of, [q1, q2])
    assert all(
        sympy.simplify(sympy.nsimplify(a) - b) == 0 for a, b in zip(found, expected, strict=True)
    )
