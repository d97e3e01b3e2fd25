"""Mutation: faults that are put into the C of the functions one at a time, and whether the
self-test detects them."""

import random
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from symgen.evidence.material import Material, Outcome
from symgen.proof.state_generation import SELF_TEST_CHANGES

MUTANTS: Final = 60
"""Faults that are drawn at random from all possible ones."""

LEAST: Final = 0.95
"""Part of the faults that must be detected. Some change no result by more than its error bound."""

SWAPPED: Final = {" + ": " - ", " - ": " + ", " * ": " + "}
NUMBER: Final = re.compile(r"(?<![\w.])\d+\.\d*(?:e[+-]?\d+)?(?=f?\b)")
STATEMENT: Final = re.compile(r"^ +[\w *]+(?:\[[\w *+]+\])? += [^{\[]*;$")
"""An assignment of one result, without indices in its terms."""


class Mutant(NamedTuple):
    """A fault: the file, the line (from 0), what stands there and what takes its place."""

    file: str
    line: int
    kind: str
    text: str


def mutants(material: Material) -> Outcome:
    """The self-test detects faults that are put into the code."""
    every = [m for name in material.own for m in _possible(material, name)]
    chosen = random.Random(material.module.name).sample(every, min(MUTANTS, len(every)))
    flags = ("-std=c99", "-O1", f"-D{material.module.name.upper()}_NO_VECTORS")
    material.run("gcc", *flags, "-c", *material.sources)
    objects = [f"{name.removesuffix('.c')}.o" for name in material.sources]
    rows, detected = list[tuple[str, str, str]](), 0
    changed = SELF_TEST_CHANGES[material.module.arithmetic[0]]
    for mutant in sorted(chosen):
        path = material.folder / mutant.file
        lines = (right := path.read_text(encoding="utf-8")).split("\n")
        lines[mutant.line] = mutant.text
        path.write_text("\n".join(lines), encoding="utf-8")
        built = material.run("gcc", *flags, "-c", mutant.file, "-o", "mutant.o")
        path.write_text(right, encoding="utf-8")
        others = [name for name in objects if name != f"{mutant.file.removesuffix('.c')}.o"]
        linked = material.run("gcc", "mutant.o", *others, "-o", "mutant", "-lm")
        if built.status or linked.status or material.run("./mutant").status:
            detected += 1
        else:
            rows.append((f"{mutant.file}:{mutant.line + 1}", mutant.kind, mutant.text.strip()))
    return Outcome(
        bool(chosen) and detected >= LEAST * len(chosen),
        f"{detected} of {len(chosen)} faults detected, of {len(every)} possible ones: another "
        f"operation, or a constant changed by {changed:g} of it; the others are listed",
        ("line", "fault", "statement with the fault"),
        rows,
    )


def _possible(material: Material, name: str) -> Iterator[Mutant]:
    """The faults that a file can have."""
    change = 1.0 + SELF_TEST_CHANGES[material.module.arithmetic[0]]
    lines = (material.folder / name).read_text(encoding="utf-8").split("\n")
    for k, line in enumerate(lines):
        if not STATEMENT.match(line):
            continue
        start = line.index(" = ")
        for old, new in SWAPPED.items():
            for found in re.compile(re.escape(old)).finditer(line, start):
                text = line[: found.start()] + new + line[found.end() :]
                yield Mutant(name, k, f"{old.strip()} became {new.strip()}", text)
        for found in NUMBER.finditer(line, start):
            number = float(found[0])
            if number:
                text = f"{line[: found.start()]}{number * change!r}{line[found.end() :]}"
                yield Mutant(name, k, f"{found[0]} became {number * change!r}", text)
