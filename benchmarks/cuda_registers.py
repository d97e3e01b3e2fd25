"""Registers and spilled bytes of CUDA kernels, as ptxas and clang state them; no GPU is needed.

``python -m benchmarks.cuda_registers`` compiles every kernel with nvcc for `PROCESSORS` and, where it
is installed, with hipcc for `GFX`, stores what the compilers state in docs/benchmarks/cuda.json and writes the table of docs/languages/cuda.md. Without nvcc
it prints one sentence. `bounds` are those of memory and of the rate of instructions of an H100."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import symgen
from benchmarks.page_tables import write_table
from symgen.languages.backends.cuda import CudaFunction, cuda_functions
from symgen.languages.sines import SineLoop

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "docs" / "benchmarks" / "cuda.json"
PAGE: Final = ROOT / "docs" / "languages" / "cuda.md"
PROCESSORS: Final = (80, 90, 100)
"""Compute capabilities of A100, H100 and B200."""
ROBOTS: Final = ("ur5", "panda_arm", "humanoid25")
QUANTITIES: Final = {
    "inverse_dynamics": "τ",
    "mass_matrix": "M",
    "forward_dynamics": "q̈",
    "inverse_dynamics_derivatives": "∂τ",
    "forward_dynamics_derivatives": "∂q̈",
}
LARGEST_WITH_DERIVATIVES: Final = 7
"""Robots with more joints have no kernels of derivatives here: nvcc takes minutes for one."""
SCALARS: Final = {"float": 4, "double": 8}
GFX: Final = "gfx90a"
"""The processor of AMD (MI200) for which hipcc compiles the same sources."""
BANDWIDTH: Final = 3.35e12
"""Bytes that an H100 (SXM) reads and writes per second: its data sheet."""
INSTRUCTIONS: Final = {"float": 33.5e12, "double": 16.7e12}
"""Additions or multiplications per second of an H100, without fused ones: half of the 67 and 33.5
TFLOP/s of its data sheet."""


def version() -> str:
    """The release of nvcc, whose registers differ from those of others."""
    done = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True)
    return done.stdout.strip().rpartition("\n")[2]


def compiled(source: Path, processors: tuple[int, ...] = PROCESSORS) -> dict[str, list[int]]:
    """Registers of a thread, and bytes of its stack and of its spill stores and loads, by
    processor.

    Raises CalledProcessError."""
    targets = [f"-gencode=arch=compute_{p},code=sm_{p}" for p in processors]
    flags = ["-O3", "-std=c++17", "-Xptxas", "-v", "-c", "-o", "/dev/null"]
    done = subprocess.run(
        ["nvcc", *flags, *targets, source.name],
        cwd=source.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    usages = re.split(r"Compiling entry function .* for 'sm_(\d+)'", done.stderr)[1:]
    return {p: _usage(text) for p, text in zip(usages[::2], usages[1::2], strict=True)}


def compiled_by_hip(source: Path) -> list[int]:
    """Vector registers of a thread on `GFX`, bytes of its stack and of spilled registers.

    Raises CalledProcessError."""
    flags = ["-O3", "-std=c++17", "-x", "hip", f"--offload-arch={GFX}", "--cuda-device-only", "-S"]
    done = subprocess.run(
        ["hipcc", *flags, source.name, "-o", "-"],
        cwd=source.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    names = ("vgpr_count", "private_segment_fixed_size", "vgpr_spill_count")
    found = [re.findall(rf"\.{name}:\s+(\d+)", done.stdout) for name in names]
    registers, stack, spilled = (int(values[0]) for values in found)
    return [registers, stack, 4 * spilled]


def _usage(messages: str) -> list[int]:
    (registers,) = re.findall(r"Used (\d+) registers", messages)
    (stack,) = re.findall(r"(\d+) bytes cumulative stack size", messages) or ("0",)
    spills = re.findall(r"(\d+) bytes spill (?:stores|loads)", messages)
    return [int(registers), int(stack), sum(map(int, spills))]


def kernels(robot: str, scalar: str, folder: Path) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
    """The name of each function of a robot, its operations and bytes per state, and its kernel."""
    names = list(QUANTITIES)
    if symgen.Robot(f"robots/{robot}.urdf").dof > LARGEST_WITH_DERIVATIVES:
        names = [name for name in names if not name.endswith("derivatives")]
    module, *_ = symgen.generate(
        f"robots/{robot}.urdf", folder, languages=("cuda",), quantities=names, scalar=scalar
    )
    for function in cuda_functions(module):
        size = sum(a.size for a in function.description.arguments) * SCALARS[scalar]
        facts = {"operations": operations(function), "bytes": size}
        yield (
            function.description.name,
            facts,
            folder / f"{robot}_cuda" / f"{function.description.name}.cu",
        )


def operations(function: CudaFunction) -> int:
    """The operations of a thread: those of the statements of all pieces, of which two may share some."""
    pieces = function.partition.pieces if function.partition else (function.body.steps,)
    count = 0
    for step in chain.from_iterable(pieces):
        sines = isinstance(step, SineLoop)
        texts = step.tokens if sines else step.right.tokens
        code = re.sub(r"\[.*?\]", "", "".join(t if isinstance(t, str) else "x" for t in texts))
        count += len(re.findall(r" [-+*/] |\w\(", code)) + (2 * len(step.angles) if sines else 0)
    return count


def measured() -> dict[str, Any]:
    """What the compilers state about each kernel, with its operations and bytes per state; of
    hipcc what is stored, where it is not installed."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))["kernels"]
    hip, results = shutil.which("hipcc"), dict[str, Any]()
    for robot in ROBOTS:
        for scalar in SCALARS:
            with TemporaryDirectory() as name:
                for function, facts, source in kernels(robot, scalar, Path(name) / robot):
                    key = f"{robot} {scalar} {function}"
                    gfx = compiled_by_hip(source) if hip else stored[key][GFX]
                    results[key] = {**facts, **compiled(source), GFX: gfx}
                    print(key, results[key])
    return results


def _cell(registers: int, stack: int, spilled: int) -> str:
    spills = f", {spilled} B spilled" if spilled else ""
    return f"{registers}, {stack} B of stack{spills}" if stack else f"{registers}"


def table(results: Mapping[str, Any]) -> str:
    """The table of the page."""
    head = [*(f"sm_{p}" for p in PROCESSORS), GFX]
    lines = [
        "| kernel | operations | bytes | "
        + " | ".join(head)
        + " | memory, 10⁹/s | instructions, 10⁹/s |",
        "|---|---:|---:|" + "---:|" * len(head) + "---:|---:|",
    ]
    for name, row in results.items():
        robot, scalar, function = name.split()
        bounds = BANDWIDTH / row["bytes"], INSTRUCTIONS[scalar] / row["operations"]
        cells = [_cell(*row[str(p)]) for p in (*PROCESSORS, GFX)] + [
            f"{b / 1e9:.1f}" for b in bounds
        ]
        lines.append(
            f"| {robot} {QUANTITIES[function]}, {scalar} | {row['operations']} | {row['bytes']} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compile all kernels, store what ptxas states, and write the page."""
    if shutil.which("nvcc") is None:
        sys.exit("nothing compiled: nvcc is not installed")
    results = measured()
    stored = json.dumps({"nvcc": version(), "kernels": results}, indent=1) + "\n"
    FILE.write_text(stored, encoding="utf-8")
    write_table(PAGE, "registers", table(results))


if __name__ == "__main__":
    main()
