"""Elements that MuJoCo simulates and symgen does not compute."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from symgen.reading.ignored_elements import IgnoredElement
from symgen.reading.mjcf.compiled_model import DOFS, WORDS, CompiledMjcf

FREE: Final = WORDS.index("floating")
"""MuJoCo's number of free joints."""


def _any(*rows: Any) -> bool:
    """True if an entry of the arrays is not 0."""
    return any(bool((row != 0).any()) for row in rows)


def _joints(robot: CompiledMjcf, has: Callable[[int, slice], bool]) -> Iterator[str]:
    """The joints for which `has` is true of their number and their degrees of freedom."""
    for joint, name in enumerate(robot.joints):
        first = int(robot.model.jnt_dofadr[joint])
        if has(joint, slice(first, first + DOFS[robot.model.jnt_type[joint]])):
            yield name


def _names(robot: CompiledMjcf, kind: str, count: int) -> Iterator[str]:
    """The names of all elements of a kind (mjtObj)."""
    return (robot.name(getattr(robot.mujoco.mjtObj, kind), i) for i in range(count))


def _tendons(robot: CompiledMjcf) -> Iterator[str]:
    """The tendons with passive forces or limits. Tendons that only transmit the force of an
    actuator have no effect on the dynamics."""
    m = robot.model
    for i, name in enumerate(_names(robot, "mjOBJ_TENDON", m.ntendon)):
        rows = (m.tendon_stiffness, m.tendon_damping, m.tendon_frictionloss)
        if _any(*(row[i] for row in rows)) or m.tendon_limited[i]:
            yield name


def _heavy_tendons(robot: CompiledMjcf) -> Iterator[str]:
    """The tendons with armature, which adds inertia to M."""
    names = _names(robot, "mjOBJ_TENDON", robot.model.ntendon)
    return (name for name, x in zip(names, robot.model.tendon_armature, strict=True) if x)


def _free_friction(robot: CompiledMjcf) -> Iterator[str]:
    m = robot.model
    return _joints(robot, lambda j, d: m.jnt_type[j] == FREE and _any(m.dof_frictionloss[d][:3]))


IGNORED: Final[tuple[IgnoredElement[CompiledMjcf], ...]] = (
    IgnoredElement(
        "warning",
        lambda r: _joints(r, lambda j, _: _any(r.model.jnt_stiffnesspoly[j])),
        "stiffness of {counted} ({names}) is a polynomial; only its linear term is read",
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
        "limits, stiffness, damping and friction of tendons ({names}) are ignored",
    ),
    IgnoredElement(
        "warning",
        _heavy_tendons,
        "armature of tendons ({names}) is ignored, so the mass matrix and all accelerations differ "
        "from those of MuJoCo",
    ),
    IgnoredElement(
        "warning",
        lambda r: (name for name, c in zip(r.bodies, r.model.body_gravcomp, strict=True) if c),
        "gravcomp of {count} bodies ({names}) is ignored; their full weight is used",
    ),
    IgnoredElement(
        "warning",
        lambda r: _names(r, "mjOBJ_FLEX", r.model.nflex),
        "flexible bodies ({names}): the flexibility is ignored",
    ),
    IgnoredElement(
        "warning",
        lambda r: (x for x in ("density", "viscosity") if getattr(r.model.opt, x)),
        "{names} of the medium is ignored",
    ),
    IgnoredElement(
        "warning",
        lambda r: _names(r, "mjOBJ_PLUGIN", r.model.nplugin),
        "plugins ({names}) have no effect",
    ),
    IgnoredElement(
        "warning",
        lambda r: _joints(r, lambda j, d: _any(r.model.dof_dampingpoly[d])),
        "damping of {counted} ({names}) is a polynomial; only its linear term is read",
    ),
    IgnoredElement(
        "note",
        lambda r: (name for name, i in zip(r.bodies, r.model.body_mocapid, strict=True) if i >= 0),
        "mocap bodies ({names}) are fixed",
    ),
    IgnoredElement(
        "note",
        lambda r: (
            ["gravity"] if r.model.opt.disableflags & r.mujoco.mjtDisableBit.mjDSBL_GRAVITY else []
        ),
        "{names} is disabled in the file; use --gravity X,Y,Z to set it",
        ("gravity",),
    ),
    IgnoredElement(
        "note",
        lambda r: _joints(
            r, lambda j, d: _any(r.model.dof_damping[d], r.model.dof_frictionloss[d])
        ),
        "damping and frictionloss ({counted}) are ignored; add --friction to include them",
        ("friction",),
        "damping and frictionloss of {counted} (--friction)",
    ),
)
"""The elements of MJCF without effect."""
