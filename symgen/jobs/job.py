"""A job: a robot's file and every option that shapes the result, the module made from it, and
notices about that: options without an effect, the inertia that is used, angles near right ones."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any, Final, TypeVar

from symgen.certified.certificate import CertifyOptions
from symgen.certified.domain import domain, search_largest_outputs, validated_limits
from symgen.compiler.objective import Objective
from symgen.compiler.parallel import parallel_map
from symgen.errors import Notice, OptionError, RobotError, SourceLocation, SymgenError
from symgen.jobs.jobfile import MODULE_OPTIONS, NameOptions
from symgen.languages import LANGUAGES
from symgen.languages.c.options import COptions, objective_of
from symgen.languages.language import check_function_name, check_module_name, identifier
from symgen.languages.module import Module, RobotOrigin
from symgen.mechanics.joint_forces import FRICTION, SPRINGS
from symgen.mechanics.model import RigidBodyModel
from symgen.options import Choices
from symgen.reading.assemble import LoadedRobot, load_with
from symgen.reading.options import RobotOptions
from symgen.reading.rotations import DEFAULT_SNAP_TOLERANCE, RightAngle
from symgen.reading.sources import RobotSource, is_path, name_of, snapshot
from symgen.text import quoted, shown
from symgen.tracing.body_loops import functions_in_loops, has_loops, kind_notes, loop_functions
from symgen.tracing.function import Function, retrace
from symgen.tracing.options import ALL, FunctionOptions
from symgen.tracing.physical_inertia import (
    SAMPLED_STATES,
    ImpossibleInertia,
    impossible_links,
    largest_relative_change,
    negative_moments,
)
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import every_formulation, is_supported, trace_all

MAX_NAME_BYTES: Final = 4000
"""C99 compilers need not accept string literals of more than 4095 characters."""

Group = TypeVar("Group")


@dataclass(frozen=True, slots=True)
class Job:
    """A job, what to compile and how: a robot's file and the options of ``symgen generate``."""

    file: str
    """The path, or what the robot is called where it is no file's."""
    choices: Choices
    given: RobotSource = None
    """The robot where it is no file's: its content or an object."""

    @classmethod
    def of(cls, robot: "RobotSource | Job", **options: Any) -> "Job":
        """A job with some options, the others at their defaults.

        `robot` is a path, its content or an object (`symgen.reading.sources`); what has a job
        already, such as a `symgen.Robot`, keeps the options of that. `options` are those of the
        groups `MODULE_OPTIONS`: `RobotOptions`, `SourceOptions`, `FunctionOptions`, `COptions`,
        `NameOptions` and `Release`. Raises OptionError."""
        job = robot if isinstance(robot, Job) else getattr(robot, "job", None)
        if isinstance(job, Job):
            return job.changed(**options)
        source = snapshot(robot)
        given = None if is_path(source) else source
        return cls(name_of(source), Choices.from_values(MODULE_OPTIONS, options), given)

    def __getitem__(self, group: type[Group]) -> Group:
        return self.choices[group]

    def changed(self, file: str | None = None, **options: Any) -> "Job":
        """The job with another file or other options. Raises OptionError."""
        choices = self.choices.changed(**options)
        return replace(self, choices=choices) if file is None else Job(file, choices)

    def load(self, every_motor: bool = False) -> LoadedRobot:
        """The robot; of what was noticed not what an option answers. With `every_motor` the motors
        of several joints are bodies even without inertia and friction. Raises SymgenError."""
        source = self.file if self.given is None else self.given
        loaded = load_with(source, self.choices, every_motor)
        open_notices = (n for n in loaded.notices if not any(map(self.choices.used, n.unless)))
        return replace(loaded, notices=tuple(open_notices))

    def robot(self, loaded: LoadedRobot) -> ParametricModel:
        """The loaded model with what this job leaves open. Raises OptionError for a link that it
        does not have."""
        wanted = self[RobotOptions]
        robot = self[FunctionOptions].robot(
            loaded.model,
            wanted.gravity == "runtime",
            wanted.drive_file is not None,
            wanted.estimate is not None,
        )
        return replace(robot, allow_unphysical=wanted.allow_unphysical)

    def wanted(self) -> list[FunctionRequest]:
        """The functions to generate. Raises OptionError."""
        functions = self[FunctionOptions].wanted()
        for function in functions:
            check_function_name(function.name, LANGUAGES.values())
        return functions

    def functions(self, robot: ParametricModel) -> list[FunctionRequest]:
        """The functions to generate for a robot. Those of ``--quantity all`` that are not supported
        for it are left out. Raises OptionError."""
        wanted, options = self.wanted(), self[FunctionOptions]
        if ALL not in options.quantities:
            return wanted
        named = {*options.quantities, *options.controllers}
        loops = self[COptions].body_loops is True
        is_possible = partial(has_loops if loops else is_supported, robot)
        return [f for f in wanted if f.name in named or is_possible(f)] or wanted

    def choice(self) -> dict[str, str]:
        """The formulation by quantity, where given. Raises OptionError."""
        return self[FunctionOptions].choice()

    @property
    def aim(self) -> Objective:
        """The aim that formulations are chosen by: fewest operations, or a processor's latency."""
        return objective_of(self.choices)

    def module(
        self,
        loaded: LoadedRobot,
        progress: Callable[[str], None] = lambda step: None,
        in_c: bool = False,
    ) -> Module:
        """The traced module; `progress` is called with each function. With `in_c`, nothing is made
        of it but C, so that ``--body-loops auto`` may choose loops over the bodies. Raises
        OptionError."""
        name = self._name(loaded.model)
        robot = self.robot(loaded)
        with _with_location(loaded):
            functions = self._functions(robot, lambda step: progress(f"tracing: {step}"), in_c)
        for language in LANGUAGES.values():
            if language.options is not None:
                language.check_functions(self[language.options], functions)
        actuators = self[RobotOptions].drive_file
        file, other = PurePath(self.file).name, actuators and PurePath(actuators).name
        source = RobotOrigin(file, loaded.sha256, other, loaded.actuators_sha256)
        module = Module(name, robot, functions, source, self._repeated_choices(loaded.model))
        choices = module.choices if module.is_looped else module.choices.changed(body_loops=False)
        return replace(module, choices=choices)

    def looped(self, robot: ParametricModel) -> set[str]:
        """The names of the functions that are loops over the bodies where nothing but C is made of
        the module."""
        when, wanted = self[COptions].body_loops, self.functions(robot)
        return set() if self._without_loops else functions_in_loops(when, robot, wanted)

    def _functions(
        self, robot: ParametricModel, progress: Callable[[str], None], in_c: bool
    ) -> tuple[Function, ...]:
        """The functions to generate, traced or with loops over bodies. Raises OptionError."""
        wanted, loops = self.functions(robot), self[COptions].body_loops is True
        if loops and self._without_loops:
            raise OptionError(
                f"--body-loops: {self._without_loops} cannot be used for loops over the bodies; "
                "remove one of the two"
            )
        looped = self.looped(robot) if in_c or loops else set()
        functions = loop_functions(robot, [f for f in wanted if f.name in looped])
        others = [f for f in wanted if f.name not in looped]
        functions += trace_all(robot, others, self.choice(), self.aim, progress)
        names = [f.name for f in wanted]
        return tuple(sorted(functions, key=lambda f: names.index(f.name)))

    @property
    def _without_loops(self) -> str:
        """The first option that loops over the bodies do not support; empty if there is none."""
        tape = filter(self.choices.used, ("formulations", "optimize", "certify"))
        return self[COptions].without_loops or next((f"--{x.removesuffix('s')}" for x in tape), "")

    def _name(self, model: RigidBodyModel) -> str:
        """The module's name. Raises OptionError for one that it or a joint cannot have."""
        prefix = self[NameOptions].prefix
        name = identifier(model.name, LANGUAGES.values()) if prefix is None else prefix
        check_module_name(name, LANGUAGES.values())
        long = next((x for x in model.joint_names if len(x.encode()) > MAX_NAME_BYTES), None)
        if long is not None:
            raise OptionError(
                f"joint '{shown(long)[:40]}...': the name has more than {MAX_NAME_BYTES} bytes; "
                "rename the joint"
            )
        return name

    def every_formulation(self, loaded: LoadedRobot) -> list[Function]:
        """Each function in each of its formulations. Raises OptionError."""
        robot, choice = self.robot(loaded), self.choice()
        return [
            f
            for wanted in self.functions(robot)
            for f in every_formulation(robot, wanted, choice, self.aim)
        ]

    def _repeated_choices(self, model: RigidBodyModel) -> Choices:
        """The options that are written into a module: gravity is in the axes of the root link, the
        objective is named, and files of drives are named without their folders, which are
        private."""
        wanted = self[RobotOptions]
        return self.choices.changed(
            actuators=wanted.actuators and PurePath(wanted.actuators).name,
            estimate=wanted.estimate and PurePath(wanted.estimate).name,
            gravity=wanted.gravity or model.gravity,
            optimize=self.aim.name,
        )


class RefusedInertia(RobotError):
    """A physically impossible inertia that a quantity needs."""


@contextmanager
def _with_location(loaded: LoadedRobot) -> Iterator[None]:
    """Add the location in the file to an error about inertia."""
    try:
        yield
    except ImpossibleInertia as error:
        names = ", ".join(f"link '{shown(name)}'" for name in error.links)
        place = loaded.link_locations.get(error.links[0], SourceLocation(loaded.file, 1))
        raise RefusedInertia(place, names, error.fault) from None


# -- notices ---------------------------------------------------------------------------------------

LARGE_REPAIR: Final = 0.05
"""A repair of inertia that changes the mass matrix by more than this part of it gives a warning."""

FORCE_FUNCTION: Final = "inverse_dynamics"
"""The function whose results are compared with the limits of effort."""
SEARCHED_STATES: Final = 1000
"""Random states from which the search for the largest forces climbs."""


def notices_after_tracing(job: Job, loaded: LoadedRobot, module: Module) -> tuple[Notice, ...]:
    """Notices about requested effects that the robot does not have, the kinds of code, the inertia
    that is used, and angles close to multiples of pi/2 if rounding them saves operations."""
    chosen = job[COptions].body_loops is True
    kinds = () if chosen else kind_notes(module.robot, module.functions)
    notices = (
        *_unsupported_quantities(job, loaded, module),
        *_zero_force_warnings(loaded, module.robot),
        *_inertia_notices(job, loaded, module.robot),
        *_effort_notices(job, loaded, module),
        *(_notice(loaded, "--body-loops", text) for text in kinds),
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


def _notice(loaded: LoadedRobot, subject: str, text: str, level: str = "note") -> Notice:
    return Notice(SourceLocation(loaded.file, 1), level, subject, text)


def _unsupported_quantities(job: Job, loaded: LoadedRobot, module: Module) -> Iterator[Notice]:
    """A note about the quantities of ``--quantity all`` that are not generated."""
    generated = {function.name for function in module.functions}
    names = [wanted.name for wanted in job.wanted() if wanted.name not in generated]
    if names:
        text = (
            f"{', '.join(names)}: not supported for this robot and left out; --quantity NAME tells "
            "the reason"
        )
        yield _notice(loaded, "--quantity all", text)


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
        yield _notice(loaded, "--repair-inertia", message, level)


def unphysical_notice(loaded: LoadedRobot, robot: ParametricModel) -> Notice:
    """The warning about links with a physically impossible inertia that is used as written; a note
    if there are none."""
    links = impossible_links(robot)
    if not links:
        text = "the inertia of every body is physically possible; the option has no effect"
        return _notice(loaded, "--allow-unphysical", text)
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
            yield _notice(loaded, "--certify", text)


def _zero_force_warnings(loaded: LoadedRobot, robot: ParametricModel) -> Iterator[Notice]:
    """Warnings about requested friction or springs that are zero at every joint."""
    rows = (
        ("--friction", FRICTION, "{} friction", "it is", "--friction runtime:..."),
        ("--springs", SPRINGS, "a spring with {}", "springs are", "--runtime-springs"),
    )
    for flag, possible, pattern, such, remedy in rows:
        kinds = ", ".join(kind for kind in robot.missing if kind in possible)
        message = (
            f"no joint has {pattern.format(kinds)}, so {such} zero; add <dynamics> to the file, "
            f"use --actuators, or use {remedy} for an input"
        )
        if kinds:
            yield _notice(loaded, flag, message, "warning")
