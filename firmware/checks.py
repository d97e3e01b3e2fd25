"""The host checks of generated C: compilers, self-tests, analysers and what objects hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware.modules import Written
from firmware.tools import ROOT, WARNINGS, Refused, run, silent
from symgen.evidence.examinations import CPPCHECK as READING
from symgen.evidence.examinations import DEVIATION

STRICT = (
    *WARNINGS,
    "-Wundef",
    "-Wcast-qual",
    "-Wmissing-declarations",
    "-Wuninitialized",
    "-Wmaybe-uninitialized",
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

MISRA = [
    found[0]
    for found in DEVIATION.findall((ROOT / "docs" / "firmware.md").read_text(encoding="utf-8"))
]
"""Rules not followed; docs/firmware.md says why."""

CPPCHECK = (*READING, "--error-exitcode=1")

Judge = Callable[[Written, Path], None]


@dataclass(frozen=True)
class Check:
    """A row of the gauntlet: what it is, the programs it needs, a judge that raises Refused, and the
    fault that shows that it does."""

    name: str
    tools: tuple[str, ...]
    judge: Judge
    control: str


# -- compilers -------------------------------------------------------------------------------------


def compiles(*command: str) -> Judge:
    """All sources pass a compiler without a word."""

    def judge(made: Written, work: Path) -> None:
        silent(*command, f"-I{made.folder}", "-c", *made.sources, cwd=work)

    return judge


def passes(*command: str, runner: Sequence[str] = ()) -> Judge:
    """The self-test, compiled by `command`, finds nothing wrong."""

    def judge(made: Written, work: Path) -> None:
        sources = *made.sources, *made.libraries
        silent(*command, f"-I{made.folder}", *sources, "-o", "selftest", cwd=work)
        run(*runner, work / "selftest", cwd=work)

    return judge


def alone(made: Written, work: Path) -> None:
    """The module's shared library has no open end, with the C library left out; square roots are
    those of the math library."""
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
        *made.libraries,
        "-o",
        "alone.so",
        cwd=work,
    )


ROOTS = {"sqrt", "sqrtf", "atan", "atanf"}
"""What a module calls of the math library: the roots and angles of closed loops."""


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
    foreign -= ROOTS if made.libraries else set()
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
        "literal without f",
    ),
    Check(
        "g++, strict",
        ("g++",),
        compiles("g++", "-x", "c++", "-std=c++11", "-O2", *STRICT),
        "no extern C",
    ),
    Check(
        "clang -Weverything",
        ("clang",),
        compiles("clang", "-std=c99", "-O2", *EVERYTHING, *C_TOO),
        "literal without f",
    ),
    Check(
        "clang++ -Weverything",
        ("clang++",),
        compiles("clang++", "-x", "c++", "-std=c++11", "-O2", *EVERYTHING, *CPP_TOO),
        "no extern C",
    ),
    Check(
        "gcc -fanalyzer",
        ("gcc",),
        compiles("gcc", "-std=c99", "-O2", "-fanalyzer", "-Werror"),
        "uninitialised read",
    ),
    Check("self-test, gcc", ("gcc",), passes("gcc", "-std=c99", "-O2"), "last digit of a constant"),
    Check(
        "self-test, gcc, gnu17 and fused",
        ("gcc",),
        passes("gcc", "-std=gnu17", "-O3", "-ffp-contract=fast"),
        "wrong sign",
    ),
    Check("self-test, clang", ("clang",), passes("clang", "-std=c99", "-O2"), "outputs swapped"),
    Check("self-test, tcc", ("tcc",), passes("tcc", "-std=c99", "-Wall", "-Werror"), "wrong input"),
    Check(
        "self-test, ASan and UBSan",
        ("gcc",),
        passes("gcc", "-std=c99", "-g", "-O1", *SANITIZERS),
        "division by zero",
    ),
    Check(
        "self-test, valgrind",
        ("gcc", "valgrind"),
        passes("gcc", "-std=c99", "-g", "-O1", runner=("valgrind", "-q", "--error-exitcode=1")),
        "uninitialised read",
    ),
    Check("nm: no state, heap, libc", ("gcc", "nm"), pure, "malloc"),
    Check("links without libc", ("gcc",), alone, "sine of libm"),
    Check("clang-tidy", ("clang-tidy",), tidy, "uninitialised read"),
    Check("cppcheck", ("cppcheck",), cppcheck, "uninitialised read"),
    Check("cppcheck MISRA C:2012", ("cppcheck",), misra, "return in the middle"),
)
