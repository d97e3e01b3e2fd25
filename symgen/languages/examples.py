"""Examples for the tests that come with a module: states, and the results there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.languages.accuracy import Steps
from symgen.languages.describe import Argument, FunctionDescription
from symgen.languages.module import Module, Numbers


@dataclass(frozen=True)
class Example:
    """A function at the test states of its module, row by row a state."""

    name: str
    pivots: bool
    """Whether it can fail, by a mass matrix that is not positive definite."""
    pi: Sequence[Numbers]
    """The inertial parameters, where they come at run time."""
    ins: Sequence[tuple[Argument, Sequence[Numbers | None]]]
    """Each input with its values; None where it is made of `pi`."""
    outs: Sequence[tuple[Argument, Sequence[Numbers], float]]
    """Each output with what it must be, and the largest error that is allowed of an entry."""


def examples(module: Module, described: Sequence[FunctionDescription]) -> list[Example]:
    """Examples for each function that has reference values, in order."""
    accuracy = module.accuracy_in_double
    allowed = {f.name: module.allowed(f, accuracy) for f in module.functions}
    return [_example(module, d, allowed[d.name]) for d in described if d.name in allowed]


def _example(module: Module, d: FunctionDescription, allowed: Mapping[str, Steps]) -> Example:
    states = module.test_states
    return Example(
        d.name,
        bool(d.pivots),
        [tuple(x for ten in state.tens.values() for x in ten) for state in states],
        [(a, [s.inputs.get(a.name) for s in states]) for a in d.ins],
        [(a, [s.expected[a.name] for s in states], allowed[a.name].top) for a in d.outs],
    )
