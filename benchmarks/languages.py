"""``python -m benchmarks.languages``: one call, and a batch, in each language beside the C.

Each program is a process of its own (benchmarks/in_languages/), which prints the least time of a
state over its rounds; the programs take turns, and the least of all turns counts. The figures go
into docs/languages/index.md."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

import symgen
from symgen.native.compiler import compiler_version

PAGE: Final = Path("docs/languages/index.md")
HERE: Final = Path(__file__).parent / "in_languages"
ROBOT: Final = "robots/ur5.urdf"
NAMES: Final = ("inverse_dynamics", "forward_dynamics")
TURNS: Final = 9
O2: Final = ("-O2", "-ffp-contract=off")
FAST: Final = (*O2, "-march=native", "-fno-tree-slp-vectorize")
PLACE: Final = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class Program:
    """A row of the table: how it is called there, the tool that it needs, the commands that build
    it and the one that runs it."""

    label: str
    tool: str
    builds: tuple[Sequence[str], ...]
    run: Sequence[str]


def c_like(
    label: str, folder: Path, kind: str, flags: Sequence[str], parts: Sequence[str]
) -> Program:
    """A program of loop.c with other sources."""
    compiler = "c++" if kind in ("CPP", "CUDA") else "cc"
    language = (
        ["-x", "c++", "-std=c++17"]
        if compiler == "c++"
        else ["-std=c99", "-D_POSIX_C_SOURCE=199309L"]
    )
    sources = [str(HERE / "loop.c"), *sorted(str(p) for part in parts for p in folder.glob(part))]
    where = [f"-I{folder}", f"-I{folder / 'ur5_cuda'}", f"-D{kind}"]
    out = str(folder / f"loop-{kind}")
    return Program(
        label, compiler, ([compiler, *flags, *language, *where, *sources, "-lm", "-o", out],), [out]
    )


def programs(root: Path) -> Iterator[Program]:
    """All rows, their files written below a folder."""
    plain, inline, fast = root / "plain", root / "inline", root / "fast"
    languages = ("c", "python", "cpp", "rust", "javascript", "cuda", "matlab")
    symgen.generate(ROBOT, plain, languages=languages, quantities=NAMES, trig="libm")
    own = ("c", "cpp", "rust", "cuda")
    symgen.generate(ROBOT, inline, languages=own, quantities=NAMES, batch="auto")
    one = [f"ur5_{name}.c" for name in NAMES]
    many = [f"ur5_{name}_batch.c" for name in NAMES]
    cuda = [f"ur5_cuda/{name}.cu" for name in NAMES]
    yield c_like("C, `--trig libm`", plain, "ONE_CALL", O2, one)
    yield c_like("C", inline, "ONE_CALL", O2, one)
    yield c_like(
        "C, `--batch auto`, 64 states, `-march=native`",
        inline,
        "BATCH",
        FAST,
        [*one, *many, "ur5_batch.c"],
    )
    yield c_like("C++, `--trig libm`", plain, "CPP", O2, [])
    yield c_like("C++", inline, "CPP", O2, [])
    yield rust("Rust, `--trig libm`", plain)
    yield rust("Rust", inline)
    shutil.copy(HERE / "main.mjs", plain)
    yield Program("JavaScript", "node", (), ["node", str(plain / "main.mjs")])
    yield c_like("CUDA, host build, `--trig libm`, 64 states", plain, "CUDA", O2, cuda)
    yield c_like("CUDA, host build, `-march=native`, 64 states", inline, "CUDA", FAST, cuda)
    yield from matlab(plain / "ur5_matlab")
    yield from packages(root / "packages")
    python = [sys.executable, str(HERE / "main.py")]
    build = [sys.executable, "-m", "symgen", "build", ROBOT, "-o", str(fast)]
    wanted = [word for name in NAMES for word in ("--quantity", name)]
    yield Program("Python, the module", "python3", (), [*python, str(plain), "ur5", "one"])
    yield Program(
        "Python, the module, 64 states", "python3", (), [*python, str(plain), "ur5", "many"]
    )
    yield Program(
        "Python, the package", "cc", ([*build, *wanted],), [*python, str(fast), "ur5", "one"]
    )
    yield Program("Python, the package, 64 states", "cc", (), [*python, str(fast), "ur5", "many"])


def rust(label: str, folder: Path) -> Program:
    """The crate and its program."""
    crate = ["rustc", "--edition", "2021", "-O", "--crate-name", "ur5", "--crate-type", "lib"]
    rlib, out = str(folder / "libur5.rlib"), str(folder / "loop-rust")
    library = [*crate, "--cfg", 'feature="std"', str(folder / "ur5_rust/src/lib.rs"), "-o", rlib]
    main = [
        "rustc",
        "--edition",
        "2021",
        "-O",
        "--extern",
        f"ur5={rlib}",
        str(HERE / "main.rs"),
        "-o",
        out,
    ]
    return Program(label, "rustc", (library, main), [out])


def matlab(folder: Path) -> Iterator[Program]:
    """The functions and the gateway in Octave."""
    octave = ["octave-cli", "--norc", "--quiet", "--path", str(folder)]
    build = (*octave, "--eval", "ur5_build")
    for label, how, builds in (
        ("Octave, the function", "function", (build,)),
        ("Octave, MEX file", "gateway", ()),
        ("Octave, MEX file, 64 states", "states", ()),
    ):
        yield Program(label, "octave-cli", builds, [*octave, str(HERE / "main.m"), how])


def packages(folder: Path) -> Iterator[Program]:
    """What JAX and CasADi run, where they are installed."""
    rows = {
        "jax": (
            ("JAX", "jax"),
            ("JAX, 4,096 states", "jax-states"),
            ("JAX, through C", "native"),
            ("JAX, through C, 4,096 states", "native-states"),
        ),
        "casadi": (("CasADi, the graph", "graph"), ("CasADi, the external function", "external")),
    }
    there = [name for name in rows if find_spec(name) is not None]
    if there:
        symgen.generate(ROBOT, folder, languages=there, quantities=NAMES)
    for name in there:
        builds: tuple[Sequence[str], ...] = (
            (sys.executable, str(folder / f"ur5_{name}/build.py")),
        )
        for label, kind in rows[name]:
            run = [sys.executable, str(HERE / "packages.py"), str(folder), "ur5", kind, *NAMES]
            yield Program(label, "cc", builds, run)
            builds = ()


def measured(made: Sequence[Program]) -> dict[str, list[float]]:
    """Nanoseconds of inverse and of forward dynamics, by label."""
    found: dict[str, list[float]] = {}
    for turn in range(TURNS):
        click.echo(f"turn {turn + 1} of {TURNS}", err=True)
        for program in made:
            said = subprocess.run(program.run, check=True, capture_output=True, text=True).stdout
            took = [float(x) for x in said.split()]
            found[program.label] = list(map(min, found.get(program.label, took), took))
    return found


def table(found: dict[str, list[float]]) -> str:
    """The rows, with the ratio to one call of C, and what measured them."""
    c = found["C, `--trig libm`"]
    rows = [
        "| | inverse dynamics, ns | relative to C | forward dynamics, ns | relative to C |",
        "|---|---|---|---|---|",
    ]
    for label, took in found.items():
        cells = [
            cell
            for x, y in zip(took, c, strict=True)
            for cell in (f"{x:,.0f}" if x >= 1000 else f"{x:.3g}", f"{x / y:.2f}")
        ]
        rows.append(f"| {label} | {' | '.join(cells)} |")
    tools = ", ".join(
        compiler_version([tool]) for tool in ("cc", "rustc", "node") if shutil.which(tool)
    )
    load = os.getloadavg()[0]
    return (
        "\n".join(
            [
                *rows,
                "",
                f"{tools}; shared machine (load {load:.0f}): "
                "the ratios are more reliable than the times.",
            ]
        )
        + "\n"
    )


@click.command()
def main() -> None:
    """Measure and write the figures into the page."""
    with TemporaryDirectory() as name:
        every = list(programs(Path(name)))
        made = [p for p in every if shutil.which(p.tool)]
        for program in made:
            for build in program.builds:
                subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        found = measured(made)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: "\n" + table(found) + "\n", text), encoding="utf-8")
    for program in every:
        if program not in made:
            click.echo(f"left out: {program.label}: {program.tool} is not installed")


if __name__ == "__main__":
    main()
