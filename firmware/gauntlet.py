"""Every host check on every sample: ``python -m firmware.gauntlet`` (`make gauntlet`).

Then faults are put into a module, one at a time, and each must be caught by a check that the honest
module passes: a check without a positive control proves nothing. A tool that is not installed is
named and left out, and so is a fault that only it would catch. The exit status is 1 for a
complaint, or a fault that nothing caught."""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from firmware.faults import FAULTS, FAULTY, Fault
from firmware.modules import GAUNTLET, Written
from firmware.tools import ROOT, Refused, missing, run, silent

STRICT = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wfloat-conversion",
    "-Wshadow",
    "-Wundef",
    "-Wcast-qual",
    "-Wmissing-declarations",
    "-Wuninitialized",
    "-Wmaybe-uninitialized",
    "-Werror",
)
EVERYTHING = (
    "-Weverything",
    "-Werror",
    "-Wno-padded",
    "-Wno-unsafe-buffer-usage",
    "-Wno-unknown-warning-option",
)
"""Padding is the platform's; arrays are what the interface is made of."""

C_TOO = ("-Wno-declaration-after-statement",)
"""C90 is not wanted."""

CPP_TOO = (
    "-Wno-c++98-compat-pedantic",
    "-Wno-old-style-cast",
    "-Wno-zero-as-null-pointer-constant",
)
"""C++98 is not wanted, and C has no other cast."""

SANITIZERS = (
    "-fsanitize=address,undefined,float-divide-by-zero,float-cast-overflow",
    "-fno-sanitize-recover=all",
)
TIDY = "-*,bugprone-*,cert-*,clang-analyzer-*,misc-*,-bugprone-easily-swappable-parameters"
"""Two arrays beside each other are the interface's, in an order that the header states."""

MISRA = re.findall(
    r"^\| (\d+\.\d+) \|", (ROOT / "docs" / "firmware.md").read_text(encoding="utf-8"), re.MULTILINE
)
"""Rules not followed; docs/firmware.md says why."""

CPPCHECK = (
    "cppcheck",
    "-q",
    "--std=c99",
    "-DFLT_MANT_DIG=24",
    "-DDBL_MANT_DIG=53",
    "-DFLT_EVAL_METHOD=0",
    "-DFLT_MAX=3e38f",
    "-DDBL_MAX=1e308",
    "--error-exitcode=1",
    "--suppress=missingIncludeSystem",
)
"""cppcheck reads no system header; without these it takes the branch of #error and checks nothing
behind it."""

Judge = Callable[[Written, Path], None]


@dataclass(frozen=True)
class Check:
    """A row of the gauntlet: what it is, the programs it needs, and a judge that raises Refused."""

    name: str
    tools: tuple[str, ...]
    judge: Judge


# -- compilers -------------------------------------------------------------------------------------


def compiles(*command: str) -> Judge:
    """All sources pass a compiler without a word."""

    def judge(made: Written, work: Path) -> None:
        silent(*command, f"-I{made.folder}", "-c", *made.sources, cwd=work)

    return judge


def passes(*command: str, runner: Sequence[str] = ()) -> Judge:
    """The self-test, compiled by `command`, finds nothing wrong."""

    def judge(made: Written, work: Path) -> None:
        silent(*command, f"-I{made.folder}", *made.sources, "-o", "selftest", cwd=work)
        run(*runner, work / "selftest", cwd=work)

    return judge


def alone(made: Written, work: Path) -> None:
    """The module's shared library has no open end, with the C library left out."""
    silent(
        "gcc",
        "-std=c99",
        "-O0",
        "-fPIC",
        "-shared",
        "-nostdlib",
        "-Wl,--no-undefined",
        f"-I{made.folder}",
        *made.own,
        "-o",
        "alone.so",
        cwd=work,
    )


def pure(made: Written, work: Path) -> None:
    """Unoptimised objects (-O2 would hide some) have no writable data, need no other, and share
    only prefixed names."""
    silent("gcc", "-std=c99", "-O0", "-fno-pic", f"-I{made.folder}", "-c", *made.own, cwd=work)
    rows = [line.split() for line in run("nm", *work.glob("*.o"), cwd=work).splitlines()]
    symbols = {
        (row[-2], row[-1]) for row in rows if len(row) >= 2 and row[-1] != "_GLOBAL_OFFSET_TABLE_"
    }
    shared = {name for letter, name in symbols if letter.isupper() and letter != "U"}
    foreign = {name for letter, name in symbols if letter == "U"} - shared
    bare = {name for name in shared if not name.startswith(f"{made.module.name}_")}
    state = {name for letter, name in symbols if letter in "bBdDC"}
    complaints = {"foreign": foreign, "without prefix": bare, "writable": state}
    if any(complaints.values()):
        raise Refused(
            "; ".join(
                f"{what}: {', '.join(sorted(names))}" for what, names in complaints.items() if names
            )
        )


# -- analysers -------------------------------------------------------------------------------------


def tidy(made: Written, work: Path) -> None:
    """clang-tidy finds nothing."""
    found = run("clang-tidy", "--quiet", f"--checks={TIDY}", *made.own, "--", "-std=c99", cwd=work)
    if "warning:" in found:
        raise Refused(found)


def misra(made: Written, work: Path) -> None:
    """The MISRA C:2012 addon finds nothing but what docs/firmware.md says."""
    excepted = [f"--suppress=misra-c2012-{rule}" for rule in MISRA]
    silent(*CPPCHECK, "--addon=misra", "--enable=style", *excepted, *made.own, cwd=work)


def cppcheck(made: Written, work: Path) -> None:
    """cppcheck itself finds nothing."""
    silent(*CPPCHECK, "--enable=warning,performance,portability", *made.sources, cwd=work)


CHECKS = (
    Check(
        "gcc, strict",
        ("gcc",),
        compiles("gcc", "-std=c99", "-O2", *STRICT, "-Wmissing-prototypes", "-Wvla"),
    ),
    Check("g++, strict", ("g++",), compiles("g++", "-x", "c++", "-std=c++11", "-O2", *STRICT)),
    Check(
        "clang -Weverything", ("clang",), compiles("clang", "-std=c99", "-O2", *EVERYTHING, *C_TOO)
    ),
    Check(
        "clang++ -Weverything",
        ("clang++",),
        compiles("clang++", "-x", "c++", "-std=c++11", "-O2", *EVERYTHING, *CPP_TOO),
    ),
    Check("gcc -fanalyzer", ("gcc",), compiles("gcc", "-std=c99", "-O2", "-fanalyzer", "-Werror")),
    Check("self-test, gcc", ("gcc",), passes("gcc", "-std=c99", "-O2")),
    Check(
        "self-test, gcc, gnu17 and fused",
        ("gcc",),
        passes("gcc", "-std=gnu17", "-O3", "-ffp-contract=fast"),
    ),
    Check("self-test, clang", ("clang",), passes("clang", "-std=c99", "-O2")),
    Check("self-test, tcc", ("tcc",), passes("tcc", "-std=c99", "-Wall", "-Werror")),
    Check(
        "self-test, ASan and UBSan", ("gcc",), passes("gcc", "-std=c99", "-g", "-O1", *SANITIZERS)
    ),
    Check(
        "self-test, valgrind",
        ("gcc", "valgrind"),
        passes("gcc", "-std=c99", "-g", "-O1", runner=("valgrind", "-q", "--error-exitcode=1")),
    ),
    Check("nm: no state, heap, libc", ("gcc", "nm"), pure),
    Check("links without libc", ("gcc",), alone),
    Check("clang-tidy", ("clang-tidy",), tidy),
    Check("cppcheck", ("cppcheck",), cppcheck),
    Check("cppcheck MISRA C:2012", ("cppcheck",), misra),
)


def complaint(check: Check, made: Written) -> str:
    """What a check says of a module, nothing if it passes."""
    with tempfile.TemporaryDirectory(prefix="symgen-gauntlet-") as scratch:
        try:
            check.judge(made, Path(scratch))
        except Refused as refusal:
            return str(refusal)
    return ""


def catchers(fault: Fault, made: Written, checks: Sequence[Check], all_of_them: bool) -> list[str]:
    """The checks that complain of a module with a fault, or the first of them."""
    found = []
    with fault.put_into(made) as broken:
        for check in checks:
            if complaint(check, broken):
                found.append(check.name)
                if not all_of_them:
                    break
    return found


def verdicts(checks: Sequence[Check], folder: Path) -> Iterator[tuple[str, Check, str]]:
    """Sample, check and complaint, for all of them."""
    for k, sample in enumerate(GAUNTLET):
        made = sample.written(folder / str(k))
        yield from ((made.title, check, complaint(check, made)) for check in checks)


def main() -> int:
    """Run everything; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help="name every check that catches a fault, not the first"
    )
    parser.add_argument("--faults", action="store_true", help="only the faults")
    given = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    checks = [check for check in CHECKS if not missing(check.tools)]
    for tool in sorted({tool for check in CHECKS for tool in missing(check.tools)}):
        console.print(f"skipped: {tool} is not installed")
    with tempfile.TemporaryDirectory(prefix="symgen-gauntlet-") as scratch:
        bad = 0 if given.faults else _samples(console, checks, Path(scratch))
        bad += _faults(console, checks, Path(scratch) / "faulty", given.all)
    return 1 if bad else 0


def _samples(console: Console, checks: Sequence[Check], folder: Path) -> int:
    found = list(verdicts(checks, folder))
    console.print(_grid(found), end="\n\n")
    complaints = [(title, check, text) for title, check, text in found if text]
    for title, check, text in complaints:
        console.print(f"{title}, {check.name}: {text[:3000]}", markup=False, soft_wrap=True)
    console.print(
        f"{len(found) - len(complaints)} of {len(found)} checks passed, {len(GAUNTLET)} modules\n"
    )
    return len(complaints)


def _grid(found: Sequence[tuple[str, Check, str]]) -> Table:
    """Checks downwards; how many modules pass."""
    shown = Table("check", "passed", box=None)
    for check in dict.fromkeys(check for _, check, _ in found):
        texts = [text for _, c, text in found if c is check]
        shown.add_row(check.name, f"{sum(not text for text in texts)} of {len(texts)}")
    return shown


def _faults(console: Console, checks: Sequence[Check], folder: Path, all_of_them: bool) -> int:
    made = FAULTY.written(folder)
    shown = Table("fault", "caught by", box=None)
    complaints = {check: complaint(check, made) for check in checks}
    checks = [check for check, text in complaints.items() if not text]
    for check, text in complaints.items():
        if text:
            console.print(
                f"without a fault, {check.name}: {text[:3000]}", markup=False, soft_wrap=True
            )
    missed = 0
    for fault in FAULTS:
        found = catchers(fault, made, checks, all_of_them)
        missed += not found
        shown.add_row(fault.name, ", ".join(found) or "NOTHING")
    console.print(shown, end="\n\n")
    console.print(f"{len(FAULTS) - missed} of {len(FAULTS)} faults caught")
    return missed + len(complaints) - len(checks)


if __name__ == "__main__":
    sys.exit(main())
