"""The modules under test: every sample robot, in double and float, with every quantity or the four
usual ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware.tools import ROOT
from symgen.jobs.api import generate
from symgen.languages.c.backend import functions
from symgen.languages.c.controller_code import CController, controllers
from symgen.languages.c.printed_function import CFunction
from symgen.languages.module import Module

TRIG: Mapping[str, Any] = {"trig": "inline"}
"""Options of all modules here."""

ROBOTS = ("ur5", "panda", "quadruped")
"""The robots whose every quantity runs on the target."""


MOTORS = "left_motor,right_motor"
ANKLE_BOARD = (
    f"command=motor_motion:{MOTORS}+motor_torques:{MOTORS}",
    f"step=joint_step:{MOTORS}",
    f"measured=joint_rates:{MOTORS}+joint_torques:{MOTORS}",
    f"inertia=reflected_inertia:{MOTORS}",
)
"""The functions of the board of an ankle: a module of its transmission alone."""
DYNAMICS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
LOOPS: Mapping[str, Mapping[str, Any]] = {
    "ankle": {"root": "shin", "quantities": (*ANKLE_BOARD, *DYNAMICS)},
    "excavator": {"quantities": DYNAMICS},
    "five_bar": {"quantities": DYNAMICS},
}
"""The robots with closed loops that run on the target, with their options."""


@dataclass(frozen=True)
class Sample:
    """A robot of robots/ and the options it is compiled with."""

    robot: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return " ".join([self.robot, *(_short(v) for v in self.options.values())])

    def written(self, folder: Path) -> "Written":
        """The sample's C files in a folder."""
        file = ROOT / "robots" / f"{self.robot}.urdf"
        module, _, paths = generate(file, folder, ["c"], **{**TRIG, **self.options})
        sources = [p for p in paths if p.suffix == ".c"]
        made = functions(module)
        kept = tuple(controllers(module, made)) if "controllers" in self.options else ()
        return Written(self.title, module, made, folder, sources, kept)


@dataclass(frozen=True)
class Written:
    """A module's C files, its self-test among them."""

    title: str
    module: Module
    functions: tuple[CFunction, ...]
    folder: Path
    sources: list[Path]
    controllers: tuple[CController, ...] = ()
    """Those that were asked for, whose steps are measured too."""

    @property
    def own(self) -> list[Path]:
        """The sources that go into firmware: all but the self-test."""
        return [p for p in self.sources if not p.name.endswith("_selftest.c")]

    @property
    def libraries(self) -> tuple[str, ...]:
        """What it is linked with: the math library, if it takes square roots."""
        return ("-lm",) if any(f.math for f in self.functions) else ()


def _short(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def looped(robot: str, scalar: str) -> Sample:
    """A robot with closed loops."""
    return Sample(robot, {"scalar": scalar, **LOOPS[robot]})


CONTROLLERS = (
    *("gravity_compensation", "computed_torque", "joint_impedance", "momentum_observer"),
    *("adaptive_slotine_li", "recursive_least_squares"),
)
LOWER = "cartesian_impedance:lower"
CONTROLLED = {"ur5": "cartesian_impedance:flange", "panda": "cartesian_impedance:link7"}
"""The robots whose every controller runs on the target, and the one of a link."""


def controlled(robot: str, scalar: str) -> Sample:
    """A robot with every controller."""
    names = (*CONTROLLERS, CONTROLLED[robot])
    gravity = ("gravity",)
    return Sample(robot, {"scalar": scalar, "quantities": gravity, "controllers": names})


DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
GAUNTLET = (
    Sample("pendulum"),
    Sample("ur5"),
    Sample("panda"),
    Sample("panda", {"scalar": "float"}),
    Sample("ur5", {"scalar": "float", "parameters": "runtime:flange"}),
    Sample("ur5", {"parameters": "runtime", "gravity": "runtime"}),
    Sample("ur5", {"scalar": "float", "quantities": DERIVATIVES}),
    Sample("quadruped", {"quantities": DERIVATIVES}),
    Sample("quadruped", {"scalar": "float", "quantities": DERIVATIVES[1:], "optimize": "size"}),
    Sample("pendulum", {"scalar": "float", "controllers": (*CONTROLLERS, LOWER)}),
    Sample("ur5", {"controllers": ("computed_torque", "momentum_observer")}),
    looped("ankle", "float"),
    looped("five_bar", "double"),
)
"""The modules that every host check judges."""
