"""What is examined of generated C: the files, the running of programs on them, and claims with the
programs that show or refute them."""

import os
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from symgen.certified.certificate import rounded_up
from symgen.languages.c.certified_code import certificates
from symgen.languages.module import Module
from symgen.proof.state_generation import SELF_TEST_CHANGES
from symgen.render import documentation

TIMEOUT: Final = 600.0
"""Seconds after which a program is ended."""


@dataclass(frozen=True)
class Outcome:
    """What an examination has found: whether the claim holds (None where it was not examined), in
    one sentence, a table of details and the output of the programs."""

    holds: bool | None
    summary: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    output: str = ""


@dataclass(frozen=True)
class Ran:
    """The exit status and the output of a program, without the path of its folder."""

    status: int
    output: str


@dataclass(frozen=True)
class Material:
    """A copy of the files of a module."""

    module: Module
    folder: Path

    @cached_property
    def sources(self) -> list[str]:
        """The C files in alphabetical order."""
        return sorted(path.name for path in self.folder.glob(f"{self.module.name}*.c"))

    @cached_property
    def own(self) -> list[str]:
        """The C files that become part of firmware: all but the self-test."""
        return [name for name in self.sources if not name.endswith("_selftest.c")]

    def run(self, *command: str) -> Ran:
        """Run a program in the folder."""
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="backslashreplace",
                env={**os.environ, "PWD": str(self.folder), "LC_ALL": "C"},
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ran(1, f"{command[0]} was ended after {TIMEOUT:g} s\n")
        output = done.stdout.replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        return Ran(done.returncode, re.sub(r"/tmp/\S+?\.(o|s)\b", r"temporary.\1", output))


Examine = Callable[[Material], Outcome]


@dataclass(frozen=True)
class Examination:
    """A claim about the code, the programs that an examination of it needs, and what runs it."""

    name: str
    claim: str
    tools: tuple[str, ...]
    examine: Examine

    def verdict(self, material: Material) -> Outcome:
        """The verdict; that it was not examined where a program is not installed."""
        absent = [tool for tool in self.tools if shutil.which(tool) is None]
        if absent:
            return Outcome(None, f"not run: {' and '.join(absent)} not installed")
        return self.examine(material)


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


STRICT: Final = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wfloat-conversion"),
    *("-Wshadow", "-Wundef", "-Wcast-qual", "-Wmissing-declarations", "-Wmissing-prototypes"),
    *("-Wuninitialized", "-Wmaybe-uninitialized", "-Wvla"),
)
CPPCHECK: Final = (
    *("cppcheck", "-q", "--std=c99", "-DFLT_MANT_DIG=24", "-DDBL_MANT_DIG=53"),
    *("-DFLT_EVAL_METHOD=0", "-DFLT_MAX=3e38f", "-DDBL_MAX=1e308"),
    "--suppress=missingIncludeSystem",
)
"""cppcheck reads no system header; without these numbers it would stop at an #error."""

FRAMA_C: Final = ("-eva-precision", "3", "-warn-special-float", "non-finite", "-eva-no-print")
"""Arguments of Frama-C: all reference states, no values that are printed."""

DEVIATION: Final = re.compile(r"^\| (\d+\.\d+) \| (.*?) \| (.*?) \| (.*) \|$", re.MULTILINE)
"""A row of the table of MISRA rules in docs/firmware.md."""

LISTED: Final = 20
"""Lines that are quoted of a program that complains; its whole output is an artefact."""


EXAMINATIONS: Final = list[Examination]()
"""All examinations, in the order of the page."""


def examination(name: str, *tools: str) -> Callable[[Examine], Examine]:
    """Register an examination that needs some programs. Its docstring is the claim."""

    def register(examine: Examine) -> Examine:
        claim = " ".join((examine.__doc__ or "").split())
        EXAMINATIONS.append(Examination(name, claim, tools, examine))
        return examine

    return register


def _silent(material: Material, *flags: str) -> Outcome:
    """The compilation of all sources, which must be without a message."""
    ran = material.run("gcc", "-std=c99", "-O2", *flags, "-c", *material.sources)
    found = len(re.findall(r"(?:warning|error):", ran.output))
    return Outcome(
        ran.status == 0 and not ran.output,
        f"{len(material.sources)} files, {found} messages; gcc -std=c99 -O2 {' '.join(flags)}",
        output=ran.output,
    )


@examination("Compiler warnings", "gcc")
def warnings(material: Material) -> Outcome:
    """The code is C99 without a message of the compiler."""
    return _silent(material, *STRICT)


@examination("Self-test", "gcc")
def self_test(material: Material) -> Outcome:
    """Every function returns the reference values within their error bounds."""
    rows, output = [], ""
    for flags in (["-O0"], ["-O2"], ["-O3", "-ffp-contract=fast"], ["-Os"]):
        built = material.run("gcc", "-std=gnu11", *flags, *material.sources, "-o", "run", "-lm")
        ran = material.run("./run") if built.status == 0 else built
        rows.append((f"gcc {' '.join(flags)}", ran.status))
        output += built.output + ran.output
    states = len(material.module.test_states)
    functions = len(material.module.functions)
    return Outcome(
        all(status == 0 for _, status in rows),
        f"{functions} functions in {states} reference states with independent reference values",
        ("built with", "exit status"),
        rows,
        output,
    )


@examination("Coverage", "gcc", "gcov")
def coverage(material: Material) -> Outcome:
    """The self-test executes every statement and every branch."""
    flags = ("-std=c99", "-O0", "--coverage", f"-D{material.module.name.upper()}_NO_VECTORS")
    built = material.run("gcc", *flags, *material.sources, "-o", "covered", "-lm")
    if built.status or material.run("./covered").status:
        return Outcome(False, "the self-test fails", output=built.output)
    ran = material.run(
        "gcov", "-b", "-r", "-s", ".", *sorted(path.name for path in material.folder.glob("*.gcda"))
    )
    rows = []
    for block in re.split(r"(?m)^(?=File ')", ran.output):
        name = re.match(r"File '(.*)'", block)
        if name and name[1] in {*material.own, f"{material.module.name}_trig.h"}:
            lines, branches = (
                re.search(rf"{words}:([\d.]+)% of (\d+)", block)
                for words in ("Lines executed", "Taken at least once")
            )
            rows.append((name[1], *_part(lines), *_part(branches)))
    rows.sort()
    whole = all(row[1] == "100.00 %" and row[3] in ("100.00 %", "none") for row in rows)
    return Outcome(
        bool(rows) and whole,
        "statements and branches that the self-test executes, in unoptimised code",
        ("file", "lines", "of", "branches", "of"),
        rows,
        ran.output,
    )


def _part(found: re.Match[str] | None) -> tuple[str, str]:
    return ("none", "0") if found is None else (f"{found[1]} %", found[2])


examination("Mutation", "gcc")(mutants)


@examination("MISRA C:2012", "cppcheck")
def misra(material: Material) -> Outcome:
    """Each deviation from a rule has a stated reason."""
    ran = material.run(*CPPCHECK, "--addon=misra", "--enable=style", *material.own)
    counts = Counter(re.findall(r"\[misra-c2012-(\d+\.\d+)\]", ran.output))
    page = (documentation() / "firmware.md").read_text(encoding="utf-8")
    known = {rule: rest for rule, *rest in DEVIATION.findall(page)}
    rows = [
        (rule, number, *known.get(rule, ("", "", "no reason is stated")))
        for rule, number in sorted(counts.items(), key=lambda x: [*map(int, x[0].split("."))])
    ]
    stated = not counts.keys() - known.keys() and not re.search(r"\berror:", ran.output)
    return Outcome(
        stated,
        f"deviations from {len(rows)} rules, {'each' if stated else 'not each'} with a stated "
        "reason; the add-on of cppcheck checks a part of the rules and none of the directives",
        ("rule", "times", "category", "location", "reason"),
        rows,
        ran.output,
    )


@examination("cppcheck", "cppcheck")
def cppcheck(material: Material) -> Outcome:
    """Static analysis has no finding."""
    ran = material.run(*CPPCHECK, "--enable=warning,performance,portability", *material.sources)
    found = len(re.findall(r"^\S+:\d+:", ran.output, re.MULTILINE))
    return Outcome(not ran.output, f"{found} findings", output=ran.output)


@examination("gcc -fanalyzer", "gcc")
def analyzer(material: Material) -> Outcome:
    """Path-sensitive static analysis has no finding."""
    return _silent(material, "-fanalyzer")


@examination("Frama-C EVA", "frama-c")
def frama_c(material: Material) -> Outcome:
    """Abstract interpretation finds no possible run-time error in the reference states."""
    name = material.module.name
    ran = material.run(
        "frama-c",
        f"-cpp-extra-args=-D{name.upper()}_NO_VECTORS",
        *("-eva", *FRAMA_C, "-main", f"{name}_selftest", *material.sources),
    )
    alarms = len(re.findall(r"^\[eva:alarm\]", ran.output, re.MULTILINE))
    reached = re.search(r"statements reached \(out of \d+\): (\d+)%", ran.output)
    return Outcome(
        ran.status == 0 and not alarms,
        f"{alarms} alarms (run-time errors, results that are not finite) from {name}_selftest"
        + (f", {reached[1]} % of the statements reached" if reached else ""),
        output=ran.output,
    )


@examination("Certified bounds")
def bounds(material: Material) -> Outcome:
    """No result overflows, and rounding errors are bounded, for all inputs within limits."""
    found = certificates(material.module)
    if not found:
        return Outcome(None, "not run: the code was generated without --certify")
    rows = [
        (name, out.name, *(rounded_up(max(x, default=0.0), 3) for x in (out.magnitude, out.error)))
        for name, certificate in found.items()
        for out in certificate.outputs
    ]
    domains = {text for certificate in found.values() for text in certificate.domain.texts}
    return Outcome(
        True,
        f"for all inputs with {', '.join(sorted(domains))}",
        ("function", "result", "largest absolute value", "error bound"),
        rows,
    )


@examination("Memory", "gcc", "nm")
def memory(material: Material) -> Outcome:
    """The code has no state, uses no heap and calls no library."""
    built = material.run("gcc", "-std=c99", "-O0", "-fno-pic", "-c", *material.own)
    objects = [f"{name.removesuffix('.c')}.o" for name in material.own]
    ran = material.run("nm", *objects)
    found = re.findall(r"^(?:[0-9a-f]+)? *([A-Za-z]) (\S+)$", ran.output, re.MULTILINE)
    shared = {name for letter, name in found if letter.isupper() and letter != "U"}
    rows = [
        (name, "writable data" if letter in "bBdDC" else "defined elsewhere")
        for letter, name in sorted(set(found))
        if letter in "bBdDC" or (letter == "U" and name not in shared)
    ]
    return Outcome(
        built.status == 0 and not rows,
        f"{len(shared)} public names, {len(rows)} that are writable or defined elsewhere",
        ("name", "what it is"),
        rows,
        ran.output,
    )
