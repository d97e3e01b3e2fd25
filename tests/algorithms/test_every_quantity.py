"""Laws that hold for every quantity, in one table: which robots, what comes at run time, the check.

Whoever adds a quantity writes nothing here: it is in the table. What a quantity is in itself is the
business of its law in symgen/proof/laws, which tests/proof/test_judges.py asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

from symgen import algorithms
from symgen.algorithms import INPUTS, LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.registry import Quantity
from symgen.compiler.evaluate import evaluate
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel, Sizes
from symgen.tracing.trace import trace
from tests.support.random_trees import FEW, RANDOM, model
from tests.support.states import close, numbers

EVERY: dict[str, Quantity] = {**QUANTITIES, **LINK_QUANTITIES}
OPENINGS = {
    "constant": lambda robot: ParametricModel(robot),
    "gravity": lambda robot: ParametricModel(robot, (), True),
    "one body": lambda robot: ParametricModel(robot, (robot.bodies[-1].name,)),
    "every body": lambda robot: ParametricModel(robot, tuple(b.name for b in robot.bodies), True),
}
"""What stays open until run time."""

SWEEP = len(RANDOM) == len(FEW)
TREES = [*RANDOM, "panda", "quadruped"] if SWEEP else FEW
LARGE = {"square tree 0": "every body", "panda": "every body", "quadruped": "constant"}
PARALLEL = [] if SWEEP else TREES[1:2]
"""One robot under every opening."""
CHEAP = [
    name
    for name in EVERY
    if "regressor" in name
    or name in LINK_QUANTITIES
    or name in ("base_parameters", "momentum", "com", "com_jacobian", "centroidal_momentum_matrix")
    or "energy" in name
]
"""Quantities of short tapes, which large robots have too; a sweep has all."""


@dataclass(frozen=True)
class Law:
    """A claim about a quantity of a robot under an opening."""

    says: str
    check: Callable[[str, str, str], None]
    robots: tuple[str, ...] = tuple(TREES if SWEEP else TREES[1:])
    openings: tuple[str, ...] = ("constant", "every body")
    also: tuple[tuple[str, str, str], ...] = ()
    """More of (robot, quantity, opening)."""

    def cases(self) -> list[tuple[str, str, str]]:
        """All of (robot, quantity, opening), each once."""
        table = [(r, q, o) for q in EVERY for r in self.robots for o in self.openings]
        return list(dict.fromkeys([*table, *self.also]))


@cache
def robot_of(name: str, opening: str) -> ParametricModel:
    return OPENINGS[opening](model(name))


@cache
def laid_out(name: str, regrouping: str = WHOLE):
    """The layout of a robot with the parameters of its file."""
    return canonical_model(model(name), regrouping=regrouping)


def last_of(name: str, quantity: str) -> str:
    """The last link of a robot, or its last joint for a quantity of a joint."""
    last = model(name).bodies[-1]
    return last.joint.name if EVERY[quantity].subject == "joint" else last.links[-1].name


@cache
def traced(name: str, quantity: str, opening: str):
    """A quantity; that of a link or joint for the last one of the robot."""
    named = last_of(name, quantity)
    wanted = f"{quantity}:{named}" if quantity in LINK_QUANTITIES else quantity
    return trace(robot_of(name, opening), FunctionRequest.parse(wanted))


def inputs(function, robot, seed=2):
    """A random state for a function, with the parameters and gravity of its robot."""
    regroup, random = next(iter(function.regroups.values())), np.random.default_rng(seed)
    user = [x for ten in robot.blocks.values() for x in ten]
    gravity, shapes = list(robot.model.gravity), dict(function.program.inputs)
    known = {"g": gravity, "pi": user}
    if "par" in shapes:
        known["par"] = [
            float(x) for x in evaluate(regroup.program, {"pi": user, "g": gravity})["par"]
        ]
    if "h" in shapes:
        known["h"] = [0.01]  # more makes chaos of a step
    return {
        name: known.get(name) or random.uniform(-2, 2, shape).ravel().tolist()
        for name, shape in shapes.items()
    }


@cache
def ran(name, quantity, opening):
    """The outputs on floats, at the same state under every opening."""
    function = traced(name, quantity, opening)
    return function.run(**inputs(function, robot_of(name, opening)))


# -- the checks ------------------------------------------------------------------------------------


def tape_is_the_float_run(name, quantity, opening):
    """Bit for bit; and no regressor, frame or tensor reads parameters, even where they come at run
    time."""
    function = traced(name, quantity, opening)
    state = inputs(function, robot_of(name, opening))
    kinematic = quantity in LINK_QUANTITIES and not EVERY[quantity].needs_inertia
    if "regressor" in quantity or "by_parameters" in quantity or kinematic:
        assert not {"par", "pi"} & set(state)
    by_tape, by_floats = evaluate(function.program, state), ran(name, quantity, opening)
    assert list(by_tape) == list(by_floats)
    for output in by_tape:
        assert numbers(by_tape[output]).tolist() == numbers(by_floats[output]).tolist()


def run_time_is_compile_time(name, quantity, opening):
    """Parameters and gravity given at run time give the numbers of those of the file."""
    if "base" in quantity and robot_of(name, opening).runtime_gravity:
        # another set, that for every direction of gravity; test_regressors has Y_b beta = tau
        return
    found, wanted = ran(name, quantity, opening), ran(name, quantity, "constant")
    for output in wanted:
        close(numbers(found[output]), numbers(wanted[output]), 1e-10)


def formulations_agree(name, quantity, opening):
    """Every way to compute it gives the same numbers."""
    robot, random = model(name), np.random.default_rng(3)
    known = Sizes(ParametricModel(robot).regroup("minimal"))
    sizes = [INPUTS[given].sizes(known) for given in EVERY[quantity].inputs]
    widths = [0.01 if given == "h" else 2 for given in EVERY[quantity].inputs]
    pairs = zip(widths, sizes, strict=True)
    state = [random.uniform(-width, width, size).ravel().tolist() for width, size in pairs]
    ways = [way for way in EVERY[quantity].formulations if way.applicable(laid_out(name))]
    of = {EVERY[quantity].subject: last_of(name, quantity)} if quantity in LINK_QUANTITIES else {}
    first, *others = [way.algorithm(laid_out(name, way.regrouping), *state, **of) for way in ways]
    several = len(EVERY[quantity].outputs) > 1
    for other in others:
        for a, b in zip(other, first, strict=True) if several else [(other, first)]:
            close(numbers(a), numbers(b), 1e-10)


TABLE = [
    Law(
        "the tape is the float run, bit for bit",
        tape_is_the_float_run,
        also=tuple(
            [(r, q, o) for q in CHEAP for r, o in LARGE.items()]
            + [(r, q, o) for q in EVERY for r in PARALLEL for o in OPENINGS]
            + [(r, q, o) for q in EVERY if "by_parameters" in q for r in FEW for o in OPENINGS]
        ),
    ),
    Law(
        "what comes at run time gives the numbers of the file",
        run_time_is_compile_time,
        openings=("every body",),
        also=tuple((r, q, o) for q in EVERY for r in PARALLEL for o in ("gravity", "one body")),
    ),
    Law("every formulation gives the same numbers", formulations_agree, openings=("constant",)),
]


@pytest.mark.parametrize(
    "name, quantity, opening, law",
    [
        pytest.param(*case, law, id="-".join((law.check.__name__, *case)))
        for law in TABLE
        for case in law.cases()
    ],
)
def test_the_law_holds(name, quantity, opening, law):
    law.check(name, quantity, opening)


def test_no_quantity_is_without_a_law():
    for law in TABLE:
        assert {quantity for _, quantity, _ in law.cases()} == set(EVERY)


def test_every_file_with_a_quantity_is_listed():
    """Else it would be there only for those who import its file."""
    before = [*QUANTITIES, *LINK_QUANTITIES]
    for module in iter_modules(algorithms.__path__):
        import_module(f"symgen.algorithms.{module.name}")
    assert [*QUANTITIES, *LINK_QUANTITIES] == before
