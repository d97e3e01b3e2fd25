"""The extension module of a job: read, traced, written as C, compiled and kept."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import ModuleType
from typing import Any

from symgen.jobs.generating import check_effects
from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.c.calls import build
from symgen.languages.c.options import COMPILE, with_performance_defaults
from symgen.languages.module import Module
from symgen.languages.python.extension_source import SOURCE, compiled_files, extension
from symgen.native.compiler import EXACT, FAST, NATIVE, SAME, CompilerError, workspace
from symgen.native.library import extension_module, include, missing_headers
from symgen.native.store import Compiled, Store, digest, module_name
from symgen.reading.assemble import LoadedRobot


@dataclass(frozen=True)
class CompileJob:
    """A job whose module is to be compiled; `given` are the names of the options asked for,
    `environment` returns the state of everything else that the module depends on."""

    job: Job
    exact: bool
    given: frozenset[str]
    store: Store
    environment: Callable[[], Sequence[Any]]

    @classmethod
    def of(
        cls,
        robot: Any,
        quantities: Sequence[Any],
        exact: bool,
        options: Mapping[str, Any],
        store: Store,
        environment: Callable[[], Sequence[Any]],
    ) -> "CompileJob":
        """The request that the arguments of `symgen.compile` make. Raises OptionError."""
        wanted = {"quantities": quantities} if quantities else {}
        job = Job.of(robot, **wanted, **options)
        of_call = replace(
            job.choices, given=frozenset(options)
        )  # a robot's options serve all calls
        check_effects(replace(job, choices=of_call), [COMPILE])
        return cls(job, exact, frozenset(options), store, environment)

    def compiled(self, key: str | None) -> Compiled:
        """The compiled module, kept as the answer to a digest too. Raises SymgenError."""
        loaded = self.job.load()
        keys = [k for k in (key, self._read(loaded)) if k is not None]
        module = next(filter(None, map(self.store.found, keys)), None)
        if module is None:
            traced = self._module(loaded)
            try:
                include()
            except CompilerError:
                return _through_cffi(traced, self.exact)
            module = self._built(traced)
        self._remember(keys, module)
        return Compiled.of(module)

    def _read(self, loaded: LoadedRobot) -> str | None:
        """A digest of the robot as it was read from a file and of the options; None for objects."""
        if self.job.given is not None:
            return None
        options = self.job.choices.flat()
        of_options = options | {"actuators": options["actuators"] and loaded.actuators_sha256}
        robot = [
            PurePath(self.job.file).name,
            loaded.sha256,
            sorted(self.given),
            self.exact,
        ]
        try:
            return digest("robot", self.environment(), robot, of_options)
        except TypeError:
            return None

    def _module(self, loaded: LoadedRobot) -> Module:
        module = self.job.module(loaded)
        return module if self.exact else with_performance_defaults(module, self.given)

    def _built(self, module: Module) -> ModuleType:
        files = {**code_files(module), SOURCE: extension(module)}
        units, flags = [*compiled_files(module)], SAME if self.exact else FAST
        key = digest("code", self.environment(), files, units, flags)
        stored = self.store.found(key)
        if stored is not None:
            return stored
        name = module_name(module.name, key)
        data = extension_module(name, files, units, flags)
        new = self.store.keep(name, data)
        self.store.answer(key, name, data)
        return new

    def _remember(self, keys: Sequence[str], module: ModuleType) -> None:
        data = self.store.data(module)
        for key in keys if data is not None else ():
            self.store.answer(key, module.__name__.rpartition(".")[2], data or b"")


def _through_cffi(module: Module, exact: bool) -> Compiled:
    """Without Python's headers: libraries of C can be called all the same."""
    cost = "until then calls go through cffi, which takes 50 times as long for a state"
    sentence = f"{missing_headers()}; {cost}"
    warnings.warn(sentence, stacklevel=4)
    with workspace() as folder:
        for name, text in code_files(module).items():
            (folder / name).write_text(text, encoding="utf-8")
        return build(module, folder, [NATIVE, *EXACT] if exact else FAST)
