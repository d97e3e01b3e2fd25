"""Compiled C: the functions of a folder as Python functions, and their checks. The C compiles
without a warning, passes its self-test, equals a run of the same algorithms in Python bit for bit,
and agrees with the reference of each quantity."""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from symgen.certified.fixed_types import FIXED
from symgen.languages.c.backend import functions, sources
from symgen.languages.c.fixed_files import compile_fixed_point, fixed_checks
from symgen.languages.c.options import COptions
from symgen.languages.c.simd import batch_functions
from symgen.languages.describe import FunctionDescription, descriptions
from symgen.languages.external_runner import compare_with_run
from symgen.languages.module import Module
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    as_tuple,
    compare_with_references,
    description_of,
    error_ratio,
    format_error_ratio,
    inputs,
    not_run,
    results,
)
from symgen.native.compiler import (
    EXACT,
    STRICT,
    CompilerError,
    NoCompilerError,
    compiler,
    compiler_version,
    platform,
    run_compiler,
    workspace,
)
from symgen.native.library import Library, broadcast, pointers, read_sources
from symgen.native.store import Compiled
from symgen.numbers.scalar import AnyArray
from symgen.numbers.trig import TYPES
from symgen.render import render

BATCH_FILE = "batch.c"
"""The file with a loop over states for each function."""


def loop_name(module: Module, function: str) -> str:
    """The C name of a function's loop over states."""
    return f"Batch_{module.name}_{function}"


def loop_declaration(name: str, arguments: int) -> str:
    """The declaration of a loop over states, which returns how many of them failed."""
    return f"size_t {name}(size_t, {pointers(arguments)});"


def batch_source(module: Module) -> str:
    """The text of `BATCH_FILE`."""
    return render("c/batch.c.jinja", module=module, functions=functions(module))


def _python_function(
    module: Module, library: Library, d: FunctionDescription
) -> Callable[..., Any]:
    """A function of a library as one of Python."""
    ins = [(a.name, a.size) for a in d.ins]
    outs = d.outs
    dtype = TYPES[module[COptions].scalar]
    fresh = np.zeros if module[COptions].zeros == "once" else np.empty
    name = loop_name(module, d.name)

    def call(*inputs: ArrayLike) -> Any:
        if len(inputs) != len(ins):
            raise TypeError(f"{d.name} takes {', '.join(name for name, _ in ins)}")
        batch, arrays = broadcast(inputs, ins, dtype)
        results: list[Any] = [fresh((*batch, *a.sizes), dtype) for a in outs]
        bad = library.call(name, int(np.prod(batch, dtype=int)), *arrays, *results)
        if bad:
            raise np.linalg.LinAlgError(
                f"{d.name}: {module.cause_of_failure} or a result not finite, in {bad} states"
            )
        return results[0] if len(results) == 1 else tuple(results)

    call.__name__, call.__doc__ = d.name, "; ".join(d.formulas)
    return call


def build(module: Module, folder: Path, flags: Sequence[str] = EXACT) -> Compiled:
    """Compile the C files of `module` that lie in `folder` and load them, by cffi. Raises
    CompilerError."""
    declarations = [
        loop_declaration(loop_name(module, d.name), len(d.arguments)) for d in descriptions(module)
    ]
    files = {**read_sources(folder, sources(module)), BATCH_FILE: batch_source(module)}
    library = Library.build("\n".join(declarations), files, flags)
    functions = {d.name: _python_function(module, library, d) for d in descriptions(module)}
    names = tuple(module.robot.model.joint_names)
    constants = {"JOINT_NAMES": names, "NQ": module.dimensions["nq"], "NV": module.dof}
    constants |= {"PARAMETERS": module.robot.blocks} if module.regroup is not None else {}
    return Compiled(module.name, functions, constants)


class CompiledBatch:
    """The batch functions of a module; `width` is the number of states in a block."""

    def __init__(self, module: Module, library: Library) -> None:
        self._library, self._module = library, module
        self._dtype: Any = TYPES[module[COptions].scalar]
        self.functions = {f.description.name: f for f in batch_functions(module)}
        self.width: int = self._run("batch_width")

    def rows(self, name: str, inputs: Sequence[AnyArray]) -> list[AnyArray]:
        """The outputs of NAME_rows, a row each state, from inputs with a row each state."""
        f, n = self.functions[name], len(inputs[0])
        arrays = [np.ascontiguousarray(x, self._dtype) for x in inputs]
        outputs = [np.full((n, a.size), np.nan, self._dtype) for a in f.description.outs]
        words = [word for x in (*arrays, *outputs) for word in (x, x.shape[1])]
        self._run(f"{name}_rows", n, *words)
        return outputs

    def blocks(self, name: str, inputs: Sequence[AnyArray]) -> list[AnyArray]:
        """The outputs of NAME_batch, a row each state, where inputs that are one for all states are
        those of the first state."""
        f, n = self.functions[name], len(inputs[0])
        ins = f.description.ins
        arrays = [
            np.ascontiguousarray(x[0], self._dtype) if a in f.shared else self._packed(x)
            for a, x in zip(ins, inputs, strict=True)
        ]
        outputs = [self._packed(np.full((n, a.size), np.nan)) for a in f.description.outs]
        self._run(f"{name}_batch", n, *arrays, *outputs)
        return [x.transpose(0, 2, 1).reshape(-1, x.shape[1])[:n] for x in outputs]

    def _packed(self, rows: AnyArray) -> AnyArray:
        """Rows in blocks: block, entry, state in the block; NaN in the places beyond the last
        state."""
        blocks = -(-len(rows) // self.width)
        padded = np.full((blocks * self.width, rows.shape[1]), np.nan, self._dtype)
        padded[: len(rows)] = rows
        return np.ascontiguousarray(padded.reshape(blocks, self.width, -1).transpose(0, 2, 1))

    def _run(self, name: str, *arguments: int | AnyArray) -> Any:
        return self._library.call(f"{self._module.name}_{name}", *arguments)


def build_batch(
    module: Module,
    folder: Path,
    flags: Sequence[str] = EXACT,
    more: Mapping[str, str] = MappingProxyType({}),
) -> CompiledBatch:
    """Compile the C files of `module` that lie in `folder` and load them; `more` are further
    sources, name to text. Raises CompilerError."""
    name, batches = module.name, batch_functions(module)
    signatures = [s for f in batches for s in (f.batch_signature, f.rows_signature)]
    declarations = [
        f"typedef {module[COptions].scalar} {name}_real",
        f"int {name}_batch_width(void)",
        f"int {name}_batch_lanes(void)",
        *signatures,
        "",
    ]
    files = [*sources(module), f"{name}_batch.c", *(f"{f.full_name}_batch.c" for f in batches)]
    library = Library.build(
        "; ".join(declarations), read_sources(folder, files) | {**more}, [*flags]
    )
    return CompiledBatch(module, library)


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the C files of a folder, one by one."""
    progress("compiling with strict warnings")
    try:
        yield selftest(target)
        progress("compiling for comparison")
        if target.module[COptions].scalar in FIXED:
            call = compile_fixed_point(target.module, target.folder)
            yield from fixed_checks(target, progress, call)
            return
        compiled = build(target.module, target.folder)
    except NoCompilerError as error:
        yield not_run("C compiles without a warning", str(error))
        return
    except CompilerError as error:
        yield Check("C compiles without a warning", False, str(error))
        return
    states = target.states
    for function in target.module.functions:
        progress(function.name)
        try:
            d, call = description_of(target, function.name), getattr(compiled, function.name)
            outputs = [results(d, call, state) for state in target.compared_states(function)]
            yield compare_with_run(target, function, outputs, "C")
            yield from compare_with_references(target, function, outputs)
        except np.linalg.LinAlgError as error:
            yield Check(f"{function.name}: C equals the float run", False, str(error))
    if target.module.regroup is not None:
        yield _check_regroup(target, compiled, states)
    if target.module[COptions].batch is not None:
        progress("batches")
        yield from _batch_checks(target, compiled, states)


SELFTEST_TIME_LIMIT: Final = 120
"""Seconds that a self-test may run; the largest take one."""


def selftest(target: VerificationTarget) -> Check:
    """Whether the C files compile without a warning, and whether their self-test passes. Raises
    CompilerError."""
    name, folder = target.module.name, target.folder
    files = [file for file in target.hashes if file.endswith(".c") and "/" not in file]
    sources = [str(folder / file) for file in files]
    with workspace() as work:
        run_compiler(
            [*STRICT, f"-I{folder}", *sources, *platform().math_library, "-o", "selftest"], work
        )
        try:
            run = subprocess.run(
                [str(work / "selftest")],
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=SELFTEST_TIME_LIMIT,
            )
            passed, end = run.returncode == 0, f"exit status {run.returncode}"
        except subprocess.TimeoutExpired:
            passed, end = False, f"did not end within {SELFTEST_TIME_LIMIT} s"
    claim = "C compiles without a warning, self-test passes"
    return Check(claim, passed, f"{name}_selftest: {end}; {compiler_version(compiler())}")


def _check_regroup(
    target: VerificationTarget, compiled: Compiled, states: Sequence[Arrays]
) -> Check:
    d, regroup = description_of(target, "regroup"), target.module.regroup
    assert regroup is not None
    expected = {"par": [state["par"] for state in states]}
    regrouped = [results(d, compiled.regroup, state)["par"] for state in states]
    allowed = target.accuracy(states).allowed(regroup.program, expected)
    ratio = error_ratio(regrouped, expected["par"], allowed["par"])
    return Check("regroup: C equals the float run", ratio <= 1.0, format_error_ratio(ratio))


def _batch_checks(
    target: VerificationTarget, compiled: Compiled, states: Sequence[Arrays]
) -> Iterator[Check]:
    """Functions for many states against those for one, on numbers of states that fill no block and
    some."""
    batch = build_batch(target.module, target.folder)
    for d in (f.description for f in batch.functions.values()):
        columns = [np.stack(column) for column in zip(*(inputs(d, s) for s in states), strict=True)]
        sizes = sorted({1, batch.width, len(states) - 1})
        claim = f"{d.name}: batches have the bits of single states"
        try:
            differing = sum(
                _count_differing(d, compiled, batch, [x[:n] for x in columns]) for n in sizes
            )
        except np.linalg.LinAlgError as error:
            yield Check(claim, False, str(error))
            continue
        counted = f"{differing} other numbers, {sum(sizes)} states in blocks of {batch.width}"
        yield Check(claim, not differing, counted)


def _count_differing(
    d: FunctionDescription, compiled: Compiled, batch: CompiledBatch, columns: Sequence[AnyArray]
) -> int:
    """How many numbers of rows and of blocks are not those of single states, bit by bit."""
    shared = batch.functions[d.name].shared
    repeated = [
        np.broadcast_to(x[0], x.shape) if a in shared else x
        for a, x in zip(d.ins, columns, strict=True)
    ]
    count = 0
    for arguments, arrays in (
        (columns, batch.rows(d.name, columns)),
        (repeated, batch.blocks(d.name, columns)),
    ):
        singles = as_tuple(getattr(compiled, d.name)(*arguments))
        for expected, result in zip(singles, arrays, strict=True):
            a, b = (
                np.ascontiguousarray(x).reshape(result.shape).view(f"u{result.itemsize}")
                for x in (expected, result)
            )
            count += int(np.sum(a != b))
    return count
