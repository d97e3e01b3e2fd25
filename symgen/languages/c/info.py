"""The constant struct that tells a program what its module is: robot, generator, options,
functions, joints, limits."""

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from symgen.languages.c.options import COptions
from symgen.languages.c.text import fits, numbers, string
from symgen.languages.module import Module
from symgen.mechanics.coupling import velocities

LARGEST: Final = {"double": "DBL_MAX", "float": "FLT_MAX"}
LONGEST: Final = 4000
"""Bytes of a text; C99 compilers need not take string literals of more than 4095 characters."""
HIDDEN: Final = ("glue", "target")
"""Options that do not shape the code."""


def information(module: Module) -> dict[str, Any]:
    """The texts and joints of the struct, as a variable `info` of the templates."""
    return {
        "info": {
            "robot": _cut(module.robot.model.name),
            "generator": f"symgen {module.version}",
            "options": _options(module),
            "joints": list(_joints(module)),
        }
    }


def _cut(text: str) -> str:
    return text.encode("utf-8", "surrogatepass")[:LONGEST].decode("utf-8", "ignore")


def _options(module: Module) -> str:
    """The options that are not off, as ``name=value``."""
    chosen = [
        (k, x) for k, x in module.options.items() if x not in (None, "", [], ()) and k not in HIDDEN
    ]
    return _cut(" ".join(f"{name}={_value(x)}" for name, x in chosen))


def _value(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, separators=(",", ":")).replace('"', "'")
    )


def _joints(module: Module) -> Iterator[list[str]]:
    """Name, unit and limits of each joint as initialisers."""
    limits_of = module.robot.model.limits
    for row in velocities(module.robot.model):
        x = limits_of[row.name]
        ends = (x.upper, x.velocity, x.effort)
        limits = [(x.lower, -math.inf), *((end, math.inf) for end in ends)]
        texts = (
            _limit(absent if value is None else value, module[COptions].scalar)
            for value, absent in limits
        )
        yield [string(row.name), string(row.unit.removesuffix("/s")), *texts]


def _limit(value: float, scalar: str) -> str:
    """A limit; one that the scalar type has no number for (files say 1.8e308 for none) is the
    largest of the type, as is one that is not there."""
    if fits(value, scalar):
        return numbers([value], scalar)
    return LARGEST[scalar] if value > 0 else f"-{LARGEST[scalar]}"
