"""Checks of generated C: it compiles without a warning, passes its self-test, equals a run of the
same algorithms in Python bit for bit, and agrees with the reference of each quantity.

Fixed-point C computes the integers of the generator's own run, and these are within the certified
error of the reference."""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from symgen.certified.fixed_types import FIXED
from symgen.languages.c.calls import CompiledBatch, build, build_batch, read_sources
from symgen.languages.c.fixed_code import (
    FixedCode,
    Integers,
    fixed_functions_in_c,
    fixed_type,
    inputs_in_si,
    random_integers,
    run_functions,
)
from symgen.languages.c.options import COptions
from symgen.languages.describe import FunctionDescription
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
    STRICT,
    CompilerError,
    NoCompilerError,
    compiler,
    compiler_version,
    platform,
    run_compiler,
    workspace,
)
from symgen.native.library import Library, pointers
from symgen.native.store import Compiled
from symgen.numbers.types import AnyArray
from symgen.proof.reference_values import reference_results


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
            call_arguments, end = run.returncode == 0, f"exit status {run.returncode}"
        except subprocess.TimeoutExpired:
            call_arguments, end = False, f"did not end within {SELFTEST_TIME_LIMIT} s"
    claim = "C compiles without a warning, self-test passes"
    return Check(claim, call_arguments, f"{name}_selftest: {end}; {compiler_version(compiler())}")


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
        yield Check(
            claim,
            not differing,
            f"{differing} other numbers, {sum(sizes)} states in blocks of {batch.width}",
        )


def _count_differing(
    d: FunctionDescription, compiled: Compiled, batch: CompiledBatch, columns: Sequence[AnyArray]
) -> int:
    """How many numbers of rows and of blocks are not those of single states."""
    repeated = [
        np.broadcast_to(x[0], x.shape) if a in batch.functions[d.name].shared else x
        for a, x in zip([a for a in d.arguments if a.direction == "in"], columns, strict=True)
    ]
    pairs = [(columns, batch.rows(d.name, columns)), (repeated, batch.blocks(d.name, columns))]
    return sum(
        _differing_entries(expected, result)
        for arguments, outputs_of_batch in pairs
        for expected, result in zip(
            as_tuple(getattr(compiled, d.name)(*arguments)), outputs_of_batch, strict=True
        )
    )


def _differing_entries(expected: AnyArray, result: AnyArray) -> int:
    bits = [
        np.ascontiguousarray(x).reshape(result.shape).view(f"u{result.itemsize}")
        for x in (expected, result)
    ]
    return int(np.sum(bits[0] != bits[1]))


# -- fixed point -----------------------------------------------------------------------------------

VERIFY_SEED: Final = "verify"


class FixedTarget(VerificationTarget):
    """A folder of fixed-point C and the states that it is tried at: integers within the limits."""

    @cached_property
    def integers(self) -> Integers:
        """The inputs as integers."""
        return random_integers(self.module, self.count, VERIFY_SEED)

    @cached_property
    def states(self) -> list[Arrays]:
        """The inputs in SI units."""
        real = inputs_in_si(self.module, self.integers)
        return [{name: x[:, k] for name, x in real.items()} for k in range(self.count)]


def compile_fixed_point(module: Module, folder: Path) -> Callable[[FixedCode, Integers], Integers]:
    """The fixed-point functions of a folder, compiled: integers of the outputs from those of the
    inputs, entries x states. Raises CompilerError."""
    codes, kind = (
        fixed_functions_in_c(module),
        np.int32 if fixed_type(module).bits == 32 else np.int16,
    )
    texts = read_sources(folder, [f"{f.full_name}.c" for f in codes])
    texts[FIXED_BATCH_FILE] = f'#include "{module.name}.h"\n' + "".join(map(_fixed_loop, codes))
    declared = "\n".join(
        f"void {f.description.name}_many({pointers(len(f.description.arguments))}, int);"
        for f in codes
    )
    library = Library.build(declared, texts, [])

    def call(f: FixedCode, integers: Integers) -> Integers:
        ins = [np.ascontiguousarray(integers[a.name].T, kind) for a in f.description.ins]
        outs = [np.zeros((len(ins[0]), a.size), kind) for a in f.description.outs]
        library.call(f"{f.description.name}_many", *ins, *outs, len(ins[0]))
        return {a.name: x.T.astype(np.int64) for a, x in zip(f.description.outs, outs, strict=True)}

    return call


FIXED_BATCH_FILE: Final = "many.c"
"""The file with a loop over states for each function."""


def _fixed_loop(f: FixedCode) -> str:
    """A function for many states, one after the other."""
    real = f"{f.prefix}_{f.fixed.kind.name}"
    names = [(a.name, "const " * (a.direction == "in"), a.size) for a in f.description.arguments]
    declared_parameters = ", ".join(f"{const}{real} *{name}" for name, const, _ in names)
    call_arguments = ", ".join(f"{name} + k * {size}" for name, _, size in names)
    head = f"void {f.description.name}_many({declared_parameters}, int n)"
    return f"{head};\n{head}\n{{ for (int k = 0; k < n; ++k) {f.full_name}({call_arguments}); }}\n"


def fixed_checks(
    target: VerificationTarget, progress: Callable[[str], None], call: Callable[..., Integers]
) -> Iterator[Check]:
    """The checks of the functions of a folder, one by one."""
    fixed_target = FixedTarget(target.folder, target.module, target.hashes, target.count)
    expected = run_functions(target.module, fixed_target.integers)
    for f in fixed_functions_in_c(target.module):
        progress(f.description.name)
        results = call(f, fixed_target.integers)
        differing = sum(
            int((results[name] != x).sum()) for name, x in expected[f.description.name].items()
        )
        claim = f"{f.description.name}: C equals the run on integers, bit by bit"
        yield Check(
            claim, not differing, f"{differing} other integers, {fixed_target.count} states"
        )
        yield from _compare_fixed_with_references(fixed_target, f, results)


def _compare_fixed_with_references(
    fixed_target: FixedTarget, f: FixedCode, results: Integers
) -> Iterator[Check]:
    """The results of a function against the law of each of its quantities: within the certified
    error, and what the numbers of the tape and the reference are off themselves."""
    (function,) = (x for x in fixed_target.module.functions if x.name == f.description.name)
    for comparison in reference_results(fixed_target.reference_evaluators, function):
        claim = f"{f.description.name}: {comparison.claim} within the certified error"
        if comparison.problem:
            yield Check(claim, False, comparison.problem)
            continue
        states = fixed_target.states[: comparison.states]
        tape = fixed_target.accuracy(states, "double").allowed(function.program, comparison.wanted)
        ratios = [
            _fixed_error_ratio(f, name, results[name][:, : len(states)], expected, tape)
            for name, expected in comparison.wanted.items()
        ]
        figure = f"{format_error_ratio(max(ratios))}, {len(states)} states"
        yield Check(claim, max(ratios) <= 1.0, figure)


def _fixed_error_ratio(
    f: FixedCode, name: str, integers: AnyArray, expected: AnyArray, tape: Mapping[str, AnyArray]
) -> float:
    """The largest error of an output as a part of its bound."""
    (out,) = (out for out in f.fixed_function.outputs if out.name == name)
    real = np.ldexp(integers.astype(float), -f.fixed.outputs[name]).T
    allowed = tape[name] + np.array(out.error)
    return error_ratio(list(real), list(expected.reshape(allowed.shape)), allowed)
