"""Time of one call of generated C functions, measured by a loop in C over 64 random states."""

import re
import subprocess
from collections.abc import Sequence
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import symgen
from symgen.native.compiler import compiler

STATES: Final = 64
"""States that the loop goes through in turn: a power of two."""

ROUNDS: Final = 200
"""Rounds in which each function runs for about `SLICE` calls; the shortest round counts."""

SLICE: Final = 2000
"""Calls in a round."""

PREFIX: Final = "robot"

DRIVER: Final = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "robot.h"

enum {{ N = {dof}, STATES = {states}, ROUNDS = {rounds}, SLICE = {slice} }};
static double in[STATES][4][N], out[{size}];

static double seconds(void)
{{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}}

int main(void)
{{
    double best[{count}];
    srand(1);
    for (int i = 0; i < STATES * 4 * N; ++i) {{
        ((double *)in)[i] = 4.0 * rand() / RAND_MAX - 2.0;
    }}
    for (int round = 0; round < ROUNDS; ++round) {{
        double start;
{rounds_of_each}
    }}
    for (int i = 0; i < {count}; ++i) {{
        printf("%.2f\\n", best[i]);
    }}
    return 0;
}}
"""

ROUND: Final = """
        start = seconds();
        for (int i = 0; i < SLICE; ++i) {{
            const double(*x)[N] = in[i % STATES];
            {call};
        }}
        start = 1e9 * (seconds() - start) / SLICE;
        best[{k}] = round == 0 || start < best[{k}] ? start : best[{k}];"""


def call_times(robot: Path, functions: Sequence[str], flags: Sequence[str]) -> list[float]:
    """Nanoseconds of one call of each function, in the order of `functions` (each a quantity or
    ``NAME=QUANTITY+QUANTITY``); the C is that of `symgen generate` without other options, compiled
    with `flags`. Inputs are rows of q, qd, ...: the robot has a fixed base and no ball joints."""
    with TemporaryDirectory(prefix="symgen-call-times-") as scratch:
        folder = Path(scratch)
        module, _, _ = symgen.generate(
            robot, folder, languages=("c",), prefix=PREFIX, quantities=tuple(functions)
        )
        header = (folder / f"{PREFIX}.h").read_text(encoding="ascii")
        calls = [_call(header, function.name) for function in module.functions]
        rounds = [ROUND.format(k=k, call=call) for k, (call, _) in enumerate(calls)]
        text = DRIVER.format(
            dof=module.dof,
            states=STATES,
            rounds=ROUNDS,
            slice=SLICE,
            size=max(size for _, size in calls),
            count=len(calls),
            rounds_of_each="\n".join(rounds),
        )
        (folder / "main.c").write_text(text, encoding="utf-8")
        sources = [folder / "main.c"] + [
            path for path in sorted(folder.glob(f"{PREFIX}*.c")) if "selftest" not in path.name
        ]
        binary = folder / "main"
        subprocess.run(
            [
                *compiler(),
                *flags,
                "-std=gnu99",
                f"-I{folder}",
                *map(str, sources),
                "-o",
                str(binary),
                "-lm",
            ],
            check=True,
        )
        done = subprocess.run([str(binary)], check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def _call(header: str, name: str) -> tuple[str, int]:
    """The call of a function, and the length of the array that holds its results and its work
    array."""
    declared = re.search(rf"void {PREFIX}_{name}\((.*?)\);", header, re.DOTALL)
    if declared is None:
        raise LookupError(f"{PREFIX}.h declares no function {name}")
    arguments, size, inputs = [], 0, 0
    for argument in declared[1].split(","):
        if "const " in argument:
            arguments.append(f"x[{inputs}]")
            inputs += 1
        else:
            arguments.append(f"out + {size}")
            size += prod(map(int, re.findall(r"\[(\d+)\]", argument)))
    return f"{PREFIX}_{name}({', '.join(arguments)})", size
