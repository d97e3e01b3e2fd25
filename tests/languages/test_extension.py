"""The extension module: one state or many, in whatever arrays, with the bits of the C."""

import importlib
import inspect
import pickle
import re
import subprocess
import sys
import threading
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from store import kept
from tools import robot_file

from symgen.jobs.package import build as build_package
from symgen.languages.c.calls import build
from symgen.languages.python.extension import SOURCE, compiled_files, extension
from symgen.native.compiler import SAME
from symgen.native.extension import extension_module

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "sum=bias+mass_matrix", "gravity")
VARIANTS = {
    "exact": {"exact": True, "parameters": "runtime"},
    "fast": {"parameters": "runtime"},
    "float": {"exact": True, "parameters": "runtime", "scalar": "float"},
}
N = 1000


@cache
def made(which):
    """A package, and its functions of single states by another way."""
    options = {"quantities": QUANTITIES, "prefix": f"arm_{which}", **VARIANTS[which]}

    def make(folder):
        return build_package(robot_file("pendulum"), folder, **options)[0]

    module, folder = kept(("extension", which, sorted(options.items())), make)
    sys.path.insert(0, str(folder))
    try:
        package = importlib.import_module(module.name)
    finally:
        sys.path.remove(str(folder))
    return package, build(module, folder / module.name), module


@cache
def states(which):
    rng = np.random.default_rng(0)
    dtype = np.float32 if which == "float" else np.float64
    q, qd, x = rng.uniform(-1, 1, (3, N, 2)).astype(dtype)
    ten = [x for ten in made(which)[0].PARAMETERS.values() for x in ten]
    return q, qd, x, made(which)[0].regroup(ten)


def same(got, wanted):
    return got.dtype == wanted.dtype and got.shape == wanted.shape and (got == wanted).all()


exactly = pytest.mark.parametrize("which", ["exact", "float"])


@exactly
def test_the_bits_are_those_of_the_c(which):
    package, one, _ = made(which)
    q, qd, x, par = states(which)
    wanted = one.inverse_dynamics(q, qd, x, par)
    for n in (1, 2, 7, N):
        assert same(package.inverse_dynamics(q[:n], qd[:n], x[:n], par), wanted[:n])
    assert same(package.inverse_dynamics(q[3], qd[3], x[3], par), wanted[3])
    for got, right in zip(package.sum(q, qd, par), one.sum(q, qd, par), strict=True):
        assert same(got, right)
    for got, right in zip(package.sum(q[5], qd[5], par), one.sum(q[5], qd[5], par), strict=True):
        assert same(got, right)


def test_fast_code_is_as_near_as_rounding_allows():
    package, one, _ = made("fast")
    q, qd, x, par = states("fast")
    for name in ("inverse_dynamics", "forward_dynamics"):
        got = getattr(package, name)(q, qd, x, par)
        assert_allclose(got, getattr(one, name)(q, qd, x, par), rtol=1e-12, atol=1e-13)
        alone = [getattr(package, name)(*row, par) for row in zip(q, qd, x, strict=True)]
        assert_allclose(got, alone, rtol=1e-12, atol=1e-13)


def test_sines_of_fast_code_are_right():
    """Products that are fused leave the reduction of angles to a quarter turn as exact as it is."""
    package, one, _ = made("fast")
    rng = np.random.default_rng(1)
    par = states("fast")[3]
    q = rng.uniform(-60000, 60000, (N, 2))
    zero = np.zeros(2)
    got, wanted = (code.inverse_dynamics(q, zero, zero, par) for code in (package, one))
    assert_allclose(got, wanted, rtol=0, atol=1e-14 * np.abs(wanted).max())


# -- whatever arrays ------------------------------------------------------------------------------


def every_form(x):
    """The same numbers otherwise laid out, typed and wrapped."""
    wide = np.repeat(x, 2, -1)
    yield from (np.asfortranarray(x), wide[..., ::2], x[::-1][::-1], x.astype(np.longdouble))
    yield x.astype(x.dtype.newbyteorder())
    yield np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    yield x.tolist()
    yield tuple(map(tuple, x.tolist())) if x.ndim > 1 else tuple(x.tolist())
    yield [*x]
    yield x.view(type("Own", (np.ndarray,), {}))
    frozen = x.copy()
    frozen.flags.writeable = False
    yield frozen


@exactly
@pytest.mark.parametrize("rows", [0, slice(5), slice(0), slice(9, None, -3)])
def test_arrays_of_every_layout_and_type(which, rows):
    package, one, _ = made(which)
    q, qd, x, par = (a[rows] if a.ndim > 1 else a for a in states(which))
    wanted = one.inverse_dynamics(q, qd, x, par)
    for k, form in enumerate(every_form(qd)):
        if rows != slice(0) or not isinstance(form, list | tuple):
            assert same(package.inverse_dynamics(q, form, x, par), wanted), k


def test_whole_numbers_and_smaller_types():
    package, one, _ = made("exact")
    par = states("exact")[3]
    wanted = one.inverse_dynamics([1.0, 2.0], [0.0, 1.0], [-3.0, 0.0], par)
    for form in (
        ([1, 2], (0, 1.0), [-3, 0.0]),
        (np.array([1, 2], np.int8), np.array([False, True]), np.array([-3, 0], np.float16)),
        (np.array([1, 2], np.uint64), np.array([0, 1], ">i4"), np.array([-3, 0], np.float32)),
        ([np.float64(1), np.int32(2)], [False, True], (-3.0, 0)),
    ):
        assert same(package.inverse_dynamics(*form, par), wanted)


def test_leading_axes_broadcast():
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    for given in (
        (q[:12].reshape(3, 1, 4, 2), qd[:4], x[0]),
        (q[0], qd[:6].reshape(6, 1, 2), x[:5]),
        (q[:1], qd[:3], x[:3, None]),
        (np.broadcast_to(q[0], (4, 3, 2)), qd[:3], x[0]),
        (q[:24].reshape(2, 3, 4, 2).transpose(2, 1, 0, 3), qd[0], x[:2]),
        (q[:0], qd[0], x[0]),
    ):
        assert same(package.inverse_dynamics(*given, par), one.inverse_dynamics(*given, par))


def test_rows_of_a_wider_table_are_read_in_place():
    """No time is taken; but the memory that a copy would need is not there."""
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    wide = np.concatenate([q, qd, x], 1)
    given = wide[::3, :2], wide[::3, 2:4], wide[::3, 4:]
    assert same(package.inverse_dynamics(*given, par), one.inverse_dynamics(*given, par))


# -- out, threads ---------------------------------------------------------------------------------


def test_results_go_where_they_are_wanted():
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    wanted = one.inverse_dynamics(q, qd, x, par)
    for rows in (slice(None), 4):
        out = np.full(wanted[rows].shape, np.nan)
        assert package.inverse_dynamics(q[rows], qd[rows], x[rows], par, out=out) is out
        assert same(out, wanted[rows])
        own = q[rows].copy()
        package.inverse_dynamics(own, qd[rows], x[rows], par, out=own)
        assert same(own, wanted[rows])
        pair = (
            np.empty_like(one.sum(q, qd, par)[0][rows]),
            np.empty_like(one.sum(q, qd, par)[1][rows]),
        )
        got = package.sum(q[rows], qd[rows], par, out=pair)
        assert got[0] is pair[0] and got[1] is pair[1]
        assert all(same(a, b[rows]) for a, b in zip(pair, one.sum(q, qd, par), strict=True))
    shifted = np.concatenate([q, q])  # the results begin in the middle of what is read
    package.inverse_dynamics(shifted[: N // 2], qd[: N // 2], x[: N // 2], par,
                             out=shifted[N // 4 : N // 4 + N // 2])  # fmt: skip
    assert same(shifted[N // 4 : N // 4 + N // 2], wanted[: N // 2])


def test_threads_change_nothing():
    package, one, _ = made("exact")
    q, qd, x, par = (np.tile(a, (7, 1)) if a.ndim > 1 else a for a in states("exact"))
    wanted = one.forward_dynamics(q, qd, x, par)
    for threads in (1, 2, np.int64(3), 100):
        assert same(package.forward_dynamics(q, qd, x, par, threads=threads), wanted)
    with pytest.raises(np.linalg.LinAlgError, match="in 7000 states"):
        package.forward_dynamics(q, qd, x, -par, threads=5)


def test_calls_from_several_threads_at_once():
    package, one, _ = made("exact")
    q, qd, x, par = states("exact")
    wanted, right = one.inverse_dynamics(q, qd, x, par), []

    def work():
        right.append(
            all(same(package.inverse_dynamics(q, qd, x, par), wanted) for _ in range(50))
            and all(
                same(package.inverse_dynamics(q[k], qd[k], x[k], par), wanted[k]) for k in range(N)
            )
        )

    every = [threading.Thread(target=work) for _ in range(4)]
    for one_thread in every:
        one_thread.start()
    for one_thread in every:
        one_thread.join()
    assert right == [True] * 4


# -- what is wrong --------------------------------------------------------------------------------

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


# -- functions that look like functions -----------------------------------------------------------


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


def test_the_c_of_the_extension_has_no_warnings(tmp_path):
    """Also as C++ people compile it, with NumPy's headers as the system's."""
    import sysconfig

    for which in VARIANTS:
        module = made(which)[2]
        folder = tmp_path / which
        folder.mkdir()
        from symgen.languages.c.files import code_files

        for name, text in {**code_files(module), SOURCE: extension(module)}.items():
            (folder / name).write_text(text, encoding="utf-8")
        system = ["-isystem", sysconfig.get_path("include"), "-isystem", np.get_include()]
        for compiler in ("gcc", "clang"):
            flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
            command = [compiler, *flags, *system, "-Wno-psabi", "-c", SOURCE, "-o", "x.o"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[:3000]


def test_without_vectors_states_are_computed_one_by_one(tmp_path):
    """Where a function has no vector form, the loop over states is the extension's own."""
    from symgen.jobs.job import Job
    from symgen.languages.c.files import code_files

    job = Job.of(robot_file("pendulum"), quantities=("inverse_dynamics",), zeros="once")
    module = job.module(job.load())
    files = {**code_files(module), SOURCE: extension(module)}
    library = extension_module("alone", files, [*compiled_files(module)], SAME)
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
