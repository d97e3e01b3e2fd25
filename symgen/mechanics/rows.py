"""3x3 matrices by their rows, and constant poses as vectors whose zeros are structural."""

from symgen.mechanics.pose import Pose
from symgen.mechanics.spatial import Twist, Vector
from symgen.numbers.scalar import structural

Rows = tuple[Vector, Vector, Vector]


def rows_of(pose: Pose) -> Rows:
    """The rotation of a constant pose, its zeros structural."""
    a, b, c = (Vector(*(structural(x) for x in row)) for row in pose.rotation)
    return a, b, c


def columns_of(pose: Pose) -> Rows:
    """The transpose of the rotation of a constant pose: the axes of its frame."""
    a, b, c = (Vector(*(structural(x) for x in pose.column(k))) for k in range(3))
    return a, b, c


def place_of(pose: Pose) -> Vector:
    """The position of a constant pose, its zeros structural."""
    return Vector(*(structural(x) for x in pose.position))


def times(rows: Rows, v: Vector) -> Vector:
    """A 3x3 matrix by its rows times a vector."""
    return Vector(*(row.dot(v) for row in rows))


def product(a: Rows, b: Rows) -> Rows:
    """The product of two 3x3 matrices, each by its rows."""
    columns = transposed(b)
    x, y, z = (Vector(*(row.dot(c) for c in columns)) for row in a)
    return x, y, z


def transposed(a: Rows) -> Rows:
    """The columns of a 3x3 matrix given by its rows."""
    x, y, z = (Vector(*(row[k] for row in a)) for k in range(3))
    return x, y, z


def twist_seen_in(x: Twist, pose: Pose) -> Twist:
    """The twist of a body at a frame of constant pose on it, in that frame's axes."""
    axes = columns_of(pose)
    return Twist(times(axes, x.w), times(axes, x.at(place_of(pose))))
