"""The extension module is called like Python: what is wrong is said, references are given back."""

import importlib
import inspect
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
from numpy.testing import assert_allclose

from symgen.languages.backends.python import EXTENSION_SOURCE, compiled_files, extension_source
from symgen.languages.c.backend import code_files
from symgen.native.compiler import REPRODUCIBLE
from symgen.native.library import extension_module
from tests.support.extensions import VARIANTS, made, same, states
from tests.support.tools import robot_file

Q = [0.1, 0.2]


@pytest.mark.parametrize(
    ("given", "more", "kind", "said"),
    [
        ((Q, Q), {}, TypeError, "inverse_dynamics takes q, qd, qdd, par; qdd is missing"),
        ((Q,) * 5, {}, TypeError, "takes q, qd, qdd, par, not 5 positional arguments"),
        ((Q, Q, Q), {"q": Q}, TypeError, "got q twice"),
        ((Q, Q, Q), {"tau": Q}, TypeError, "has no argument 'tau'; it takes q, qd, qdd, par, out"),
        (([0.1], Q, Q), {}, ValueError, r"q must have 2 entries along its last axis, not .*\(1,\)"),
        ((0.1, Q, Q), {}, ValueError, r"q must have 2 entries along its last axis, not .*\(\)"),
        ((Q, np.array(Q) + 0j, Q), {}, TypeError, "qd is complex, but compiled C computes"),
        ((Q, ["a", "b"], Q), {}, TypeError, "qd has entries of type <U1"),
        ((Q, [None, 0.0], Q), {}, TypeError, "qd has entries of type object"),
        ((Q, np.array(["2020"] * 2, "M8[s]"), Q), {}, TypeError, "qd has entries of type datetime"),
        ((Q, [[0.1], Q], Q), {}, ValueError, "inhomogeneous"),
        ((Q, [1.0, 10**400], Q), {}, TypeError, "qd has entries of type object"),
        ((np.ones((3, 2)), np.ones((4, 2)), Q), {}, ValueError, "q, qd, qdd, par do not broadcast"),
        ((Q, Q, Q), {"out": np.zeros(3)}, ValueError, r"out for tau must be .* shape \(2,\)"),
        ((Q, Q, Q), {"out": np.zeros((2, 2))[:, 0]}, ValueError, "out for tau must be a writable"),
        ((Q, Q, Q), {"out": np.zeros(2, "f4")}, ValueError, "C-contiguous float64 array"),
        ((Q, Q, Q), {"out": Q}, ValueError, "out must be tau, not 2 arrays"),
        ((Q, Q, Q), {"out": 1}, ValueError, "out for tau must be"),
        ((Q, Q, Q), {"threads": 0}, ValueError, "threads must be a number .*, not 0"),
        ((Q, Q, Q), {"threads": 1.5}, ValueError, "threads must be a number .*, not 1.5"),
        ((Q, Q, [0.0, np.inf]), {}, np.linalg.LinAlgError, "not finite, in 1 state$"),
        (([Q] * 3, Q, [0.0, np.inf]), {}, np.linalg.LinAlgError, "in 3 states"),
    ],
)
def test_what_is_wrong_is_said(given, more, kind, said):
    package = made("exact")[0]
    name = "forward_dynamics" if kind is np.linalg.LinAlgError else "inverse_dynamics"
    with pytest.raises(kind, match=said.replace("inverse_dynamics", name)):
        if len(given) < 3 or len(given) > 4:
            getattr(package, name)(*given, **more)
        else:
            getattr(package, name)(*given, states("exact")[3], **more)


def test_references_are_given_back():
    """Whatever way a call goes, nothing is held afterwards."""
    package = made("exact")[0]
    q, qd, x, par = states("exact")
    odd = [q[:40], np.asfortranarray(q[:40]), q[0], q[0].tolist(), q[:40, None], q[::-1][:40]]
    given = [*odd, np.zeros(3), np.array(["a", "b"]), np.array(Q) + 1j]
    out = np.empty(2)
    for a in given:
        count = sys.getrefcount(a)
        for more in ({}, {"threads": 2}, {"out": out}, {"out": (out,)}, {"out": 3}, {"nope": 1}):
            for _ in range(3):
                try:
                    package.inverse_dynamics(a, qd[0], x[0], par, **more)
                    package.sum(a, qd[0], par, out=(out, np.empty((2, 2))))
                except (ValueError, TypeError):
                    pass
        assert sys.getrefcount(a) == count
    assert sys.getrefcount(out) == 2
    kind = np.dtype(float)
    before = sys.getrefcount(kind)
    for _ in range(1000):
        package.inverse_dynamics(q[0], qd[0], x[0], par)
        package.inverse_dynamics(q[:3], qd[0], x[0].tolist(), par)
        with pytest.raises(np.linalg.LinAlgError):
            package.forward_dynamics(q[:3], qd[0], x[0], -par)
    assert abs(sys.getrefcount(kind) - before) < 10


def test_functions_are_real_ones():
    package = made("exact")[0]
    function = package.inverse_dynamics
    assert str(inspect.signature(function)) == "(q, qd, qdd, par, *, out=None, threads=1)"
    assert function.__doc__.startswith("tau = ") and "joint positions" in function.__doc__
    assert (function.__name__, function.__module__) == ("inverse_dynamics", "arm_exact")
    assert pickle.loads(pickle.dumps(function)) is function
    assert {*package.FUNCTIONS} == {"regroup", "inverse_dynamics", "forward_dynamics", "sum", "gravity"}  # fmt: skip
    assert {*package.FUNCTIONS} < {*dir(package)} and package.NQ == package.NV == 2
    given = dict(zip(("q", "qd", "qdd", "par"), states("exact"), strict=True))
    assert same(function(**given), function(*given.values()))


@pytest.mark.parametrize(
    "command",
    # What clang warns of does not depend on what it makes of the code, as with gcc.
    [["gcc", "-O1", "-c", "-o", "x.o"], ["clang", "-fsyntax-only"]],
    ids=lambda command: command[0],
)
def test_the_c_of_the_extension_has_no_warnings(command, tmp_path):
    """Also as C++ people compile it, with NumPy's headers as the system's."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-Wno-psabi"]
    flags += ["-isystem", sysconfig.get_path("include"), "-isystem", np.get_include()]
    for which in VARIANTS:
        module = made(which)[2]
        folder = tmp_path / which
        folder.mkdir()
        for name, text in {
            **code_files(module),
            EXTENSION_SOURCE: extension_source(module),
        }.items():
            (folder / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [*command, *flags, EXTENSION_SOURCE],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[:3000]


def test_without_vectors_states_are_computed_one_by_one(tmp_path):
    """Where a function has no vector form, the loop over states is the extension's own."""
    from symgen.jobs.job import Job

    job = Job.of(robot_file("pendulum"), quantities=("inverse_dynamics",), zeros="once")
    module = job.module(job.load())
    files = {**code_files(module), EXTENSION_SOURCE: extension_source(module)}
    library = extension_module("alone", files, [*compiled_files(module)], REPRODUCIBLE)
    path = tmp_path / f"alone{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    path.write_bytes(library)
    spec = importlib.util.spec_from_file_location("alone", path)
    code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    one = made("exact")[1]
    q, qd, x, par = states("exact")
    assert code.WIDTH == 1 and re.match(
        r"\(q, qd, qdd", str(inspect.signature(code.inverse_dynamics))
    )
    got = code.inverse_dynamics(q, qd, x, threads=3)
    assert_allclose(got, one.inverse_dynamics(q, qd, x, par), rtol=1e-12, atol=1e-13)
    out = np.full_like(got, np.nan)
    assert same(code.inverse_dynamics(q, qd, x, out=out), got)


def test_results_must_not_overlap():
    package = made("exact")[0]
    q, qd, _, par = states("exact")
    room = np.zeros(7)
    before = sys.getrefcount(room)
    with pytest.raises(ValueError, match="must not overlap that of another"):
        package.sum(q[0], qd[0], par, out=(room[:2], room[1:5].reshape(2, 2)))
    assert sys.getrefcount(room) == before and not room.any()
    package.sum(q[0], qd[0], par, out=(room[:2], room[2:6].reshape(2, 2)))
    assert room.any()
    empty = np.zeros((0, 2)), np.zeros((0, 2, 2))
    assert package.sum(q[:0], qd[:0], par, out=empty)[0] is empty[0]
