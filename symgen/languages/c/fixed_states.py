"""States of a fixed-point module as integers, and what its functions compute of them."""

import math
import random
from functools import lru_cache
from typing import Final

import numpy as np

from symgen.certified.fixed_functions import is_angle
from symgen.certified.fixed_run import run
from symgen.certified.fixed_sines import fixed_sines
from symgen.certified.fixed_types import FixedType
from symgen.languages.c.fixed_code import FixedCode
from symgen.languages.c.options import COptions
from symgen.languages.certified_bounds import fixed_point
from symgen.languages.describe import descriptions
from symgen.languages.module import Module
from symgen.numbers.types import AnyArray

UNREAD_BITS: Final = 8
"""Bits before the point of an input that no function reads."""

Integers = dict[str, AnyArray]
"""Integers of inputs or outputs by name: entries x states."""


@lru_cache(maxsize=4)
def fixed_codes(module: Module) -> tuple[FixedCode, ...]:
    """The functions of a module as fixed-point C. Raises OptionError."""
    made = fixed_point(module)
    return tuple(FixedCode(module.name, d, made[d.name]) for d in descriptions(module))


def kind_of(module: Module) -> FixedType:
    """The fixed-point type of a module."""
    return FixedType.of(module[COptions].scalar, module[COptions].target)


def shift_of(module: Module, name: str) -> int:
    """The scale of an array, as a power of one half."""
    for made in fixed_point(module).values():
        for shifts in (made.fixed.inputs, made.fixed.outputs):
            if name in shifts:
                return shifts[name]
    return kind_of(module).bits - UNREAD_BITS


def real_inputs(module: Module, integers: Integers) -> Integers:
    """The values of inputs from their integers, in SI units."""
    unit, model = 2.0 * math.pi / 2.0 ** kind_of(module).bits, module.robot.model
    return {
        name: np.stack(
            [
                x * (unit if is_angle(model, name, k) else 2.0 ** -shift_of(module, name))
                for k, x in enumerate(rows)
            ]
        )
        for name, rows in integers.items()
    }


def drawn(module: Module, count: int, seed: str) -> Integers:
    """Random integers of all inputs within their limits. Half of those of every second state are
    at their limits."""
    rng, made, states = random.Random(seed), fixed_point(module).values(), Integers()
    for name, size in input_sizes(module).items():
        states[name] = np.zeros((size, count), np.int64)
        for k in range(size):
            ends = [one.integers(name, k) for one in made]
            low, high = max(low for low, _ in ends), min(high for _, high in ends)
            for state in range(count):
                limit = (
                    state % 2 and rng.random() < 0.5 and not is_angle(module.robot.model, name, k)
                )
                states[name][k, state] = (
                    rng.choice((low, high)) if limit else rng.randint(low, high)
                )
    return states


def input_sizes(module: Module) -> dict[str, int]:
    """The sizes of all inputs."""
    return {a.name: a.size for d in descriptions(module) for a in d.ins}


def computed(module: Module, integers: Integers) -> dict[str, Integers]:
    """The integers of the outputs of each function at some states within the limits."""
    sines = fixed_sines(kind_of(module))
    return {f.d.name: run(f.fixed, integers, sines) for f in fixed_codes(module)}
