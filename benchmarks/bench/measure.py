"""A robot measured: every tool built, checked against symgen, then timed beside it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench import ours, peers
from benchmarks.bench.build import FLAGS, FOLDER, log
from benchmarks.bench.cases import Case
from benchmarks.bench.clock import TOLERANCE, Clock, difference, timed
from benchmarks.bench.contender import Contender, Order, states
from benchmarks.bench.plain import Plain

Row = dict[str, Any]


@dataclass(frozen=True)
class Manner:
    """How the tools are taken: sets of flags, symgen's kinds of trigonometry, whether CasADi
    eliminates common subexpressions of urdf2casadi."""

    flags: tuple[str, ...] = tuple(FLAGS)
    trigs: tuple[str, ...] = ours.TRIGS
    simplify: bool = True


FULL = Manner()
CHAINS = Manner(("O2",), ("libm",), False)


@dataclass(frozen=True)
class Built:
    """A robot with all compiled functions, symgen's first, and where Pinocchio finds it."""

    case: Case
    plain: Plain
    order: Order
    model: Path
    contenders: tuple[Contender, ...]


def built(cases: Sequence[Case], manner: Manner = FULL) -> list[Built]:
    """All robots, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda case: _built(case, manner), cases))


def _built(case: Case, manner: Manner) -> Built:
    log(f"{case.name}: building")
    folder, plain = FOLDER / case.name, case.plain()
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.txt"
    model.write_text(plain.text, encoding="utf-8")
    mine, names = ours.contenders(case, plain, folder, manner.flags, manner.trigs)
    order = Order.of(plain, names)
    more = () if manner.simplify else ("plain",)
    made = (
        *mine,
        *peers.u2c_contenders(case, plain, folder, order, manner.flags, *more),
        *peers.sx_contenders(case, model, folder, order, manner.flags),
    )
    return Built(case, plain, order, model, made)


def rows(robot: Built, clock: Clock, rounds: int) -> list[Row]:
    """A row for each quantity and tool of a robot."""
    every = [
        *robot.contenders,
        *peers.cpp_contenders(robot.case, robot.plain, robot.model, robot.order),
    ]
    log(f"{robot.case.name}: measuring {len(every)} functions")
    drawn = states(robot.plain)
    return [
        row
        for quantity in robot.case.quantities
        for row in _rows(
            robot.case.name, clock, [c for c in every if c.quantity == quantity], drawn, rounds
        )
    ]


def _rows(
    name: str, clock: Clock, several: Sequence[Contender], drawn: Any, rounds: int
) -> list[Row]:
    errors = [difference(clock, one, several[0], drawn) for one in several]
    right = [one for one, error in zip(several, errors, strict=True) if error <= TOLERANCE]
    for one, error in zip(several, errors, strict=True):
        if one not in right:
            log(f"{name} {one.quantity}: {one.tool} differs by {error:.1e} and is not timed")
    times = dict(zip((one.tool for one in right), timed(clock, right, drawn, rounds), strict=True))
    return [
        {
            "robot": name,
            "quantity": one.quantity,
            "tool": one.tool,
            "difference": error,
            **one.facts,
            **times.get(one.tool, {}),
        }
        for one, error in zip(several, errors, strict=True)
    ]
