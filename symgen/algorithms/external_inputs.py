"""How external wrenches and thrusts that are inputs act on the coordinates: Jᵀ, by columns."""

from collections.abc import Sequence

from symgen.algorithms.kinematics import frame_jacobian_aligned, frame_jacobian_body
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.spatial import scale_constant
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Columns = list[list[Scalar]]


def wrench_columns(system: CanonicalModel, q: Coordinates) -> Columns:
    """The joint forces of the bodies that act like one unit of each external wrench: six columns
    for each link, in the axes in which wrenches are given."""
    jacobian = frame_jacobian_aligned if system.wrenches_in_root_axes else frame_jacobian_body
    return [
        row for link in system.wrench_links for row in _rows(system, jacobian(system, q, link=link))
    ]


def thrust_columns(system: CanonicalModel, q: Coordinates) -> Columns:
    """The joint forces of the bodies that act like one unit of each thrust: the columns of the
    allocation matrix."""
    return [
        _combined(
            thruster.wrench(1.0), _rows(system, frame_jacobian_body(system, q, link=thruster.link))
        )
        for thruster in system.thrusters
    ]


def _rows(system: CanonicalModel, jacobian: Sequence[Scalar]) -> Columns:
    n = system.size
    return [[*jacobian[k * n : k * n + n]] for k in range(6)]


def _combined(weights: Sequence[Scalar], rows: Columns) -> list[Scalar]:
    """The sum of the rows times constant weights."""
    return [
        sum((scale_constant(w, x) for w, x in zip(weights, column, strict=True)), ZERO)
        for column in zip(*rows, strict=True)
    ]


def external_matrices(system: CanonicalModel, q: Coordinates) -> tuple[list[Scalar], ...]:
    """The joint forces of the user that act like external wrenches and like thrusts, n x 6 k and
    n x k, row-major; empty where these are no inputs. `q` are the positions of the bodies."""
    forces = system.coupling.forces
    wrenches, thrusts = wrench_columns(system, q), thrust_columns(system, q)
    return tuple(row_major([forces(x) for x in columns]) for columns in (wrenches, thrusts))


def row_major(columns: Columns) -> list[Scalar]:
    """The matrix with these columns, row-major."""
    return [x for row in zip(*columns, strict=True) for x in row]
