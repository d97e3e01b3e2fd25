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
from symgen.jobs.manifest import changed, read
from symgen.languages.c.batch_calls import CompiledBatch, build_batch
from symgen.languages.c.calls import Compiled, build
from symgen.languages.c.files import TOLERANCE
from symgen.languages.describe import Description, descriptions
from symgen.languages.module import Module, varied
from symgen.mechanics.spatial import Vector
from symgen.native.compiler import STRICT, CompilerError, run_compiler, workspace
from symgen.numbers.trig import TYPES
from symgen.proof.machine import machine
from symgen.proof.textbook import REFERENCES, State
from symgen.tracing.trace import Function

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
            yield from _against_reference(subject, compiled, function, states)
        except np.linalg.LinAlgError as error:
            yield Check(f"{function.name}: C equals the float run", False, str(error))
    if subject.module.regroup is not None:
        yield _regroup(subject, compiled, states)
    if subject.module.batch is not None:
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
    d, worst = _described(subject, function.name), 0.0
    scalar, inline = subject.module.scalar, subject.module.trig == "inline"
    for state in states:
        floats = {name: state[name].tolist() for name in function.inputs}
        run = _run(subject.module, function, floats)
        wanted = {
            name: np.array(values, float).astype(TYPES[scalar]) for name, values in run.items()
        }
        got = _results(d, getattr(compiled, function.name), state)
        worst = max([worst, *(_error(got[name], wanted[name]) for name in wanted)])
    exact = inline or scalar == "double"
    limit = 0.0 if exact else TOLERANCE["float"]
    what = f"{function.name}: C equals the float run" + (" bit for bit" if exact else "")
    return Check(what, worst <= limit, f"largest error {worst:.1e}, {len(states)} states")


def _run(
    module: Module, function: Function, floats: Mapping[str, list[float]]
) -> Mapping[str, Sequence[Any]]:
    """The algorithms on Python floats, with the sines of the module.

    In single precision that of the tape, whose constants are made in double precision from
    constants as in C."""
    if module.trig == "libm":
        return function.run(**floats)
    own = {name: machine(values, module.scalar) for name, values in floats.items()}
    return function.run(**own) if module.scalar == "double" else evaluate(function.program, own)


def _error(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """Largest difference relative to the largest entry; infinite where something is not a
    number."""
    difference = float(np.max(np.abs(got - wanted), initial=0.0))
    size = float(np.max(np.abs(wanted), initial=0.0)) or 1.0
    return difference / size if np.isfinite(difference) else float("inf")


def _against_reference(
    subject: Subject, compiled: Compiled, function: Function, states: Sequence[Arrays]
) -> Iterator[Check]:
    """Compiled C against textbook dynamics in world axes."""
    d = _described(subject, function.name)
    limit = TOLERANCE[subject.module.scalar]
    for array in (a for a in d.arguments if a.direction == "out" and a.name in REFERENCES):
        worst = max(
            _reference_error(subject, compiled, d, array.name, state) for state in states[:10]
        )
        what = f"{function.name}: {array.name} equals textbook dynamics"
        yield Check(what, worst <= limit, f"largest error {worst:.1e}, 10 states")


def _reference_error(
    subject: Subject, compiled: Compiled, d: Description, output: str, state: Arrays
) -> float:
    robot = subject.module.robot
    fall = Vector(*state["g"].tolist()) if robot.runtime_gravity else Vector(*robot.model.gravity)
    tens = {name: state["pi"][10 * k : 10 * k + 10].tolist() for k, name in enumerate(robot.blocks)}
    pushes = subject.module.wrenches(state["wrench"].tolist() if "wrench" in state else ())
    x = State(
        state["q"].tolist(),
        state["qd"].tolist(),
        state["qdd"].tolist(),
        fall,
        tens,
        pushes,
        subject.module.frictions(state["friction"].tolist() if "friction" in state else None),
        robot.friction_width,
    )
    wanted = np.array([float(v) for v in REFERENCES[output](robot.lumped, x)])
    return _error(_results(d, getattr(compiled, d.name), state)[output], wanted)


def _regroup(subject: Subject, compiled: Compiled, states: Sequence[Arrays]) -> Check:
    d = _described(subject, "regroup")
    worst = max(_error(_results(d, compiled.regroup, s)["par"], s["par"]) for s in states)
    limit = 0.0 if subject.module.scalar == "double" else TOLERANCE["float"]
    return Check("regroup: C equals the float run", worst <= limit, f"largest error {worst:.1e}")


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
    for function in subject.module.functions:
        yield _python_check(subject, python, function, states, batch)


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
        worst = max(_batch_error(function, arrays, state, k) for k, state in enumerate(states))
    except Exception as error:
        return Check(what, False, f"{type(error).__name__}: {error}")
    return Check(what, worst <= 1e-11, f"largest error {worst:.1e}")


def _batch_error(
    function: Function, arrays: Sequence[np.ndarray[Any, Any]], state: Arrays, k: int
) -> float:
    wanted = function.run(**{name: state[name].tolist() for name in function.inputs})
    pairs = zip(arrays, wanted.values(), strict=True)
    return max(_error(np.ravel(array[k]), np.array(values, float)) for array, values in pairs)
