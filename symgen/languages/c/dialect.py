"""How straight-line C is written."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from symgen.languages.c.layout import wrapped
from symgen.languages.c.options import COptions
from symgen.languages.c.text import SUFFIX, literal
from symgen.languages.c.trig import INLINE
from symgen.languages.dialect import COSINES, SINES, Dialect, Text, call, functions, pattern
from symgen.languages.module import Module
from symgen.numbers.operations import Op


def dialect(module: Module) -> Dialect:
    """How straight-line C is written for a module's scalar, with sines of the C library or its
    own."""
    scalar, inline, real = (
        module[COptions].scalar,
        module[COptions].trig == "inline",
        f"{module.name}_real",
    )
    return Dialect(
        operations=table(module, real, lambda name: f"{module.name}_{name}"),
        literal=lambda x: literal(x, scalar),
        input=lambda array, k: f"{array}[{k}]",
        declare=f"const {real} {{name}}",
        entry=lambda array, shape, k: f"{array}[{place(shape, k)}]",
        pair=f"{module.name}_sincos({{angle}}, &{{sine}}, &{{cosine}});" if inline else "",
        reserve=f"{real} {{name}};",
        loop=partial(_loop, module.name, real) if inline else None,
    )


def table(
    module: Module, real: str, called: Callable[[str], str]
) -> dict[str, Callable[..., Text]]:
    """How operations on numbers of type `real` are written: functions of the module's own by what
    they are called there, others as their rows say."""
    scalar, own_names = module[COptions].scalar, own_functions(module)
    columns = {"f": SUFFIX[scalar], "real": real, "zero": literal(0.0, scalar)}

    def written(op: Op) -> Callable[[Text], Text]:
        if op.name in own_names:
            return call(called(op.name))
        return pattern(op.c.format(name=op.name, a="{a}", **columns))

    return functions(written)


def own_functions(module: Module) -> tuple[str, ...]:
    """The functions that the module brings itself."""
    return INLINE if module[COptions].trig == "inline" else ()


REPLACED: Final = "/* angles, replaced by their sines */"


def _loop(name: str, real: str, angles: Sequence[str], number: str) -> list[str]:
    """Sines, which replace their angles, and cosines; arrays are padded to whole vectors with
    zeros."""
    size = f"{name.upper()}_FILLED({len(angles)})"
    sines, cosines = f"{SINES}{number}", f"{COSINES}{number}"
    return [
        *wrapped(
            f"{real} {sines}[{size}] = {{", angles, "}; /* angles, replaced by their sines */"
        ),
        f"{real} {cosines}[{size}];",
        f"{name}_sincos_all({size}, {sines}, {cosines});",
    ]


def place(shape: tuple[int, ...], k: int) -> str:
    """The index of entry `k` of an array, in rows and columns where it has them."""
    return str(k) if len(shape) == 1 else f"{shape[-1]} * {k // shape[-1]} + {k % shape[-1]}"
