"""The header with a module's own sine and cosine (``--trig inline``), from the numbers of
`symgen.numbers.trig`."""

import math
from collections.abc import Sequence
from typing import Final

from symgen.compiler.passes import live
from symgen.languages.c.options import COptions
from symgen.languages.c.text import BYTES, literal, numbers
from symgen.languages.describe import descriptions
from symgen.languages.module import Module
from symgen.languages.sine_loops import LONGEST, groups
from symgen.numbers.trig import SINES, Sines
from symgen.render import render

Step = tuple[str, list[tuple[str, str]]]
"""A comment, and variables with their values."""

LIMITS: Final = {"double": ("1e15", "2^-53", "2^16", 1), "float": ("4e6", "2^-24", "2^10", 0)}
"""By scalar: from where on results mean nothing, the rounding unit, the bound of `SINES`,
FLT_EVAL_METHOD allowed."""

INLINE: Final = ("sin", "cos")
"""The functions of the tape that the header has."""

ULP: Final = 2
"""Largest error within the bound; 1.5 was seen."""


def trig_header(module: Module) -> str:
    """The text of ``NAME_trig.h``."""
    limit, unit, bound, excess = LIMITS[module[COptions].scalar]
    programs = [d.program for d in descriptions(module)]
    grouped = [groups(p, LONGEST) for p in programs]
    calls = {
        p.nodes[i].op
        for p, found in zip(programs, grouped, strict=True)
        for i in live(p)
        if i not in found
    }
    together = any(g.looped for found in grouped for g in found.values())
    context = {"limit": limit, "unit": unit, "bound": bound, "excess": excess, "ulp": ULP}
    return render(
        "c/trig.h.jinja",
        module=module,
        c=module[COptions],
        steps=steps(module[COptions].scalar),
        rows=rows,
        alone=[name for name in INLINE if name in calls],
        together=together,
        vector=16 // BYTES[module[COptions].scalar],
        **context,
    )


def rows(step: Step) -> list[str]:
    """Definitions with their equals signs aligned."""
    width = max(len(name) for name, _ in step[1])
    return [f"{name:{width}} = {value};" for name, value in step[1]]


def steps(scalar: str) -> list[Step]:
    """The arithmetic of `symgen.numbers.trig.sincos`, in its order."""
    n = SINES[scalar]
    one, quarter, half, four, six, third, sixth, shift, turns = (
        literal(x, scalar) for x in (1.0, 0.25, 0.5, 4.0, 6.0, 1 / 3, 1 / 6, n.shift, 2 / math.pi)
    )
    return [
        (
            "The multiple of pi/2 nearest to x: at the size of the shift, numbers are whole.",
            [("shifted", f"(x * {turns}) + {shift}"), ("k", f"shifted - {shift}")],
        ),
        ("r = x - k pi/2; what rounding takes is added at the end.", _reduction(n, scalar)),
        (
            "Sine and cosine of r.",
            [
                ("z", "r * r"),
                *_horner("s", n.sine, scalar),
                *_horner("c", n.cosine, scalar),
                ("s", "r + ((r * z) * s0)"),
                ("c", f"{one} + (z * ((z * c0) - {half}))"),
            ],
        ),
        (
            "m = -2 ... 2 is k modulo 4; sine m (4 - m^2) / 3 and cosine (m^2 - 1) (m^2 - 6) / 6 "
            "of m pi/2 are exact.",
            [
                ("turned", f"({quarter} * k) + {shift}"),
                ("m", f"k - ({four} * (turned - {shift}))"),
                ("u", "m * m"),
                ("turn_s", f"(m * ({four} - u)) * {third}"),
                ("turn_c", f"((u - {one}) * (u - {six})) * {sixth}"),
            ],
        ),
    ]


def _reduction(n: Sines, scalar: str) -> list[tuple[str, str]]:
    first, *middle, last = (literal(abs(part), scalar) for part in n.half_pi)
    signs = ["-" if part > 0 else "+" for part in n.half_pi]
    rows, lost = [("r1", f"x - (k * {first})")], ""
    for j, part in enumerate(middle, 2):
        product = f"k * {part}"
        rows += [(f"p{j}", product), (f"r{j}", f"r{j - 1} {signs[j - 1]} p{j}")]
        slip = f"(r{j - 1} - r{j}) {signs[j - 1]} p{j}"
        rows.append((f"e{j}", f"{lost} + ({slip})" if lost else slip))
        lost = f"e{j}"
    end = len(n.half_pi) - 1
    return [*rows, ("r", f"r{end} + ({lost} {signs[end]} (k * {last}))")]


def _horner(name: str, coefficients: Sequence[float], scalar: str) -> list[tuple[str, str]]:
    """A polynomial in z, the value of which is NAME0."""
    *others, leading = coefficients
    so_far, rows = numbers([leading], scalar), []
    for k, c in reversed([*enumerate(others)]):
        rows.append(
            (f"{name}{k}", f"({so_far} * z) {'-' if c < 0 else '+'} {literal(abs(c), scalar)}")
        )
        so_far = f"{name}{k}"
    return rows
