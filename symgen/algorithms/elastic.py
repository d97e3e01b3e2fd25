"""Feedforward of robots with elastic joints, which needs two rates of the joint forces.

Between motor and link stands a spring, τ = K (θ - q), and the motor's inertia B is felt in its own
equation alone, τ_m = B θ̈ + τ (Spong, Modeling and control of elastic joint robots, J. Dyn. Sys.
Meas. Control 1987): so positions and four derivatives of a motion tell all (De Luca & Book, Robots
with flexible elements, Springer Handbook of Robotics, eq. 11.36)."""

from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.algorithms.rates import rate, second_rate
from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import Coordinates, Scalar


@quantity(
    "elastic_feedforward",
    "tau + B (qdd + d2tau/dt2 / K), tau / K",
    inputs=("q", "qd", "qdd", "qddd", "qdddd", "joint_stiffness", "motor_inertia"),
    coordinates=JOINTS,
    depends_on_external_forces=True,
    supports=(),
    source="Spong 1987; De Luca & Book, Springer Handbook of Robotics, eq. 11.36",
    outputs=(
        Array("tau_motor", "motor torques, at the joints", "N m | N"),
        Array("deflection", "deflection of the springs, motor positions minus q", "rad | m"),
        Array("deflection_dot", "rate of the deflection", "rad/s | m/s"),
    ),
)
def elastic_feedforward(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Motor torques of a motion given by q to q⁗, the deflections θ - q of the joints and their
    rates, each of shape n; friction is that between spring and link."""
    *flow, stiffness, inertia = inputs
    coupling = system.coupling
    at = [coupling.body_positions(flow[0]), *(coupling.body_rates(x) for x in flow[1:])]
    tau = coupling.forces(inverse_dynamics(system, *at[:3]))
    first = coupling.forces(rate(inverse_dynamics, system, at[:4], 3))
    second = coupling.forces(second_rate(inverse_dynamics, system, at, 3))
    soft = [1.0 / k for k in stiffness]
    motor = [
        t + b * (a + x * s)
        for t, b, a, x, s in zip(tau, inertia, flow[2], second, soft, strict=True)
    ]
    return (
        motor,
        [t * s for t, s in zip(tau, soft, strict=True)],
        [t * s for t, s in zip(first, soft, strict=True)],
    )
