"""Python proven: the module on all states at once and one after the other, against the same
algorithms on Python's numbers; where it comes alone, against the law of each quantity too."""

import runpy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from symgen.languages.subject import (
    Arrays,
    Check,
    Subject,
    against_laws,
    as_tuple,
    described,
    inputs,
    of_bound,
    share_of_runs,
)
from symgen.native.isolated import limited
from symgen.tracing.function import Function


def checks(subject: Subject, progress: Callable[[str], None]) -> Iterator[Check]:
    """The Python module, on all states at once and on each, against the float run."""
    progress("Python module")
    try:
        with limited():
            python = runpy.run_path(str(subject.folder / f"{subject.module.name}.py"))
    except (Exception, SystemExit) as error:  # whatever the file says is its own fault
        yield Check("Python module loads", False, f"{type(error).__name__}: {error}")
        return
    states = subject.states
    batch = {name: np.array([state[name] for state in states]) for name in states[0]}
    alone = f"{subject.module.name}.h" not in subject.hashes
    for function in subject.module.functions:
        progress(function.name)
        yield _check(subject, python, function, batch)
        if alone:
            yield from against_laws(subject, function, python[function.name])


def _check(
    subject: Subject,
    python: Mapping[str, Any],
    function: Function,
    batch: Arrays,
) -> Check:
    claim = f"{function.name}: Python equals the float run"
    try:
        arrays_in = inputs(described(subject, function.name), batch)
        with limited():
            at_once = as_tuple(python[function.name](*arrays_in))
            one_by_one = [
                as_tuple(python[function.name](*state)) for state in zip(*arrays_in, strict=True)
            ]
        alone = tuple(map(np.stack, zip(*one_by_one, strict=True)))
        share = max(share_of_runs(subject, function, arrays) for arrays in (at_once, alone))
    except Exception as error:
        return Check(claim, False, f"{type(error).__name__}: {error}")
    return Check(claim, share <= 2.0, of_bound(share))  # both have errors
