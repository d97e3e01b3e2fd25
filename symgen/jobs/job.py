"""A job: a robot's file and every option that shapes the result, and the module made from it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any, Final, TypeVar

from symgen.compiler.objective import Objective
from symgen.errors import OptionError, RobotError, SourceLocation
from symgen.jobs.options import MODULE_OPTIONS, NameOptions
from symgen.languages import LANGUAGES
from symgen.languages.c.options import COptions, objective_of
from symgen.languages.language import check_function_name, check_module_name, identifier
from symgen.languages.module import Module, RobotOrigin
from symgen.mechanics.model import RigidBodyModel
from symgen.options import Choices
from symgen.reading.assemble import LoadedRobot, load_with
from symgen.reading.options import RobotOptions
from symgen.reading.sources import RobotSource, is_path, name_of, snapshot
from symgen.text import shown
from symgen.tracing.body_loops import functions_in_loops, has_loops, kind_notes, loop_functions
from symgen.tracing.function import Function
from symgen.tracing.options import ALL, FunctionOptions
from symgen.tracing.physical_inertia import ImpossibleInertia
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
        return cls(name_of(source), Choices.of(MODULE_OPTIONS, options), given)

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

    def kind_notes(self, module: Module) -> list[str]:
        """A sentence for each function that is loops over the bodies by its cost, or straight-line
        code where loops would probably be faster."""
        asked = self[COptions].body_loops is True
        return [] if asked else kind_notes(module.robot, module.functions)

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
