"""What tests make is made once: kept on disk by the digest of all that it is made from.

Workers share it, and so do runs as long as nothing changes. It lies in build/tests, which `make
clean` removes; digests that are no longer asked for are removed when a new one comes."""

import copyreg
import fcntl
import hashlib
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STORE = Path(os.environ.get("SYMGEN_TEST_STORE", ROOT / "build" / "tests"))
KEPT = 3
"""So many states of the sources keep what was made from them."""


def _proxy(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


copyreg.pickle(MappingProxyType, lambda proxy: (_proxy, (dict(proxy),)))


@cache
def sources() -> Path:
    """The folder for what is made from the sources as they are."""
    digest = hashlib.sha256()
    for folder, pattern in (("symgen", "*.py"), ("templates", "*.jinja"), ("robots", "*.urdf")):
        for path in sorted((ROOT / folder).rglob(pattern)):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    folder = STORE / digest.hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    for old in sorted(STORE.iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        if old.is_dir() and not old.name.startswith("compiled"):
            shutil.rmtree(old, ignore_errors=True)
    return folder


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time for what is kept at that path."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(key: object, make: Callable[[Path], Any]) -> tuple[Any, Path]:
    """What `make` returns of an empty folder that it fills, and the folder: made once for `key`."""
    name = hashlib.sha256(repr(key).encode()).hexdigest()[:20]
    folder, value = sources() / name, sources() / f"{name}.pickle"
    with alone(value):
        if not value.exists():
            shutil.rmtree(folder, ignore_errors=True)
            made = make(folder)
            value.write_bytes(pickle.dumps(made, 5))
            return made, folder
    return pickle.loads(value.read_bytes()), folder
