"""Extension modules of CPython: C sources made into a file that Python imports."""

import os
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from symgen.native.compiler import CompilerError, run_tuned, workspace
from symgen.native.library import quiet
from symgen.native.platforms import platform
from symgen.native.store import SUFFIX


def missing_headers() -> str:
    """The message for a Python without its headers."""
    return f"Python.h is missing; {platform().headers_advice}"


def include() -> Path:
    """The folder of Python's headers. Raises CompilerError where they are not installed."""
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").is_file():
        raise CompilerError(f"error: {missing_headers()}")
    return folder


def extension_module(
    name: str, files: Mapping[str, str], units: Sequence[str], flags: Sequence[str]
) -> bytes:
    """An extension module of that name (its last part) made of C files.

    `files` are name to text, headers too, `units` those that are compiled, several at a time, with
    `flags`; one of them defines ``PyInit_`` and the macro EXTENSION, which is the name. Raises
    CompilerError."""
    system = platform()
    headers = [f"-I{include()}", f"-I{np.get_include()}", "-I."]
    with workspace() as folder:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")

        def one(unit: str) -> str:
            named = [f"-DEXTENSION={name}"] if "EXTENSION" in files[unit] else []
            common = [*flags, *system.position_independent, *headers, *named]
            run_tuned([*common, "-c", unit, "-o", f"{unit}.o"], folder)
            return f"{unit}.o"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = [*pool.map(one, units)]
        library = f"{name}{SUFFIX}"
        link = [*flags, "-shared", *quiet(flags), *objects]
        link += [*system.extension_links(), *system.math_library]
        run_tuned([*link, "-o", library], folder)
        return (folder / library).read_bytes()
