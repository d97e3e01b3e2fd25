"""A Python package with compiled batch functions (``symgen build``): generated C behind cffi, and a
wheel of it."""

import base64
import hashlib
import io
import os
import shlex
import sys
import sysconfig
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, BinaryIO, Final

from cffi import FFI

from symgen.errors import OptionError
from symgen.jobs.files import files
from symgen.jobs.job import Job
from symgen.jobs.manifest import NAME, manifest
from symgen.jobs.publish import publish
from symgen.jobs.targets import Mark, Target
from symgen.languages.c.lanes import batch_functions
from symgen.languages.c.options import COptions
from symgen.languages.conventions import conventions
from symgen.languages.describe import Description, tables
from symgen.languages.module import Module
from symgen.languages.python.files import comment
from symgen.languages.release import Release
from symgen.native.compiler import CompilerError, run_compiler, workspace
from symgen.native.library import quiet
from symgen.reading.assemble import Loaded
from symgen.render import render

CFLAGS: Final = "-O2 -march=native -ffp-contract=off"
"""For this machine, and the same bits as the functions for one state have everywhere."""

LINK: Final = {"darwin": ("-undefined", "dynamic_lookup")}
"""By platform: what a compiler needs to be told to leave Python's functions open."""

Contents = dict[str, str | bytes]


def build(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    cflags: str = CFLAGS,
    progress: Callable[[str], None] = lambda step: None,
    **options: Any,
) -> tuple[Module, Loaded, list[Path]]:
    """Build a package from the robot in a URDF file: ``OUT/NAME`` to be imported, and a wheel
    beside it.

    `options` are those of `symgen.jobs.job.Job.of`. Needs a C compiler and Python's
    headers. Returns the module, the loaded robot and the paths written. Raises SymgenError, and
    then nothing was written."""
    flags = _flags(cflags)
    given: dict[str, Any] = {"batch": "auto"} | {k: v for k, v in options.items() if v is not None}
    job = Job.of(os.fspath(file), **given, trig="inline", glue=())
    progress("reading the robot")
    loaded = job.load()
    progress("tracing its dynamics")
    module = job.module(loaded)
    sources = files(module, ["c"])
    progress("compiling")
    made: Contents = {**sources, **extension(module, sources, flags), **interface(module)}
    made[NAME] = manifest(module, {name: text for name, text in made.items() if name != NAME})
    wheel = Target(Path(out) / _wheel_name(module), Mark("symgen build", _is_ours))
    wheel.check()
    held = {name: x for name, x in made.items() if not name.endswith((".c", ".h", ".json"))}
    paths = publish(made, Path(out) / module.name, beside={wheel: _wheel(module, held)})
    return module, loaded, [*paths, wheel.path]


def _flags(text: str) -> list[str]:
    """Flags as a shell would part them. Raises OptionError."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise OptionError(f"--cflags {text!r}: {error}") from None


def extension(
    module: Module, sources: Mapping[str, str], cflags: Sequence[str]
) -> dict[str, bytes]:
    """The extension module, name to bytes. Raises CompilerError."""
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        raise CompilerError(
            "error: Python.h is missing; install the headers of this Python (python3-dev)"
        )
    library = f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    with workspace() as work:
        for name, text in sources.items():
            (work / name).write_text(text, encoding="utf-8")
        with redirect_stdout(io.StringIO()):  # it tells what it writes
            _cffi(module).emit_c_code(str(work / "_native.c"))
        own = [name for name in sources if name.endswith(".c") and not name.endswith("_selftest.c")]
        run_compiler(
            [
                *cflags,
                "-fPIC",
                "-shared",
                *quiet(cflags),
                f"-I{include}",
                "-I.",
                "_native.c",
                *own,
                *LINK.get(sys.platform, ()),
                "-o",
                library,
            ],
            work,
        )
        return {library: (work / library).read_bytes()}


def _cffi(module: Module) -> Any:
    ffi, name = FFI(), module.name
    signatures = [f.rows_signature for f in batch_functions(module)]
    ffi.cdef(
        "; ".join(
            [
                f"typedef {module[COptions].scalar} {name}_real",
                f"int {name}_batch_width(void)",
                *signatures,
                "",
            ]
        )
    )
    ffi.set_source(f"{name}._native", f'#include "{name}_batch.h"')
    return ffi


def interface(module: Module) -> dict[str, str]:
    """The Python side of the package, name to text."""
    batches = batch_functions(module)
    notes = {f.d.name: _note(f.d) for f in batches}
    given = {
        "module": module,
        "c": module[COptions],
        "batches": batches,
        "notes": notes,
        "docstring": _docstring(module),
    }
    names = {"__init__.py": "package", "_arrays.py": "package_arrays"}
    return {
        name: render(f"python/{template}.py.jinja", **given) for name, template in names.items()
    }


def _docstring(module: Module) -> str:
    robot, source = comment(module.robot.model.name), comment(module.source.file)
    lines = [
        f'"""Dynamics of the robot {robot}, compiled, for many states at once.',
        "",
        f"Generated by symgen {module.version} from {source}; do not edit. It belongs to you, "
        f"the user of symgen,",
        "without any condition (0BSD).",
        "",
        "Arguments broadcast over leading axes: q may be one state or have shape (batch, n). "
        "Arrays of the right",
        "type whose entries lie side by side are read in place. `out` takes the results; "
        "`threads` share the states,",
        "and the GIL is released. What needs the inverse of M raises numpy.linalg.LinAlgError "
        "where that is not",
        "positive definite or a result not finite.",
        "",
        *map(comment, conventions(module)),
        "",
        *tables(module, comment),
        '"""',
    ]
    return "\n".join(line.rstrip() for line in lines)


def _note(d: Description) -> str:
    rows = [
        f"{a.direction:3}  {a.name}  [..., {a.extent.replace(' x ', ', ')}]  {a.meaning}  "
        f"[{a.unit}]"
        for a in d.arguments
    ]
    return "\n".join([f'"""{comment("; ".join(d.formulas))}', "", *map(comment, rows), '"""'])


# -- the wheel -------------------------------------------------------------------------------------


def _tag() -> str:
    """Python, its binary interface and the platform, as in names of wheels."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{version}-{version}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _wheel_name(module: Module) -> str:
    return f"{module.name}-{module[Release].module_version}-{_tag()}.whl"


def _wheel(module: Module, contents: Mapping[str, str | bytes]) -> bytes:
    """The bytes of a wheel of the package (PEP 427), the same for the same contents."""
    info = f"{module.name}-{module[Release].module_version}.dist-info"
    held = {
        f"{module.name}/{name}": x if isinstance(x, bytes) else x.encode()
        for name, x in contents.items()
    }
    held[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {module.name}\nVersion: {module[Release].module_version}\n"
        "Summary: Dynamics of a robot, generated by symgen\nRequires-Dist: numpy\nRequires-Dist: "
        "cffi\n"
    ).encode()
    held[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\n{OURS}\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    )
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in held.items()]
    held[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return stream.getvalue()


OURS: Final = "Generator: symgen"


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def _is_ours(stream: BinaryIO) -> bool:
    """Whether a file is a wheel of ours."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = [n for n in archive.namelist() if n.endswith(".dist-info/WHEEL")]
            return any(OURS in archive.read(name).decode() for name in names)
    except (OSError, zipfile.BadZipFile, zlib.error, UnicodeDecodeError, EOFError):
        return False
