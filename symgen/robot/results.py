"""What a robot shows in Python: its joints and links, a picture of its tree for notebooks, and the
results of ``robot.check()`` and ``robot.inspect()``."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

from symgen.errors import Notice, SourceLocation
from symgen.inspection.inspect_command import page_of
from symgen.inspection.robot_report import robot_report, warnings
from symgen.jobs.job import Job, RefusedInertia, notices_after_tracing
from symgen.mechanics.inertia import inertia_about_centre
from symgen.mechanics.inertia_checks import InertiaVerdict, check_inertias
from symgen.mechanics.joint_listing import (
    ListedJoint,
    carrying_link,
    listed_joints,
    position_coordinates,
)
from symgen.mechanics.model import Link, PerCoordinate, RigidBodyModel
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import RobotOptions
from symgen.robot.rotors import RotorEffects, rotor_effects
from symgen.text import html, html_table


@dataclass(frozen=True, slots=True)
class JointView:
    """A joint: its `type`, its links (`parent`, `child`), its limits (rad or m, rad/s or m/s,
    N m or N; None if not given), and the indices of its entries of q and of the velocities (none
    for a joint that `follows` another).

    `damping` (N m s/rad or N s/m) and `friction` (N m or N) have an effect with the option
    ``friction``; a spring of `stiffness` (N m/rad or N/m) with zero force at `reference` (rad or m)
    has an effect with ``springs``. Each is one number for all velocities of the joint, or a tuple
    with one number per velocity."""

    name: str
    type: str
    parent: str
    child: str
    positions: tuple[int, ...]
    velocities: tuple[int, ...]
    unit: str
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    damping: PerCoordinate
    friction: PerCoordinate
    stiffness: PerCoordinate
    reference: PerCoordinate
    follows: str = ""


@dataclass(frozen=True, slots=True)
class LinkInertia:
    """A link and the `body` that it belongs to (the base, or the link that a joint moves): mass
    (kg), centre of mass (m), and inertia (kg m²) about the centre of mass in link axes; 0, None
    and None if the link has no inertia."""

    name: str
    body: str
    mass: float
    center_of_mass: tuple[float, ...] | None
    inertia: tuple[tuple[float, ...], ...] | None


def joints_of(model: RigidBodyModel) -> tuple[JointView, ...]:
    """The joints in the order of their coordinates."""
    return tuple(_joint(model, joint) for joint in listed_joints(model))


def _joint(model: RigidBodyModel, row: ListedJoint) -> JointView:
    joint = row.body.joint
    limits = joint.limits
    return JointView(
        row.name,
        row.kind,
        carrying_link(model, row.bodies[0]),
        row.body.name,
        row.positions,
        row.velocities,
        row.unit,
        limits.lower,
        limits.upper,
        limits.velocity,
        limits.effort,
        joint.damping,
        joint.friction,
        joint.stiffness,
        joint.reference,
        row.follows,
    )


def links_of(model: RigidBodyModel) -> tuple[LinkInertia, ...]:
    """The links, those of the base first, then body by body."""
    base = [_link(link, model.root) for link in model.base]
    return (*base, *(_link(link, body.name) for body in model.moving for link in body.links))


def _link(link: Link, body: str) -> LinkInertia:
    ten = link.parameters
    if ten is None or not ten[0]:
        return LinkInertia(link.name, body, 0.0, None, None)
    return LinkInertia(link.name, body, ten[0], *inertia_about_centre(ten))


COLUMN, ROW, WIDTH, HEIGHT = 170, 30, 130, 20
"""Sizes of the picture (pixels): from a link to the next, and of a link's box."""
MAX_NAME_LENGTH: Final = 18
"""Characters of a name in its box."""


def robot_html(model: RigidBodyModel, joints: Sequence[JointView]) -> str:
    """A table of the joints and a picture of the tree as HTML."""
    head = ("q", "joint", "type", "from", "to", "range", "unit")
    rows = []
    for j in joints:
        indices = " to ".join(map(str, dict.fromkeys((*j.positions[:1], *j.positions[-1:]))))
        kind = f"{j.type}, follows {j.follows}" if j.follows else j.type
        limited = j.lower is not None and j.upper is not None
        limits = f"{j.lower:g} .. {j.upper:g}" if limited else ""
        rows.append((indices, j.name, kind, j.parent, j.child, limits, j.unit))
    return html_table(f"{model.name}: {model.dof} velocities", head, rows) + tree_svg(model)


def tree_svg(model: RigidBodyModel) -> str:
    """The links that joints move, from left to right, as SVG."""
    rows = [(carrying_link(model, j.bodies[0]), j.body.name, j.name) for j in listed_joints(model)]
    places = _grid_positions(model.root, [(parent, child) for parent, child, _ in rows])
    lines = [_line(places[parent], places[child], name) for parent, child, name in rows]
    boxes = [_box(x, y, name) for name, (x, y) in places.items()]
    width = max(x for x, _ in places.values()) * COLUMN + WIDTH + 2
    height = max(y for _, y in places.values()) * ROW + HEIGHT + 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="10">' + "".join([*lines, *boxes]) + "</svg>"
    )


def _grid_positions(root: str, ties: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """The column and row of each link: one column to the right of its parent, a new row for each
    branch."""
    below: dict[str, list[str]] = {}
    for parent, child in ties:
        below.setdefault(parent, []).append(child)
    places, waiting, row = dict[str, tuple[int, int]](), [(root, 0, True)], -1
    while waiting:
        link, column, first = waiting.pop()
        row += 0 if first and places else 1
        places[link] = column, row
        children = below.get(link, [])
        waiting += [(child, column + 1, k == 0) for k, child in reversed([*enumerate(children)])]
    return places


def _line(start: tuple[int, int], end: tuple[int, int], name: str) -> str:
    x0, y0 = start[0] * COLUMN + WIDTH + 1, start[1] * ROW + HEIGHT // 2 + 1
    x1, y1 = end[0] * COLUMN + 1, end[1] * ROW + HEIGHT // 2 + 1
    middle = (x0 + x1) // 2
    path = f'<path d="M{x0} {y0}H{middle}V{y1}H{x1}" fill="none" stroke="#888"/>'
    return f"<g>{path}<title>{html(name)}</title></g>"


def _box(column: int, row: int, name: str) -> str:
    x, y = column * COLUMN + 1, row * ROW + 1
    short = name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"
    return (
        f'<g><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#eef" '
        f'stroke="#668"/><text x="{x + 6}" y="{y + 14}" fill="#000">{html(short)}</text>'
        f"<title>{html(name)}</title></g>"
    )


# -- checks ----------------------------------------------------------------------------------------

SYMBOLS_NOTE = "lengths or masses are symbols, so inertia is not checked"


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: `notices` about the robot and its file, and a verdict on the
    inertia of every body and link."""

    notices: tuple[Notice, ...]
    verdicts: tuple[InertiaVerdict, ...]
    rotors: RotorEffects | None = None
    """What its rotors do, where a file of actuators was given."""

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The notices of level warning."""
        return tuple(notice for notice in self.notices if notice.level == "warning")

    @property
    def sound(self) -> bool:
        """True if there is no warning."""
        return not self.warnings

    def __str__(self) -> str:
        verdicts = [f"{v.kind} {v.name}: {v.status}; {v.message}" for v in self.verdicts]
        return "\n".join([*map(str, self.notices), *verdicts, *self.rotor_lines])

    @property
    def rotor_lines(self) -> list[str]:
        """Sentences about rotors, one per line."""
        return [] if self.rotors is None else [*self.rotors.sentences()]

    def __repr__(self) -> str:
        return str(self) or "valid, no notes"

    def _repr_html_(self) -> str:
        notices = ((n.level, n.element, n.message, str(n.location)) for n in self.notices)
        verdicts = ((v.kind, v.name, v.status, v.message) for v in self.verdicts)
        return html_table("noticed", ("", "of", "what", "where"), notices) + html_table(
            "inertia", ("", "of", "pseudo-inertia", "remark"), verdicts
        )


def check_robot(job: Job, loaded: LoadedRobot, symbolic: bool) -> CheckResult:
    """Check a loaded robot. For a robot with symbols only the notices of reading are returned."""
    if symbolic:
        notice = Notice(SourceLocation(loaded.file, 1), "note", loaded.model.name, SYMBOLS_NOTE)
        return CheckResult((*loaded.notices, notice), ())
    verdicts = check_inertias(loaded.model)
    notices: tuple[Notice, ...] = ()
    rotors = None
    with suppress(RefusedInertia):  # which the verdicts tell
        notices = notices_after_tracing(job, loaded, job.module(loaded))
        if job[RobotOptions].actuators:
            rotors = rotor_effects(job, loaded.model)
    return CheckResult((*loaded.notices, *notices, *warnings(loaded, verdicts)), verdicts, rotors)


def checked_data(loaded: LoadedRobot, checked: CheckResult) -> dict[str, Any]:
    """The data of ``symgen check --json`` (documented in docs/formats.md)."""
    return {
        "robot": loaded.model.name,
        "dof": loaded.model.dof,
        "positions": [row.name for row in position_coordinates(loaded.model)],
        "velocities": list(loaded.model.joint_names),
        "sound": checked.sound,
        "joints": [
            asdict(joint) | {"follows": joint.follows or None} for joint in joints_of(loaded.model)
        ],
        "notices": [notice.data() for notice in checked.notices],
        "inertia": [
            {
                "of": verdict.kind,
                "name": verdict.name,
                "pseudo_inertia": verdict.status,
                "eigenvalues": list(verdict.eigenvalues),
                "warning": verdict.warning,
                "message": verdict.message,
            }
            for verdict in checked.verdicts
        ],
        "rotors": None if checked.rotors is None else asdict(checked.rotors),
    }


@dataclass(frozen=True, repr=False)
class InspectionResult:
    """The bodies, frames and base parameters of a robot: `data` is that of ``symgen inspect
    --json``. Notebooks show the interactive page of ``symgen inspect --html``."""

    job: Job
    loaded: LoadedRobot
    data: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __repr__(self) -> str:
        return f"Inspection({self.data['robot']!r}: {', '.join(self.data)})"

    def show(self) -> None:
        """Print the output of ``symgen inspect``."""
        robot_report(self.data).print()

    def page(self) -> str:
        """Return the page of ``symgen inspect --html`` as text."""
        return page_of(self.job, self.loaded, self.data)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html(self.page())}" width="100%" height="600"></iframe>'
