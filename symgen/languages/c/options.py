"""The options of C."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from symgen.algorithms.controllers import CONTROLLERS
from symgen.certified.fixed_types import FIXED
from symgen.compiler.objective import CORTEX_M, HOST, Objective, Processor
from symgen.compiler.passes import used_ops
from symgen.errors import OptionError
from symgen.numbers.operations import OPS
from symgen.options import Choices, group, option, rows
from symgen.options.kinds import NAMES, WHOLE, choice, flag_or, whole_or
from symgen.text import cited
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions

CMAKE: Final = {"CMakeLists.txt": "CMakeLists.txt"}
ROS2: Final = "{name}_controllers"
FMU: Final = "{name}_fmu"
PER_PLUGIN: Final = "{plugin}"
"""In the name of a file that there is one of for each plugin."""

GLUE: Final[dict[str, Mapping[str, str]]] = {
    "cmake": CMAKE,
    "zephyr": {
        "zephyr/module.yml": "module.yml",
        "zephyr/CMakeLists.txt": "zephyr.txt",
        "zephyr/Kconfig": "Kconfig",
    },
    "arduino": {"library.properties": "library.properties", "library.json": "library.json"},
    "pkgconfig": {"{name}.pc": "pkgconfig.pc"},
    "esp-idf": {**CMAKE, "idf_component.yml": "idf_component.yml"},
    "ros2": {
        f"{ROS2}/package.xml": "ros2/package.xml",
        f"{ROS2}/CMakeLists.txt": "ros2/CMakeLists.txt",
        f"{ROS2}/{ROS2}.xml": "ros2/plugins.xml",
        f"{ROS2}/README.md": "ros2/README.md",
        f"{ROS2}/config/controllers.yaml": "ros2/controllers.yaml",
        f"{ROS2}/launch/{ROS2}.launch.py": "ros2/launch.py",
        f"{ROS2}/include/{ROS2}/{PER_PLUGIN}.hpp": "ros2/controller.hpp",
        f"{ROS2}/src/{PER_PLUGIN}.cpp": "ros2/controller.cpp",
        f"{ROS2}/src/{PER_PLUGIN}_parameters.yaml": "ros2/parameters.yaml",
    },
    "cpp": {"{name}.hpp": "module.hpp"},
    "fmi": {
        f"{FMU}/modelDescription.xml": "fmi/modelDescription.xml",
        f"{FMU}/sources/buildDescription.xml": "fmi/buildDescription.xml",
        f"{FMU}/sources/fmi3.c": "fmi/fmi3.c",
    },
}
"""The files of each build system (or language): the template of each by its name."""


ARM_COMPILER: Final = "arm-none-eabi-gcc"
RISCV_COMPILER: Final = "riscv64-unknown-elf-gcc"
FREESTANDING: Final = "-ffreestanding"
"""The compiler comes without a C library, whose headers it would include."""
THUMB_HARD_FLOAT: Final = ("-mthumb", "-mfloat-abi=hard")


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: its compiler (that of the host where empty) and what that must be told."""

    compiler: str
    flags: tuple[str, ...]
    single: bool = False
    """Whether its floating-point unit has single precision only."""
    machine: Processor = CORTEX_M
    """How long its operations take."""


TARGETS: Final = {
    "host": Target("", (), machine=HOST),
    "cortex-m0plus": Target(ARM_COMPILER, ("-mcpu=cortex-m0plus", "-mthumb")),
    "cortex-m4f": Target(
        ARM_COMPILER, ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", *THUMB_HARD_FLOAT), single=True
    ),
    "cortex-m33": Target(
        ARM_COMPILER, ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", *THUMB_HARD_FLOAT), single=True
    ),
    "cortex-m7": Target(ARM_COMPILER, ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", *THUMB_HARD_FLOAT)),
    "cortex-m55": Target(ARM_COMPILER, ("-mcpu=cortex-m55", *THUMB_HARD_FLOAT)),
    "rv32imc": Target(RISCV_COMPILER, ("-march=rv32imc", "-mabi=ilp32", FREESTANDING)),
    "rv32imafc": Target(
        RISCV_COMPILER, ("-march=rv32imafc", "-mabi=ilp32f", FREESTANDING), single=True
    ),
}
"""The processors of ``--target`` by name."""


BUILD_COMMAND: Final = "symgen build"
COMPILE_FUNCTION: Final = "symgen.compile"
PRODUCTS: Final = (BUILD_COMMAND, COMPILE_FUNCTION)
"""What is made of generated C besides the files of a language; options apply to it by its name."""

AUTO: Final = "auto"
"""The value of ``--body-loops`` that leaves the choice to the cost."""

DEFAULT_CHUNK: Final = 100
"""The default of ``--chunk``."""

BATCH_WIDTHS: Final = ("auto", "2", "4", "8", "16", "32", "64")
"""What ``--batch`` can be: GNU C has vectors of powers of two."""


NOT_FIXED_POINT: Final = ("trig", "zeros", "batch", "per_state", "chunk")
"""Options that fixed-point code does not support."""

FIXED_POINT_GLUE: Final = ("cmake", "zephyr", "arduino", "pkgconfig", "esp-idf")
"""Build systems of fixed-point code."""

ROBOT_INPUTS: Final = ("g", "par", "pi", "friction", "springs")
"""Inputs that belong to the robot, not to its state: one for all states of a batch, unless
``--per-state`` names them."""


VERSION_NUMBER: Final = r"(0|[1-9][0-9]{0,8})"
URL_PATTERN: Final = r"https?://[\w.~:/?@+,=%-]{1,200}"


@group
class Release:
    """The version of a module, MAJOR.MINOR.PATCH (Semantic Versioning 2.0.0), and the address of
    its project, which may be empty."""

    SECTION: ClassVar[str] = "Output"

    module_version: str = option(
        "--module-version",
        "X.Y.Z",
        "Version of the module. It is written into build files, manifest and wheel.",
        rare=True,
        default="0.1.0",
        applies_to=("c", "rust", "javascript", "casadi", "jax", "torch", "symgen build"),
    )
    module_url: str = option(
        "--module-url",
        "URL",
        "Address of the project. It is written into packages that name one.",
        rare=True,
        default="",
        applies_to=("c", "rust", "javascript", "symgen build"),
    )

    def validate(self) -> None:
        """Raises OptionError for what some package would not take."""
        version, url = self.module_version, self.module_url
        if not re.fullmatch(
            rf"{VERSION_NUMBER}\.{VERSION_NUMBER}\.{VERSION_NUMBER}", version, re.ASCII
        ):
            raise OptionError(f"--module-version {cited(version)}: give X.Y.Z, such as 1.2.0")
        if url and not re.fullmatch(URL_PATTERN, url, re.ASCII):
            raise OptionError(
                f"--module-url {cited(url)}: give an address such as https://example.com/arm"
            )

    @property
    def unstable(self) -> bool:
        """Whether minor versions may break what uses them."""
        return self.module_version.startswith("0.")

    @property
    def interface(self) -> str:
        """The part of the version that all versions share which can stand for each other."""
        major, minor, _ = self.module_version.split(".")
        return f"{major}.{minor}" if self.unstable else major


@group
class COptions:
    """The options of the C code of a module."""

    SECTION: ClassVar[str] = "C code"

    scalar: str = option(
        "--scalar",
        "TYPE",
        "Scalar type of the C code: double, float, or one of the fixed-point types q31 and q15, "
        "which need limits of all inputs (--limit).",
        choice("double", "float", *FIXED),
        default="double",
        applies_to=("c", "cuda", *PRODUCTS),
    )
    trig: str = option(
        "--trig",
        "KIND",
        "Sine and cosine of the C, C++ and Rust code: inline (included in the code, error below 2 "
        "ulp up to 65536 rad in double and 1024 rad in float) or libm (those of the language's "
        "standard library).",
        choice("inline", "libm"),
        rare=True,
        default="inline",
        applies_to=("c", "cpp", "rust", "cuda", "casadi", *PRODUCTS),
    )
    zeros: str = option(
        "--zeros",
        "WHEN",
        "How to handle entries of C outputs that are zero in every state: always writes them, once "
        "leaves them to the caller, who must set the array to zero before the first call (up to "
        "40 % faster for large regressors).",
        choice("always", "once"),
        rare=True,
        default="always",
        applies_to=("c", "cuda", *PRODUCTS),
    )
    batch: str | None = option(
        "--batch",
        "W|auto",
        "Add C functions that evaluate many states in one call with SIMD vectors, in blocks of W "
        "states (2, 4, 8, ...). auto uses 64 bytes per entry. Cannot be combined with --trig libm.",
        whole_or("auto"),
        default=None,
        names=BATCH_WIDTHS,
        applies_to=("c", *PRODUCTS),
    )
    per_state: tuple[str, ...] = option(
        "--per-state",
        "INPUT[,INPUT...]",
        "Inputs of the robot of which functions for many states (--batch, CUDA) read one value for "
        f"each state, not one for all states: {', '.join(ROBOT_INPUTS)}.",
        NAMES,
        default=(),
        names=ROBOT_INPUTS,
        separators=",",
        applies_to=("c", "cuda"),
    )
    glue: tuple[str, ...] = option(
        "--glue",
        "NAME[,NAME...]",
        f"Files for build systems and frameworks: {', '.join(GLUE)} (cpp is a C++ header for the "
        "C code, fmi an FMU as source code).",
        NAMES,
        default=("cmake",),
        names=tuple(GLUE),
        separators=",",
        applies_to=("c",),
    )
    target: str | None = option(
        "--target",
        "NAME",
        "Processor for which the C code is written; the report then contains stack and code "
        f"sizes: {', '.join(TARGETS)}.",
        choice(*TARGETS),
        default=None,
        applies_to=("c",),
    )
    body_loops: bool | str = option(
        "--body-loops",
        "WHEN",
        "When to write the C functions as loops over the bodies of the robot instead of "
        "straight-line code: yes, no, or auto, which writes loops where straight-line code would "
        "be very long (see symgen docs large).",
        flag_or(AUTO),
        default=AUTO,
        give=f"use one of {AUTO}, yes, no",
        names=(AUTO, "yes", "no"),
        applies_to=("c", *PRODUCTS),
    )
    chunk: int = option(
        "--chunk",
        "N",
        "Split C functions with more than 2.5 N assignments into static functions with at most N. "
        "100 keeps their stack below 1 kB in float and 2 kB in double.",
        WHOLE,
        rare=True,
        default=DEFAULT_CHUNK,
        applies_to=("c", "cuda", "casadi", "jax", "torch", *PRODUCTS),
    )

    @property
    def machine(self) -> Processor:
        """The processor model for the times of the code."""
        return TARGETS[self.target or "host"].machine

    def validate(self) -> None:
        """Raises OptionError for values that exclude each other."""
        if self.chunk < 1:
            raise OptionError(f"--chunk {self.chunk}: give a number of statements, such as 100")
        unknown = [name for name in self.glue if name not in GLUE]
        if unknown:
            raise OptionError(f"--glue {cited(unknown[0])}: use some of {', '.join(GLUE)}")
        unknown = [name for name in self.per_state if name not in ROBOT_INPUTS]
        if unknown:
            raise OptionError(
                f"--per-state {cited(unknown[0])}: use some of {', '.join(ROBOT_INPUTS)}"
            )
        if self.batch is not None:
            self._check_batch()
        if self.body_loops is True and self.without_loops:
            raise OptionError(
                f"--body-loops and {self.without_loops}: loops over the bodies do not support it; "
                "remove one of the two"
            )
        if self.scalar in FIXED:
            self._check_fixed_point()

    @property
    def without_loops(self) -> str:
        """The first option that loops over the bodies do not support; empty if there is none."""
        others = {
            "--batch": self.batch is not None,
            "--zeros once": self.zeros == "once",
            f"--chunk {self.chunk}": self.chunk != DEFAULT_CHUNK,
            f"--scalar {self.scalar}": self.scalar in FIXED,
        }
        return next((flag for flag, given in others.items() if given), "")

    def _check_batch(self) -> None:
        if self.batch not in BATCH_WIDTHS:
            raise OptionError(f"--batch {cited(self.batch)}: use one of {', '.join(BATCH_WIDTHS)}")
        if self.trig != "inline":
            raise OptionError(
                "--batch and --trig libm: vectors cannot call the C library; remove one of them"
            )
        if self.zeros == "once":
            raise OptionError(
                "--batch and --zeros once: blocks of states are written whole; remove one of them"
            )

    def _check_fixed_point(self) -> None:
        for row in rows(COptions):
            if row.name in NOT_FIXED_POINT and getattr(self, row.name) != row.default:
                raise OptionError(
                    f"--scalar {self.scalar} and {row.flag}: fixed-point code does not support "
                    "this; remove one of them"
                )
        other = [name for name in self.glue if name not in FIXED_POINT_GLUE]
        if other:
            raise OptionError(
                f"--scalar {self.scalar} and --glue {other[0]}: these files need floating-point "
                f"code; use some of {', '.join(FIXED_POINT_GLUE)}"
            )

    def check_functions(self, functions: Sequence[Function]) -> None:
        """Raises OptionError for functions that cannot be generated with these options."""
        for f in functions if self.scalar in FIXED else ():
            if any(q.name.partition(":")[0] in CONTROLLERS for q in f.quantities):
                raise OptionError(
                    f"--scalar {self.scalar}: {f.name} is a controller, which fixed point does not "
                    "support; use float"
                )
            if "par" in f.inputs or "pi" in f.inputs:
                raise OptionError(
                    f"--scalar {self.scalar}: {f.name} reads inertial parameters at run time, "
                    "which have no common scale; remove --parameters runtime or use float"
                )
        read = {name for function in functions for name in function.inputs}
        unread = [name for name in self.per_state if name not in read]
        if unread:
            raise OptionError(f"--per-state {unread[0]}: no function has this input; remove it")
        if self.batch is not None:
            _check_batch_functions(functions)


def _check_batch_functions(functions: Sequence[Function]) -> None:
    """Raises OptionError for a function with the name of a batch function, and for one that calls
    the C library, which vectors cannot do."""
    names = [function.name for function in functions]
    batched = {f"{name}_{end}" for name in names for end in ("batch", "rows")}
    taken = batched | {"batch", "batch_width", "batch_lanes", "lanes", "mask"}
    bad = next((name for name in names if name in taken), None)
    if bad is not None:
        raise OptionError(
            f"--batch: the name {cited(bad)} is reserved for a batch function; give your function "
            "another name"
        )
    for f in functions:
        for op in library_functions(f):
            raise OptionError(
                f"--batch: {f.name} needs {op}, which has no vector version; remove "
                + ("--friction-width" if op == "tanh" else "the function or --batch")
            )


def library_functions(function: Function) -> list[str]:
    """The functions of C's math library that a function needs, except sine, cosine and root."""
    return [op for op in sorted(used_ops(function.program)) if not OPS[op].portable]


def objective_of(choices: Choices) -> Objective:
    """The objective of the choice of formulations, for the target processor of the C code."""
    return choices[FunctionOptions].aim(choices[COptions].machine)
