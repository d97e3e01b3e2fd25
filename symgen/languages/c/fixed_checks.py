"""Fixed-point C proven: it computes the integers of the generator's own run, and these are within
the certified error of the law of each quantity."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from symgen.languages.c.calls import lying
from symgen.languages.c.fixed_code import FixedCode
from symgen.languages.c.fixed_states import (
    Integers,
    computed,
    drawn,
    fixed_codes,
    kind_of,
    real_inputs,
)
from symgen.languages.module import Module
from symgen.languages.verification import (
    Arrays,
    Check,
    VerificationTarget,
    error_ratio,
    format_error_ratio,
)
from symgen.native.library import Library, pointers
from symgen.numbers.types import AnyArray
from symgen.proof.reference_values import reference_results

SEED: Final = "verify"


class FixedTarget(VerificationTarget):
    """A folder of fixed-point C and the states that it is tried at: integers within the limits."""

    @cached_property
    def integers(self) -> Integers:
        """The inputs as integers."""
        return drawn(self.module, self.count, SEED)

    @cached_property
    def states(self) -> list[Arrays]:
        """The inputs in SI units."""
        real = real_inputs(self.module, self.integers)
        return [{name: x[:, k] for name, x in real.items()} for k in range(self.count)]


def compiled(module: Module, folder: Path) -> Callable[[FixedCode, Integers], Integers]:
    """The functions of a folder, compiled: integers of the outputs from those of the inputs,
    entries x states. Raises CompilerError."""
    codes, kind = fixed_codes(module), np.int32 if kind_of(module).bits == 32 else np.int16
    texts = lying(folder, [f"{f.full_name}.c" for f in codes])
    texts[LOOPS] = f'#include "{module.name}.h"\n' + "".join(map(_loop, codes))
    declared = "\n".join(
        f"void {f.d.name}_many({pointers(len(f.d.arguments))}, int);" for f in codes
    )
    library = Library.build(declared, texts, [])

    def call(f: FixedCode, integers: Integers) -> Integers:
        ins = [np.ascontiguousarray(integers[a.name].T, kind) for a in f.d.ins]
        outs = [np.zeros((len(ins[0]), a.size), kind) for a in f.d.outs]
        library.call(f"{f.d.name}_many", *ins, *outs, len(ins[0]))
        return {a.name: x.T.astype(np.int64) for a, x in zip(f.d.outs, outs, strict=True)}

    return call


LOOPS: Final = "many.c"
"""The file with a loop over states for each function."""


def _loop(f: FixedCode) -> str:
    """A function for many states, one after the other."""
    real = f"{f.prefix}_{f.fixed.kind.name}"
    names = [(a.name, "const " * (a.direction == "in"), a.size) for a in f.d.arguments]
    given = ", ".join(f"{const}{real} *{name}" for name, const, _ in names)
    passed = ", ".join(f"{name} + k * {size}" for name, _, size in names)
    head = f"void {f.d.name}_many({given}, int n);\nvoid {f.d.name}_many({given}, int n)\n"
    return f"{head}{{ for (int k = 0; k < n; ++k) {f.full_name}({passed}); }}\n"


def fixed_checks(
    target: VerificationTarget, progress: Callable[[str], None], call: Callable[..., Integers]
) -> Iterator[Check]:
    """The checks of the functions of a folder, one by one."""
    tried = FixedTarget(target.folder, target.module, target.hashes, target.count)
    wanted = computed(target.module, tried.integers)
    for f in fixed_codes(target.module):
        progress(f.d.name)
        results = call(f, tried.integers)
        bad = sum(int((results[name] != x).sum()) for name, x in wanted[f.d.name].items())
        claim = f"{f.d.name}: C equals the run on integers, bit by bit"
        yield Check(claim, not bad, f"{bad} other integers, {tried.count} states")
        yield from _against_laws(tried, f, results)


def _against_laws(tried: FixedTarget, f: FixedCode, results: Integers) -> Iterator[Check]:
    """The results of a function against the law of each of its quantities: within the certified
    error, and what the numbers of the tape and the reference are off themselves."""
    (function,) = (x for x in tried.module.functions if x.name == f.d.name)
    for judgement in reference_results(tried.judges, function):
        claim = f"{f.d.name}: {judgement.claim} within the certified error"
        if judgement.problem:
            yield Check(claim, False, judgement.problem)
            continue
        states = tried.states[: judgement.states]
        tape = tried.accuracy(states, "double").allowed(function.program, judgement.wanted)
        shares = [
            _share(f, name, results[name][:, : len(states)], wanted, tape)
            for name, wanted in judgement.wanted.items()
        ]
        figure = f"{format_error_ratio(max(shares))}, {len(states)} states"
        yield Check(claim, max(shares) <= 1.0, figure)


def _share(
    f: FixedCode, name: str, integers: AnyArray, wanted: AnyArray, tape: Mapping[str, AnyArray]
) -> float:
    """The largest error of an output as a part of its bound."""
    (out,) = (out for out in f.made.outputs if out.name == name)
    real = np.ldexp(integers.astype(float), -f.fixed.outputs[name]).T
    allowed = tape[name] + np.array(out.error)
    return error_ratio(list(real), list(wanted.reshape(allowed.shape)), allowed)
