"""C proven: it compiles without a warning, passes its self-test, has the bits of the same
algorithms on Python's numbers, and agrees with the law of each quantity."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from symgen.certified.fixed_types import FIXED
from symgen.languages.c.calls import CompiledBatch, build, build_batch
from symgen.languages.c.fixed_checks import compiled as fixed_call
from symgen.languages.c.fixed_checks import fixed_checks
from symgen.languages.c.options import COptions
from symgen.languages.describe import FunctionDescription
from symgen.languages.external_runner import against_run
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    against_laws,
    as_tuple,
    described,
    error_ratio,
    format_error_ratio,
    inputs,
    not_run,
    results,
)
from symgen.native.compiler import (
    STRICT,
    CompilerError,
    NoCompilerError,
    compiler,
    platform,
    run_compiler,
    version,
    workspace,
)
from symgen.native.store import Compiled
from symgen.numbers.types import AnyArray


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the C files of a folder, one by one."""
    progress("compiling with strict warnings")
    try:
        yield selftest(target)
        progress("compiling for comparison")
        if target.module[COptions].scalar in FIXED:
            call = fixed_call(target.module, target.folder)
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
            d, call = described(target, function.name), getattr(compiled, function.name)
            outputs = [results(d, call, state) for state in target.compared(function)]
            yield against_run(target, function, outputs, "C")
            yield from against_laws(target, function, outputs)
        except np.linalg.LinAlgError as error:
            yield Check(f"{function.name}: C equals the float run", False, str(error))
    if target.module.regroup is not None:
        yield _regroup(target, compiled, states)
    if target.module[COptions].batch is not None:
        progress("batches")
        yield from _batch_checks(target, compiled, states)


PATIENCE: Final = 120
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
                [str(work / "selftest")], check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE
            )
            passed, end = run.returncode == 0, f"exit status {run.returncode}"
        except subprocess.TimeoutExpired:
            passed, end = False, f"did not end within {PATIENCE} s"
    claim = "C compiles without a warning, self-test passes"
    return Check(claim, passed, f"{name}_selftest: {end}; {version(compiler())}")


def _regroup(target: VerificationTarget, compiled: Compiled, states: Sequence[Arrays]) -> Check:
    d, regroup = described(target, "regroup"), target.module.regroup
    assert regroup is not None
    wanted = {"par": [state["par"] for state in states]}
    regrouped = [results(d, compiled.regroup, state)["par"] for state in states]
    allowed = target.accuracy(states).allowed(regroup.program, wanted)
    share = error_ratio(regrouped, wanted["par"], allowed["par"])
    return Check("regroup: C equals the float run", share <= 1.0, format_error_ratio(share))


def _batch_checks(
    target: VerificationTarget, compiled: Compiled, states: Sequence[Arrays]
) -> Iterator[Check]:
    """Functions for many states against those for one, on numbers of states that fill no block and
    some."""
    batch = build_batch(target.module, target.folder)
    for d in (f.d for f in batch.functions.values()):
        columns = [np.stack(column) for column in zip(*(inputs(d, s) for s in states), strict=True)]
        sizes = sorted({1, batch.width, len(states) - 1})
        claim = f"{d.name}: batches have the bits of single states"
        try:
            bad = sum(_other_bits(d, compiled, batch, [x[:n] for x in columns]) for n in sizes)
        except np.linalg.LinAlgError as error:
            yield Check(claim, False, str(error))
            continue
        yield Check(
            claim, not bad, f"{bad} other numbers, {sum(sizes)} states in blocks of {batch.width}"
        )


def _other_bits(
    d: FunctionDescription, compiled: Compiled, batch: CompiledBatch, columns: Sequence[AnyArray]
) -> int:
    """How many numbers of rows and of blocks are not those of single states."""
    repeated = [
        np.broadcast_to(x[0], x.shape) if a in batch.functions[d.name].shared else x
        for a, x in zip([a for a in d.arguments if a.direction == "in"], columns, strict=True)
    ]
    pairs = [(columns, batch.rows(d.name, columns)), (repeated, batch.blocks(d.name, columns))]
    return sum(
        _differing(wanted, result)
        for arguments, answers in pairs
        for wanted, result in zip(
            as_tuple(getattr(compiled, d.name)(*arguments)), answers, strict=True
        )
    )


def _differing(wanted: AnyArray, result: AnyArray) -> int:
    bits = [
        np.ascontiguousarray(x).reshape(result.shape).view(f"u{result.itemsize}")
        for x in (wanted, result)
    ]
    return int(np.sum(bits[0] != bits[1]))
