"""Compiled robots as objects (`Compiled`), and their modules kept on disk, so that each is compiled
once.

The store is the folder ``compiled-modules`` in ``SYMGEN_CACHE``, or in ``symgen`` in the user's
folder for such files; an empty SYMGEN_CACHE keeps nothing. In it a module is one file, and a
record, named by a digest of all that a module depends on, says which one answers it and what its
bytes are. Files appear whole, by their last name; nothing else is ever changed, so that processes
need not wait for each other. The store deletes only files whose names it makes itself."""

import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final

from symgen.native.compiler import scratch_folder
from symgen.text import reason

CACHE_VARIABLE: Final = "SYMGEN_CACHE"
MAX_CACHE_BYTES: Final = 512 << 20
"""Bytes of all files; beyond it those go that were not used for the longest time."""


SUBFOLDER: Final = "compiled-modules"
"""The folder of the store in the cache folder, which may hold other files of the user."""

TEMPORARY_PREFIX: Final = ".new-"
SECONDS_PER_DAY: Final = 86400.0
SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""How the name of an extension module of this Python ends: its version, ABI and platform."""

KEY_LENGTH: Final = 40
"""Hexadecimal digits of a digest, which names a record."""

ID_LENGTH: Final = 16
"""Hexadecimal digits of a digest at the end of a module's name."""

TEMPORARY_NAME: Final = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}[a-z0-9_]{{8}}")
"""The names that `tempfile` makes for files that are being written."""

STORED_NAME: Final = re.compile(
    rf"[0-9a-f]{{{KEY_LENGTH}}}\.json"
    rf"|[a-z][a-z0-9_]*_[0-9a-f]{{{ID_LENGTH}}}(\.[\w-]+)?\.(so|pyd)"
)
"""The names of records and of modules, also those of other versions of Python."""


def default_cache_dir() -> Path | None:
    """The folder where nothing is said, None for a user without any."""
    name = {"darwin": "Library/Caches", "win32": "AppData/Local"}.get(sys.platform, ".cache")
    folder_of_user = os.environ.get(
        "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", ""
    )
    try:
        folder = Path(folder_of_user) if Path(folder_of_user).is_absolute() else Path.home() / name
    except RuntimeError:
        return None
    return folder / "symgen"


@dataclass(frozen=True)
class Store:
    """The folder of kept modules; None keeps nothing."""

    folder: Path | None

    @classmethod
    def of_user(cls) -> "Store":
        """The store of this user. A folder that others may write to is not used, which is said, as
        is a SYMGEN_CACHE that cannot be: what is loaded from it runs as this user."""
        wanted = os.environ.get(CACHE_VARIABLE)
        if wanted is not None and not wanted.strip():
            return cls(None)
        cache = Path(wanted).absolute() if wanted is not None else default_cache_dir()
        if cache is None:
            return cls(None)
        for folder in (cache, cache / SUBFOLDER):
            problem = _folder_problem(folder)
            if problem:
                if wanted is not None or "others" in problem:
                    sentence = f"compiled modules are not cached (see {CACHE_VARIABLE})"
                    warnings.warn(f"{str(folder)!r} {problem}; {sentence}", stacklevel=3)
                return cls(None)
        return cls(cache / SUBFOLDER)

    def load(self, key: str) -> ModuleType | None:
        """The module that answers a digest, loaded; None where there is none, or its bytes are not
        those that were kept."""
        if self.folder is None:
            return None
        record = self.folder / f"{key}.json"
        try:
            row = json.loads(record.read_bytes())
            name, digest = str(row["module"]), row["sha256"]
            path = self.folder / f"{name}{SUFFIX}"
            if not name.isidentifier() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                return None
            module = load_module(name, path)
        except (OSError, ValueError, KeyError, TypeError, ImportError):
            return None
        for used in (record, path):
            with contextlib.suppress(OSError):
                os.utime(used)
        return module

    def save(self, name: str, data: bytes) -> ModuleType:
        """A module's bytes as an importable module of that name, kept where there is a place."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                path = self._write(f"{name}{SUFFIX}", data)
                self._tidy()
                return load_module(name, path)
        with scratch_folder() as folder:
            path = folder / f"{name}{SUFFIX}"
            path.write_bytes(data)
            return load_module(name, path)

    def record(self, key: str, name: str, data: bytes) -> None:
        """Let a digest be answered by a module that was kept."""
        if self.folder is not None:
            row = {"module": name, "sha256": hashlib.sha256(data).hexdigest()}
            with contextlib.suppress(OSError):
                self._write(f"{key}.json", json.dumps(row).encode())

    def read(self, module: ModuleType) -> bytes | None:
        """The bytes of a kept module, None where they are gone."""
        try:
            return Path(str(module.__file__)).read_bytes()
        except OSError:
            return None

    def _write(self, name: str, data: bytes) -> Path:
        assert self.folder is not None
        number, staged = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=self.folder)
        try:
            with open(number, "wb") as stream:  # noqa: PTH123 (a descriptor, not a path)
                stream.write(data)
            return Path(staged).replace(self.folder / name)
        except OSError:  # such as a full disk, which may show only when the file is closed
            Path(staged).unlink(missing_ok=True)
            raise

    def _tidy(self) -> None:
        """Remove what was not used for the longest time, and what a killed process left."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        for used, size, path in files:
            abandoned = path.name.startswith(TEMPORARY_PREFIX)
            if abandoned and time.time() - used > SECONDS_PER_DAY:
                path.unlink(missing_ok=True)
            elif not abandoned and total > MAX_CACHE_BYTES:
                path.unlink(missing_ok=True)
                total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Last use, size and path of each file that the store made."""
        assert self.folder is not None
        with os.scandir(self.folder) as entries:
            for entry in entries:
                ours = STORED_NAME.fullmatch(entry.name) or TEMPORARY_NAME.fullmatch(entry.name)
                if ours and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, Path(entry.path)


def _folder_problem(folder: Path) -> str:
    """Why a folder, which is made where it is missing, cannot be used; empty where it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, ValueError) as error:
        return f"cannot be made ({reason(error)})"
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return "is writable by other users"
    return "" if os.access(folder, os.W_OK) else "is not writable"


def load_module(name: str, path: Path) -> ModuleType:
    """The extension module of that name in a file, imported; once in a process. Raises
    ImportError."""
    full = f"{__name__}.{name}"
    with _LOADING:
        if full in sys.modules:
            return sys.modules[full]
        spec = importlib.util.spec_from_file_location(full, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path.name} is not an extension module")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[full] = module
    return module


_LOADING: Final = Lock()
"""Two threads would make two modules of one."""


def module_name(name: str, key: str) -> str:
    """The name of the module of a robot called `name` whose digest is `key`."""
    return f"{name}_{key[:ID_LENGTH]}"


def digest(*parts: Any) -> str:
    """A digest of plain data. Raises TypeError for anything else."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


CONSTANTS = ("JOINT_NAMES", "NQ", "NV", "PARAMETERS")
"""What an extension module has beside its functions; the last where parameters are inputs."""


class Compiled:
    """A compiled robot: each generated function is an attribute that takes and returns NumPy
    arrays; `functions` contains them by name.

    Arguments broadcast over leading axes: q has the shape (NQ,) for one state or (..., NQ) for
    many; lists of numbers are accepted. `out` are arrays that receive the results; `threads` is the
    number of threads that share the states. Functions raise ValueError for wrong shapes and
    TypeError for entries that are not real numbers. Functions that need the inverse of the mass
    matrix raise numpy.linalg.LinAlgError if it is not positive definite or a result is not finite.

    `JOINT_NAMES`, `NQ` and `NV` describe the coordinates. With runtime parameters, `PARAMETERS`
    contains the values of the robot's file, ten for each link."""

    functions: Mapping[str, Callable[..., Any]]
    JOINT_NAMES: tuple[str, ...]
    NQ: int
    NV: int

    def __init__(
        self,
        name: str,
        functions: Mapping[str, Callable[..., Any]],
        constants: Mapping[str, Any],
        module: ModuleType | None = None,
    ) -> None:
        self.__dict__.update(functions)
        self.__dict__.update(constants)
        self.__dict__.update(functions=dict(functions), _name=name, _module=module)

    @classmethod
    def of(cls, module: ModuleType) -> "Compiled":
        """The functions of an extension module."""
        constants = {k: getattr(module, k) for k in CONSTANTS if hasattr(module, k)}
        functions = {name: getattr(module, name) for name in module.FUNCTIONS}
        return cls(module.ROBOT, functions, constants, module)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        known = self.__dict__.get("functions", {})
        raise AttributeError(f"this module has no function {name!r}; it has {', '.join(known)}")

    def __repr__(self) -> str:
        return f"<compiled {self._name}: {', '.join(self.functions)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.__dict__["_module"] is None:
            raise TypeError(
                "a robot that was compiled without the headers of Python cannot be pickled; "
                "install them and compile it again"
            )
        return unpickle_compiled, (self.__dict__["_module"].__name__.rpartition(".")[2],)


def unpickle_compiled(name: str) -> Compiled:
    """The compiled robot of a module that was kept: pickles refer to this function."""
    return Compiled.of(importlib.import_module(f"{__name__}.{name}"))


def __getattr__(name: str) -> list[str]:
    """``symgen.native.store.NAME`` is a module that was kept: Python looks for it in the folder of
    the store, so that other processes can unpickle its functions."""
    if name == "__path__":
        folder = Store.of_user().folder
        return [] if folder is None else [str(folder)]
    raise AttributeError(name)
