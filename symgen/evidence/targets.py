"""Stack, code size and instructions of each function on the processors of ``--target``."""

import re
import shutil
from typing import Any, Final

from symgen.evidence.examinations import Material, Outcome
from symgen.languages.c.backend import functions
from symgen.languages.c.options import ARM_COMPILER, TARGETS, Target
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.report import REPORT_FLAGS, measured_sizes
from symgen.languages.c.syntax import initialisers
from symgen.native.compiler import compiler_version

EMULATOR: Final = "qemu-arm"
STACK: Final = 32768
"""Bytes below the stack pointer that are painted."""

DRIVER: Final = """#include "{header}"
__asm__(".thumb\\n.syntax unified\\n.text\\n"
        ".thumb_func\\nsystem_call:\\n push {{r7, lr}}\\n mov r7, r3\\n svc 0\\n pop {{r7, pc}}\\n"
        ".thumb_func\\nstack_pointer:\\n mov r0, sp\\n bx lr\\n");
long system_call(long first, const void *second, long third, long number);
unsigned char *stack_pointer(void);
{arrays}
void *memset(void *start, int value, unsigned size)
{{
    unsigned char *p = start;
    while (size-- > 0U) {{
        *p++ = (unsigned char)value;
    }}
    return start;
}}
void _start(void)
{{
    volatile unsigned char *top = stack_pointer();
    volatile int calls = CALLS;
    char text[8];
    int used;
    int k;
    for (k = 1; k <= {stack}; ++k) {{
        top[-k] = 0xA5U;
    }}
    while (calls-- > 0) {{
        (void){call};
    }}
    for (used = {stack}; (used > 0) && (top[-used] == 0xA5U); used -= 1) {{
    }}
    for (k = 0; k < 8; ++k) {{
        text[k] = "0123456789abcdef"[(used >> (28 - 4 * k)) & 15];
    }}
    system_call(1, text, 8, 4);
    system_call(0, text, 0, 1);
}}
"""
"""A program without a library that calls a function and prints how much stack was written. Its
system calls are those of Linux, which the emulator carries out."""


def stack_and_code(material: Material) -> Outcome:
    """Stack, code size and instructions of each function are known for each processor."""
    rows = list[tuple[Any, ...]]()
    absent = set[str]() if shutil.which(EMULATOR) else {EMULATOR}
    said = list[str]()
    for name, target in TARGETS.items():
        if target.compiler and shutil.which(target.compiler) is None:
            absent.add(target.compiler)
        elif target.compiler:
            said.append(f"{name}: {compiler_version([target.compiler])}, {' '.join(target.flags)}")
            rows += [
                (f.description.name, name, *_row(material, f, target))
                for f in functions(material.module)
            ]
    left_out = f"; not run: {' and '.join(sorted(absent))} not installed" if absent else ""
    return Outcome(
        all(row[4] is None or row[4] <= row[3] for row in rows) if rows else None,
        f"{len(rows)} rows{left_out}. The bound is the deepest path that the compiler reports, its "
        "floating-point library included; the painted stack and the instructions of one call are "
        "measured. A function has one path: other inputs take the same instructions, apart from "
        "those of floating point in software",
        ("function", "processor", "code, bytes", "stack, bound", "stack, painted", "instructions"),
        [[x if x is not None else "not run" for x in row] for row in rows],
        "\n".join([*said, f"flags: {' '.join(REPORT_FLAGS)}", ""]),
    )


def _row(material: Material, f: CFunction, target: Target) -> tuple[int | None, ...]:
    """Bytes of code, bound of the stack, painted stack and instructions."""
    known = measured_sizes(f, material.folder, [target.compiler], target.flags)
    if shutil.which(EMULATOR) is None or target.compiler != ARM_COMPILER:
        return known["code"], known["stack"], None, None
    one, other = (_emulated(material, f, target, calls) for calls in (1, 2))
    if one is None or other is None:
        return known["code"], known["stack"], None, None
    return known["code"], known["stack"], one[0], other[1] - one[1]


def _emulated(
    material: Material, f: CFunction, target: Target, calls: int
) -> tuple[int, int] | None:
    """The painted stack and the executed instructions of a program with some calls."""
    module, scalar = material.module, material.module.arithmetic[0]
    state, arrays = module.test_states[0].inputs, []
    for a in f.arguments:
        known = f" = {{{initialisers(state[a.name], scalar)}}}" if a.name in state else ""
        arrays.append(f"static {module.name}_real {a.name}[{a.size}]{known};")
    call = f"{f.full_name}({', '.join(a.name for a in f.arguments)})"
    text = DRIVER.format(
        header=f"{module.name}.h", arrays="\n".join(arrays), call=call, stack=STACK
    )
    (material.folder / "driver.c").write_text(text, encoding="utf-8")
    built = material.run(
        *(target.compiler, "-std=c99", "-O2", "-fno-tree-loop-distribute-patterns"),
        *(*target.flags, f"-DCALLS={calls}", "-nostdlib", "-ffunction-sections"),
        *("-Wl,--gc-sections", "driver.c", *material.own, "-lgcc", "-o", "image"),
    )
    (material.folder / "driver.c").unlink()
    if built.status:
        return None
    ran = material.run(
        EMULATOR, "-cpu", "max", "-singlestep", "-d", "exec,nochain", "-D", "trace", "./image"
    )
    with (material.folder / "trace").open("rb") as trace:
        executed = sum(1 for _ in trace)
    return (int(ran.output, 16), executed) if re.fullmatch("[0-9a-f]{8}", ran.output) else None
