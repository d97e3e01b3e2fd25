"""Faults to put into a module, each a rewriting of one of its files, to see that the gauntlet
catches them."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from firmware.modules import Sample, Written

FAULTY = Sample("ur5", {"scalar": "float", "chunk": 40, "prefix": "arm"})
"""The module they are put into: single precision, some functions in pieces."""

DYNAMICS = "arm_inverse_dynamics.c"
SINES = r"arm_sincos_all\([^;]*;"
GRAVITY = "arm_gravity.c"
SELFTEST = "arm_selftest.c"


@dataclass(frozen=True)
class Fault:
    """What is wrong, the file it is put into, and a pattern with its replacement (the first
    match)."""

    name: str
    file: str
    pattern: str
    replacement: str

    @contextmanager
    def put_into(self, made: Written) -> Iterator[Written]:
        """A copy of the module that has it. Raises LookupError where the file has no such place."""
        with tempfile.TemporaryDirectory(prefix="symgen-fault-") as scratch:
            copies = {path: Path(scratch) / path.name for path in made.folder.iterdir()}
            for path, copy in copies.items():
                copy.write_bytes(path.read_bytes())
            target = Path(scratch) / self.file
            text = target.read_text(encoding="ascii")
            broken = re.sub(self.pattern, self.replacement, text, count=1, flags=re.MULTILINE)
            if broken == text:
                raise LookupError(f"{self.name}: {self.file} has no {self.pattern}")
            target.write_text(broken, encoding="ascii")
            yield replace(made, folder=Path(scratch), sources=[copies[p] for p in made.sources])


FAULTS = (
    Fault("literal without f", GRAVITY, r"(\d\.\d+)f \*", r"\1 *"),
    Fault("literal with l", GRAVITY, r"(\d\.\d+)f \*", r"\1l *"),
    Fault("double variable", GRAVITY, r"const arm_real (\w+ +=)", r"const double \1"),
    Fault("sine of libm", GRAVITY, SINES, "cosine[0] = cosf(sine[0]); sine[0] = sinf(sine[0]);"),
    Fault("static variable", GRAVITY, r"const arm_real (\w+) +=", r"static float \1; \1 ="),
    Fault(
        "constant table that may be written",
        GRAVITY,
        r"^void",
        "static float table[2] = {1.0f, 2.0f};\nvoid",
    ),
    Fault(
        "malloc",
        GRAVITY,
        r"^(#include .*)$",
        "\\1\n#include <stdlib.h>\n"
        "float *arm_heap(void);\nfloat *arm_heap(void)\n{\n    return (float *)malloc(4U);\n}\n",
    ),
    Fault("NaN", GRAVITY, r"(tau_g\[0\] +=) ", r"\1 (0.0f / 0.0f) * "),
    Fault("uninitialised read", GRAVITY, SINES, ""),
    Fault("write out of bounds", GRAVITY, r"tau_g\[5\]", "tau_g[6]"),
    Fault("read out of bounds", DYNAMICS, r"qdd\[5\]", "qdd[6]"),
    Fault("outputs swapped", GRAVITY, r"tau_g\[3\]([^@]*)tau_g\[2\]", r"tau_g[2]\1tau_g[3]"),
    Fault("output not written", GRAVITY, r"tau_g\[5\] = 0\.0f;", ""),
    Fault("wrong sign", GRAVITY, r" - ", " + "),
    Fault("wrong input", GRAVITY, r"\{q\[1\], ", "{q[2], "),
    Fault("last digit of a constant", GRAVITY, r"(\d\.\d\d)\d+f \*", r"\1f *"),
    Fault(
        "wrong reference value", SELFTEST, r"(want_tau_g\[STATES\].*\n.*?-?\d+\.\d)\d", r"\g<1>0"
    ),
    Fault(
        "unused parameter",
        GRAVITY,
        r"\(const arm_real q\[6\], ",
        "(const arm_real q[6], const arm_real z[6], ",
    ),
    Fault(
        "unused variable", GRAVITY, r"^void (.*)\n\{", "void \\1\n{\n    const float spare = q[0];"
    ),
    Fault(
        "shared name without prefix",
        GRAVITY,
        r"^void",
        "float twice(float x);\nfloat twice(float x)\n{\n    return x + x;\n}\n\nvoid",
    ),
    Fault("static left out", "arm_inverse_dynamics.c", r"^static ARM_NOINLINE", "ARM_NOINLINE"),
    Fault(
        "input is not const",
        GRAVITY,
        r"tau_g\[5\] = 0\.0f;",
        "((float *)q)[5] = 0.0f; tau_g[5] = 0.0f;",
    ),
    Fault(
        "variable-length array",
        GRAVITY,
        r"tau_g\[5\] = 0\.0f;",
        "const int n = (int)q[0]; float z[n + 9]; z[0] = 0.0f; tau_g[5] = z[0];",
    ),
    Fault(
        "return in the middle", GRAVITY, r"tau_g\[4\]", "if (s5 > 0.99f) { return; }\n    tau_g[4]"
    ),
    Fault("division by zero", GRAVITY, r"tau_g\[5\] = 0\.0f;", "tau_g[5] = 0.0f / (q[0] - q[0]);"),
    Fault("no extern C", "arm.h", r'extern "C" \{', ""),
    Fault(
        "C11 in a C99 file", GRAVITY, r"^void", '_Static_assert(sizeof(float) == 4, "float");\nvoid'
    ),
)
