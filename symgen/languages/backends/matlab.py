"""MATLAB: how it is written, and the files of a package, of a MEX gateway and of an S-function.
Octave verifies the functions and the gateway."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from symgen.languages.backends import TextBackend
from symgen.languages.c.backend import functions as c_functions
from symgen.languages.c.backend import sources
from symgen.languages.c.options import COptions
from symgen.languages.c.printed_function import CFunction
from symgen.languages.conventions import (
    IndexConvention,
    basic_conventions,
    bullets,
    gravity_sentence,
)
from symgen.languages.describe import FunctionDescription, descriptions, reference_examples
from symgen.languages.dialect import Dialect, operation_table
from symgen.languages.external_runner import ExternalRunner, compare_with_run, run_program
from symgen.languages.module import Module
from symgen.languages.verification import Check, VerificationTarget
from symgen.native.compiler import platform
from symgen.native.library import read_sources
from symgen.render import render
from symgen.text import in_ascii

MAX_NAME_LENGTH: Final = 63
"""Characters of a name; MATLAB cuts what is longer (namelengthmax)."""

MATLAB_INDEXING: Final = IndexConvention(
    "Vectors are columns. Indices begin with 1, and entry (i, j) of a matrix is M(i, j).",
    "{array}({index})",
    1,
)


def files(module: Module) -> dict[str, str]:
    """The package of functions, the gateway and the S-function with what both read, and what
    compiles them."""
    matlab = matlab_backend(module)
    folder, inner = f"{module.name}_matlab", f"+{package_name(module.name)}"
    context = matlab.context(module) | {
        "package": package_name(module.name),
        "word": short_name,
        "meaning": bullets([*basic_conventions(module, MATLAB_INDEXING), gravity_sentence(module)]),
        "c": module[COptions],
        "c_functions": [c_function_row(f) for f in c_functions(module)],
        "sources": sources(module),
    }
    texts = {
        f"{inner}/{file}.m": render(f"matlab/{file}.m.jinja", **context)
        for file in ("Contents", "joint_names")
    }
    tests = reference_examples(module, descriptions(module))
    texts[f"{inner}/selftest.m"] = render("matlab/selftest.m.jinja", **context, tests=tests)
    if module.regroup is not None:
        texts[f"{inner}/parameters.m"] = render("matlab/parameters.m.jinja", **context)
    for a in context["layouts"]:
        texts[f"{inner}/{a.name.lower()}_index.m"] = render("matlab/index.m.jinja", a=a)
    for d in context["functions"]:
        variables = {**context, "function": with_short_names(d), "body": context["bodies"][d.name]}
        texts[f"{inner}/{short_name(d.name)}.m"] = render("matlab/function.m.jinja", **variables)
    for end in ("table.h", "mex.c", "sfun.c", "build.m"):
        texts[f"{module.name}_{end}"] = render(f"matlab/{end}.jinja", **context)
    return {f"{folder}/{name}": text for name, text in texts.items()}


def c_function_row(f: CFunction) -> dict[str, Any]:
    """A C function as a row of the table that the gateway and the S-function have."""
    ins = f.description.ins
    arrays = {a.name: f"in[{k}]" for k, a in enumerate(ins)}
    arrays |= {a.name: f"out[{k}]" for k, a in enumerate(f.outputs)}
    arrays |= {a.name: "work" for a in f.arguments if a.direction == "work"}
    return {
        "name": f.description.name,
        "full_name": f.full_name,
        "ins": ins,
        "outs": f.outputs,
        "inputs": len(ins),
        "results": len(f.outputs),
        "work": f.work,
        "fails": int(bool(f.description.pivots)),
        "call": [arrays[a.name] for a in f.arguments],
        "unwritten": [(k, a.size) for k, a in enumerate(f.outputs) if a in f.caller_zeroed],
        "padded": {
            a.name: ", ".join(map(str, (*a.sizes, 1, 1)[:3])) for a in f.description.arguments
        },
    }


def package_name(module: str) -> str:
    """The name of the package, which no function of MATLAB and hardly a variable has."""
    return short_name(f"{module}_robot")


def short_name(name: str) -> str:
    """A name that MATLAB does not cut."""
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[: MAX_NAME_LENGTH - 9]}_{sha256(name.encode()).hexdigest()[:8]}"


def with_short_names(d: FunctionDescription) -> FunctionDescription:
    """A function with names of arguments that MATLAB does not cut."""
    return replace(d, arguments=tuple(replace(a, name=short_name(a.name)) for a in d.arguments))


def comment_text(text: str) -> str:
    """`text` for a comment: printable ASCII that is no directive; the rest is escaped."""
    return in_ascii(text, "(U+{:x})", "%#{}")


def string_literal(name: str) -> str:
    """`name` as a character vector, in plain ASCII; what is more from its bytes in UTF-8."""
    if name.isascii() and name.isprintable():
        return "'" + name.replace("'", "''") + "'"
    codes = " ".join(map(str, name.encode("utf-8", "surrogatepass")))
    return f"native2unicode(uint8([{codes}]), 'UTF-8')"


def matlab_backend(module: Module) -> TextBackend:
    """How the functions of a module are written: entries of matrices by row and column."""
    sizes = {a.name: a.sizes for d in descriptions(module) for a in d.ins}
    dialect = Dialect(
        operations=operation_table(lambda op: f"{op.name}({{a}})"),
        literal=repr,
        input=lambda array, k: entry_text(array, sizes[array], k),
        declare="{name}",
        entry=entry_text,
    )
    return TextBackend(
        dialect,
        comment_text,
        string_literal,
        "% {}",
        chain_assignments=False,
        entries=MATLAB_INDEXING,
    )


def entry_text(array: str, shape: tuple[int, ...], k: int) -> str:
    """An entry of an array that is numbered row-major from 0: ``M(1, 2)``."""
    places: list[int] = []
    for size in reversed(shape):
        k, place = divmod(k, size)
        places.append(place + 1)
    return f"{short_name(array)}({', '.join(map(str, reversed(places)))})"


OCTAVE_COMMAND: Final = ("octave-cli", "--norc", "--no-history", "--quiet")
MAX_PROCESS_OPERATIONS: Final = 1_000_000
"""Operations of functions in all states that one process of Octave runs before the next is started;
it needs some 10 s for them."""

GATEWAY_FLAGS: Final = ("-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def _run_in_octave(
    folder: Path, module: Module, functions: Sequence[FunctionDescription], states: int, start: str
) -> None:
    """Runs functions, several in one process of Octave, which takes long to start: `start` is the
    text before the arguments of a call, with the name of the function as ``{}``."""
    total, groups = 0, defaultdict[int, list[str]](list)
    for function in module.functions:
        groups[total // MAX_PROCESS_OPERATIONS].append(function.name)
        total += states * function.counts.total
    for names in groups.values():
        calls = [
            (with_short_names(d), start.format(short_name(d.name)))
            for d in functions
            if d.name in names
        ]
        driver = render("matlab/driver.m.jinja", calls=calls)
        (folder / "driver.m").write_text(driver, encoding="ascii")
        run_program([*OCTAVE_COMMAND, "driver.m"], folder)


def _run_functions(
    target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
) -> None:
    _copy_files(target, folder, ".m")
    start = f"{package_name(target.module.name)}.{{}}("
    _run_in_octave(folder, target.module, functions, len(target.states), start)


def _run_gateway(
    target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
) -> None:
    name = target.module.name
    _copy_files(target, folder, ".c", ".h")
    for file, text in read_sources(target.folder, sources(target.module)).items():
        (folder / file).write_text(text, encoding="utf-8")
    units = [*sources(target.module), f"{name}_mex.c"]
    flags = [*platform().position_independent, *GATEWAY_FLAGS]
    command = ["mkoctfile", "--mex", *units, "--output", f"{name}_mex.mex"]
    run_program(command, folder, environment={"CFLAGS": " ".join(flags)})
    start = f"{name}_mex('{{}}', "
    _run_in_octave(folder, target.module, functions, len(target.states), start)


def _copy_files(target: VerificationTarget, folder: Path, *ends: str) -> None:
    """The files of the language with these ends, without the folder that they are in."""
    for name in target.hashes:
        top, _, path = name.partition("/")
        if top == f"{target.module.name}_matlab" and path.endswith(ends):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes((target.folder / name).read_bytes())


FUNCTION_RUNNER: Final = ExternalRunner("Octave", OCTAVE_COMMAND[:1], _run_functions)
GATEWAY_RUNNER: Final = ExternalRunner(
    "MEX", ("mkoctfile", *OCTAVE_COMMAND[:1]), _run_gateway, compare_with_run
)


def checks(target: VerificationTarget, progress: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the functions of a folder and, where the C is beside it, of the gateway."""
    yield from FUNCTION_RUNNER.checks(target, progress)
    if f"{target.module.name}.h" in target.hashes:
        yield from GATEWAY_RUNNER.checks(target, progress)
