"""The transmission from the independent coordinates to one joint: its position, its velocity and
its row of the matrix G.

With motors at joints that closed loops determine, such as those of the rods of an ankle, the
functions of all motors are the transmission of the robot: x = x(q), ẋ = G q̇, τ_q = Gᵀ τ_x, and the
inertia J of the rotors adds Gᵀ J G to the mass matrix (Featherstone 2008, section 8.2)."""

from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.errors import OptionError
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.unit_angle import coordinate
from symgen.numbers.scalar import ZERO, Coordinates, Scalar
from symgen.text import shown


def transmitted_body(system: CanonicalModel, joint: str) -> int:
    """The body of a joint. Raises OptionError for a joint with several coordinates."""
    body = system.joint_frame(joint).body
    kind, _ = system.coupling.parts[body - 1]
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
    of_joint=True,
    source="Featherstone, Rigid Body Dynamics Algorithms (2008), section 8.2",
    outputs=(
        Array("x_joint", "position of the joint", "rad | m", (1,)),
        Array("xd_joint", "velocity of the joint", "rad/s | m/s", (1,)),
        Array("G_joint", "velocity of the joint by each velocity", "1 | m | 1/m", ("n",)),
    ),
    needs_gravity=False,
    needs_inertia=False,
    regroupings=(WHOLE,),
)
def transmission(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, *, joint: str
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """x (rad or m; from -π to π for a joint that turns and that a loop determines), ẋ, and the row
    of G, n numbers. Raises OptionError for a joint with several coordinates."""
    body = transmitted_body(system, joint)
    coupling, x = system.coupling.at(q)
    drive, position = coupling.drives[body - 1], x[body - 1]
    row: list[Scalar] = [ZERO] * len(qd)
    for term in drive.terms:
        row[term.velocity_index] = term.factor
    return [coordinate(position)], [drive.rate(qd)], row
