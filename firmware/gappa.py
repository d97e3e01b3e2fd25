"""Gappa as a judge of certified bounds: ``python -m firmware.gappa`` (part of `make gauntlet`).

Gappa (Daumas & Melquiond, Certification of bounds on expressions involving rounded operators, ACM
TOMS 37, 2010) proves bounds of rounding errors from real arithmetic. It reads the statements of the
generated C of a pendulum and has to prove the ranges and errors that `symgen.certified` has in
small boxes of angles, with all velocities and accelerations. It must not prove half of the errors.
(It does not know that sin² + cos² = 1, so its bounds on large boxes are larger.)"""

import math
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from firmware.modules import Sample, Written
from firmware.tools import missing
from symgen.certified.enclosures import Arithmetic, enclosures
from symgen.compiler.evaluate import levels
from symgen.compiler.program import Program
from symgen.tracing.function import Function
from symgen.tracing.options import DEFAULT_QUANTITIES

PENDULUM: Final = Sample("pendulum", {"scalar": "float", "quantities": DEFAULT_QUANTITIES})
MOVING: Final = {"qd": [(-3.0, 3.0)] * 2, "qdd": [(-10.0, 10.0)] * 2}
BOXES: Final = 10
"""Boxes of each function, at random."""
WIDTH: Final = 2.0**-10
"""Width of the boxes (rad)."""
STATEMENT: Final = re.compile(r"(\w+(?:\[[\w *+]+\])?) += ([^;{]+);")
NAME: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)")
LITERAL: Final = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?)f?")

Ranges = Mapping[str, Sequence[tuple[float, float]]]
"""The range of each entry of each input."""


def statements(text: str) -> Iterator[tuple[str, str]]:
    """The assignments of a C function as names and expressions: sines are ``sin0`` or ``cos1``, and
    entries of arrays ``tau_1``."""
    body = re.sub(r"/\*.*?\*/", "", text[text.index("\n{") :], flags=re.DOTALL)
    body = re.sub(r"pendulum_(sin|cos)\(q\[(\d)\]\)", r"\1\2", body)
    body = re.sub(r"angle_sine\[(\d)\](?! *=)", r"sin\1", body)
    body = re.sub(r"(?<!\w)cosine\[(\d)\]", r"cos\1", body)
    entry = lambda found: f"{found[1]}_{eval(found[2])}"  # noqa: E731 - sums of numbers
    for name, value in STATEMENT.findall(body):
        yield tuple(re.sub(r"(\w+)\[([\d *+]+)\]", entry, x) for x in (name, value))  # type: ignore[misc]


def sine_range(shift: float, angle: tuple[float, float]) -> tuple[float, float]:
    """The range of the sine of an angle that is increased by `shift`, moved outward."""
    low, high = (x + shift for x in angle)
    turning = [math.pi * (k + 0.5) for k in range(-2, 3) if low <= math.pi * (k + 0.5) <= high]
    values = [math.sin(x) for x in (low, high, *turning)]
    return max(min(values) - 1e-12, -1.0), min(max(values) + 1e-12, 1.0)


def script(text: str, box: Ranges, bounds: Iterable[tuple[str, float, float]]) -> str:
    """What Gappa has to prove of a C function on a box: names, ranges and errors of results."""
    lines, known, hints, numbers = list[str](), list[str](), list[str](), dict[str, str]()

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[1], f"n{len(numbers)}")

    for name, rows in box.items():
        for k, (low, high) in enumerate(rows):
            if name != "q":
                lines += [f"{x}{name}_{k} = rnd(I{name}_{k});" for x in "EC"]
                known.append(_in(f"E{name}_{k}", low, high))
                continue
            for sine, shift in (("sin", 0.0), ("cos", math.pi / 2)):
                least, most = sine_range(shift, (low, high))
                off = math.ldexp(1.0, min(math.frexp(max(-least, most))[1], 0) - 23)  # 2 ulp
                known.append(_in(f"E{sine}{k}", least, most))
                known.append(_in(f"C{sine}{k} - E{sine}{k}", -off, off))
    for name, value in statements(text):
        exact, rounded = (NAME.sub(rf"{x}\1", value) for x in "EC")
        lines.append(f"E{name} = {LITERAL.sub(lambda x: x[1], exact)};")
        lines.append(f"C{name} rnd= {LITERAL.sub(number, rounded)};")
        hints.append(f"C{name} ~ E{name};")
    head = ["@rnd = float<ieee_32, ne>;", *(f"{n} = rnd({x});" for x, n in numbers.items())]
    wanted = []
    for name, size, error in bounds:
        wanted += [_in(f"E{name}", -size, size), _in(f"C{name} - E{name}", -error, error)]
    goal = " /\\ ".join(known) + " ->\n" + " /\\ ".join(wanted)
    return "\n".join([*head, *lines, "{", goal, "}", *hints, ""])


def _in(term: str, low: float, high: float) -> str:
    return f"{term} in [{low!r},{high!r}]"


def bounds(program: Program, box: Ranges) -> list[tuple[str, float, float]]:
    """The ranges, with a part of 1e-9 of slack, and errors of the results by one box."""
    ends = {name: tuple(np.array(rows).T[:, :, None]) for name, rows in box.items()}
    ends |= {name: (np.zeros((2, 1)),) * 2 for name, _ in program.inputs if name not in ends}
    found = enclosures(program, ends, Arithmetic("float", "inline"))
    return [
        (
            f"{out.name}_{k}",
            float(found.magnitude[row, 0]) * (1.0 + 1e-9),
            float(found.error[row, 0]),
        )
        for out in program.outputs
        for k, row in zip(*(x.tolist() for x in levels(program).of(out.refs)), strict=True)
    ]


def judge(made: Written, function: Function) -> str:
    """What is wrong with the bounds of a function, if anything."""
    rng = random.Random(function.name)
    text = (made.folder / f"pendulum_{function.name}.c").read_text(encoding="ascii")
    for k in range(BOXES):
        angles = [rng.uniform(-3.14, 3.14) for _ in range(2)]
        box = {"q": [(x, x + WIDTH) for x in angles], **MOVING}
        stated = bounds(function.program, box)
        if unproven := _said(script(text, box, stated)):
            return f"angles {angles}: {unproven}"
        half = [(name, size, error / 2) for name, size, error in stated]
        if k == 0 and not _said(script(text, box, half)):  # which takes long
            return f"angles {angles}: Gappa proves half of the errors, too"
    return ""


def _said(given: str) -> str:
    """What Gappa did not prove."""
    ran = subprocess.run(["gappa"], input=given, capture_output=True, text=True, check=False)
    return ran.stderr[ran.stderr.find("Error") :].strip() if ran.returncode else ""


def main() -> int:
    """Print the verdicts; the exit status is 1 where a bound is not proven."""
    if missing(["gappa"]):
        print("skipped: gappa is not installed")
        return 0
    bad = 0
    with tempfile.TemporaryDirectory(prefix="symgen-gappa-") as scratch:
        made = PENDULUM.written(Path(scratch))
        for f in made.module.functions:
            wrong = judge(made, f)
            bad += bool(wrong)
            print(f"Gappa, pendulum {f.name}: {wrong or f'bounds of {BOXES} boxes proven'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
