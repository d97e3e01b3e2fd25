"""Record what symgen produces, and compare a later state of the code with the record.

``make freeze`` writes a record: SHA-256 of every generated file, exit status and texts of each
generation and of fuzz inputs, and processor times. ``make freeze-check`` produces everything again
and prints what differs. A change of structure must leave the record equal. Operation counts are in
the generated reports, and so in the digests; they are also recorded by themselves.

``--quick`` takes a subset (about a minute on one core), ``--only WORD`` the entries whose names
contain a word, ``--keep DIR`` keeps the generated files of what differs, to look at with diff.
"""

import argparse
import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from symgen.languages import LANGUAGES

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy: threads take memory from every fork

ROOT: Final = Path(__file__).parents[1]
RECORD: Final = ROOT / "build" / "freeze.json"
KEPT: Final = ROOT / "build" / "freeze"

ROBOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "pendulum": ("robots/pendulum.urdf",),
    "ur5": ("robots/ur5.urdf",),
    "quadruped": ("robots/quadruped.urdf", "--base", "floating"),
    "gripper": ("tests/cases/mimic_gripper.urdf",),
    "planar": ("tests/cases/planar_joint.urdf",),
    "differential": ("tests/wild/differential.urdf",),
    "scara": ("robots/scara.urdf",),
    "panda": ("robots/panda.urdf",),
    "rx90": ("robots/rx90.urdf",),
    "geared": ("tests/cases/transmission_reduction.urdf",),
    "snake16": ("robots/snake16.urdf",),
    "humanoid25": ("robots/humanoid25.urdf", "--base", "floating"),
}
"""Robots with the options that each needs; the first six are those of the quick subset."""

QUICK_ROBOTS: Final = tuple(ROBOTS)[:6]

DYNAMICS: Final = ("forward_dynamics", "regressor", "base_regressor")
DERIVATIVES: Final = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def _quantities(*names: str) -> tuple[str, ...]:
    return tuple(word for name in names for word in ("--quantity", name))


def _languages(*names: str) -> tuple[str, ...]:
    return tuple(word for name in names for word in ("--lang", name))


C: Final = _languages("c")
ALL: Final = _languages(*LANGUAGES)

CONTROLLERS: Final = tuple(
    word
    for name in (
        "gravity_compensation",
        "computed_torque",
        "joint_impedance",
        "momentum_observer",
        "adaptive_slotine_li",
        "recursive_least_squares",
    )
    for word in ("--controller", name)
)

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    # the quick subset
    "defaults": ALL,
    "operations": (*ALL, "--optimize", "operations", *_quantities(*DYNAMICS)),
    "size": (*C, "--optimize", "size", *_quantities(*DERIVATIVES, "mass_matrix")),
    "m4f": (*C, "--target", "cortex-m4f", "--scalar", "float", "--chunk", "20"),
    "batch": (*C, "--batch", "4", *_quantities("bias", "regressor")),
    "runtime": (*ALL, "--parameters", "runtime", "--gravity", "runtime"),
    "friction": (
        *C,
        "--friction",
        "runtime:viscous,coulomb,offset",
        *_quantities("forward_dynamics"),
    ),
    "controllers": (*C, "--controller", "momentum_observer", "--controller", "computed_torque"),
    "together": (*ALL, *_quantities("terms=bias+mass_matrix")),
    "libm": (*_languages("c", "cpp", "rust"), "--trig", "libm"),
    # the others
    "latency": (*ALL, "--optimize", "latency", *_quantities(*DERIVATIVES)),
    "size_more": (*C, "--optimize", "size", *_quantities("bias", "regressor", *DYNAMICS)),
    "m0": (*C, "--target", "cortex-m0plus", "--scalar", "float"),
    "m7": (*C, "--target", "cortex-m7", *_quantities(*DERIVATIVES)),
    "m33": (*C, "--target", "cortex-m33", "--scalar", "float", *_quantities(*DYNAMICS)),
    "chunk": (*ALL, "--chunk", "10", *_quantities("forward_dynamics")),
    "float": (*ALL, "--scalar", "float"),
    "once": (*_languages("c", "cuda"), "--zeros", "once", *_quantities("regressor")),
    "batch_auto": (*C, "--batch", "auto", *_quantities("mass_matrix", "forward_dynamics")),
    "glue": (*C, "--glue", "cmake,zephyr,arduino,pkgconfig,esp-idf,cpp"),
    "ros2": (*C, "--glue", "ros2", "--controller", "gravity_compensation"),
    "runtime_friction": (*ALL, "--friction", "runtime:viscous,coulomb"),
    "smooth_friction": (
        *C,
        "--friction",
        "coulomb",
        "--friction-width",
        "0.01",
        *_quantities(*DERIVATIVES),
    ),
    "springs": (*C, "--springs", *_quantities("inverse_dynamics", "potential_energy")),
    "runtime_springs": (*ALL, "--runtime-springs", *_quantities("inverse_dynamics")),
    "floating": (*ALL, "--base", "floating", *_quantities("bias", "mass_matrix")),
    "actuators": (*C, "--coordinates", "actuators"),
    "file_order": (*C, "--joint-order", "file"),
    "gravity": (*C, "--gravity", "1,2,-9"),
    "no_snapping": (*C, "--snap-angles", "0"),
    "rotors": (*C, "--rotors", "reflected", *_quantities("mass_matrix", "forward_dynamics")),
    "no_rotors": (*C, "--rotors", "none"),
    "prefix": (*ALL, "--prefix", "arm", "--module-version", "1.2.3"),
    "target_float_size": (
        *C,
        "--target",
        "cortex-m4f",
        "--scalar",
        "float",
        "--optimize",
        "size",
        *_quantities(*DERIVATIVES),
    ),
    "all_c": (*C, *_quantities("all")),
    "all_operations": (*_languages("c", "rust"), "--optimize", "operations", *_quantities("all")),
    "all_runtime": (*C, "--parameters", "runtime", *_quantities("all")),
    "all_python": (*_languages("python", "javascript"), *_quantities("all")),
    "all_matlab": (*_languages("matlab", "cpp"), *_quantities("all")),
    "every_controller": (*C, *CONTROLLERS),
}
"""Option sets; the first ten are those of the quick subset."""

QUICK_OPTIONS: Final = tuple(OPTIONS)[:10]

LARGE: Final = ("snake16", "humanoid25", "quadruped")
"""Robots for which all quantities, and the search for loops, take minutes."""

FUZZ_INPUTS: Final = 2_000
QUICK_FUZZ_INPUTS: Final = 200
FUZZ_SEED: Final = 31

Entry = dict[str, Any]
Task = tuple[str, tuple[str, ...]]


def generations(quick: bool) -> Iterator[Task]:
    """Names and arguments of the generations."""
    for robot in QUICK_ROBOTS if quick else ROBOTS:
        for name in QUICK_OPTIONS if quick else OPTIONS:
            slow = name.startswith("all_") or (quick and name == "size")
            if not (robot in LARGE and slow):
                file, *own = ROBOTS[robot]
                yield f"{robot}/{name}", (file, *own, *OPTIONS[name])


def generated(task: Task) -> tuple[str, Entry]:
    """Generate into a temporary folder; digests, status, texts and times. In a process of its own."""
    from symgen.cli.main import main

    name, (file, *options) = task
    with tempfile.TemporaryDirectory(prefix="symgen-freeze-") as place:
        shutil.copy(ROOT / file, place)
        os.chdir(place)  # manifests contain the path from the folder to the robot's file
        out = Path(place) / "out"
        arguments = ["generate", Path(file).name, *options, "-o", "out"]
        begin = time.process_time()
        status, stdout, stderr = _run(lambda: main(arguments, prog_name="symgen"))
        cpu = time.process_time() - begin
        entry = {
            "status": status,
            "stdout": _plain(stdout, place),
            "stderr": _plain(stderr, place),
            "counts": _counts(out),
            "files": _digests(out),
            "cpu": round(cpu, 2),
        }
        if keep := os.environ.get("SYMGEN_FREEZE_KEEP"):
            shutil.rmtree(Path(keep) / name, ignore_errors=True)
            if out.exists():
                shutil.copytree(out, Path(keep) / name)
    return name, entry


def _run(command: Callable[[], object]) -> tuple[int, str, str]:
    """Exit status and streams of a command."""
    stdout, stderr = io.StringIO(), io.StringIO()
    status: object = 0
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            command()
        except SystemExit as end:
            status = end.code
    code = status if isinstance(status, int) else int(status is not None)
    return code, stdout.getvalue(), stderr.getvalue()


def _plain(text: str, place: str) -> str:
    """A text without paths of this machine, times and the width of its tables."""
    text = text.replace(place, "TMP").replace(str(ROOT), "ROOT")
    text = re.sub(r"symgen-\w+-\w+", "TMP", text)
    text = re.sub(r"\b\d+(\.\d+)? (s|ms|MB|kB)\b", "N \\2", text)
    return "\n".join(re.sub(r" {2,}", "  ", line).rstrip() for line in text.splitlines())


def _digests(out: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder, by relative path."""
    paths = sorted(p for p in out.rglob("*") if p.is_file())
    return {
        p.relative_to(out).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()[:24]
        for p in paths
    }


def _counts(out: Path) -> dict[str, int]:
    """Operations by function, from the report of a folder."""
    for path in out.glob("*_report.json"):
        functions = json.loads(path.read_text()).get("functions", [])
        rows = (
            functions.items()
            if isinstance(functions, dict)
            else ((f["name"], f) for f in functions)
        )
        return {name: row["operations"]["total"] for name, row in rows if "operations" in row}
    return {}


def fuzzed(number: int) -> tuple[str, Entry]:
    """Run a fuzz input; status, texts and digests of what it has written."""
    from fuzz import child, families

    case = families.case(FUZZ_SEED, number)
    with tempfile.TemporaryDirectory(prefix="symgen-freeze-") as place:
        outcome = child.run(case, Path(place))
        written = {
            name: hashlib.sha256(content or b"").hexdigest()[:24]
            for name, content in outcome.after.items()
            if outcome.before.get(name) != content
        }
        stdout = outcome.stdout.decode("utf-8", "replace")
        return f"fuzz/{number}", {
            "command": " ".join(case.arguments),
            "status": outcome.status if outcome.signal is None else -outcome.signal,
            "stdout": _plain(stdout, place)[:20_000],
            "stderr": _plain(outcome.said, place)[:20_000],
            "files": written,
            "cpu": round(outcome.cpu, 2),
        }


def produced(quick: bool, only: str | None, workers: int) -> dict[str, Entry]:
    """All entries, each made in a forked process, so that none sees another's caches."""
    from fuzz import child

    child.prepare()
    tasks = [task for task in generations(quick) if not only or only in task[0]]
    inputs = range(QUICK_FUZZ_INPUTS if quick else FUZZ_INPUTS)
    numbers = [k for k in inputs if not only or only in f"fuzz/{k}"]
    entries: dict[str, Entry] = {}
    context = multiprocessing.get_context("fork")
    with context.Pool(workers, maxtasksperchild=1) as pool:
        for k, (name, entry) in enumerate(pool.imap_unordered(generated, tasks, chunksize=1)):
            entries[name] = entry
            if sys.stderr.isatty():
                print(f"\r{k + 1} of {len(tasks)} generations", end="", file=sys.stderr)
    with context.Pool(workers) as pool:
        entries.update(pool.imap_unordered(fuzzed, numbers, chunksize=4))
    return dict(sorted(entries.items()))


def differences(old: Mapping[str, Entry], new: Mapping[str, Entry], texts: bool) -> Iterator[str]:
    """A line for each entry that differs; texts only where they are asked for."""
    for name, entry in new.items():
        before = old.get(name)
        if before is None:
            yield f"{name}: not in the record"
            continue
        if entry["status"] != before["status"]:
            yield f"{name}: exit status {before['status']} -> {entry['status']}: {entry['stderr'][-300:]}"
        if entry.get("counts") != before.get("counts"):
            yield f"{name}: operations {_changed(before['counts'], entry['counts'])}"
        if changed := _changed(before["files"], entry["files"], names_only=True):
            yield f"{name}: {len(changed)} files differ: {', '.join(changed)[:300]}"
        for stream in ("stdout", "stderr") if texts else ():
            if entry[stream] != before[stream]:
                yield f"{name}: {stream}\n  - {before[stream][:400]}\n  + {entry[stream][:400]}"


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], names_only: bool = False) -> list[str]:
    keys = [k for k in sorted({*old, *new}) if old.get(k) != new.get(k)]
    return keys if names_only else [f"{k} {old.get(k)} -> {new.get(k)}" for k in keys]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.freeze", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the record")
    parser.add_argument("--quick", action="store_true", help="a subset, about a minute on one core")
    parser.add_argument("--only", help="entries whose names contain this text")
    parser.add_argument("--no-texts", action="store_true", help="ignore what is printed")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--keep", type=Path, help="folder for the generated files")
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 if something differs from the record."""
    options = _options(arguments)
    if options.keep:
        os.environ["SYMGEN_FREEZE_KEEP"] = str(options.keep.resolve())
    begin = time.time()
    new = produced(options.quick, options.only, options.workers)
    seconds = round(time.time() - begin)
    cpu = round(sum(entry["cpu"] for entry in new.values()), 1)
    if not options.check:
        options.record.parent.mkdir(parents=True, exist_ok=True)
        options.record.write_text(json.dumps(new, indent=0))
        print(f"{len(new)} entries, {cpu} s of processor time, {seconds} s: {options.record}")
        return 0
    old = json.loads(options.record.read_text())
    lines = list(differences(old, new, not options.no_texts))
    before = round(sum(old[name]["cpu"] for name in new if name in old), 1)
    print("\n".join(lines))
    print(
        f"{len(new)} entries, {len(lines)} differences; {cpu} s of processor time, {before} s in the record"
    )
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
