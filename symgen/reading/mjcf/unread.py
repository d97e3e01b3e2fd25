"""Elements that MuJoCo simulates and symgen does not: said in one line for each kind."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from symgen.reading.mjcf.bodies import DOFS, WORDS, CompiledMjcf
from symgen.reading.unread_rows import IgnoredElement, notice_ignored


def note_unread(robot: CompiledMjcf) -> None:
    """One notice for each row of ROWS that the model has something of."""
    notice_ignored(robot.root.called("<mujoco>"), ROWS, robot)


def _any(*rows: Any) -> bool:
    return any(bool((row != 0).any()) for row in rows)


def _joints(robot: CompiledMjcf, has: Callable[[int, slice], bool]) -> Iterator[str]:
    """Joints by a test of their number and their degrees of freedom."""
    for joint, name in enumerate(robot.joints):
        first = int(robot.model.jnt_dofadr[joint])
        if has(joint, slice(first, first + DOFS[robot.model.jnt_type[joint]])):
            yield name


def _curved_springs(robot: CompiledMjcf) -> Iterator[str]:
    return _joints(robot, lambda j, _: _any(robot.model.jnt_stiffnesspoly[j]))


def _rubbed(robot: CompiledMjcf) -> Iterator[str]:
    m = robot.model
    rubbing = (m.dof_damping, m.dof_frictionloss)
    return _joints(robot, lambda j, d: _any(*(row[d] for row in rubbing)))


def _free_friction(robot: CompiledMjcf) -> Iterator[str]:
    m, free = robot.model, WORDS.index("floating")
    return _joints(robot, lambda j, d: m.jnt_type[j] == free and _any(m.dof_frictionloss[d][:3]))


def _curved(robot: CompiledMjcf) -> Iterator[str]:
    m = robot.model
    return _joints(robot, lambda j, d: _any(m.dof_dampingpoly[d]))


def _tendons(robot: CompiledMjcf) -> Iterator[str]:
    """Tendons that push, pull or weigh; those that only carry an actuator's force do not."""
    m = robot.model
    for i in range(m.ntendon):
        rows = (m.tendon_stiffness, m.tendon_damping, m.tendon_frictionloss, m.tendon_armature)
        if _any(*(row[i] for row in rows)) or m.tendon_limited[i]:
            yield robot.name(robot.mujoco.mjtObj.mjOBJ_TENDON, i)


def _weightless(robot: CompiledMjcf) -> Iterator[str]:
    return (name for name, c in zip(robot.bodies, robot.model.body_gravcomp, strict=True) if c)


def _mocap(robot: CompiledMjcf) -> Iterator[str]:
    ids = robot.model.body_mocapid
    return (name for name, i in zip(robot.bodies, ids, strict=True) if i >= 0)


def _flexes(robot: CompiledMjcf) -> Iterator[str]:
    kind = robot.mujoco.mjtObj.mjOBJ_FLEX
    return (robot.name(kind, i) for i in range(robot.model.nflex))


def _medium(robot: CompiledMjcf) -> Iterator[str]:
    option = robot.model.opt
    return (n for n in ("density", "viscosity") if getattr(option, n))


def _plugins(robot: CompiledMjcf) -> Iterator[str]:
    kind = robot.mujoco.mjtObj.mjOBJ_PLUGIN
    return (robot.name(kind, i) for i in range(robot.model.nplugin))


def _no_gravity(robot: CompiledMjcf) -> Iterator[str]:
    if robot.model.opt.disableflags & robot.mujoco.mjtDisableBit.mjDSBL_GRAVITY:
        yield "gravity"


ROWS: Final[tuple[IgnoredElement[CompiledMjcf], ...]] = (
    IgnoredElement(
        "warning",
        _curved_springs,
        "stiffness of {joints} ({names}) is a polynomial; only its linear term is read",
    ),
    IgnoredElement(
        "warning",
        _free_friction,
        "frictionloss of free joints ({names}) acts on translation along the axes of the "
        "world in MuJoCo; that part is ignored",
    ),
    IgnoredElement(
        "warning",
        _tendons,
        "tendons with a limit, stiffness, damping, friction or armature ({names}) are ignored",
    ),
    IgnoredElement(
        "warning",
        _weightless,
        "gravcomp of {count} bodies ({names}) is ignored; their full weight is used",
    ),
    IgnoredElement("warning", _flexes, "flexible bodies ({names}): the flexibility is ignored"),
    IgnoredElement("warning", _medium, "{names} of the medium is ignored"),
    IgnoredElement("warning", _plugins, "plugins ({names}) have no effect"),
    IgnoredElement(
        "warning",
        _curved,
        "damping of {joints} ({names}) is a polynomial; only its linear term is read",
    ),
    IgnoredElement("note", _mocap, "mocap bodies ({names}) are fixed"),
    IgnoredElement(
        "note",
        _no_gravity,
        "{names} is disabled in the file; use --gravity X,Y,Z to set it",
        ("gravity",),
    ),
    IgnoredElement(
        "note",
        _rubbed,
        "damping and frictionloss ({joints}) are ignored; add --friction to include them",
        ("friction",),
        "damping and frictionloss of {joints} (--friction)",
    ),
)
