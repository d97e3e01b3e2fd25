"""Notices about a traced job: options without an effect on its robot, the inertia that it uses, and
angles that are almost multiples of pi/2."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from symgen.certified.certificate import CertifyOptions
from symgen.certified.domain import domain, search_largest_outputs, validated_limits
from symgen.compiler.parallel import parallel_map
from symgen.errors import Notice, SourceLocation, SymgenError
from symgen.jobs.job import Job
from symgen.languages.module import Module
from symgen.mechanics.joint_forces import FRICTION, SPRINGS
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import RobotOptions
from symgen.reading.rotations import DEFAULT_SNAP_TOLERANCE, RightAngle
from symgen.text import quoted, shown
from symgen.tracing.function import retrace
from symgen.tracing.physical_inertia import (
    SAMPLED_STATES,
    impossible_links,
    largest_relative_change,
    negative_moments,
)
from symgen.tracing.robot import ParametricModel

LARGE_REPAIR: Final = 0.05
"""A repair of inertia that changes the mass matrix by more than this part of it gives a warning."""

FORCE_FUNCTION: Final = "inverse_dynamics"
"""The function whose results are compared with the limits of effort."""
SEARCHED_STATES: Final = 1000
"""Random states from which the search for the largest forces climbs."""


def notices_after_tracing(job: Job, loaded: LoadedRobot, module: Module) -> tuple[Notice, ...]:
    """Notices about requested effects that the robot does not have, about the inertia that is used,
    and about angles close to multiples of pi/2 if rounding them saves operations."""
    notices = (
        *_unsupported_quantities(job, loaded, module),
        *_zero_force_warnings(loaded, module.robot),
        *_inertia_notices(job, loaded, module.robot),
        *_effort_notices(job, loaded, module),
        *_kind_notices(job, loaded, module),
    )
    near = _near_angles(job, loaded)
    if not near or module.is_looped:
        return notices
    other = job.changed(snap_angles=_snap_tolerance(near))
    now = sum(function.counts.total for function in module.functions)
    try:
        rounded = other.robot(other.load()).regroups
        same = parallel_map(lambda f: retrace(f, rounded).rebalanced(job.aim), module.functions)
        then = sum(function.counts.total for function in same)
    except SymgenError:  # the robot may be singular with rounded angles
        return notices
    saved = f"saves {now - then} of {now} operations"
    return notices if then >= now else (*notices, *right_angle_notices(job, loaded, saved))


def _unsupported_quantities(job: Job, loaded: LoadedRobot, module: Module) -> Iterator[Notice]:
    """A note about the quantities of ``--quantity all`` that are not generated."""
    generated = {function.name for function in module.functions}
    names = [wanted.name for wanted in job.wanted() if wanted.name not in generated]
    if names:
        text = (
            f"{', '.join(names)}: not supported for this robot and left out; --quantity NAME tells "
            "the reason"
        )
        yield Notice(SourceLocation(loaded.file, 1), "note", "--quantity all", text)


def _kind_notices(job: Job, loaded: LoadedRobot, module: Module) -> Iterator[Notice]:
    """Notes about functions whose kind of code may not be the expected one."""
    for text in job.kind_notes(module):
        yield Notice(SourceLocation(loaded.file, 1), "note", "--body-loops", text)


def right_angle_notices(
    job: Job, loaded: LoadedRobot, gain: str = "shortens the equations"
) -> tuple[Notice, ...]:
    """A note about angles close to multiples of pi/2: the --snap-angles that rounds them and the
    `gain`."""
    near = _near_angles(job, loaded)
    if not near:
        return ()
    tolerance, several = _snap_tolerance(near), len(near) > 1
    s, verb, pronoun = ("s", "are", "them") if several else ("", "is", "it")
    multiple = "multiples" if several else "a multiple"
    message = (
        f"{len(near)} angle{s} {verb} almost, but not exactly, {multiple} of pi/2; "
        f"--snap-angles {tolerance:g} rounds {pronoun}, which {gain}"
    )
    offer = (
        f"{len(near)} angle{s} rounded to multiples of pi/2 (--snap-angles {tolerance:g}, {gain})"
    )
    return (Notice(near[0].place, "note", "file", message, offer=offer),)


def _near_angles(job: Job, loaded: LoadedRobot) -> list[RightAngle]:
    """The angles close to multiples of pi/2 that were not rounded; empty if --snap-angles was
    given."""
    used = job.choices.used("snap_angles")
    return [] if used else [angle for angle in loaded.right_angles if not angle.exact]


def _snap_tolerance(near: Sequence[RightAngle]) -> float:
    """The tolerance of --snap-angles that rounds all of the angles, rounded up to one digit."""
    largest = max(DEFAULT_SNAP_TOLERANCE, *(abs(angle.offset) for angle in near))
    digit = 10.0 ** math.floor(math.log10(largest))
    return float(f"{math.ceil(largest / digit) * digit:.0e}")


def _inertia_notices(job: Job, loaded: LoadedRobot, robot: ParametricModel) -> Iterator[Notice]:
    """Notices about the effect of --allow-unphysical and --repair-inertia."""
    wanted = job[RobotOptions]
    if wanted.allow_unphysical:
        yield unphysical_notice(loaded, robot)
    if wanted.repair_inertia is None:
        return
    written = job.changed(repair_inertia=None).load().model
    change = largest_relative_change(replace(robot, model=written), robot)
    if change:
        message = (
            f"the repaired inertia changes the mass matrix by up to {100 * change:.3g} % of "
            f"its size in {SAMPLED_STATES} sampled states; --allow-unphysical uses the inertia "
            "as written if the mass matrix is positive definite"
        )
        level = "warning" if change > LARGE_REPAIR else "note"
        yield Notice(SourceLocation(loaded.file, 1), level, "--repair-inertia", message)


def unphysical_notice(loaded: LoadedRobot, robot: ParametricModel) -> Notice:
    """The warning about links with a physically impossible inertia that is used as written; a note
    if there are none."""
    links = impossible_links(robot)
    if not links:
        text = "the inertia of every body is physically possible; the option has no effect"
        return Notice(SourceLocation(loaded.file, 1), "note", "--allow-unphysical", text)
    names = quoted([link.name for link in links])
    text = (
        f"{negative_moments(links)}, which is physically impossible; the inertia is used as "
        "written (--allow-unphysical) because the mass matrix is positive definite in all of "
        f"{SAMPLED_STATES} sampled states"
    )
    place = loaded.link_locations.get(links[0].name, SourceLocation(loaded.file, 1))
    return Notice(place, "warning", f"link {names}" if len(links) == 1 else f"links {names}", text)


def _effort_notices(job: Job, loaded: LoadedRobot, module: Module) -> Iterator[Notice]:
    """A note about joints that need a larger force, within the limits of ``--certify``, than the
    file allows. The states were found by search, so that the forces are needed indeed."""
    options, model = job[CertifyOptions], module.robot.model
    options.check_requested(module.arithmetic[0])
    for function in (f for f in module.functions if options.certify and f.name == FORCE_FUNCTION):
        limits = validated_limits(model, options.certify_limits)
        ranges = domain(model, function.program, limits, function.name)
        found = iter(search_largest_outputs(function.program, ranges, SEARCHED_STATES))
        exceeded = []
        for name, ref in zip(model.joint_names, function.program.outputs[0].refs, strict=True):
            largest, effort = 0.0 if ref is None else next(found), model.limits[name].effort
            if effort is not None and largest > effort:
                exceeded.append(f"'{shown(name)}' needs {largest:.3g} of {effort:.3g}")
        if exceeded:
            text = (
                f"{', '.join(exceeded)} N m (N) of the effort that the file allows, in states "
                "within the limits of position, velocity and acceleration that a search found"
            )
            yield Notice(SourceLocation(loaded.file, 1), "note", "--certify", text)


def _zero_force_warnings(loaded: LoadedRobot, robot: ParametricModel) -> tuple[Notice, ...]:
    """Warnings about requested friction or springs that are zero at every joint."""
    rows = (
        ("--friction", FRICTION, "{} friction", "it is", "--friction runtime:..."),
        ("--springs", SPRINGS, "a spring with {}", "springs are", "--runtime-springs"),
    )
    notices = []
    for flag, possible, pattern, such, remedy in rows:
        kinds = ", ".join(kind for kind in robot.missing if kind in possible)
        message = (
            f"no joint has {pattern.format(kinds)}, so {such} zero; add <dynamics> to the file, "
            f"use --actuators, or use {remedy} for an input"
        )
        if kinds:
            notices.append(Notice(SourceLocation(loaded.file, 1), "warning", flag, message))
    return tuple(notices)
