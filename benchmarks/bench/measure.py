"""A robot measured: every tool built, checked against symgen, then timed beside it."""

from collections.abc import Sequence
from typing import Any

from benchmarks.bench import ours, peers
from benchmarks.bench.build import FOLDER, log
from benchmarks.bench.cases import Case
from benchmarks.bench.clock import TOLERANCE, Clock, difference, timed
from benchmarks.bench.contender import Contender, Order, states

Row = dict[str, Any]


def rows(case: Case, clock: Clock, flags: list[str], rounds: int, simplify: bool = True) -> list[Row]:
    """A row for each quantity and tool of a robot."""
    log(f"{case.name}: building")
    every = contenders(case, flags, simplify)
    log(f"{case.name}: measuring {len(every)} functions")
    drawn = states(case.plain())
    return [row for quantity in case.quantities
            for row in _rows(case, clock, [c for c in every if c.quantity == quantity], drawn, rounds)]


def contenders(case: Case, flags: list[str], simplify: bool = True) -> list[Contender]:
    """All tools' functions of a robot, symgen's first."""
    folder, plain = FOLDER / case.name, case.plain()
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.txt"
    model.write_text(plain.text, encoding="utf-8")
    mine, names = ours.contenders(case, plain, folder, flags)
    order = Order.of(plain, names)
    more = () if simplify else ("plain",)
    return [
        *mine,
        *peers.u2c_contenders(case, plain, folder, order, flags, *more),
        *peers.sx_contenders(case, model, folder, order, flags),
        *peers.cpp_contenders(case, plain, model, order),
    ]


def _rows(case: Case, clock: Clock, several: Sequence[Contender], drawn: Any, rounds: int) -> list[Row]:
    errors = [difference(clock, one, several[0], drawn) for one in several]
    right = [one for one, error in zip(several, errors, strict=True) if error <= TOLERANCE]
    for one, error in zip(several, errors, strict=True):
        if one not in right:
            log(f"{case.name} {one.quantity}: {one.tool} differs by {error:.1e} and is not timed")
    times = dict(zip((one.tool for one in right), timed(clock, right, drawn, rounds), strict=True))
    return [
        {"robot": case.name, "quantity": one.quantity, "tool": one.tool, "difference": error, **one.facts,
         **times.get(one.tool, {})}
        for one, error in zip(several, errors, strict=True)
    ]


