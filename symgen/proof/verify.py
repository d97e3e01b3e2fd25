"""Proof of a generated folder: that it is unchanged, compiles without a warning and computes what
it should."""

import random
import runpy
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.compiler.evaluate import evaluate
from symgen.jobs.manifest import changed
from symgen.jobs.manifest_reader import read
from symgen.languages.accuracy import Accuracy
from symgen.languages.c.batch_calls import CompiledBatch, build_batch
from symgen.languages.c.calls import Compiled, build
from symgen.languages.c.options import COptions
from symgen.languages.describe import Description, descriptions
from symgen.languages.module import Module
from symgen.native.compiler import STRICT, CompilerError, run_compiler, workspace
from symgen.numbers.trig import TYPES
from symgen.proof.judging import judgements
from symgen.proof.machine import machine
from symgen.proof.plausible import varied
from symgen.tracing.function import Function

STATES: Final = 50
Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing checked: what, whether it holds, and the figure or the reason."""

    what: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Subject:
    """A generated folder with its module, its compiled C and the states that it is tried at."""

    folder: Path
    module: Module
    hashes: Mapping[str, str]

    def states(self) -> list[Arrays]:
        rng = random.Random(0)
        return [self._state(rng) for _ in range(STATES)]

    def _state(self, rng: random.Random) -> Arrays:
        state = {name: np.array(values) for name, values in self.module.random_inputs(rng).items()}
        tens = (varied(rng, ten) for ten in self.module.robot.blocks.values())
        state["pi"] = np.array([x for ten in tens for x in ten])
        if self.module.regroup is not None:
            state["par"] = np.array(
                evaluate(self.module.regroup.program, {"pi": state["pi"].tolist()})["par"], float
            )
        return state

    def accuracy(self, states: Sequence[Arrays], scalar: str | None = None) -> Accuracy:
        """How far results at some states may be off, in the module's scalar or another."""
        rows = {name: [state[name] for state in states] for name in states[0]}
        module = self.module
        return Accuracy(
            module.robot,
            module.regroup,
            scalar or module[COptions].scalar,
            "inline" if scalar else module[COptions].trig,
            rows,
        )


def verify(folder: Path, progress: Callable[[str], None] = lambda step: None) -> Iterator[Check]:
    """Check the generated folder; the checks come one by one. Raises SymgenError where there is
    nothing to check."""
    module, hashes = read(folder)
    subject = Subject(folder, module, hashes)
    progress("files")
    yield _unchanged(subject)
    if f"{module.name}.h" in hashes:
        yield from _c_checks(subject, progress)
    if f"{module.name}.py" in hashes:
        progress("Python module")
        yield from _python_checks(subject)


def _unchanged(subject: Subject) -> Check:
    bad = changed(subject.folder, subject.hashes)
    detail = f"{len(subject.hashes)} files" if not bad else f"changed or missing: {', '.join(bad)}"
    return Check("files are as generated (SHA-256)", not bad, detail)


def _c_checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    progress("compiling with strict warnings")
    try:
        yield _selftest(subject)
        progress("compiling for comparison")
        compiled = build(subject.module, subject.folder)
    except CompilerError as error:
        yield Check("C compiles without a warning", False, str(error))
        return
    states = subject.states()
    for function in subject.module.functions:
        progress(function.name)
        try:
            yield _against_run(subject, compiled, function, states)
            yield from _against_laws(subject, function, states, getattr(compiled, function.name))
        except np.linalg.LinAlgError as error:
            yield Check(f"{function.name}: C equals the float run", False, str(error))
    if subject.module.regroup is not None:
        yield _regroup(subject, compiled, states)
    if subject.module[COptions].batch is not None:
        progress("batches")
        yield from _batch_checks(subject, compiled, states)


def _selftest(subject: Subject) -> Check:
    name = subject.module.name
    sources = [str((subject.folder / f).resolve()) for f in subject.hashes if f.endswith(".c")]
    with workspace() as work:
        run_compiler(
            [*STRICT, f"-I{subject.folder.resolve()}", *sources, "-lm", "-o", "selftest"], work
        )
        done = subprocess.run([str(work / "selftest")], check=False)
    detail = f"{name}_selftest: exit status {done.returncode}"
    return Check("C compiles without a warning, self-test passes", done.returncode == 0, detail)


def _inputs(d: Description, state: Arrays) -> list[np.ndarray[Any, Any]]:
    return [state[a.name] for a in d.arguments if a.direction == "in"]


def _described(subject: Subject, name: str) -> Description:
    return next(d for d in descriptions(subject.module) if d.name == name)


def _results(d: Description, call: Callable[..., Any], state: Arrays) -> Arrays:
    """The outputs of a compiled or Python function by name, flat."""
    result = call(*_inputs(d, state))
    arrays = result if isinstance(result, tuple) else (result,)
    names = [a.name for a in d.arguments if a.direction == "out"]
    return {name: np.ravel(array) for name, array in zip(names, arrays, strict=True)}


def _against_run(
    subject: Subject, compiled: Compiled, function: Function, states: Sequence[Arrays]
) -> Check:
    """Compiled C against the algorithms run on floats: bit for bit unless sines are those of
    another precision."""
    d = _described(subject, function.name)
    scalar, inline = subject.module[COptions].scalar, subject.module[COptions].trig == "inline"
    runs = [
        _run(subject.module, function, {name: state[name].tolist() for name in function.inputs})
        for state in states
    ]
    wanted = {name: [np.array(run[name], float) for run in runs] for name in runs[0]}
    got = [_results(d, getattr(compiled, function.name), state) for state in states]
    if inline or scalar == "double":
        worst = max(
            _error(g[name], row[k].astype(TYPES[scalar]))
            for name, row in wanted.items()
            for k, g in enumerate(got)
        )
        what = f"{function.name}: C equals the float run bit for bit"
        return Check(what, not worst, f"largest error {worst:.1e}, {len(states)} states")
    allowed = subject.accuracy(states).allowed(function.program, wanted)
    share = max(_share([g[name] for g in got], wanted[name], allowed[name]) for name in wanted)
    what = f"{function.name}: C equals the float run"
    return Check(what, share <= 1.0, f"{_of_bound(share)}, {len(states)} states")


def _run(
    module: Module, function: Function, floats: Mapping[str, list[float]]
) -> Mapping[str, Sequence[Any]]:
    """The algorithms on Python floats, with the sines of the module.

    In single precision that of the tape, whose constants are made in double precision from
    constants as in C."""
    if module[COptions].trig == "libm":
        return function.run(**floats)
    own = {name: machine(values, module[COptions].scalar) for name, values in floats.items()}
    return (
        function.run(**own)
        if module[COptions].scalar == "double"
        else evaluate(function.program, own)
    )


def _error(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """Largest difference relative to the largest entry; infinite where something is not a
    number."""
    difference = float(np.max(np.abs(got - wanted), initial=0.0))
    size = float(np.max(np.abs(wanted), initial=0.0)) or 1.0
    return difference / size if np.isfinite(difference) else float("inf")


def _share(got: Sequence[Array], wanted: Sequence[Array], allowed: Array) -> float:
    """Largest error as a part of what is allowed of its entry; infinite where something is not a
    number."""
    shape = allowed.shape
    error = np.abs(np.reshape(got, shape).astype(float) - np.reshape(wanted, shape).astype(float))
    with np.errstate(all="ignore"):
        parts = np.where(error == 0.0, 0.0, error / allowed)
    return float(np.where(np.isnan(parts), np.inf, parts).max(initial=0.0))


def _of_bound(share: float) -> str:
    return f"largest error {share:.1e} of its bound"


def _against_laws(
    subject: Subject, function: Function, states: Sequence[Arrays], call: Callable[..., Any]
) -> Iterator[Check]:
    """Results of a compiled or Python function against the law of each of its quantities."""
    d = _described(subject, function.name)
    for found in judgements(subject.module.robot, function, states):
        what = f"{function.name}: {found.claim}"
        if found.problem:
            yield Check(what, False, found.problem)
            continue
        some = states[: found.states]
        got = [_results(d, call, state) for state in some]
        allowed = subject.accuracy(some).allowed(function.program, found.wanted)
        share = max(
            _share([g[name] for g in got], list(rows), allowed[name])
            for name, rows in found.wanted.items()
        )
        figure = f"{_of_bound(share)}, {len(some)} states, {found.seconds:.1f} s"
        yield Check(what, share <= 1.0, figure)


def _regroup(subject: Subject, compiled: Compiled, states: Sequence[Arrays]) -> Check:
    d, regroup = _described(subject, "regroup"), subject.module.regroup
    assert regroup is not None
    wanted = {"par": [state["par"] for state in states]}
    got = [_results(d, compiled.regroup, state)["par"] for state in states]
    allowed = subject.accuracy(states).allowed(regroup.program, wanted)
    share = _share(got, wanted["par"], allowed["par"])
    return Check("regroup: C equals the float run", share <= 1.0, _of_bound(share))


def _batch_checks(
    subject: Subject, compiled: Compiled, states: Sequence[Arrays]
) -> Iterator[Check]:
    """Functions for many states against those for one, on numbers of states that fill no block and
    some."""
    many = build_batch(subject.module, subject.folder)
    for d in (f.d for f in many.functions.values()):
        inputs = [np.stack(column) for column in zip(*(_inputs(d, s) for s in states), strict=True)]
        sizes = sorted({1, many.width, len(states) - 1})
        what = f"{d.name}: batches have the bits of single states"
        try:
            bad = sum(_other_bits(d, compiled, many, [x[:n] for x in inputs]) for n in sizes)
        except np.linalg.LinAlgError as error:
            yield Check(what, False, str(error))
            continue
        yield Check(
            what, not bad, f"{bad} other numbers, {sum(sizes)} states in blocks of {many.width}"
        )


def _other_bits(
    d: Description, compiled: Compiled, many: CompiledBatch, inputs: Sequence[Array]
) -> int:
    """How many numbers of rows and of blocks are not those of single states."""
    same = [
        np.broadcast_to(x[0], x.shape) if a in many.functions[d.name].shared else x
        for a, x in zip([a for a in d.arguments if a.direction == "in"], inputs, strict=True)
    ]
    pairs = [(inputs, many.rows(d.name, inputs)), (same, many.blocks(d.name, inputs))]
    return sum(
        _differing(wanted, got)
        for given, made in pairs
        for wanted, got in zip(_together(getattr(compiled, d.name)(*given)), made, strict=True)
    )


def _together(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)


def _differing(wanted: Array, got: Array) -> int:
    bits = [
        np.ascontiguousarray(x).reshape(got.shape).view(f"u{got.itemsize}") for x in (wanted, got)
    ]
    return int(np.sum(bits[0] != bits[1]))


def _python_checks(subject: Subject) -> Iterator[Check]:
    """The Python module, on all states at once, against the float run."""
    try:
        python = runpy.run_path(str(subject.folder / f"{subject.module.name}.py"))
    except Exception as error:  # whatever the file says is its own fault
        yield Check("Python module loads", False, f"{type(error).__name__}: {error}")
        return
    states = subject.states()
    batch = {name: np.array([state[name] for state in states]) for name in states[0]}
    alone = f"{subject.module.name}.h" not in subject.hashes
    for function in subject.module.functions:
        yield _python_check(subject, python, function, states, batch)
        if alone:
            yield from _against_laws(subject, function, states, python[function.name])


def _python_check(
    subject: Subject,
    python: Mapping[str, Any],
    function: Function,
    states: Sequence[Arrays],
    batch: Arrays,
) -> Check:
    what = f"{function.name}: Python equals the float run"
    try:
        got = python[function.name](*_inputs(_described(subject, function.name), batch))
        arrays = got if isinstance(got, tuple) else (got,)
        share = _batch_share(subject, function, arrays, states)
    except Exception as error:
        return Check(what, False, f"{type(error).__name__}: {error}")
    return Check(what, share <= 2.0, _of_bound(share))  # both have errors


def _batch_share(
    subject: Subject, function: Function, arrays: Sequence[Array], states: Sequence[Arrays]
) -> float:
    runs = [function.run(**{n: state[n].tolist() for n in function.inputs}) for state in states]
    wanted = {name: [np.array(run[name], float) for run in runs] for name in runs[0]}
    allowed = subject.accuracy(states, "double").allowed(function.program, wanted)
    pairs = zip(wanted, arrays, strict=True)
    return max(_share(list(got), wanted[name], allowed[name]) for name, got in pairs)
