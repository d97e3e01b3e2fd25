"""The options ``--loop`` and ``--independent``: loops that a user closes, and the coordinates of
loops that the user keeps."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.kinematic_loop import CUT_JOINTS
from symgen.mechanics.loop_groups import joints_of
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.pose import Pose
from symgen.options.kinds import table_of
from symgen.reading.description import LoopElement, RobotDescription
from symgen.reading.rotations import rotation_from_rpy
from symgen.reading.validation import ZEROS, as_list, as_number, as_vector3
from symgen.text import hint, quoted, shown

KEYS: Final = (
    *("name", "first", "second", "at_first", "at_second", "dependent", "branch"),
    *("joint", "rpy_first", "rpy_second", "length", "newton", "polynomial"),
)
"""The keys of a loop, which are the arguments of `symgen.Builder.close`."""
UNUSED: Final = {
    **dict.fromkeys(("ball", "distance"), KEYS[8:10]),
    "polynomial": (*KEYS[3:5], *KEYS[8:10], "newton"),
}
"""The keys without effect of cut joints that hold points only, or no frames."""


def loop_of(label: str, line: int, name: str, entries: dict[str, Any]) -> LoopElement:
    """The loop with some entries of `KEYS`. Raises OptionError with a `label`."""
    branch, dependent = entries.get("branch"), entries.get("dependent", ())
    if branch not in (None, 1, -1, 2, -2):
        raise OptionError(f"{label}: branch is {shown(repr(branch), 40)}; give 1, -1, 2 or -2")
    points = [as_vector3(f"{label}: {key}", entries.get(key, ZEROS)) for key in KEYS[3:5]]
    listed = [dependent] if isinstance(dependent, str) else dependent
    names = tuple(map(str, as_list(f"{label}: dependent", listed)))
    turns = [as_vector3(f"{label}: {key}", entries.get(key, ZEROS)) for key in KEYS[8:10]]
    joint, length, newton = (
        entries.get(key, default)
        for key, default in (("joint", "ball"), ("length", 0.0), ("newton", False))
    )
    if joint not in CUT_JOINTS:
        raise OptionError(
            f"{label}: joint is {shown(repr(joint), 40)}; give one of {', '.join(CUT_JOINTS)}"
        )
    values = dict(zip(KEYS[3:5], points, strict=True)) | dict(zip(KEYS[8:10], turns, strict=True))
    given = [key for key, value in values.items() if any(value)] + ["newton"] * (newton is True)
    unused = [key for key in given if key in UNUSED.get(joint, ())]
    if unused:
        raise OptionError(f'{label}: {unused[0]} has no effect for joint = "{joint}"; remove it')
    if not isinstance(newton, bool):
        raise OptionError(f"{label}: newton is {shown(repr(newton), 40)}; give true or false")
    size = as_number(f"{label}: length", length)
    if joint == "distance" and not size > 0:
        raise OptionError(f"{label}: needs length, the constant distance; give length = ... in m")
    if joint != "distance" and size:
        raise OptionError(
            f'{label}: length is that of joint = "distance", not of {joint}; remove it'
        )
    listed = as_list(f"{label}: polynomial", entries.get("polynomial", ()))
    coefficients = tuple(as_number(f"{label}: polynomial", a) for a in listed)
    if joint == "polynomial" and entries["first"] == entries["second"]:
        raise OptionError(f"{label}: first and second are the same joint; name two joints")
    if (joint == "polynomial") != any(coefficients[1:]):
        raise OptionError(
            f'{label}: joint = "polynomial" and polynomial = [...], the coefficients from the '
            "constant one to that of the highest power, belong together; give both or none"
        )
    return LoopElement.between(
        name,
        line,
        (str(entries["first"]), str(entries["second"])),
        (Pose(rotation_from_rpy(rpy), p) for rpy, p in zip(turns, points, strict=True)),
        dependent=names,
        branch=branch or 0,
        joint=joint,
        length=size,
        newton=newton,
        polynomial=coefficients,
    )


def with_loop_options(
    robot: RobotDescription, loops: Sequence[str], independent: Sequence[str]
) -> RobotDescription:
    """The robot with the loops of ``--loop``, which replace those of its file with the same name,
    or without links change them, and in which the joints of ``--independent`` keep their
    coordinates. Raises OptionError."""
    found = {loop.name: loop for loop in robot.loops}
    given = set[str]()
    for text in loops:
        entries = table_of(text)
        changed = found.get(str(entries.get("name"))) if CHANGES.issuperset(entries) else None
        loop = _of_option(entries) if changed is None else _changed(changed, entries)
        if loop.name in given:
            raise OptionError(f"{loop.label}: given twice; keep one of them")
        given.add(loop.name)
        found[loop.name] = loop
    return replace(robot, loops=with_independent(found.values(), independent))


CHANGES: Final = frozenset({"name", "dependent", "branch", "newton"})
"""The keys of an option that changes a loop of a file."""


def _changed(loop: LoopElement, entries: dict[str, Any]) -> LoopElement:
    """A loop of the file with its dependent joints, its branch and its method by an option."""
    ends: dict[str, Any] = {"first": loop.links[0], "second": loop.links[1]}
    if loop.polynomial:
        ends |= {"joint": loop.joint, "polynomial": loop.polynomial}
    given = loop_of(f"--loop '{shown(loop.name)}'", loop.line, loop.name, ends | entries)
    return replace(
        loop,
        dependent=given.dependent,
        branch=given.branch,
        newton=given.newton,
        optional=False,
    )


def with_independent(
    loops: Iterable[LoopElement], names: Collection[str]
) -> tuple[LoopElement, ...]:
    """The loops, in which the joints of these names keep their coordinates."""
    return tuple(replace(x, independent=(*x.independent, *names)) for x in loops)


def _of_option(entries: dict[str, Any]) -> LoopElement:
    name = shown(str(entries.get("name", "")))
    label = f"--loop '{name}'" if name else "--loop"
    for key in (key for key in entries if key not in KEYS):
        raise OptionError(f"{label}: no key is called '{shown(key)}'; {hint(key, KEYS, len(KEYS))}")
    for key in (key for key in KEYS[:3] if not isinstance(entries.get(key), str)):
        part = "joint" if entries.get("joint") == "polynomial" else "link"
        what = "name of the loop" if key == "name" else f"name of a {part}"
        raise OptionError(f'{label}: needs {key}, the {what}; give {key} = "..."')
    return loop_of(label, 0, entries["name"], entries)


def check_independent(model: RigidBodyModel, names: Sequence[str]) -> None:
    """Raises OptionError for a joint of ``--independent`` that is in no closed loop, or whose
    coordinate a loop determines."""
    loops = {
        closure: [model.body(i).joint.name for i in joints_of(model, closure)]
        for closure in model.closures
    }
    for name in names:
        own = [closure for closure, joints in loops.items() if name in joints]
        flag = f"--independent '{shown(name)}'"
        if not own:
            every = dict.fromkeys(joint for joints in loops.values() for joint in joints)
            advice = f"name joints of {quoted(every)}" if every else "remove the option"
            raise OptionError(f"{flag}: it is no joint of a closed loop; {advice}")
        for closure in own:
            if name in (model.body(i).joint.name for i in closure.dependent):
                count, joints = len(closure.dependent), loops[closure]
                raise OptionError(
                    f"{flag}: loop '{shown(closure.name)}' determines {count} of its joints "
                    f"{quoted(joints)}, and too many of them are named; name other joints"
                )
