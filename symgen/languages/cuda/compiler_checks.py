"""Verification of CUDA: a C++ compiler accepts the sources under strict warnings, and their loops
over states have the bits of the algorithms; nvcc, if it is installed, compiles them."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from symgen.languages.c.checks import against_run
from symgen.languages.c.options import COptions
from symgen.languages.cpp.backend import FLAGS as CPP
from symgen.languages.cpp.backend import compiler
from symgen.languages.cuda.backend import cuda_functions
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.external_runner import (
    Call,
    ExternalRunner,
    RunnerError,
    run_driver,
    run_process,
    run_program,
)
from symgen.languages.verification import Check, VerificationTarget
from symgen.native.compiler import workspace
from symgen.render import render

NVCC: Final = ("nvcc", "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xptxas", "-v")
"""For processors such as an H100's; ptxas tells registers and spills."""

PATIENCE: Final = 1800
"""Seconds that nvcc may take with a function: the longest of a UR5 takes minutes."""


@contextmanager
def _started(target: VerificationTarget) -> Iterator[Call]:
    module = target.module
    functions = cuda_functions(module)
    with workspace() as folder:
        _copied(target, folder)
        driver = render(
            "cuda/driver.cpp.jinja", module=module, c=module[COptions], functions=functions
        )
        (folder / "driver.cpp").write_text(driver, encoding="utf-8")
        for source in ("driver.cpp", *(f"{f.d.name}.cu" for f in functions)):
            run_program([*compiler(), *CPP, "-x", "c++", "-c", source, "-o", f"{source}.o"], folder)
        objects = sorted(path.name for path in folder.glob("*.o"))
        run_program([*compiler(), *objects, "-o", "driver"], folder)
        yield run_driver(folder)


def _copied(target: VerificationTarget, folder: Path) -> None:
    """The sources of a folder into another."""
    for path in sorted((target.folder / f"{target.module.name}_cuda").iterdir()):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")


HOST: Final = ExternalRunner("CUDA's host build", (compiler()[0],), _started, against_run)


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the CUDA sources of a folder."""
    yield from HOST.checks(target, progress)
    if shutil.which(NVCC[0]) is None:
        yield Check("nvcc compiles it", True, "skipped: nvcc is not installed")
        return
    with workspace() as folder:
        _copied(target, folder)
        for d in descriptions(target.module):
            progress(f"nvcc: {d.name}")
            yield _compiled(d, folder)


def _compiled(d: FunctionDescription, folder: Path) -> Check:
    claim = f"{d.name}: nvcc compiles it for sm_90 without a warning"
    try:
        command = [*NVCC, "-cubin", f"{d.name}.cu", "-o", f"{d.name}.cubin"]
        messages = run_process(command, folder, seconds=PATIENCE).stderr
    except RunnerError as error:
        return Check(claim, False, str(error))
    return Check(claim, True, resources(messages.decode(errors="replace")))


def resources(messages: str) -> str:
    """Registers, and bytes of stack and of spills, of a thread, in words, from what ptxas says."""
    registers = max(map(int, re.findall(r"Used (\d+) registers", messages)), default=0)
    stack = max(map(int, re.findall(r"(\d+) bytes stack frame", messages)), default=0)
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", messages)))
    return f"{registers} registers, {stack} bytes of stack, {spilled} bytes spilled"
