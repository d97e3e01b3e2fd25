"""Commands with their cost, and a compiler with a memory: the same source and flags are compiled
once."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile

FOLDER = Path("build/bench")
FLAGS = {"O2": ("-O2",), "fast": ("-O3", "-march=native", "-ffast-math")}
"""What C of symgen and CasADi is compiled with."""

POLL = 0.01
"""Seconds between two looks at the memory of a command."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a command, and the memory at its peak in MB."""

    seconds: float
    megabytes: float


def run(command: Sequence[str]) -> Cost:
    """Run a command. Raises RuntimeError with what it said last, if it fails."""
    with TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        peak, done = 0.0, 0
        while not done:
            peak = max(peak, _peak(process.pid))
            time.sleep(POLL)
            done, status, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)[:200]}\n{said.read()[-2000:]}")
    return Cost(round(used.ru_utime + used.ru_stime, 3), peak)


def _peak(pid: int) -> float:
    """Memory of a process at its peak so far; wait4's figure would count ours, which it was forked
    from."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return next(
        (int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")),
        0.0,
    )


def python(module: str, *words: str) -> Cost:
    """Run a module of Python, from process start."""
    return run([sys.executable, "-m", module, *words])


def compiled(
    source: Path, flags: Sequence[str], compiler: str = "gcc", extra: str = ""
) -> tuple[Path, Cost]:
    """The object file (or what `flags` say) of a source, and what it took when it was made; `extra`
    is what else it depends on."""
    text = source.read_bytes() + " ".join((compiler, extra, *flags)).encode()
    made = FOLDER / "objects" / f"{hashlib.sha256(text).hexdigest()[:24]}.o"
    note = made.with_suffix(".json")
    if not note.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        cost = run([compiler, "-c", "-fPIC", *flags, str(source), "-o", str(made)])
        note.write_text(json.dumps(asdict(cost)), encoding="utf-8")
    return made, Cost(**json.loads(note.read_text(encoding="utf-8")))


def all_compiled(
    sources: Sequence[Path], flags: Sequence[str], extra: str = ""
) -> list[tuple[Path, Cost]]:
    """Of several C sources, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda source: compiled(source, flags, extra=extra), sources))


def linked(objects: Sequence[Path], out: Path, *libraries: str, compiler: str = "gcc") -> Path:
    """A shared library."""
    run([compiler, "-shared", *map(str, objects), "-o", str(out), *libraries])
    return out


def machine_code(made: Path) -> int:
    """Bytes of instructions and constants in an object file."""
    said = subprocess.run(["size", str(made)], capture_output=True, text=True, check=True).stdout
    return int(said.splitlines()[1].split()[0])


def empty(folder: Path) -> Path:
    """A folder without what was in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def log(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
