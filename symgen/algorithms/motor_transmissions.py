"""Positions of closed loops, and the transmissions that they make: from the independent coordinates
to a joint, and between motors and joints.

Positions that have no closed form follow by fixed steps of Newton's method. Two steps and a third
one with the Jacobian of the second, which costs little, leave 2e-8 rad from the last sample at
1 kHz and 15 rad/s of a crank.

The motors are at joints, such as those of the rods of an ankle, whose velocities are rows of the
matrix G at closed loops: x = x(q), ẋ = G q̇, τ_q = Gᵀ τ_x. Each takes the place of a coordinate
that it moves; the other coordinates stay. With J the identity in which the rows of the motors are
those of G, the motors move at J q̇, the joint forces are τ_q = Jᵀ τ_m, and the inertias B of the
motors add Jᵀ B J to the mass matrix (Featherstone, Rigid Body Dynamics Algorithms, 2008, section
8.2).

Joint positions follow from those of the motors by steps of Newton's method. The equation of a motor
that a rod of constant length connects is that of the length, which needs no root and no other joint
of the loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.elimination import Elimination
from symgen.mechanics.joint_listing import (
    motor_coordinates,
    sample_state,
    single_positions,
    velocity_row,
)
from symgen.mechanics.kinematic_loop import UnitAngle, as_number, coordinate
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import multiple
from symgen.numbers.operations import sqrt
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot
from symgen.text import shown


@quantity(
    "loop_closure",
    "q of closed loops after steps of Newton's method",
    inputs=("q",),
    outputs=(
        Array("q_closed", "joint positions at which loops close", "rad | m", ("nq",)),
        Array("loop_gap", "norm of the gaps of loops before the last step", "m", (1,)),
    ),
    source="Newton's method on the cut joints' equations, Featherstone (2008), section 8.8",
    needs_gravity=False,
    needs_inertia=False,
    coordinates=JOINTS,
    closed_loops=True,
    regroupings=(WHOLE,),
    method="loop_closure",
)
def loop_closure(system: CanonicalModel, q: Coordinates) -> tuple[list[Scalar], list[Scalar]]:
    """The positions after two steps of Newton's method and one with the Jacobian of the second, and
    the norm of the gaps before that; q itself where no position is found by Newton's method."""
    if not system.coupling.newton_positions:
        return [*q], [ZERO]
    first, _ = system.coupling.newton_step(q)
    second, _ = system.coupling.newton_step(first)
    third, gaps = system.coupling.newton_step(second, first)
    return third, [sqrt(dot(gaps, gaps))]


# -- one joint -------------------------------------------------------------------------------------


def transmitted_body(system: CanonicalModel, joint: str) -> int:
    """The body of a joint. Raises OptionError for a joint with several coordinates."""
    body = system.joint_frame(joint).body
    kind, _ = system.coupling.joint_parts[body - 1]
    if not kind.has_one_coordinate:
        raise OptionError(
            f"transmission:{shown(joint)}: the joint has several coordinates; name a joint with one"
        )
    return body


@quantity(
    "transmission",
    "x(q), G(q) qd and G(q) of a joint",
    closed_loops=True,
    coordinates=JOINTS,
    inputs=("q", "qd"),
    subject="joint",
    source="Featherstone, Rigid Body Dynamics Algorithms (2008), section 8.2",
    outputs=(
        Array("x_joint", "position of the joint", "rad | m", (1,)),
        Array("xd_joint", "velocity of the joint", "rad/s | m/s", (1,)),
        Array("G_joint", "velocity of the joint by each velocity", "1 | m | 1/m", ("n",)),
    ),
    needs_gravity=False,
    needs_inertia=False,
    regroupings=(WHOLE,),
    method="transmission",
)
def transmission(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, *, joint: str
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """x (rad or m; from -π to π for a joint that turns and that a loop determines), ẋ, and the row
    of G, n numbers. Raises OptionError for a joint with several coordinates."""
    body = transmitted_body(system, joint)
    coupling, x = system.coupling.at(q)
    drive, position = coupling.maps[body - 1], x[body - 1]
    row: list[Scalar] = [ZERO] * len(qd)
    for term in drive.terms:
        row[term.velocity_index] = term.factor
    return [coordinate(position)], [drive.rate(qd)], row


# -- motors ----------------------------------------------------------------------------------------


Rows = list[list[Scalar]]

_motor_quantity = partial(
    quantity,
    source="Featherstone, Rigid Body Dynamics Algorithms (2008), section 8.2",
    closed_loops=True,
    coordinates=JOINTS,
    subject="joint",
    needs_gravity=False,
    needs_inertia=False,
    regroupings=(WHOLE,),
)


@dataclass(frozen=True)
class Motors:
    """Motors at joints of a robot: their bodies, each with the coordinate whose place it takes."""

    coupling: Coupling
    coordinates: Mapping[int, int]

    @classmethod
    def of(cls, system: CanonicalModel, joint: str) -> "Motors":
        """The motors of a list of joints, parted by commas. Raises OptionError."""
        names = [joint] if joint in system.joint_frames else joint.split(",")
        bodies = tuple(transmitted_body(system, name) for name in names)
        coordinates = motor_coordinates(system.coupling, bodies)
        if coordinates is None:
            raise OptionError(
                f"{shown(joint)}: the motors at these joints do not move independently of each "
                "other; name fewer joints"
            )
        return cls(system.coupling, dict(zip(bodies, coordinates, strict=True)))

    def matrix(self, coupling: Coupling) -> Rows:
        """J, n x n, from the coupling at a state."""
        n = self.coupling.velocities
        rows: Rows = [[1.0 if i == k else ZERO for k in range(n)] for i in range(n)]
        for body, k in self.coordinates.items():
            rows[k] = velocity_row(coupling.maps[body - 1], n)
        return rows


def _solve(matrix: Rows, right: Coordinates, sample: Rows) -> list[Scalar]:
    """The solution of a system, by the order of elimination that suits a sample matrix."""
    order = Elimination.of(sample)
    return Elimination(order.pivots, order.rest, ()).solve(matrix, [right], single_use=True)[0]


def _transposed(rows: Rows) -> Rows:
    return [[*column] for column in zip(*rows, strict=True)]


@_motor_quantity(
    "motor_motion",
    "positions and velocities of motors at a joint",
    inputs=("q", "qd"),
    outputs=(
        Array("q_motors", "motor positions; 0 for joints of several coordinates", "rad | m"),
        Array("qd_motors", "motor velocities", "rad/s | m/s"),
    ),
)
def motor_motion(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, *, joint: str
) -> tuple[list[Scalar], list[Scalar]]:
    """The motors' positions (from -π to π where a loop determines an angle) and velocities."""
    motors = Motors.of(system, joint)
    coupling, x = system.coupling.at(q)
    out: list[Scalar] = [ZERO] * len(qd)
    for k, place in single_positions(motors.coupling).items():
        out[k] = q[place]
    for body, k in motors.coordinates.items():
        position = x[body - 1]
        out[k] = coordinate(position)
    return out, [dot(row, qd) for row in motors.matrix(coupling)]


@_motor_quantity(
    "motor_torques",
    "tau_m that gives tau, of motors at a joint",
    inputs=("q", "tau"),
    outputs=(Array("tau_motors", "motor torques", "N m | N"),),
)
def motor_torques(
    system: CanonicalModel, q: Coordinates, tau: Coordinates, *, joint: str
) -> list[Scalar]:
    """τ_m with Jᵀ τ_m = τ."""
    motors = Motors.of(system, joint)
    matrix = _transposed(motors.matrix(system.coupling.at(q)[0]))
    return _solve(matrix, tau, _transposed(motors.matrix(sample_state(motors.coupling)[0])))


@_motor_quantity(
    "joint_torques",
    "tau of tau_m, of motors at a joint",
    inputs=("q", "tau_m"),
    outputs=(Array("tau_joints", "joint forces of the motors", "N m | N"),),
)
def joint_torques(
    system: CanonicalModel, q: Coordinates, tau_m: Coordinates, *, joint: str
) -> list[Scalar]:
    """τ = Jᵀ τ_m."""
    matrix = Motors.of(system, joint).matrix(system.coupling.at(q)[0])
    return [dot(column, tau_m) for column in _transposed(matrix)]


@_motor_quantity(
    "joint_rates",
    "qd of qd_m, of motors at a joint",
    inputs=("q", "qd_m"),
    outputs=(Array("qd_joints", "joint velocities at motor velocities", "rad/s | m/s"),),
)
def joint_rates(
    system: CanonicalModel, q: Coordinates, qd_m: Coordinates, *, joint: str
) -> list[Scalar]:
    """q̇ with J q̇ = q̇_m."""
    motors = Motors.of(system, joint)
    return _solve(
        motors.matrix(system.coupling.at(q)[0]),
        qd_m,
        motors.matrix(sample_state(motors.coupling)[0]),
    )


@_motor_quantity(
    "reflected_inertia",
    "J^T B J of motors at a joint",
    inputs=("q", "motor_inertia"),
    outputs=(
        Array("inertia_of_motors", "what motors add to the mass matrix", "kg m^2", ("n", "n")),
    ),
)
def reflected_inertia(
    system: CanonicalModel, q: Coordinates, motor_inertia: Coordinates, *, joint: str
) -> list[Scalar]:
    """Jᵀ B J, n x n."""
    columns = _transposed(Motors.of(system, joint).matrix(system.coupling.at(q)[0]))
    n = len(columns)
    scaled = [[multiple(x, b) for x, b in zip(c, motor_inertia, strict=True)] for c in columns]
    upper = {(i, j): dot(columns[i], scaled[j]) for i in range(n) for j in range(i, n)}
    return [upper[min(i, j), max(i, j)] for i in range(n) for j in range(n)]


# -- joint positions -------------------------------------------------------------------------------


def _motor_equations(
    motors: Motors, coupling: Coupling, x: Sequence[Any], q_m: Coordinates
) -> tuple[Rows, list[Scalar]]:
    """The rows of the equations of all motors by the coordinates, and what is left of them."""
    matrix = motors.matrix(coupling)
    residuals: list[Scalar] = [ZERO] * len(matrix)
    for body, k in motors.coordinates.items():
        place = UnitAngle.of(q_m[k]) if isinstance(x[body - 1], UnitAngle) else q_m[k]
        loop = next((loop for loop in motors.coupling.loops if body in loop.dependent), None)
        constant_distance = loop.constant_distance(body) if loop is not None else None
        if constant_distance is not None:
            positions_there = {**dict(enumerate(x, 1)), body: place}
            columns = constant_distance.columns(positions_there)
            rows = [
                [
                    multiple(f, columns[b][0])
                    for f in velocity_row(coupling.maps[b - 1], len(matrix))
                ]
                for b in columns
                if b != body
            ]
            matrix[k] = [sum(column, ZERO) for column in zip(*rows, strict=True)]
            residuals[k] = constant_distance.gap(positions_there)[0]
        elif loop is not None and isinstance(place, UnitAngle):
            turn = x[body - 1] - place
            residuals[k] = 2.0 * (turn.applied("sin") / (1.0 + turn.applied("cos")))
        else:
            residuals[k] = coordinate(x[body - 1] - place)
    return matrix, residuals


@_motor_quantity(
    "joint_step",
    "q after a step of Newton's method towards q_m, of motors at a joint",
    inputs=("q", "q_m"),
    outputs=(Array("q_joints", "joint positions nearer to q_m", "rad | m", ("nq",)),),
)
def joint_step(
    system: CanonicalModel, q: Coordinates, q_m: Coordinates, *, joint: str
) -> list[Scalar]:
    """Joint positions after one step from q, the last sample's. The error that is left is in
    proportion to the square of the step. Raises OptionError for joints with quaternions."""
    motors = Motors.of(system, joint)
    single, out = single_positions(motors.coupling), [*q]
    if (
        not all(k in single for k in motors.coordinates.values())
        or motors.coupling.newton_positions
    ):
        raise OptionError(
            f"joint_step:{shown(joint)}: the motors move a joint with several coordinates, or "
            "positions that only Newton's method gives; use loop_closure"
        )
    coupling, x = system.coupling.at(q)
    sample, sample_positions = sample_state(motors.coupling)
    sample_motors: list[Scalar] = [ZERO] * len(q_m)
    for body, k in motors.coordinates.items():
        sample_motors[k] = as_number(sample_positions[body - 1])
    matrix, residuals = _motor_equations(motors, coupling, x, q_m)
    sample_matrix, _ = _motor_equations(motors, sample, sample_positions, sample_motors)
    changes = _solve(matrix, residuals, sample_matrix)
    for k in motors.coordinates.values():
        out[single[k]] = out[single[k]] - changes[k]
    return out
