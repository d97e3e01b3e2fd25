"""The options of C."""

from collections.abc import Sequence
from typing import ClassVar, Final

from symgen.compiler.aims import Aim
from symgen.compiler.costs import Processor
from symgen.compiler.passes import used
from symgen.errors import OptionError
from symgen.languages.c.glue import GLUE
from symgen.languages.c.targets import TARGETS
from symgen.numbers.operations import OPS
from symgen.options import Choices, group, option
from symgen.options.kinds import NAMES, WHOLE, choice, whole_or
from symgen.text import cited
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions

BUILD: Final = "symgen build"
COMPILE: Final = "symgen.compile"
PRODUCTS: Final = (BUILD, COMPILE)
"""What is made of generated C besides the files of a language; options apply to it by its name."""

WIDTHS: Final = ("auto", "2", "4", "8", "16", "32", "64")
"""What ``--batch`` can be: GNU C has vectors of powers of two."""


@group
class COptions:
    """The options of the C code of a module."""

    SECTION: ClassVar[str] = "C code"

    scalar: str = option(
        "--scalar",
        "TYPE",
        "Scalar type of the C code: double or float.",
        choice("double", "float"),
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
        names=WIDTHS,
        applies_to=("c", *PRODUCTS),
    )
    glue: tuple[str, ...] = option(
        "--glue",
        "NAME[,NAME...]",
        f"Files for build systems and frameworks: {', '.join(GLUE)} (cpp is a C++ header for the "
        "C code).",
        NAMES,
        default=("cmake",),
        names=tuple(GLUE),
        parted=",",
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
    chunk: int = option(
        "--chunk",
        "N",
        "Split C functions with more than 2.5 N assignments into static functions with at most N. "
        "100 keeps their stack below 1 kB in float and 2 kB in double.",
        WHOLE,
        rare=True,
        default=100,
        applies_to=("c", "cuda", "casadi", "jax", *PRODUCTS),
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
        if self.batch is not None:
            self._check_batch()

    def _check_batch(self) -> None:
        if self.batch not in WIDTHS:
            raise OptionError(f"--batch {cited(self.batch)}: use one of {', '.join(WIDTHS)}")
        if self.trig != "inline":
            raise OptionError(
                "--batch and --trig libm: vectors cannot call the C library; remove one of them"
            )
        if self.zeros == "once":
            raise OptionError(
                "--batch and --zeros once: blocks of states are written whole; remove one of them"
            )

    def check_functions(self, functions: Sequence[Function]) -> None:
        """Raises OptionError for functions that cannot be generated with these options."""
        names = [function.name for function in functions]
        if self.batch is not None:
            _check_batch_names(names)
            _check_portable(functions)


def _check_batch_names(names: Sequence[str]) -> None:
    """Raises OptionError for a function with the name of a batch function."""
    batched = {f"{name}_{end}" for name in names for end in ("batch", "rows")}
    taken = batched | {"batch", "batch_width", "batch_lanes", "lanes", "mask"}
    bad = next((name for name in names if name in taken), None)
    if bad is not None:
        raise OptionError(
            f"--batch: the name {cited(bad)} is reserved for a batch function; give your function "
            "another name"
        )


def _check_portable(functions: Sequence[Function]) -> None:
    """Raises OptionError for a function that calls the C library, which vectors cannot do."""
    for f in functions:
        for op in others(f):
            raise OptionError(
                f"--batch: {f.name} needs {op}, which has no vector version; remove "
                + ("--friction-width" if op == "tanh" else "the function or --batch")
            )


def others(function: Function) -> list[str]:
    """The functions of C's math library that a function needs, except sine, cosine and root."""
    return [op for op in sorted(used(function.program)) if not OPS[op].portable]


def aim_of(choices: Choices) -> Aim:
    """The objective of the choice of formulations, for the target processor of the C code."""
    return choices[FunctionOptions].aim(choices[COptions].machine)
