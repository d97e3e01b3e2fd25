"""``python -m benchmarks.cuda``: states a second of kernels on a GPU, beside what its memory allows.

The limit is what the same GPU reads and writes when it copies, divided by the bytes of a state's
inputs and outputs. Without a GPU one sentence says so."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

import symgen
from symgen.languages.describe import FunctionDescription, descriptions

PROGRAM: Final = Path(__file__).parent / "in_languages" / "gpu.cu"
ROBOTS: Final = ("ur5", "panda")
NAMES: Final = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
BYTES: Final = {"float": 4, "double": 8}
FLAGS: Final = ("-O3", "-arch=native", "-std=c++17")
AIM: Final = 5e9


@dataclass(frozen=True)
class Measured:
    """What a launch does: states and copied bytes a second, bytes of a state, and the GPU."""

    states: float
    copied: float
    bytes: int
    gpu: str

    @property
    def limit(self) -> float:
        """States a second if memory were all."""
        return self.copied / self.bytes


def case(robot: str, scalar: str, d: FunctionDescription) -> str:
    """The text of case.h: a launch whose inputs are in x and outputs in y, one array after the
    other."""
    places, at = [], {"in": 0, "out": 0}
    for a in d.arguments:
        places.append(f"{'x' if a.direction == 'in' else 'y'} + {at[a.direction]} * n")
        at[a.direction] += a.size
    words = ", ".join(["n", "n", *places, *(["nullptr"] if d.pivots else []), "nullptr"])
    return (
        f'#include "{robot}_cuda.h"\n#define REAL {scalar}\n'
        f"#define NUMBERS {numbers(d)}\n#define CALL {robot}_cuda_{d.name}({words})\n"
    )


def numbers(d: FunctionDescription) -> int:
    """How many a state has, inputs and outputs."""
    return sum(a.size for a in d.arguments)


def measured(robot: str, scalar: str, trig: str, folder: Path) -> Iterator[tuple[str, Measured]]:
    """Each function, compiled for the GPU that is there. Raises CalledProcessError."""
    module, *_ = symgen.generate(
        f"robots/{robot}.urdf",
        folder,
        languages=("cuda",),
        quantities=NAMES,
        scalar=scalar,
        trig=trig,
    )
    where = folder / f"{robot}_cuda"
    for d in descriptions(module):
        (folder / "case.h").write_text(case(robot, scalar, d), encoding="utf-8")
        sources = [str(PROGRAM), str(where / f"{d.name}.cu")]
        out = str(folder / d.name)
        subprocess.run(
            ["nvcc", *FLAGS, f"-I{folder}", f"-I{where}", *sources, "-o", out], check=True
        )
        said = subprocess.run([out], check=True, capture_output=True, text=True).stdout
        states, copied, gpu = said.strip().split(maxsplit=2)
        yield d.name, Measured(float(states), float(copied), numbers(d) * BYTES[scalar], gpu)


def gpus() -> list[str]:
    """What NVIDIA's driver tells of this machine's GPUs."""
    if shutil.which("nvidia-smi") is None:
        return []
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


@click.command()
def main() -> None:
    """Measure and print a table."""
    if shutil.which("nvcc") is None:
        click.echo("nothing measured: nvcc is not installed")
        return
    if not gpus():
        click.echo("nothing measured: this machine has no NVIDIA GPU (nvidia-smi names none)")
        return
    click.echo(
        "| robot | | numbers, sines | states/s | memory's limit | part of it |\n|---|---|---|---|---|---|"
    )
    for robot, scalar, trig in product(ROBOTS, BYTES, ("libm", "inline")):
        with TemporaryDirectory() as name:
            for function, m in measured(robot, scalar, trig, Path(name) / robot):
                share = m.states / m.limit
                click.echo(
                    f"| {robot} | {function} | {scalar}, {trig} | {m.states:.3g} | {m.limit:.3g} | {share:.0%} |"
                )
    click.echo(f"\n{m.gpu}; the aim was {AIM:.0e} states/s of UR5 inverse dynamics in float")


if __name__ == "__main__":
    main()
