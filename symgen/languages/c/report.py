"""The report of a module: what each function costs, counted, and if a target is named what a
compiler makes of it."""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from symgen.certified.fixed_types import FIXED
from symgen.compiler.passes import counts, live_nodes, operands
from symgen.compiler.program import LOOPS_OVER_BODIES, LoopProgram
from symgen.languages.c.backend import functions
from symgen.languages.c.certified_code import FixedCode, certificates, fixed_functions_in_c
from symgen.languages.c.fixed_files import scales_by_name
from symgen.languages.c.options import (
    ARM_COMPILER,
    RISCV_COMPILER,
    TARGETS,
    COptions,
    library_functions,
)
from symgen.languages.c.printed_function import CFunction
from symgen.languages.module import Module
from symgen.native.compiler import CompilerError, compiler, compiler_version, first_error, workspace
from symgen.text import shown

REPORT_FORMAT: Final = 1
REPORT_FLAGS: Final = ("-std=c99", "-O2", "-ffunction-sections", "-fstack-usage")
Figures = dict[str, dict[str, int]]
"""Figures of each function: bytes of stack and of code with its constants."""


def target_compiler(target: str) -> list[str] | None:
    """The compiler for a target, None where it is not installed."""
    wanted = TARGETS[target].compiler
    if not wanted:
        return compiler()
    path = shutil.which(wanted)
    return [path] if path else None


def remarks(module: Module) -> list[str]:
    """Remarks on a module's C: that it needs the math library where it has sines of its
    own; of its target, if there is one, that it computes the scalar in software, and that the
    report has no stack and code sizes without its compiler."""
    c = module[COptions]
    needing = [(f.name, ops) for f in module.functions if (ops := library_functions(f))]
    sentences = [
        f"note: {name} needs {' and '.join(ops)} of the C math library; link with -lm"
        for name, ops in needing
        if c.trig == "inline"
    ]
    if c.target is None:
        return sentences
    row = TARGETS[c.target]
    if row.single and c.scalar == "double":
        sentences.append(
            f"warning: the floating-point unit of {c.target} has single precision: double is "
            f"computed in software, some 30 times slower; use --scalar float"
        )
    if not target_compiler(c.target):
        sentences.append(
            f"note: stack and code size are null in the report: {row.compiler} is not installed"
        )
    return sentences


def report(module: Module, files: Mapping[str, str]) -> str:
    """The report as JSON (docs/formats.md), the same everywhere unless a target is named. Raises
    CompilerError."""
    c = module.choices[COptions]
    target = c.target
    bounds = {name: found.data() for name, found in certificates(module).items()}
    command = target_compiler(target) if target else None
    fixed = c.scalar in FIXED
    printed: Sequence[CFunction | FixedCode] = (
        fixed_functions_in_c(module) if fixed else functions(module)
    )
    figures = _measure(module, printed, files, command) if command else {}
    flags = [*REPORT_FLAGS, *TARGETS[target].flags] if target else []
    name = compiler_version(command) if command else None
    described = {"name": target, "compiler": name, "flags": flags} if target else None
    data = {
        "format": REPORT_FORMAT,
        "generator": f"symgen {module.version}",
        "robot": module.robot.model.name,
        "prefix": module.name,
        "scalar": c.scalar,
        "trig": c.trig,
        "target": described,
        "functions": {
            f.description.name: _function_row(f) | figures.get(f.description.name, NO_FIGURES)
            for f in printed
        },
        **({"certified": bounds} if bounds else {}),
        **({"scales": scales_by_name(module)} if fixed else {}),
        "files": {
            name: {"bytes": len(text.encode()), "sha256": hashlib.sha256(text.encode()).hexdigest()}
            for name, text in files.items()
        },
    }
    return json.dumps(data, indent=1) + "\n"


NO_FIGURES: Final = {"stack": None, "code": None}


def _function_row(f: CFunction | FixedCode) -> dict[str, Any]:
    program = f.description.program
    if isinstance(program, LoopProgram):
        row = {"operations": counts(program).as_dict(), "literals": 0, "work": 0, "pieces": 1}
        return {"kind": LOOPS_OVER_BODIES, "straight_line": program.straight_line, **row}
    read = {k for i in live_nodes(program) for k in operands(program.nodes[i])}
    read |= {ref.node for out in program.outputs for ref in out.refs if ref is not None}
    return {
        "operations": counts(program).as_dict(),
        "literals": sum(program.nodes[k].op == "const" for k in read),
        "work": f.work,
        "pieces": f.sizes.parts or 1 if isinstance(f, CFunction) else 1,
    }


def _measure(
    module: Module,
    printed: Sequence[CFunction | FixedCode],
    files: Mapping[str, str],
    command: list[str],
) -> Figures:
    with workspace() as work:
        for name, text in files.items():
            if name.endswith((".c", ".h")) and "/" not in name:
                (work / name).write_text(text, encoding="utf-8")
        return {
            f.description.name: measured_sizes(
                f, work, command, TARGETS[module.choices[COptions].target or ""].flags
            )
            for f in printed
        }


def measured_sizes(
    f: CFunction | FixedCode, work: Path, command: list[str], flags: tuple[str, ...]
) -> dict[str, int]:
    """The bytes of stack and code of a function, whose sources are in `work`. Raises
    CompilerError."""
    run = subprocess.run(
        [*command, *REPORT_FLAGS, *flags, "-c", f"{f.full_name}.c"],
        cwd=work,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )
    if run.returncode:
        called = f"{shown(command[0])}, exit status {run.returncode}"
        output = first_error(run.stderr.strip().splitlines())
        raise CompilerError(f"error: the compiler ({called}) failed: {output}")
    stem = work / f.full_name
    object_file = stem.with_suffix(".o")
    sizes = _tool_output([_tool("size", command), object_file.name], object_file).splitlines()[1]
    text, data, *_ = sizes.split()
    usage = stem.with_suffix(".su").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in usage]
    frames = {row[0].rsplit(":", 1)[1]: int(row[1]) for row in rows}
    own = frames.pop(f.full_name, 0)  # with its deepest piece and its sines
    pieces = [size for name, size in frames.items() if re.fullmatch(r"part\d+(\..*)?", name)]
    sines = sum(size for name, size in frames.items() if not name.startswith("part"))
    stack = own + max(pieces, default=0) + sines + _library_stack(object_file, command, flags)
    return {"stack": stack, "code": int(text) + int(data)}


LABEL: Final = re.compile(r"^[0-9a-f]+ <(\S+)>:$")
PUSH_INSTRUCTION: Final = re.compile(r"\t(?:push|stmdb\tsp!,)[.\w]*\s*\{(.*)\}")
STACK_ADJUSTMENT: Final = re.compile(r"\t(?:sub[.\w]*\tsp, (?:sp, )?#|addi?\tsp,sp,-)(\d+)")
CALL_INSTRUCTION: Final = re.compile(r"\t(?:b\w*(?:\.[nw])?|jal?)\t[0-9a-f]+ <([^+>]+)>")


def _library_stack(path: Path, command: list[str], flags: tuple[str, ...]) -> int:
    """A bound of the bytes of stack that the compiler's library needs below a function, such as
    floating point in software: what each of its functions pushes, along the deepest path."""
    if Path(command[0]).name not in (ARM_COMPILER, RISCV_COMPILER):
        return 0
    image = path.with_suffix(".image")
    lenient = ["-Wl,--unresolved-symbols=ignore-all", "-Wl,--no-warnings", "-Wl,-e,0"]
    _tool_output(
        [*command, *flags, "-nostdlib", *lenient, path.name, "-lgcc", "-o", image.name], path
    )
    frames, callees, name = dict[str, int](), dict[str, set[str]](), ""
    for line in _tool_output([_tool("objdump", command), "-d", image.name], path).splitlines():
        if head := LABEL.match(line):
            name = head[1]
            frames[name], callees[name] = 0, set()
        elif name and (found := PUSH_INSTRUCTION.search(line)):
            frames[name] += 4 * len(found[1].split(","))
        elif name and (found := STACK_ADJUSTMENT.search(line)):
            frames[name] += int(found[1])
        elif name and (found := CALL_INSTRUCTION.search(line)) and found[1] != name:
            callees[name].add(found[1])

    def deepest(name: str, above: frozenset[str] = frozenset()) -> int:
        below = callees.get(name, set()) - above
        return frames.get(name, 0) + max((deepest(k, above | {name}) for k in below), default=0)

    own = _tool_output([_tool("nm", command), "--undefined-only", path.name], path).split()
    return max((deepest(name) for name in own if name.startswith("__")), default=0)


def _tool_output(command: list[str], path: Path) -> str:
    """What a program prints about an object file, in its folder."""
    return subprocess.run(
        command, cwd=path.parent, capture_output=True, encoding="utf-8", check=False
    ).stdout


def _tool(name: str, command: list[str]) -> str:
    """The tool that belongs to a compiler."""
    question = [*command, f"-print-prog-name={name}"]
    answer = subprocess.run(
        question, capture_output=True, encoding="utf-8", errors="replace", check=False
    ).stdout.strip()
    return answer if shutil.which(answer) else name
