"""The extension module of ``symgen.compile``: read, traced, written as C, compiled and cached."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from types import ModuleType
from typing import Any

from symgen.jobs.generating import check_effects
from symgen.jobs.job import Job
from symgen.languages.backends.python_extension import SOURCE, compiled_files, extension
from symgen.languages.c.backend import code_files
from symgen.languages.c.calls import build
from symgen.languages.c.options import COMPILE, with_performance_defaults
from symgen.languages.module import Module
from symgen.native.compiler import EXACT, FAST, NATIVE, SAME, CompilerError, workspace
from symgen.native.library import extension_module, include, missing_headers
from symgen.native.store import Compiled, Store, digest, module_name


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
    of_call = replace(job.choices, given=given)  # the options of a robot apply to all calls
    check_effects(replace(job, choices=of_call), [COMPILE])
    loaded = job.load()
    read = None
    if job.given is None:  # the robot of a file, and the options
        flat = job.choices.flat()
        for name in ("actuators", "estimate"):
            flat[name] = flat[name] and loaded.actuators_sha256
        of_file = [PurePath(job.file).name, loaded.sha256, sorted(given), exact]
        with suppress(TypeError):  # values that JSON does not have
            read = digest("robot", environment(), of_file, flat)
    keys = [k for k in (key, read) if k is not None]
    module = next(filter(None, map(store.found, keys)), None)
    if module is None:
        traced = job.module(loaded, in_c=True)
        traced = traced if exact else with_performance_defaults(traced, given)
        try:
            include()
        except CompilerError:
            return _through_cffi(traced, exact)
        module = _built(traced, exact, store, environment)
    data = store.data(module)
    for k in keys if data is not None else ():
        store.answer(k, module.__name__.rpartition(".")[2], data or b"")
    return Compiled.of(module)


def _built(
    module: Module, exact: bool, store: Store, environment: Callable[[], Sequence[Any]]
) -> ModuleType:
    files = {**code_files(module), SOURCE: extension(module)}
    units, flags = [*compiled_files(module)], SAME if exact else FAST
    key = digest("code", environment(), files, units, flags)
    stored = store.found(key)
    if stored is not None:
        return stored
    name = module_name(module.name, key)
    data = extension_module(name, files, units, flags)
    new = store.keep(name, data)
    store.answer(key, name, data)
    return new


def _through_cffi(module: Module, exact: bool) -> Compiled:
    """The functions through cffi, which does not need Python's headers."""
    cost = "until then calls go through cffi, which takes 50 times as long for a state"
    warnings.warn(f"{missing_headers()}; {cost}", stacklevel=4)
    with workspace() as folder:
        for name, text in code_files(module).items():
            (folder / name).write_text(text, encoding="utf-8")
        return build(module, folder, [NATIVE, *EXACT] if exact else FAST)
