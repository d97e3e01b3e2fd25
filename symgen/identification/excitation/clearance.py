"""The space that a motion needs: a box that contains the collision geometry of moving links, and
a distance that links keep from each other.

Shapes are convex (meshes count as their convex hulls). A motion is checked at given times. Between
two times, a point is at most half of the distance that it moves away from one of the two positions,
if it moves along a straight line; by this much every shape counts as larger."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Final

import numpy as np

from symgen.algorithms.motion import forward_kinematics
from symgen.errors import OptionError, SymgenError
from symgen.identification.excitation.motion_limits import ExcitationPlan
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import Pose
from symgen.numbers.scalar import Numbers
from symgen.reading.visual_shapes import VisualShape
from symgen.text import install, shown
from symgen.tracing.robot import ParametricModel

RANDOM_POSTURES: Final = 100
"""Random postures at which pairs of links are tested for permanent contact."""
DISTANCE_TOLERANCE: Final = 1e-3
"""Distances from the box that differ by less (m) are the same."""
PENALTY_SCALE: Final = 0.05
"""The excess over the box (m) that a search penalises as a force of twice its limit."""
DIFFERENCE_STEP: Final = 1e-5
"""Half of the step of differences (rad or m)."""
CYLINDER_SIDES: Final = 16
"""Corners of the polygon that contains the end of a cylinder."""
CONTACT_SHARE: Final = 0.9
"""Pairs of links that are too close at more than this part of random postures are not checked."""


@dataclass(frozen=True, eq=False)
class CollisionShape:
    """A convex shape on a body, or the origin of a link without collision geometry: all points
    within `radius` (m) of the hull of `points` (K x 3, m, in the canonical frame of the body)."""

    link: str
    body: int
    points: Numbers
    radius: float
    pose: Pose
    source: VisualShape | None = None

    @cached_property
    def centre(self) -> Numbers:
        """The centre of the bounding box of its points."""
        return np.asarray((self.points.max(axis=0) + self.points.min(axis=0)) / 2)

    @cached_property
    def bounding_radius(self) -> float:
        """The radius of a sphere about the centre that contains the shape."""
        away = np.linalg.norm(self.points - self.centre, axis=1)
        return float(away.max()) + self.radius


Poses = Mapping[int, tuple[Numbers, Numbers]]
"""Rotations (N x 3 x 3) and origins (N x 3) of bodies in the root link."""


@dataclass(frozen=True, eq=False)
class Clearance:
    """The free space of a robot: `lower` and `upper` corners of the box (m, axes of the root link)
    and the `distance` (m) that links keep, None without a check of self-collision."""

    system: CanonicalModel
    shapes: tuple[CollisionShape, ...]
    lower: Numbers
    upper: Numbers
    distance: float | None = None
    ignored: frozenset[tuple[str, str]] = frozenset()
    """Pairs of links that are closer than the distance at nearly all postures."""
    exempt: frozenset[str] = frozenset()
    """Links that are outside of the box by the same distance at all postures."""

    def excess(self, q: Numbers) -> float:
        """The largest distance (m) by which a motion with the positions `q` (N x n, one time after
        the other) violates the box, or else that by which the first pair of links that is too close
        violates the distance; negative if it keeps both."""
        worst, _ = self._outermost(q)
        if worst > 0 or self.distance is None:
            return worst
        return max(worst, self.distance - self.nearest(q, of_all=False)[0])

    def reason(self, q: Numbers) -> str:
        """Which links violate the box or the distance most at postures that do."""
        worst, link = self._outermost(q)
        if worst > 0 or self.distance is None:
            return f"link '{shown(link)}' is {worst:.3g} m outside the box"
        least, a, b = self.nearest(q)
        apart = "overlap" if least < 0 else f"are {least:.3g} m apart"
        return f"links '{shown(a)}' and '{shown(b)}' {apart}"

    def nearest(self, q: Numbers, of_all: bool = True) -> tuple[float, str, str]:
        """The least distance (m) of two links that are not neighbours along a motion, as far as it
        is below `distance`, and the links: the least one, or the first that is found.

        After a measured distance, times are skipped until the links could have moved to within the
        least one."""
        assert self.distance is not None
        poses, best = self.poses(q), (self.distance, "", "")
        path = self._paths(poses)
        centres = [
            s.centre @ poses[s.body][0].transpose(0, 2, 1) + poses[s.body][1] for s in self.shapes
        ]
        for k, (i, j) in enumerate(self._pairs):
            a, b = self.shapes[i], self.shapes[j]
            least = np.linalg.norm(centres[i] - centres[j], axis=1)
            slack, moved = half_steps(path[i]) + half_steps(path[j]), path[i] + path[j]
            near = least - a.bounding_radius - b.bounding_radius - slack < best[0]
            times, largest, at = np.flatnonzero(near), slack.max(initial=0.0), 0
            moved_at_times = moved[times]
            while at < len(times) and (of_all or not best[1]):
                t = int(times[at])
                apart = self._measured(k, poses, t)
                best = min(best, (apart - float(slack[t]), a.link, b.link))
                safe = moved[t] + apart - best[0] - largest
                at = max(at + 1, int(np.searchsorted(moved_at_times, safe, "right")))
        return best

    def _outermost(self, q: Numbers) -> tuple[float, str]:
        """The largest excess over the box along a motion, and the link."""
        if self._boundless:
            return -np.inf, ""
        poses = self.poses(q)
        at, path = self._points_at(poses), self._paths(poses)
        beyond = [(self._beyond(at[k], half_steps(path[k]), s), s.link) for k, s in self._moving]
        return max(beyond, default=(-np.inf, ""))

    @property
    def _boundless(self) -> bool:
        return bool(np.isinf(self.lower).all() and np.isinf(self.upper).all())

    def _beyond(self, at: Numbers, half: Numbers, shape: CollisionShape) -> float:
        """The largest excess of a shape over the box."""
        reach = (half + shape.radius)[:, None, None]
        return float(max((self.lower - at + reach).max(), (at + reach - self.upper).max()))

    def penalty(self, q: Numbers) -> tuple[Numbers, Numbers]:
        """The sum of the squared excesses over the box at each of N postures, in units of
        `PENALTY_SCALE`, and its derivatives in q (N x n) by central differences at the postures
        that violate the box."""
        n, slopes = q.shape[1], np.zeros_like(q)
        here = self._squared_excess(q)
        outside = np.flatnonzero(here)
        if len(outside):
            steps = DIFFERENCE_STEP * np.vstack([np.eye(n), -np.eye(n)])
            around = (q[outside] + steps[:, None]).reshape(-1, n)
            forth, back = self._squared_excess(around).reshape(2, n, -1)
            slopes[outside] = (forth - back).T / (2 * DIFFERENCE_STEP)
        return here, slopes

    def _squared_excess(self, q: Numbers) -> Numbers:
        total = np.zeros(len(q))
        if self._boundless:
            return total
        at = self._points_at(self.poses(q))
        for k, shape in self._moving:
            for over in (self.lower - at[k], at[k] - self.upper):
                beyond = np.maximum(over + shape.radius, 0.0) / PENALTY_SCALE
                total += (beyond**2).sum(axis=(1, 2))
        return total

    @property
    def _moving(self) -> list[tuple[int, CollisionShape]]:
        numbered = enumerate(self.shapes)
        return [(k, s) for k, s in numbered if s.body and s.link not in self.exempt]

    def poses(self, q: Numbers) -> Poses:
        """Rotations (N x 3 x 3) and origins (N x 3) of bodies in the root link."""
        bodies = sorted({shape.body for shape in self.shapes} - {0})
        positions = self.system.coupling.body_positions(list(q.T))
        found = forward_kinematics(self.system, positions, bodies)
        numbers = lambda x: np.broadcast_to(x if isinstance(x, np.ndarray) else float(x), len(q))  # noqa: E731
        fixed = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
        return {0: fixed} | {
            i: (
                np.stack([np.stack([*map(numbers, row)], 1) for row in found[i].rows], 1),
                np.stack([*map(numbers, found[i].origin)], 1),
            )
            for i in bodies
        }

    def _paths(self, poses: Poses) -> list[Numbers]:
        """For each shape the sum of the largest distances that its points can move between two
        times (N): a rotation by an angle moves a point by at most the sine of half of the angle
        times twice its distance from the centre."""
        paths = []
        for shape in self.shapes:
            rows, origin = poses[shape.body]
            centre = shape.centre @ rows.transpose(0, 2, 1) + origin
            turn = np.linalg.norm(np.diff(rows, axis=0), axis=(1, 2)) / np.sqrt(2)
            step = np.linalg.norm(np.diff(centre, axis=0), axis=1) + turn * shape.bounding_radius
            paths.append(np.append(0.0, np.cumsum(step)))
        return paths

    def _points_at(self, poses: Poses) -> list[Numbers]:
        """The points of each shape (N x K x 3)."""
        placed = ((shape.points, *poses[shape.body]) for shape in self.shapes)
        return [
            points @ rows.transpose(0, 2, 1) + origin[:, None] for points, rows, origin in placed
        ]

    # -- pairs -------------------------------------------------------------------------------------

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """The shapes whose distance counts: on different bodies that no joint connects."""
        parents = {i: self._carrier(i) for i in {s.body for s in self.shapes} - {0}}
        numbered = [(k, s) for k, s in enumerate(self.shapes) if s.source is not None]
        return [
            (i, j)
            for (i, a), (j, b) in combinations(numbered, 2)
            if a.body != b.body
            and parents.get(a.body) != b.body
            and parents.get(b.body) != a.body
            and (a.link, b.link) not in self.ignored
        ]

    def _carrier(self, i: int) -> int:
        """The nearest body with links that carries body `i`."""
        return next((j for j in self.system.ancestors(i) if j in self.system.link_bodies), 0)

    def _measured(self, pair: int, poses: Poses, t: int) -> float:
        """The distance of a pair of shapes at time number `t`, negative where they overlap."""
        coal, placed = _coal(), []
        for k in self._pairs[pair]:
            shape = self.shapes[k]
            rows, origin = poses[shape.body]
            turned = rows[t] @ np.array(shape.pose.rotation)
            where = rows[t] @ np.array(shape.pose.position) + origin[t]
            placed += [self._solids[k], coal.Transform3s(turned, where)]
        return float(coal.distance(*placed, coal.DistanceRequest(), coal.DistanceResult()))

    @cached_property
    def _solids(self) -> dict[int, Any]:
        """The shapes as geometry of coal."""
        return {k: _coal_geometry(s) for k, s in enumerate(self.shapes) if s.source is not None}

    def touching(self, postures: Numbers) -> frozenset[tuple[str, str]]:
        """The pairs of links that are closer than `distance` at more than `CONTACT_SHARE` of some
        postures."""
        assert self.distance is not None
        counts: dict[tuple[str, str], set[int]] = {}
        poses = self.poses(postures)
        for k, (i, j) in enumerate(self._pairs):
            names = self.shapes[i].link, self.shapes[j].link
            for t in range(len(postures)):
                if self._measured(k, poses, t) <= self.distance:
                    counts.setdefault(names, set()).add(t)
        least = CONTACT_SHARE * len(postures)
        return frozenset(pair for pair, times in counts.items() if len(times) > least)

    def outside(self, postures: Numbers) -> frozenset[str]:
        """The links that are outside of the box by the same distance at all of some postures, such
        as that which turns about a vertical axis on a table."""
        at = self._points_at(self.poses(postures))
        rest, found = np.zeros(1), set()
        for k, shape in self._moving:
            excess = [self._beyond(x[None], rest, shape) for x in at[k]]
            if min(excess) > 0 and max(excess) - min(excess) < DISTANCE_TOLERANCE:
                found.add(shape.link)
        return frozenset(found)


def half_steps(path: Numbers) -> Numbers:
    """Half of the larger distance from each time to its neighbours, of distances along a path."""
    step = np.diff(path) / 2
    return np.asarray(np.maximum(np.append(step, 0.0), np.append(0.0, step)))


def _coal() -> Any:
    """The package coal. Raises SymgenError where it is missing."""
    try:
        import coal
    except ImportError:
        text = f"error: collision geometry needs coal; install it: {install('coal')}"
        raise SymgenError(text) from None
    return coal


def _coal_geometry(shape: CollisionShape) -> Any:
    """The geometry of coal for a shape."""
    coal, source = _coal(), shape.source
    assert source is not None
    made = {"box": "Box", "sphere": "Sphere", "cylinder": "Cylinder", "capsule": "Capsule"}
    if source.kind in made:
        return getattr(coal, made[source.kind])(*source.size)
    vertices = coal.StdVec_Vec3s()
    for vertex in _vertices(source):
        vertices.append(vertex)
    return coal.Convex.convexHull(vertices, True, "")


def _vertices(source: VisualShape) -> Numbers:
    """The vertices of a mesh (m). Raises OptionError for a file that cannot be read."""
    if source.triangles is not None:
        return np.asarray(np.array(source.triangles[0], float) * np.array(source.size))
    try:
        mesh = _coal().MeshLoader().load(str(source.mesh), np.array(source.size))
    except (RuntimeError, ValueError):
        raise OptionError(
            f"the collision mesh {shown(str(source.mesh))} of link '{shown(source.link)}' cannot "
            "be read; check the file"
        ) from None
    return np.array([mesh.vertex(k) for k in range(mesh.num_vertices)])


def _points_and_radius(source: VisualShape) -> tuple[Numbers, float]:
    """The points of a shape in its own frame, and the radius around them."""
    size, end = source.size, np.array([[0.0, 0.0, source.size[-1] / 2]])
    if source.kind == "box":
        return np.array([*product((-0.5, 0.5), repeat=3)]) * np.array(size), 0.0
    if source.kind == "sphere":
        return np.zeros((1, 3)), size[0]
    if source.kind == "capsule":
        return np.vstack([end, -end]), size[0]
    if source.kind == "cylinder":
        turn = 2 * np.pi / CYLINDER_SIDES * np.arange(CYLINDER_SIDES)
        ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1) * (
            size[0] / np.cos(np.pi / CYLINDER_SIDES)
        )
        return np.vstack([ring + end, ring - end]), 0.0
    return _hull_vertices(_vertices(source)), 0.0


def _hull_vertices(vertices: Numbers) -> Numbers:
    """The vertices that are corners of the convex hull, all of them where they are flat."""
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:  # the search itself needs SciPy and says so
        return vertices
    try:
        return np.asarray(vertices[ConvexHull(vertices).vertices])
    except (QhullError, ValueError):
        return vertices


def collision_shapes(
    system: CanonicalModel, shapes: Sequence[VisualShape]
) -> Iterator[CollisionShape]:
    """The collision geometry of a robot on its bodies; a moving link without any counts with its
    origin."""
    known = {shape.link for shape in shapes}
    for shape in (s for s in shapes if s.link in system.link_frames):
        frame = system.link_frames[shape.link]
        pose, (points, radius) = frame.pose @ shape.pose, _points_and_radius(shape)
        placed = points @ np.array(pose.rotation).T + np.array(pose.position)
        yield CollisionShape(shape.link, frame.body, placed, radius, pose, shape)
    for link, frame in system.link_frames.items():
        if frame.body and link not in known:
            origin = np.array([frame.pose.position])
            yield CollisionShape(link, frame.body, origin, 0.0, frame.pose)


def clearance(
    robot: ParametricModel,
    shapes: Sequence[VisualShape],
    plan: ExcitationPlan,
    postures: Numbers,
) -> Clearance:
    """The free space of a robot by the options of a motion. Pairs of links that are too close at
    nearly all `postures` (N x n) are ignored. Raises SymgenError, also for a distance between links
    without collision geometry."""
    system, distance = robot.regroups[WHOLE].layout, plan.self_clearance
    found = tuple(collision_shapes(system, shapes))
    free = Clearance(system, found, *plan.box, distance)
    free = replace(free, exempt=free.outside(postures))
    if distance is None:
        return free
    _coal()
    if len({shape.link for shape in found if shape.source is not None}) < 2:
        raise OptionError(
            "--self-clearance: the file has collision geometry for less than two links; add "
            "<collision> to the links or remove the option"
        )
    return replace(free, ignored=free.touching(postures))
