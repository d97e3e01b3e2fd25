"""Constant poses: where a frame is in another, as plain numbers (m, rotations row-major)."""

from dataclasses import dataclass

from symgen.numbers.decimals import norm
from symgen.numbers.scalar import dot

Triple = tuple[float, float, float]
Matrix3 = tuple[Triple, Triple, Triple]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Pose:
    """The pose X_AB of a frame B in a frame A: `rotation` (R_AB) maps components in B to components
    in A, `position` (p_AB_A) is the origin of B in A (m)."""

    rotation: Matrix3 = IDENTITY
    position: Triple = (0.0, 0.0, 0.0)

    def turn(self, v: Triple) -> Triple:
        """R_AB v: the components in A of a free vector with components `v` in B."""
        r = self.rotation
        a, b, c = (r[i][0] * v[0] + r[i][1] * v[1] + r[i][2] * v[2] for i in range(3))
        return a, b, c

    def move(self, v: Triple) -> Triple:
        """X_AB v: the coordinates in A of the point with coordinates `v` in B."""
        t, p = self.turn(v), self.position
        return t[0] + p[0], t[1] + p[1], t[2] + p[2]

    def __matmul__(self, other: "Pose") -> "Pose":
        a, b, c = (self.turn(other.column(i)) for i in range(3))
        return Pose(
            ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])), self.move(other.position)
        )

    def column(self, i: int) -> Triple:
        """Axis `i` of B in A."""
        return self.rotation[0][i], self.rotation[1][i], self.rotation[2][i]

    @property
    def inverse(self) -> "Pose":
        """X_BA: the pose of A in B."""
        r = Pose((self.column(0), self.column(1), self.column(2)))
        p = r.turn(self.position)
        return Pose(r.rotation, (-p[0], -p[1], -p[2]))


def cross(a: Triple, b: Triple) -> Triple:
    """a × b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def axes_across(z: Triple) -> tuple[Triple, Triple]:
    """Two axes across a normal, those of the carrier where they are."""
    k = max(range(3), key=lambda i: (abs(z[i]), i))
    start = [0.0, 0.0, 0.0]
    start[(k + 1) % 3] = 1.0
    along = dot(start, z)
    x = [a - along * b for a, b in zip(start, z, strict=True)]
    length = norm(*x)
    unit = (x[0] / length, x[1] / length, x[2] / length)
    return unit, cross(z, unit)
