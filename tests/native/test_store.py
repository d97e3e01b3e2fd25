"""Kept modules: found again, replaced when anything changed, bounded, safe under races and in the
hands of others."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from symgen.native import store as store_module
from symgen.native.compiler import processor_description
from symgen.native.library import extension_module
from symgen.native.store import SUFFIX, Store, default_cache_dir, digest, module_name
from tests.support.tools import ROOT

SOURCE = """#include <Python.h>
static int Execute(PyObject *m) { return PyModule_AddIntConstant(m, "N", NUMBER); }
static PyModuleDef_Slot Slots[] = {{Py_mod_exec, (void *)Execute}, {0, NULL}};
static struct PyModuleDef Definition = {PyModuleDef_HEAD_INIT, "kept", NULL, 0, NULL, Slots, NULL, NULL, NULL};
PyMODINIT_FUNC INIT(void) { return PyModuleDef_Init(&Definition); }
"""


def module(name, number=1):
    flags = ["-O0", f"-DINIT=PyInit_{name}", f"-DNUMBER={number}"]
    return extension_module(name, {"kept.c": SOURCE}, ["kept.c"], flags)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGEN_CACHE", str(tmp_path / "cache"))
    yield Store.of_user()
    for name in [name for name in sys.modules if name.startswith(f"{store_module.__name__}.t_")]:
        del sys.modules[name]


def test_what_is_kept_is_found(store):
    data = module("t_a", 7)
    assert store.load("key") is None
    made = store.save("t_a", data)
    store.record("key", "t_a", data)
    assert made.N == 7 and store.load("key") is made
    del sys.modules[made.__name__]
    assert store.load("key").N == 7 and store.load("other") is None


@pytest.mark.parametrize("harm", ["bytes", "gone", "no JSON", "no record", "a name of elsewhere"])
def test_what_was_harmed_is_not_loaded(store, harm):
    data = module("t_b")
    store.save("t_b", data)
    store.record("key", "t_b", data)
    for name in [name for name in sys.modules if name.endswith(".t_b")]:
        del sys.modules[name]
    file, record = store.folder / f"t_b{SUFFIX}", store.folder / "key.json"
    said = json.loads(record.read_text())
    file.unlink()  # it is loaded still: never to be written to
    {
        "bytes": lambda: file.write_bytes(data[:-1] + b"!"),
        "gone": lambda: None,
        "no JSON": lambda: record.write_text("{"),
        "no record": lambda: record.write_text("[]"),
        "a name of elsewhere": lambda: record.write_text(json.dumps({**said, "module": "../t_b"})),
    }[harm]()
    if harm.startswith(("no", "a")):
        file.write_bytes(data)
    assert store.load("key") is None


FOREIGN = (
    "measurements.json",
    "libmine.so",
    "notes.txt",
    ".new-york",
    "ur5_robot.so",
    "a" * 39 + ".json",
)
"""Files of the user, with names that resemble those of the store."""


def names_of(k):
    """The name of a module and the key of its record, as `symgen.compile` makes them."""
    key = digest(k)
    return module_name("t_c", key), key


def test_its_size_is_bounded(store, monkeypatch):
    data = module(names_of(0)[0])
    monkeypatch.setattr(store_module, "MAX_CACHE_BYTES", 3 * len(data) + 1000)
    for k in range(5):
        name, key = names_of(k)
        store.save(name, module(name))
        store.record(key, name, data)
        past = time.time() - 100 + k
        os.utime(store.folder / f"{name}{SUFFIX}", (past, past))
        os.utime(store.folder / f"{key}.json", (past, past))
        if k == 2:
            os.utime(store.folder / f"{names_of(0)[0]}{SUFFIX}")  # used since
    left = {path.name.split(".")[0] for path in store.folder.glob(f"*{SUFFIX}")}
    kept = [names_of(k)[0] in left for k in range(5)]
    assert kept[0] and kept[4] and not kept[1] and sum(kept) <= 4


def test_files_of_the_user_are_never_deleted(store, monkeypatch):
    """The user's files are larger than the limit and older than a day, in SYMGEN_CACHE and in the
    store itself."""
    cache, (name, key) = store.folder.parent, names_of("new")
    assert store.folder == cache / store_module.SUBFOLDER
    users = [folder / file for folder in (cache, store.folder) for file in FOREIGN]
    old = store.folder / f"{names_of('old')[0]}{SUFFIX}"
    for path in (*users, old):
        path.write_bytes(b"x" * 5000)
        os.utime(path, (1, 1))
    (store.folder / f"{names_of('folder')[0]}.so").mkdir()
    data = module(name)
    monkeypatch.setattr(store_module, "MAX_CACHE_BYTES", len(data) + 1000)
    store.save(name, data)
    store.record(key, name, data)
    assert all(path.read_bytes() == b"x" * 5000 for path in users)
    assert not old.exists(), "the store deletes its own files"


def test_a_full_disk_leaves_nothing(store, monkeypatch):
    """The write fails at a limit on the size of files, as it does on a full disk."""
    resource = pytest.importorskip("resource", reason="this system has no limits of processes")
    data = module("t_h", 8)
    usual = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            store._write(f"t_h{SUFFIX}", data)
        store.record("key", "t_h" * 1000, data)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, usual)
    assert not [*store.folder.iterdir()]


def test_what_a_killed_process_left_goes_after_a_day(store):
    old, new = store.folder / ".new-old_0000", store.folder / ".new-new_0000"
    for path in (old, new):
        path.write_bytes(b"x")
    os.utime(old, (1, 1))
    store.save("t_d", module("t_d"))
    assert not old.exists() and new.exists()


def test_many_at_once_do_not_disturb_each_other(store):
    data = module("t_e", 5)

    def one(k):
        store.save("t_e", data)
        store.record("key", "t_e", data)
        found = store.load("key")
        return found is not None and found.N

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(one, range(100))) == {5}
    assert {path.name for path in store.folder.iterdir()} == {f"t_e{SUFFIX}", "key.json"}


def test_folders_of_others_are_not_trusted(tmp_path, monkeypatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("SYMGEN_CACHE", str(folder))
    with pytest.warns(UserWarning, match=r"open' is writable by other users; .*SYMGEN_CACHE"):
        assert Store.of_user().folder is None


def test_a_folder_that_cannot_be_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYMGEN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(UserWarning, match="cannot be made"):
        none = Store.of_user()
    data = module("t_f", 3)
    assert none.save("t_f", data).N == 3 and none.load("key") is None
    none.record("key", "t_f", data)


def test_where_modules_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGEN_CACHE", "")
    assert Store.of_user().folder is None
    monkeypatch.delenv("SYMGEN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_cache_dir() == tmp_path / "x" / "symgen" == Store.of_user().folder.parent
    assert (tmp_path / "x" / "symgen").stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_cache_dir() == tmp_path / "home" / ".cache" / "symgen"


def test_a_module_is_imported_by_name_in_other_processes(store):
    store.save("t_g", module("t_g", 9))
    code = f"import {store_module.__name__}.t_g as m; print(m.N)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "9\n", done.stderr


def test_digests_are_of_plain_data():
    assert digest(["a", 1, (2.0, None)], {"b": True, "a": 0}) == digest(
        ["a", 1, [2.0, None]], {"a": 0, "b": True}
    )
    assert digest(1) != digest("1") and digest([1], 2) != digest([1, 2])
    with pytest.raises(TypeError):
        digest(object())


def test_the_processor_is_told():
    assert processor_description() == processor_description() and processor_description().strip()
