"""A job: a robot's file and every option that shapes the result, and the module made from it."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Final, TypeVar

from symgen.compiler.aims import Aim
from symgen.errors import Notice, OptionError, RobotError, SourceLocation, SymgenError
from symgen.jobs.options import MODULE, NameOptions
from symgen.languages import LANGUAGES
from symgen.languages.c.options import aim_of
from symgen.languages.language import check_function, check_module, identifier
from symgen.languages.module import Module, RobotOrigin
from symgen.mechanics.joint_forces import FRICTION, SPRINGS
from symgen.mechanics.model import RigidBodyModel
from symgen.options import Choices
from symgen.reading.assemble import LoadedRobot, load_with
from symgen.reading.options import RobotOptions
from symgen.reading.right_angles import DEFAULT_SNAP_TOLERANCE, RightAngle
from symgen.reading.sources import RobotSource, is_path, name_of, snapshot
from symgen.text import quoted, shown
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions
from symgen.tracing.possible import ImpossibleInertia, impossible_links, negative_moments
from symgen.tracing.robot import ParametricModel
from symgen.tracing.sampled import SAMPLED_STATES, largest_relative_change
from symgen.tracing.trace import every_formulation, trace_all
from symgen.tracing.wanted import Wanted

LARGE_REPAIR: Final = 0.05
"""A repair of inertia that changes the mass matrix by more than this part of it is warned of."""
LONGEST_NAME: Final = 4000
"""C99 compilers need not take string literals of more than 4095 characters."""

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
        groups `MODULE`: `RobotOptions`, `SourceOptions`, `FunctionOptions`, `COptions`,
        `NameOptions` and `Release`. Raises OptionError."""
        job = robot if isinstance(robot, Job) else getattr(robot, "job", None)
        if isinstance(job, Job):
            return job.changed(**options)
        source = snapshot(robot)
        given = None if is_path(source) else source
        return cls(name_of(source), Choices.of(MODULE, options), given)

    def __getitem__(self, group: type[Group]) -> Group:
        return self.choices[group]

    def changed(self, file: str | None = None, **options: Any) -> "Job":
        """The job with another file or other options. Raises OptionError."""
        choices = self.choices.changed(**options)
        return replace(self, choices=choices) if file is None else Job(file, choices)

    def load(self) -> LoadedRobot:
        """The robot; of what was noticed not what an option answers. Raises SymgenError."""
        loaded = load_with(self.file if self.given is None else self.given, self.choices)
        open_notices = (n for n in loaded.notices if not any(map(self.choices.used, n.unless)))
        return replace(loaded, notices=tuple(open_notices))

    def robot(self, loaded: LoadedRobot) -> ParametricModel:
        """The loaded model with what this job leaves open. Raises OptionError for a link that it
        does not have."""
        wanted = self[RobotOptions]
        robot = self[FunctionOptions].robot(
            loaded.model, wanted.gravity == "runtime", wanted.actuators is not None
        )
        return replace(robot, allow_unphysical=wanted.allow_unphysical)

    def wanted(self) -> list[Wanted]:
        """The functions to generate. Raises OptionError."""
        functions = self[FunctionOptions].wanted()
        for function in functions:
            check_function(function.name, LANGUAGES.values())
        return functions

    def choice(self) -> dict[str, str]:
        """The formulation by quantity, where given. Raises OptionError."""
        return self[FunctionOptions].choice()

    @property
    def aim(self) -> Aim:
        """The aim that formulations are chosen by: fewest operations, or a processor's latency."""
        return aim_of(self.choices)

    def module(
        self, loaded: LoadedRobot, progress: Callable[[str], None] = lambda step: None
    ) -> Module:
        """The traced module; `progress` is called with each function. Raises OptionError."""
        name = self._name(loaded.model)
        robot = self.robot(loaded)
        with _placed(loaded):
            functions = tuple(
                trace_all(
                    robot,
                    self.wanted(),
                    self.choice(),
                    self.aim,
                    lambda step: progress(f"tracing: {step}"),
                )
            )
        for language in LANGUAGES.values():
            if language.options is not None:
                language.refuse(self[language.options], functions)
        actuators = self[RobotOptions].actuators
        source = RobotOrigin.of(self.file, loaded.sha256, actuators, loaded.actuators_sha256)
        return Module(name, robot, functions, source, self._repeated_choices(loaded.model))

    def _name(self, model: RigidBodyModel) -> str:
        """The module's name. Raises OptionError for one that it or a joint cannot have."""
        prefix = self[NameOptions].prefix
        name = identifier(model.name, LANGUAGES.values()) if prefix is None else prefix
        check_module(name, LANGUAGES.values())
        long = next((x for x in model.joint_names if len(x.encode()) > LONGEST_NAME), None)
        if long is not None:
            raise OptionError(
                f"joint '{shown(long)[:40]}...': the name has more than {LONGEST_NAME} bytes; "
                "rename the joint"
            )
        return name

    def every_formulation(self, loaded: LoadedRobot) -> list[Function]:
        """Each function in each of its formulations. Raises OptionError."""
        robot, choice = self.robot(loaded), self.choice()
        return [
            f
            for wanted in self.wanted()
            for f in every_formulation(robot, wanted, choice, self.aim)
        ]

    def saving(self, loaded: LoadedRobot, module: Module) -> tuple[Notice, ...]:
        """Notices about angles close to multiples of pi/2, with the number of operations that
        rounding them would save, and about requested effects that the robot does not have."""
        missing = (*_missing(loaded, module.robot), *self._inertia_notices(loaded, module.robot))
        near = self._near(loaded)
        if not near:
            return missing
        other = self.changed(snap_angles=_snapping(near))
        try:
            now, then = _total(module), _total(other.module(other.load()))
        except SymgenError:  # the robot may be singular with rounded angles
            return missing
        saved = f"saves {now - then} of {now} operations"
        return missing if then >= now else (*missing, *self.beside(loaded, saved))

    def _inertia_notices(self, loaded: LoadedRobot, robot: ParametricModel) -> Iterator[Notice]:
        """Notices about the effect of --allow-unphysical and --repair-inertia."""
        wanted = self[RobotOptions]
        if wanted.allow_unphysical:
            yield unphysical_notice(loaded, robot)
        if wanted.repair_inertia is None:
            return
        written = self.changed(repair_inertia=None).load().model
        change = largest_relative_change(replace(robot, model=written), robot)
        if change:
            message = (
                f"the repaired inertia changes the mass matrix by up to {100 * change:.3g} % of "
                f"its size in {SAMPLED_STATES} sampled states; --allow-unphysical uses the inertia "
                "as written if the mass matrix is positive definite"
            )
            level = "warning" if change > LARGE_REPAIR else "note"
            yield Notice(SourceLocation(loaded.file, 1), level, "--repair-inertia", message)

    def beside(
        self, loaded: LoadedRobot, gain: str = "shortens the equations"
    ) -> tuple[Notice, ...]:
        """A note about angles close to multiples of pi/2: the --snap-angles that rounds them and
        the `gain`."""
        near = self._near(loaded)
        if not near:
            return ()
        wider = _snapping(near)
        several = len(near) > 1
        s, verb, pronoun = ("s", "are", "them") if several else ("", "is", "it")
        multiple = "multiples" if several else "a multiple"
        message = (
            f"{len(near)} angle{s} {verb} almost, but not exactly, {multiple} of pi/2; "
            f"--snap-angles {wider:g} rounds {pronoun}, which {gain}"
        )
        offer = (
            f"{len(near)} angle{s} rounded to multiples of pi/2 (--snap-angles {wider:g}, {gain})"
        )
        return (Notice(near[0].place, "note", "file", message, offer=offer),)

    def _near(self, loaded: LoadedRobot) -> list[RightAngle]:
        """The angles close to multiples of pi/2 that were not rounded; none if --snap-angles was
        given."""
        used = self.choices.used("snap_angles")
        return [] if used else [angle for angle in loaded.right_angles if not angle.exact]

    def _repeated_choices(self, model: RigidBodyModel) -> Choices:
        """The options that are written into a module: gravity is in the axes of the root link, the
        objective is named, and the actuator file is named without its folder, which is private."""
        wanted = self[RobotOptions]
        return self.choices.changed(
            actuators=wanted.actuators and PurePath(wanted.actuators).name,
            gravity=wanted.gravity or model.gravity,
            optimize=self.aim.name,
        )


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
    place = loaded.places.get(links[0].name, SourceLocation(loaded.file, 1))
    return Notice(place, "warning", f"link {names}" if len(links) == 1 else f"links {names}", text)


class RefusedInertia(RobotError):
    """A physically impossible inertia that a quantity needs."""


@contextmanager
def _placed(loaded: LoadedRobot) -> Iterator[None]:
    """Add the location in the file to an error about inertia."""
    try:
        yield
    except ImpossibleInertia as error:
        names = ", ".join(f"link '{shown(name)}'" for name in error.links)
        place = loaded.places.get(error.links[0], SourceLocation(loaded.file, 1))
        raise RefusedInertia(place, names, error.fault) from None


def _missing(loaded: LoadedRobot, robot: ParametricModel) -> tuple[Notice, ...]:
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


def _snapping(near: Sequence[RightAngle]) -> float:
    """The tolerance of --snap-angles that rounds all of the angles."""
    return _rounded_up(max(DEFAULT_SNAP_TOLERANCE, *(abs(angle.offset) for angle in near)))


def _rounded_up(x: float) -> float:
    """The next number of one digit."""
    digit = 10.0 ** math.floor(math.log10(x))
    return float(f"{math.ceil(x / digit) * digit:.0e}")


def _total(module: Module) -> int:
    return sum(function.counts.total for function in module.functions)
