"""A robot on paper: entries of its quantities as SymPy expressions."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from typing import Any, Final

import sympy

from symgen.algorithms import INPUTS
from symgen.algorithms.registry import Formulation, Quantity
from symgen.compiler.evaluate import evaluate
from symgen.errors import OptionError
from symgen.mechanics.inertia import NO_INERTIA
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import WHOLE, pseudo_inertia, system
from symgen.mechanics.placement import Placement, ToAxis
from symgen.mechanics.spatial import Vector
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO, Scalar
from symgen.tracing.coordinates import of_bodies, of_user
from symgen.tracing.robot import Regroup, Robot, dimensions
from symgen.tracing.singular import check_defined
from symgen.tracing.wanted import find_quantity

TOO_LONG: Final = 400
"""Expressions of more operations are only expanded: trigonometric simplification would take
minutes."""

KINDS: Final = ("masses", "lengths")
"""What can be symbols: the ten inertial parameters of every body; the lengths of the canonical
frames."""


def parse_entry(text: str) -> tuple[str, tuple[int, ...]]:
    """``QUANTITY:i,j`` with indices from 1 as the quantity and indices from 0. Raises
    OptionError."""
    name, _, indices = (text if ":" in text else f"{text}:").rpartition(":")
    find_quantity(name)
    try:
        numbers = tuple(int(k) for k in indices.split(","))
    except ValueError:
        raise OptionError(f"--entry {text!r}: give indices from 1, as in mass_matrix:1,1") from None
    return name, tuple(k - 1 for k in numbers)


def entry(robot: Robot, text: str, symbolic: Collection[str] = ()) -> sympy.Expr:
    """One entry of a quantity in closed form, in joint variables q1, qd1, ... (rad, m, s).

    `symbolic` holds some of `KINDS`: m1, hx1, ... are the parameters of body 1 as a whole about its
    link's origin, or with lengths in its canonical frame; b1, d1 and r1 are the lengths of that
    frame. Raises OptionError."""
    unknown = [kind for kind in symbolic if kind not in KINDS]
    if unknown:
        raise OptionError(f"--symbolic {unknown[0]!r}: use {' or '.join(KINDS)}")
    name, indices = parse_entry(text)
    quantity = find_quantity(name)
    if "lengths" in symbolic and any(
        "b" in out.shape or "y_b" in out.shape for out in quantity.outputs
    ):
        raise OptionError(
            "--symbolic lengths: base parameters are found by rank, which needs numbers"
        )
    way = _way(robot, quantity)
    parts, regroup = _system(robot, symbolic, way.regrouping)
    check_defined(regroup.robot, [quantity])
    sizes = dimensions(regroup)
    shape = quantity.outputs[0].sizes(sizes)
    if len(indices) != len(shape) or not all(
        0 <= k < n for k, n in zip(indices, shape, strict=True)
    ):
        raise OptionError(
            f"--entry {text!r}: {name} has {' x '.join(map(str, shape))} entries, counted from 1"
        )
    inputs = {array: _symbols(array, prod(INPUTS[array].sizes(sizes))) for array in quantity.inputs}
    result = way.algorithm(parts, *(of_bodies(parts.coupling, *row) for row in inputs.items()))
    values = of_user(
        parts.coupling,
        quantity,
        quantity.outputs[0],
        result if len(quantity.outputs) == 1 else result[0],
    )
    return simplified(values[_flat(indices, shape)])


def simplified(x: Scalar) -> sympy.Expr:
    """The expression with products of sines and cosines gathered, and numbers short."""
    found: sympy.Expr = sympy.expand(
        sympy.nsimplify(sympy.sympify(0 if x is ZERO else x), rational=True)
    )
    if found.count_ops() <= TOO_LONG:
        found = sympy.trigsimp(found)
    return found.xreplace(
        {n: _decimal(n) for n in found.atoms(sympy.Rational) if not n.is_Integer or abs(n) > 10**6}
    )


def _decimal(n: Any) -> sympy.Float:
    return sympy.Float(float(n), 15)


def _symbols(name: str, size: int) -> list[sympy.Symbol]:
    return [sympy.Symbol(f"{name}{k}", real=True) for k in range(1, size + 1)]


def _flat(indices: Sequence[int], shape: Sequence[int]) -> int:
    flat = 0
    for k, n in zip(indices, shape, strict=True):
        flat = flat * n + k
    return flat


def _way(robot: Robot, quantity: Quantity) -> Formulation:
    """The first formulation that suits the robot, in the regrouping that it is made for."""
    layout = robot.regroup("minimal").layout
    return next(way for way in quantity.formulations if way.suits(layout))


def _system(robot: Robot, symbolic: Collection[str], regrouping: str) -> tuple[System, Regroup]:
    names = tuple(body.name for body in robot.model.moving) if "masses" in symbolic else ()
    regroup = Robot(robot.model, names).regroup(regrouping)
    fall = Vector(*_symbols("g", 3)) if robot.runtime_gravity else None
    if "lengths" in symbolic:
        whole = _with_lengths(system(robot.model, gravity=fall, regrouping=WHOLE), bool(names))
        return whole if regrouping == WHOLE else _regrouped(whole), regroup
    pi = list(chain.from_iterable(_ten(i) for i in regroup.layout.tens)) if names else []
    given = pi if regroup.input == "pi" or not pi else evaluate(regroup.program, {"pi": pi})["par"]
    return regroup.system(given, fall), regroup


def _with_lengths(whole: System, masses: bool) -> System:
    """Symbols for the lengths, and if so wished for inertia in the canonical frames."""
    bodies = (
        replace(
            body,
            placement=_lengths(body.placement, i),
            inertia=pseudo_inertia(_ten(i)) if masses and i in whole.tens else body.inertia,
        )
        for i, body in enumerate(whole.bodies, 1)
    )
    return replace(whole, bodies=tuple(bodies))


def _regrouped(whole: System) -> System:
    """The same with what no joint force can tell apart handed inward (Gautier & Khalil 1990)."""
    total = {0: NO_INERTIA} | {i: whole.body(i).inertia for i in whole.outward}
    for i in whole.inward:
        body = whole.body(i)
        total[i], handed = body.regrouped(total[i])
        total[body.parent] = total[body.parent] + body.placement.carried_in(handed, ZERO)
    return replace(
        whole, bodies=tuple(replace(b, inertia=total[i]) for i, b in enumerate(whole.bodies, 1))
    )


def _ten(i: int) -> list[sympy.Symbol]:
    return [sympy.Symbol(f"{name}{i}", real=True) for name in PARAMETER_NAMES]


def _lengths(place: Placement, i: int) -> Placement:
    """The placement with its lengths as symbols b, d and r."""
    path = place.to_axis
    lengths = ToAxis(
        path.gamma, _length(path.b, f"b{i}"), _length(path.d, f"d{i}"), path.alpha, path.beta
    )
    return replace(place, to_axis=lengths, r=_length(place.r, f"r{i}"))


def _length(x: Scalar, name: str) -> Scalar:
    return ZERO if x is ZERO else sympy.Symbol(name, real=True)
