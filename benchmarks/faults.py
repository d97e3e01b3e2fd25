"""A self-test run on its module's tapes, as the compiled one runs, right ones and ones with a
constant changed.

Where a number of the tape is an operand, generated code has a literal: a site. All sites of a
function are changed one at a time, each in lanes of its own of one run over arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from symgen.compiler.evaluate import compute_op
from symgen.compiler.passes import live_nodes, operands, pivots
from symgen.compiler.program import LEAVES, Index, Node, Output, Program, Ref
from symgen.languages.accuracy import QUANTUM, ZERO_CODE, QuantizedErrors
from symgen.languages.c.options import COptions
from symgen.languages.module import Module
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import AnyArray
from symgen.numbers.trig import TYPES
from symgen.tracing.function import Function

BLOCK: Final = 200
"""Sites changed in one run."""


class Site(NamedTuple):
    """A literal: an operand of a node, or (`node` is an output's name) an output entry."""

    node: Index | str
    place: int
    number: float


def sites(program: Program) -> list[Site]:
    """Where the code of a program has literals, zeros apart."""
    found = [
        Site(index, place, program.nodes[k].a)
        for index in live_nodes(program)
        for place, k in enumerate(operands(program.nodes[index]))
        if program.nodes[k].op == "const"
    ]
    found += [
        Site(out.name, place, program.nodes[ref.node].a)
        for out in program.outputs
        for place, ref in enumerate(out.refs)
        if ref is not None and program.nodes[ref.node].op == "const"
    ]
    return [site for site in found if site.number]


def changed(program: Program, site: Site, number: float) -> Program:
    """The same program with another number at a site, for the writers of code."""
    made, moved = Program(), dict[Index, Index]()
    made.inputs = list(program.inputs)
    for index, node in enumerate(program.nodes):
        used = [moved[k] for k in operands(node)]
        if index == site.node:
            used[site.place] = _appended(made, Node("const", number))
        own = node if node.op in LEAVES else Node(node.op, *used)
        moved[index] = _appended(made, own)
        made.sections[-1] = program.sections[index]
    made.outputs = [_output(out, site, moved, made, number) for out in program.outputs]
    made.names = {moved[k]: name for k, name in program.names.items()}
    made.divisors = {moved[k]: Ref(moved[r.node], r.negative) for k, r in program.divisors.items()}
    return made


def _appended(program: Program, node: Node) -> Index:
    program.nodes.append(node)
    program.sections.append(program.sections[-1] if program.sections else "")
    return len(program.nodes) - 1


def _output(
    out: Output, site: Site, moved: Mapping[Index, Index], made: Program, number: float
) -> Output:
    refs = [None if ref is None else Ref(moved[ref.node], ref.negative) for ref in out.refs]
    at = refs[site.place] if out.name == site.node else None
    if at is not None:
        refs[site.place] = Ref(_appended(made, Node("const", number)), at.negative)
    return Output(out.name, out.shape, tuple(refs))


@dataclass(frozen=True, eq=False)
class Trial:
    """A function of a module with the states of its self-test, in the module's scalar."""

    module: Module
    function: Function

    @property
    def real(self) -> Any:
        """The NumPy type of the scalar."""
        return TYPES[self.module[COptions].scalar]

    @cached_property
    def _inputs(self) -> dict[str, AnyArray]:
        states = self.module.test_states
        rows = {name: [s.inputs[name] for s in states] for name in states[0].inputs}
        rows["pi"] = [[x for ten in s.link_parameters.values() for x in ten] for s in states]
        given = {name: np.array(x, self.real).T for name, x in rows.items()}
        if self.module.regroup is not None:
            given |= self._run(self.module.regroup.program, given, [])[0]
        return given

    @cached_property
    def _wanted(self) -> dict[str, tuple[AnyArray, AnyArray]]:
        """By output: the reference values and what is allowed, entries first."""
        states, allowed = self.module.test_states, self.module.allowed(self.function)
        return {
            out.name: (
                np.array([s.expected[out.name] for s in states], self.real).T,
                self._errors(allowed[out.name]),
            )
            for out in self.module.outputs(self.function)
        }

    def _errors(self, allowed: QuantizedErrors) -> AnyArray:
        """By repeated products, as in C."""
        ladder = [self.real(allowed.top)]
        for _ in range(ZERO_CODE - 1):
            ladder.append(ladder[-1] * self.real(QUANTUM))
        return np.array([*ladder, 0.0], self.real)[np.array(allowed.codes).T]

    def wrong(self) -> int:
        """How many values the self-test calls wrong in the function as it is."""
        outputs, status = self._run(self.function.program, self._inputs, [])
        return int(sum(bad.sum() for bad in self._bad(outputs)) + status.sum())

    def caught(self, relative: float) -> list[bool]:
        """Whether the self-test fails, by site, when the site's number is changed by that part of
        it."""
        every = sites(self.function.program)
        blocks = [every[k : k + BLOCK] for k in range(0, len(every), BLOCK)]
        return [found for block in blocks for found in self._caught(block, relative)]

    def _caught(self, block: Sequence[Site], relative: float) -> Iterator[bool]:
        states = len(self.module.test_states)
        given = {name: np.tile(x, len(block)) for name, x in self._inputs.items()}
        pairs = [(site, site.number * (1 + relative)) for site in block]
        outputs, status = self._run(self.function.program, given, pairs)
        bad = status > 0
        for part in self._bad(outputs):
            bad = bad | part.any(axis=0)
        yield from map(
            bool, np.broadcast_to(bad, (states * len(block),)).reshape(-1, states).any(1)
        )

    def _bad(self, outputs: Mapping[str, AnyArray]) -> Iterator[AnyArray]:
        for name, (want, allowed) in self._wanted.items():
            got = outputs[name]
            times = got.shape[1] // want.shape[1]
            with np.errstate(all="ignore"):
                yield ~(np.abs(got - np.tile(want, times)) <= np.tile(allowed, times))

    def _run(
        self, program: Program, given: Mapping[str, AnyArray], changes: Sequence[tuple[Site, float]]
    ) -> tuple[dict[str, AnyArray], AnyArray]:
        """Outputs in full, and where the status is 1; each change in its own lanes."""
        run = _Run(program, given, changes, self.real, len(self.module.test_states))
        return run.outputs(), run.status()


class _Run:
    """One run over lanes: the states again and again, a change of the tape each time."""

    def __init__(
        self,
        program: Program,
        given: Mapping[str, AnyArray],
        changes: Sequence[tuple[Site, float]],
        real: Any,
        states: int,
    ) -> None:
        self.program, self.real = program, real
        self.width = states * max(len(changes), 1)
        self.own: dict[tuple[Index | str, int], list[tuple[slice, float]]] = {}
        for k, (site, number) in enumerate(changes):
            lanes = slice(k * states, (k + 1) * states)
            self.own.setdefault((site.node, site.place), []).append((lanes, number))
        self.values: dict[Index, Any] = {}
        scalar = "double" if real is np.float64 else "float"
        with np.errstate(all="ignore"):
            for index in live_nodes(program):
                node = program.nodes[index]
                if node.op in LEAVES:
                    is_input = node.op == "input"
                    self.values[index] = given[node.a][node.b] if is_input else real(node.a)
                elif OPS[node.op].arity == 1:
                    operand = (self.values[node.a],)
                    self.values[index] = compute_op(OPS[node.op], scalar, operand)
                else:
                    used = [self._seen(index, p, k) for p, k in enumerate(operands(node))]
                    self.values[index] = OPS[node.op].evaluate(*used)

    def _seen(self, user: Index | str, place: int, k: Index) -> Any:
        """The operand, with other numbers in the lanes of a site's change."""
        value = self.values[k]
        for lanes, number in self.own.get((user, place), ()):
            value = np.array(np.broadcast_to(value, (self.width,)))
            value[lanes] = self.real(number)
        return value

    def outputs(self) -> dict[str, AnyArray]:
        """Entries by lanes."""
        return {out.name: np.stack(self._entries(out)) for out in self.program.outputs}

    def _entries(self, out: Output) -> list[AnyArray]:
        signed = [
            self.real(0)
            if ref is None
            else (-1 if ref.negative else 1) * self._seen(out.name, place, ref.node)
            for place, ref in enumerate(out.refs)
        ]
        return [np.broadcast_to(np.asarray(x, self.real), (self.width,)) for x in signed]

    def status(self) -> AnyArray:
        """1 in the lanes where a pivot is not positive and finite."""
        bad = np.zeros(self.width, bool)
        for ref in pivots(self.program):
            x = -self.values[ref.node] if ref.negative else self.values[ref.node]
            with np.errstate(all="ignore"):
                bad |= ~((x > 0) & (x <= np.finfo(self.real).max))
        return bad.astype(int)
