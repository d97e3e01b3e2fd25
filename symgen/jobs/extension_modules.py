"""Compiled extension modules of Python: cached ones of ``symgen.compile``, and the package of
``symgen build``, which has generated C, types and a wheel."""

import base64
import hashlib
import io
import os
import sys
import sysconfig
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any, BinaryIO, Final

import numpy as np

from symgen.errors import OptionError
from symgen.jobs.generating import check_effects
from symgen.jobs.job import Job
from symgen.jobs.manifest import NAME, manifest
from symgen.jobs.publish import Mark, OutputFile, publish
from symgen.languages import module_files
from symgen.languages.backends.python import (
    EXTENSION_SOURCE,
    bind_functions,
    comment_text,
    compiled_files,
    extension_source,
    stub_source,
)
from symgen.languages.c.backend import code_files, with_performance_defaults
from symgen.languages.c.checks import build as build_through_cffi
from symgen.languages.c.options import BUILD_COMMAND, COMPILE_FUNCTION, Release
from symgen.languages.conventions import convention_lines
from symgen.languages.describe import coordinate_tables
from symgen.languages.module import Module
from symgen.native.compiler import (
    EXACT,
    FAST,
    NATIVE,
    PORTABLE_EXACT,
    PORTABLE_FAST,
    REPRODUCIBLE,
    CompilerError,
    platform,
    workspace,
)
from symgen.native.library import extension_module, missing_headers, python_headers
from symgen.native.store import SUFFIX, Compiled, Store, digest, module_name
from symgen.reading.assemble import LoadedRobot
from symgen.reading.sources import RobotSource
from symgen.render import render
from symgen.text import cited

Contents = dict[str, str | bytes]


def build(
    robot: RobotSource,
    out: str | os.PathLike[str],
    cflags: str | None = None,
    progress: Callable[[str], None] = lambda step: None,
    exact: bool = False,
    native: bool = False,
    **options: Any,
) -> tuple[Module, LoadedRobot, list[Path]]:
    """Build a package from the robot in a file or an object: ``OUT/NAME`` to be imported, and a
    wheel beside it.

    `options` are those of `symgen.jobs.job.Job.of`. Sines are inline and states computed by
    vectors, unless a function has operations that these cannot do (tanh). By default the package
    runs on all processors of this machine's architecture; with `native` only on those with the
    instructions of this one, which the build tag of the wheel shows and which the package checks
    when it is imported. With `exact` it has the bits that the C has everywhere; `cflags` replaces
    all of these flags.
    Needs a C compiler and Python's headers. Returns the module, the loaded robot and the paths
    written. Raises SymgenError, and then nothing was written."""
    flags = _flags(cflags, exact, native)
    set_options = {k: v for k, v in options.items() if v is not None}
    job = Job.of(robot, **set_options)
    check_effects(job, [BUILD_COMMAND])
    job = job.changed(glue=())
    progress("reading the robot")
    loaded = job.load()
    module = with_performance_defaults(job.module(loaded, progress, in_c=True), set_options)
    sources = module_files(module, ["c"])
    progress("compiling")
    contents: Contents = {
        **sources,
        **compiled_extension(module, sources, flags),
        **interface(module),
    }
    contents[NAME] = manifest(module, contents)
    native_tags = [BUILD_TAG] if NATIVE in flags else []
    tags = [module.name, module[Release].module_version, *native_tags, _tag()]
    wheel = OutputFile(Path(out) / f"{'-'.join(tags)}.whl", Mark("symgen build", _is_our_wheel))
    wheel.check()
    in_wheel = {name: x for name, x in contents.items() if not name.endswith((".c", ".h", ".json"))}
    paths = publish(
        contents, Path(out) / module.name, beside={wheel: _wheel(module, in_wheel, native_tags)}
    )
    return module, loaded, [*paths, wheel.path]


def _flags(text: str | None, exact: bool, native: bool) -> list[str]:
    """The flags of the C compiler. Raises OptionError."""
    if text is None:
        portable = PORTABLE_EXACT if exact else PORTABLE_FAST
        return [*portable, NATIVE] if native else [*portable]
    if exact or native:
        option = "--exact" if exact else "--native"
        raise OptionError(
            f"{option} and --cflags: both set flags of the compiler; remove one of them"
        )
    try:
        return platform().split(text)
    except ValueError as error:
        raise OptionError(f"--cflags {cited(text)}: {error}") from None


def compiled_extension(
    module: Module, sources: Mapping[str, str], cflags: Sequence[str]
) -> dict[str, bytes]:
    """The extension module, name to bytes. Raises CompilerError."""
    files = {**sources, EXTENSION_SOURCE: extension_source(module)}
    name = EXTENSION_SOURCE.removesuffix(".c")
    return {f"{name}{SUFFIX}": extension_module(name, files, [*compiled_files(module)], cflags)}


def interface(module: Module) -> dict[str, str]:
    """The Python side of the package, name to text."""
    docstring = _docstring(module)
    variables = {"module": module, "functions": bind_functions(module), "docstring": docstring}
    return {
        "__init__.py": render("python/package.py.jinja", **variables),
        "__init__.pyi": stub_source(module, docstring),
        "py.typed": "",
    }


def _docstring(module: Module) -> str:
    robot, source = comment_text(module.robot.model.name), comment_text(module.source.file)
    lines = [
        f'"""Compiled dynamics of the robot {robot}, for one state or many.',
        "",
        f"Generated by symgen {module.version} from {source}. Do not edit this file.",
        "You may use it without any condition (license 0BSD).",
        "",
        "Arguments broadcast over leading axes: q has the shape (n,) or (batch, n). Contiguous "
        "arrays of the right",
        "type are read in place; other numbers are converted. `out` receives the results. "
        "`threads` is the number of",
        "threads that share the states; the GIL is released. Functions that need the inverse of M "
        "raise",
        "numpy.linalg.LinAlgError if M is not positive definite or a result is not finite.",
        "",
        *map(comment_text, convention_lines(module)),
        "",
        *coordinate_tables(module, comment_text),
        '"""',
    ]
    return "\n".join(line.rstrip() for line in lines)


# -- the wheel -------------------------------------------------------------------------------------


def _tag() -> str:
    """Python, its binary interface and the platform, as in names of wheels."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{version}-{version}{sys.abiflags}-{platform}"


BUILD_TAG: Final = "1native"
"""The build tag of a wheel for the processor that compiled it; PEP 427 wants a leading digit."""


def _wheel(module: Module, contents: Mapping[str, str | bytes], build: Sequence[str]) -> bytes:
    """The bytes of a wheel of the package (PEP 427) with its `build` tags, the same for the same
    contents."""
    info = f"{module.name}-{module[Release].module_version}.dist-info"
    texts = {
        f"{module.name}/{name}": x if isinstance(x, bytes) else x.encode()
        for name, x in contents.items()
    }
    # A binary made with NumPy 2 also runs with NumPy 1; one made with NumPy 1 does not run with 2.
    numpy = ">=1.26" if int(np.__version__.partition(".")[0]) > 1 else ">=1.26,<2"
    address = module[Release].module_url
    homepage = f"Project-URL: Homepage, {address}\n" if address else ""
    texts[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {module.name}\nVersion: {module[Release].module_version}\n"
        "Summary: Dynamics of a robot, generated by symgen\n"
        "License: 0BSD\n"
        f"{homepage}"
        f"Requires-Python: ==3.{sys.version_info.minor}.*\n"
        f"Requires-Dist: numpy{numpy}\n"
    ).encode()
    lines = ["Wheel-Version: 1.0", GENERATOR_LINE, "Root-Is-Purelib: false", f"Tag: {_tag()}"]
    lines += [f"Build: {tag}" for tag in build]
    texts[f"{info}/WHEEL"] = "\n".join([*lines, ""]).encode()
    digests = {
        name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        for name, data in texts.items()
    }
    rows = [f"{name},sha256={digests[name]},{len(data)}" for name, data in texts.items()]
    texts[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in texts.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return stream.getvalue()


GENERATOR_LINE: Final = "Generator: symgen"


def _is_our_wheel(stream: BinaryIO) -> bool:
    """Whether a file is a wheel of ours."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = [n for n in archive.namelist() if n.endswith(".dist-info/WHEEL")]
            return any(GENERATOR_LINE in archive.read(name).decode() for name in names)
    except (OSError, zipfile.BadZipFile, zlib.error, UnicodeDecodeError, EOFError):
        return False


# -- modules of symgen.compile ---------------------------------------------------------------------


def compiled_job(
    robot: Any,
    quantities: Sequence[Any],
    exact: bool,
    options: Mapping[str, Any],
    store: Store,
    environment: Callable[[], Sequence[Any]],
    key: str | None,
) -> Compiled:
    """The compiled module for the arguments of `symgen.compile`, which `store` also finds by the
    digest `key` of the call from then on. `environment` returns the state of everything else that
    the module depends on. Raises SymgenError."""
    wanted = {"quantities": quantities} if quantities else {}
    job, given = Job.of(robot, **wanted, **options), frozenset(options)
    call_choices = replace(job.choices, given=given)  # the options of a robot apply to all calls
    check_effects(replace(job, choices=call_choices), [COMPILE_FUNCTION])
    loaded = job.load()
    robot_key = None
    if job.given is None:  # the robot of a file, and the options
        flat = job.choices.flat()
        for name in ("actuators", "estimate"):
            flat[name] = flat[name] and loaded.actuators_sha256
        file_key = [PurePath(job.file).name, loaded.sha256, sorted(given), exact]
        with suppress(TypeError):  # values that JSON does not have
            robot_key = digest("robot", environment(), file_key, flat)
    keys = [k for k in (key, robot_key) if k is not None]
    module = next(filter(None, map(store.load, keys)), None)
    if module is None:
        traced = job.module(loaded, in_c=True)
        traced = traced if exact else with_performance_defaults(traced, given)
        try:
            python_headers()
        except CompilerError:
            return _compiled_through_cffi(traced, exact)
        module = _compiled_module(traced, exact, store, environment)
    data = store.read(module)
    for k in keys if data is not None else ():
        store.record(k, module.__name__.rpartition(".")[2], data or b"")
    return Compiled.of(module)


def _compiled_module(
    module: Module, exact: bool, store: Store, environment: Callable[[], Sequence[Any]]
) -> ModuleType:
    files = {**code_files(module), EXTENSION_SOURCE: extension_source(module)}
    sources, flags = [*compiled_files(module)], REPRODUCIBLE if exact else FAST
    key = digest("code", environment(), files, sources, flags)
    stored = store.load(key)
    if stored is not None:
        return stored
    name = module_name(module.name, key)
    data = extension_module(name, files, sources, flags)
    new = store.save(name, data)
    store.record(key, name, data)
    return new


def _compiled_through_cffi(module: Module, exact: bool) -> Compiled:
    """The functions through cffi, which does not need Python's headers."""
    cost = "until then calls go through cffi, which takes 50 times as long for a state"
    warnings.warn(f"{missing_headers()}; {cost}", stacklevel=4)
    with workspace() as folder:
        for name, text in code_files(module).items():
            (folder / name).write_text(text, encoding="utf-8")
        return build_through_cffi(module, folder, [NATIVE, *EXACT] if exact else FAST)
