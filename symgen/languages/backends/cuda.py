"""CUDA: the files of a module, and their verification.

A C++ compiler accepts the sources under strict warnings, and their loops over states have the bits
of the algorithms; nvcc, if it is installed, compiles them."""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Final

from symgen.languages.backends.cpp import CPP_FLAGS as CPP
from symgen.languages.backends.cpp import cpp_compiler
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.simd import batch_printer, shared_inputs
from symgen.languages.c.syntax import (
    LARGEST_FINITE,
    SUFFIX,
    CPrinter,
    c_operations,
    c_printer,
    comment,
    const_qualifier,
    declarator,
    initialisers,
    join_wrapped,
    literal,
    status_text,
)
from symgen.languages.c.work_array import Partition, live_counts, partition, spill_slots
from symgen.languages.conventions import convention_lines, wrapped_list
from symgen.languages.describe import (
    Argument,
    FunctionDescription,
    coordinate_tables,
    descriptions,
    packed_arrays,
)
from symgen.languages.external_runner import (
    ExternalRunner,
    RunnerError,
    compare_with_run,
    run_driver,
    run_program,
)
from symgen.languages.module import Module
from symgen.languages.sines import MAX_SINE_ULP, SINE_LIMITS, SineLoop, definition_lines, sine_steps
from symgen.languages.verification import Check, VerificationTarget
from symgen.languages.writer import FunctionBody, Step
from symgen.native.compiler import workspace
from symgen.render import render

REGISTERS_PER_NUMBER: Final = {"float": 1, "double": 2}
"""Registers of 32 bits that a number takes."""

REGISTERS_PER_THREAD: Final = 255
"""Registers of a thread."""

MAX_LIVE_REGISTERS: Final = 600
"""Registers of all values that are live at once, of functions in one piece. A thread has 255. Up to
580, nvcc 13.0 spills 4 kB; at 780 it kept everything in memory and used 32 registers."""

STATEMENTS_PER_PIECE: Final = 240
"""Statements of a piece of longer functions; their pieces have no spills."""


@dataclass(frozen=True, eq=False)
class ThreadFunction(CFunction):
    """A function whose values are in the registers of a thread."""

    @cached_property
    def partition(self) -> Partition | None:
        """Pieces, also where nvcc would keep hardly any value in registers; two parts, where they
        hold few values."""
        steps = self.body.steps
        if (pieces := super().partition) is not None or self._fits(steps, REGISTERS_PER_THREAD):
            return pieces
        parts = phases(self.body, {ref.node for ref in self.description.pivots})
        if parts and all(self._fits(part, MAX_LIVE_REGISTERS) for part in parts):
            return Partition(parts, *spill_slots(parts))
        return (
            None
            if self._fits(steps, MAX_LIVE_REGISTERS)
            else partition(steps, STATEMENTS_PER_PIECE)
        )

    def _fits(self, steps: Sequence[Step], registers: int) -> bool:
        return max(live_counts(steps)) * REGISTERS_PER_NUMBER[self.c.scalar] <= registers


def phases(body: FunctionBody, pivots: AbstractSet[int]) -> tuple[tuple[Step, ...], ...]:
    """The statements in two parts, some of them in both; none where the algorithm does not start
    again. `pivots` are the nodes that the first part tests."""
    if body.program.restart_point is None:
        return ()
    solved, kept = body.program.restart_point
    second_part, recomputed_inputs = set(solved), set(kept)
    stored_nodes = solved | kept | pivots
    for step in body.steps:
        for reached in (second_part, recomputed_inputs):
            if step.reads & reached:
                reached.update(step.defines)
        if step.reads & second_part:
            stored_nodes |= step.reads & recomputed_inputs
    first, second = list[Step](), list[Step]()
    for step in body.steps:
        if step.stores or isinstance(step, SineLoop) or not stored_nodes.isdisjoint(step.defines):
            (second if step.reads & second_part else first).append(step)
    known = {node for step in first for node in step.defines}
    return _ordered_by_register_need(body.steps, first), _ordered_by_register_need(
        body.steps, second, known
    )


def _ordered_by_register_need(
    steps: Sequence[Step], results: Sequence[Step], known: Collection[int] = ()
) -> tuple[Step, ...]:
    """The statements that some results need, each after all that it needs, the longest first; what
    makes `known` nodes is left out."""
    step_of = {node: step for step in steps for node in step.defines if node not in known}
    needs, order = dict[Step, int](), dict[Step, None]()
    for step in steps:
        below = sorted((needs[step_of[k]] for k in step.reads if k in step_of), reverse=True)
        needs[step] = max((k + need for k, need in enumerate(below)), default=1)
    waiting = [*reversed(results)]
    while waiting:
        step = waiting[-1]
        before = [
            step_of[k] for k in sorted(step.reads) if k in step_of and step_of[k] not in order
        ]
        if before:
            waiting.extend(sorted(before, key=needs.__getitem__))
        else:
            order[waiting.pop()] = None
    return tuple(order)


# -- pieces of a function that has more values than a thread has registers -------------------------


STRIDE: Final = "step"

SINE_FUNCTIONS: Final = {"sin": "sine", "cos": "cosine"}
"""The header's own functions (``--trig inline``), by operation of the tape."""


def cuda_printer(module: Module, d: FunctionDescription) -> CPrinter:
    """How a function is printed as CUDA: entries `step` apart, and sines in pairs."""
    scalar, shared = module[COptions].scalar, {a.name for a in shared_inputs(module, d)}

    def at(array: str, k: int) -> str:
        """An entry of the state of this thread, or of an input that all states share."""
        if array in shared or k == 0:
            return f"{array}[{k}]"
        return f"{array}[{STRIDE}]" if k == 1 else f"{array}[{k} * {STRIDE}]"

    def finite_tests(a: Argument, entries: Sequence[int]) -> str:
        """The sum of all computed entries, which compilers take from registers."""
        terms = join_wrapped([at(a.name, k) for k in entries], " + ")
        return f"finite_sum({terms})" if entries else ""

    printer = c_printer(module)
    printer = replace(
        printer,
        dialect=replace(
            printer.dialect,
            operations=c_operations(module, scalar, SINE_FUNCTIONS.__getitem__),
            input=at,
            declare=f"const {scalar} {{name}}",
            entry=lambda array, shape, k: at(array, k),
            sincos_call="sine_cosine({angle}, &{sine}, &{cosine});",
            declare_uninitialized=f"{scalar} {{name}};",
            sincos_loop=None,
        ),
        real=scalar,
        status="int",
        statuses=("0", "1"),
        parameter="{const}{real} *__restrict__ {name}",
        first_parameter=f"[[maybe_unused]] size_t {STRIDE}",
        first_argument=STRIDE,
        piece=f"{d.name}_part{{}}",
        finite_tests=finite_tests,
    )
    return batch_printer(module, printer)


@dataclass(frozen=True, eq=False)
class CudaFunction(ThreadFunction):
    """A function of a module as CUDA: for a thread, for a grid of threads, and its launch."""

    @cached_property
    def shared(self) -> list[Argument]:
        """The inputs that are the same for all states."""
        return shared_inputs(self.module, self.description)

    @property
    def thread_signature(self) -> str:
        """Declaration of the function of one state."""
        start = f"{self.module.name.upper()}_DEVICE {self.returns} {self.description.name}"
        return declarator(
            start, [f"size_t {STRIDE}", *map(self.parameter, self.description.arguments)]
        )

    @property
    def reads_stride(self) -> bool:
        """Whether the step is read: some entry is beyond the first of an array."""
        text = [line for block in [*self.lines, self.status_lines] for line in block]
        return bool(self.pieces or self.loop_zeroed) or any(STRIDE in line for line in text)

    @property
    def kernel_signature(self) -> str:
        """The declaration of the kernel that runs the function on many states, without a
        semicolon."""
        start = f"{self.module.name.upper()}_KERNEL {self.description.name}_kernel"
        return declarator(
            start,
            [
                "size_t n",
                f"size_t {STRIDE}",
                *map(self.parameter, self.description.arguments),
                *self._flags,
            ],
        )

    @property
    def launch_signature(self) -> str:
        """Declaration of what launches the kernel, in C."""
        arrays = [
            f"{const_qualifier(a)}{self.printer.real} *{a.name}" for a in self.description.arguments
        ]
        start = f"int {self.module.name}_cuda_{self.description.name}"
        stream = "struct CUstream_st *stream"
        return declarator(start, ["size_t n", f"size_t {STRIDE}", *arrays, *self._flags, stream])

    @property
    def _flags(self) -> list[str]:
        return ["unsigned char *failed"] if self.description.pivots else []

    @property
    def kernel_arguments(self) -> str:
        """The arguments of the kernel, by the names of the launch."""
        flags = ["failed"] if self.description.pivots else []
        return ", ".join(["n", STRIDE, *(a.name for a in self.description.arguments), *flags])

    @property
    def state_arguments(self) -> str:
        """The arguments of the function of state `s`."""
        arrays = [
            a.name if a in self.shared else f"{a.name} + s" for a in self.description.arguments
        ]
        return ", ".join([STRIDE, *arrays])

    @property
    def inputs(self) -> int:
        """Numbers of the inputs of a state."""
        return sum(a.size for a in self.description.ins)


THREADS_PER_BLOCK: Final = 128
"""A block of threads: four warps, so that a function with many registers still has several blocks
on a processor."""


@lru_cache(maxsize=4)
def cuda_functions(module: Module) -> tuple[CudaFunction, ...]:
    """The functions of a module as CUDA."""
    return tuple(CudaFunction(module, d, cuda_printer(module, d)) for d in descriptions(module))


def _context(module: Module) -> dict[str, Any]:
    """What templates read. Raises OptionError where the scalar type cannot hold the robot's
    numbers."""
    kernels, c = cuda_functions(module), module[COptions]
    limit, _, bound, _ = SINE_LIMITS[c.scalar]
    return {
        "module": module,
        "c": c,
        "functions": kernels,
        "conventions": convention_lines(module),
        "tables": coordinate_tables(module, comment),
        "comment": comment,
        "listed": wrapped_list,
        "threads": THREADS_PER_BLOCK,
        "largest": literal(LARGEST_FINITE[c.scalar], c.scalar),
        "numbers": lambda values: initialisers(values, c.scalar),
        "layouts": packed_arrays(descriptions(module)),
        "shared_names": dict.fromkeys(a.name for f in kernels for a in f.shared),
        "failure": status_text(bool(module.robot.model.closures)),
        "zero": literal(0.0, c.scalar),
        "f": SUFFIX[c.scalar],
        "sines": {"limit": limit, "bound": bound, "ulp": MAX_SINE_ULP},
        "steps": sine_steps(c.scalar, partial(literal, scalar=c.scalar)),
        "rows": definition_lines,
    }


def files(module: Module) -> dict[str, str]:
    """The header for whoever launches kernels, and the files of the kernels."""
    folder = f"{module.name}_cuda"
    header = render("cuda/module.h.jinja", **_context(module))
    texts = {f"{folder}.h": header} | kernel_files(module, "cuda/function.cu.jinja")
    return {f"{folder}/{name}": text for name, text in texts.items()}


def kernel_files(module: Module, kernel: str) -> dict[str, str]:
    """What functions of the device share, and of each function the part for a device, in a header,
    and its kernel, which a template writes."""
    context = _context(module)
    texts = {"device.cuh": render("cuda/device.cuh.jinja", **context)}
    for function in context["functions"]:
        for end, template in ((".cuh", "cuda/function.cuh.jinja"), (".cu", kernel)):
            texts[function.description.name + end] = render(template, **context, function=function)
    return texts


NVCC_COMMAND: Final = (
    "nvcc",
    "-std=c++17",
    "-arch=sm_90",
    "-Werror",
    "all-warnings",
    "-Xptxas",
    "-v",
)
"""For processors such as an H100's; ptxas tells registers and spills."""

NVCC_TIME_LIMIT: Final = 1800
"""Seconds that nvcc may take with a function: the longest of a UR5 takes minutes."""


def _run_host_build(
    target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
) -> None:
    kernels = cuda_functions(target.module)
    _copy_sources(target, folder)
    c = target.module[COptions]
    driver = render("cuda/driver.cpp.jinja", module=target.module, c=c, functions=kernels)
    (folder / "driver.cpp").write_text(driver, encoding="utf-8")
    for source in ("driver.cpp", *(f"{f.description.name}.cu" for f in kernels)):
        run_program([*cpp_compiler(), *CPP, "-x", "c++", "-c", source, "-o", f"{source}.o"], folder)
    objects = sorted(path.name for path in folder.glob("*.o"))
    run_program([*cpp_compiler(), *objects, "-o", "driver"], folder)
    run_driver(folder, functions)


def _copy_sources(target: VerificationTarget, folder: Path) -> None:
    shutil.copytree(target.folder / f"{target.module.name}_cuda", folder, dirs_exist_ok=True)


HOST_RUNNER: Final = ExternalRunner(
    "CUDA's host build", (cpp_compiler()[0],), _run_host_build, compare_with_run
)


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the CUDA sources of a folder."""
    yield from HOST_RUNNER.checks(target, progress)
    if shutil.which(NVCC_COMMAND[0]) is None:
        yield Check("nvcc compiles it", True, "skipped: nvcc is not installed")
        return
    with workspace() as folder:
        _copy_sources(target, folder)
        for d in descriptions(target.module):
            progress(f"nvcc: {d.name}")
            claim = f"{d.name}: nvcc compiles it for sm_90 without a warning"
            try:
                command = [*NVCC_COMMAND, "-cubin", f"{d.name}.cu", "-o", f"{d.name}.cubin"]
                messages = run_program(command, folder, seconds=NVCC_TIME_LIMIT).stderr
                yield Check(claim, True, resource_text(messages.decode(errors="replace")))
            except RunnerError as error:
                yield Check(claim, False, str(error))


def resource_text(messages: str) -> str:
    """Registers, and bytes of stack and of spills, of a thread, in words, from what ptxas says."""
    registers = max(map(int, re.findall(r"Used (\d+) registers", messages)), default=0)
    stack = max(map(int, re.findall(r"(\d+) bytes stack frame", messages)), default=0)
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", messages)))
    return f"{registers} registers, {stack} bytes of stack, {spilled} bytes spilled"
