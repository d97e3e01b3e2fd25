"""The options of C."""

from collections.abc import Sequence
from typing import Final

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

WIDTHS: Final = ("auto", "2", "4", "8", "16", "32", "64")
"""What ``--batch`` can be: GNU C has vectors of powers of two."""


@group
class COptions:
    """The options of C: what shapes the C of a module."""

    scalar: str = option(
        "--scalar",
        "TYPE",
        "Scalar type of C: double or float.",
        choice("double", "float"),
        default="double",
    )
    trig: str = option(
        "--trig",
        "KIND",
        "Sine and cosine of C: inline for code of their own that needs no C library, within 2 ulp "
        "up to 65536 rad (double) or 1024 rad (float), or libm.",
        choice("inline", "libm"),
        default="inline",
    )
    zeros: str = option(
        "--zeros",
        "WHEN",
        "Entries of C outputs that vanish in every state: written always, or once by the caller, "
        "who sets the array to zero before the first call (up to 40 % faster for large "
        "regressors).",
        choice("always", "once"),
        default="always",
    )
    batch: str | None = option(
        "--batch",
        "W|auto",
        "Add C functions for many states at once, in blocks of W states (2, 4, 8, ...), or of 64 "
        "bytes an entry (auto), on vectors as long as the processor has. Not with --trig libm.",
        whole_or("auto"),
        default=None,
        names=WIDTHS,
    )
    glue: tuple[str, ...] = option(
        "--glue",
        "NAME[,NAME...]",
        f"Files for build systems: {', '.join(GLUE)}; cpp is a C++ header.",
        NAMES,
        default=("cmake",),
        names=tuple(GLUE),
        parted=",",
    )
    target: str | None = option(
        "--target",
        "NAME",
        "Write C for a processor, and stack and code size into the report: "
        f"{' or '.join(TARGETS)}.",
        choice(*TARGETS),
        default=None,
    )
    chunk: int = option(
        "--chunk",
        "N",
        "Cut C functions of more than 2.5 N assignments into static ones of at most N; 100 keeps "
        "their stack below 1 kB in float, 2 kB in double.",
        WHOLE,
        default=100,
    )

    @property
    def machine(self) -> Processor:
        """The processor that code is meant for, as far as times are concerned."""
        return TARGETS[self.target or "host"].machine

    def validate(self) -> None:
        """Raises OptionError for values that do not go together."""
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
                "--batch: vectors need sine and cosine without calls; leave --trig libm away"
            )
        if self.zeros == "once":
            raise OptionError(
                "--batch: blocks of states are written whole; leave --zeros once away"
            )

    def check_functions(self, functions: Sequence[Function]) -> None:
        """Raises OptionError for functions that C cannot have under these options."""
        names = [function.name for function in functions]
        if self.batch is not None:
            _check_batch_names(names)
            _check_portable(functions)


def _check_batch_names(names: Sequence[str]) -> None:
    """The functions for batches have names of their own, which other functions must not have."""
    batched = {f"{name}_{end}" for name in names for end in ("batch", "rows")}
    taken = batched | {"batch", "batch_width", "batch_lanes", "lanes", "mask"}
    bad = next((name for name in names if name in taken), None)
    if bad is not None:
        raise OptionError(
            f"--batch: a function for batches would be called {cited(bad)}, too; "
            "name yours otherwise"
        )


def _check_portable(functions: Sequence[Function]) -> None:
    """A vector cannot call the C library."""
    for f in functions:
        for op in others(f):
            raise OptionError(
                f"--batch: vectors of states have no {op}, which {f.name} needs; leave "
                + ("--friction-width away" if op == "tanh" else "it or --batch away")
            )


def others(function: Function) -> list[str]:
    """The functions of C's math library that a function needs beside sine, cosine and root."""
    return [op for op in sorted(used(function.program)) if not OPS[op].portable]


def aim_of(choices: Choices) -> Aim:
    """The aim that formulations are chosen by, for the processor that the C is meant for."""
    return choices[FunctionOptions].aim(choices[COptions].machine)
