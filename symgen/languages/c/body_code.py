"""Functions in C that are loops over the bodies of a robot (``--body-loops``), by templates in
``templates/c/bodies``."""

import re
from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any, Final

from symgen.algorithms.registry import Quantity
from symgen.compiler.program import LoopProgram
from symgen.languages.c.expressions import c_printer
from symgen.languages.c.loops import c_function
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.c.syntax import literal
from symgen.languages.describe import FunctionDescription
from symgen.languages.module import Module
from symgen.mechanics.body_tables import BodyTables
from symgen.render import render
from symgen.tracing.body_loops import FRAMES, SUMS, body_tables

SYMMETRIC: Final = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
"""The places of the entries of a symmetric matrix among its upper ones."""

TEMPLATES: Final = {
    "gravity": "inverse_dynamics",
    "bias": "inverse_dynamics",
    **dict.fromkeys(SUMS, "sums"),
    **dict.fromkeys(FRAMES, "frame"),
}
"""The templates of quantities that have another's."""


@lru_cache(maxsize=4)
def tables(module: Module) -> BodyTables | None:
    """The tables of a module whose functions are loops over bodies, None for others."""
    return body_tables(module.robot) if module.is_looped else None


def function_in_c(module: Module, d: FunctionDescription) -> CFunction:
    """A function in C: loops over bodies where these were asked for."""
    if isinstance(d.program, LoopProgram):
        return CFunction(module, d, c_printer(module), bodies=tables(module))
    return c_function(module, d)


def template_of(function: CFunction) -> str:
    """The template of the body of a function."""
    stem = quantity_of(function).name.partition(":")[0]
    return f"c/bodies/{TEMPLATES.get(stem, stem)}.jinja"


def quantity_of(function: CFunction) -> Quantity:
    """The quantity of a function that is loops over bodies."""
    traced = next(f for f in function.module.functions if f.name == function.d.name)
    return traced.quantities[0]


ARRAY: Final = re.compile(
    r"^ +(?:const )?\w+_(row|real|lanes|wide) \w+((?:\[[^\]]+\])*)(?: =|;)", re.MULTILINE
)
VECTOR_BYTES: Final = {"real": 0, "row": 0, "lanes": 32, "wide": 64}
"""The most bytes of a vector of each type, 0 where it is none; a processor without vectors has a
number in its place."""
HELPER: Final = re.compile(
    r"^static [^\n]*?(\w+)\([^\n]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
SPILLED: Final = 24
"""Vectors of eight numbers that compilers keep on the stack beside arrays, by trial."""


def static_functions(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """The bodies of the static functions of the private header, by name."""
    return dict(HELPER.findall(body_files(module, shared)[f"{module.name}_bodies.h"]))


def stack_bytes(module: Module, of_header: Callable[[], dict[str, str]], text: str) -> int:
    """A bound of the bytes of stack of a function by its text, whose arrays are all that grows with
    the robot: its arrays, those of all static functions that it calls, in the text and `of_header`,
    and `SPILLED`."""
    bodies = tables(module)
    assert bodies is not None
    helpers = of_header() | dict(HELPER.findall(text))
    waiting, called = [HELPER.sub("", text)], set[str]()
    entry = 8 if module[COptions].scalar == "double" else 4
    numbers = SPILLED * bodies.lanes
    while waiting:
        body = waiting.pop()
        for kind, axes in ARRAY.findall(body):
            vector = 1 if "_LANES" in axes else VECTOR_BYTES[kind] // entry or 1
            size = prod(map(int, re.findall(r"\d+", axes)))
            numbers += size * (bodies.columns if kind == "row" else vector)
        new = {name for name in re.findall(r"(\w+)\(", body) if name in helpers} - called
        called |= new
        waiting += [helpers[name] for name in sorted(new)]
    return numbers * entry


def body_files(module: Module, shared: dict[str, Any]) -> dict[str, str]:
    """The private header of such functions, name to text; empty for other modules."""
    if tables(module) is None:
        return {}
    scalar = module[COptions].scalar
    number = partial(literal, scalar=scalar)
    text = render(
        "c/bodies/header.h.jinja",
        **shared,
        symmetric=SYMMETRIC,
        number=number,
        zero=number(0.0),
        one=number(1.0),
    )
    return {f"{module.name}_bodies.h": text}
