"""The generated Python module: one state by Python's numbers, many by arrays, in their own type."""

import math
import subprocess
import sys

import numpy as np
import pytest

from tests.support.oracles import mypy_must_be_installed
from tests.support.tools import SIMPLE, generated, imported

OPTIONS = {"friction": "runtime:viscous,coulomb", "parameters": "runtime"}
NAMES = ("inverse_dynamics", "forward_dynamics", "terms=bias+mass_matrix", "kinetic_energy")


@pytest.fixture(scope="module")
def code():
    module, folder = generated("pendulum", quantities=NAMES, **OPTIONS)
    return imported(folder / f"{module.name}.py")


def inputs(code, n=20):
    q, qd, x = np.random.default_rng(0).uniform(-2, 2, (3, n, 2))
    par = code.regroup([x for ten in code.PARAMETERS.values() for x in ten])
    return q, qd, x, np.array([0.1, 0.3, 0.2, 0.4]), par


def test_one_state_is_what_it_is_among_many(code):
    q, qd, x, friction, par = inputs(code)
    for name in ("inverse_dynamics", "forward_dynamics"):
        many = getattr(code, name)(q, qd, x, friction, par)
        for k in range(len(q)):
            one = getattr(code, name)(q[k], qd[k], x[k], friction, par)
            assert one.shape == (2,) and one.dtype == np.float64
            assert one == pytest.approx(many[k], rel=1e-13, abs=1e-14)
    bias, mass = code.terms(q[0], qd[0], par)
    assert bias.shape == (2,) and mass.shape == (2, 2)
    assert code.kinetic_energy(q[0], qd[0], par).shape == code.kinetic_energy(q, qd, par).shape[1:]


def test_one_state_calls_no_array_functions(code, monkeypatch):
    """Neither as arrays nor as lists of whole and other numbers."""
    q, qd, x, friction, par = inputs(code)
    wanted = code.inverse_dynamics(q[:1], qd[:1], x[:1], friction, par)[0]

    def never(*given):
        raise AssertionError("arrays were computed with")

    monkeypatch.setattr(code, "_taken_apart", never)
    given = [q[0], qd[0], x[0], friction, par]
    for kind in (np.asarray, np.ndarray.tolist, lambda a: tuple(a.tolist())):
        got = code.inverse_dynamics(*map(kind, given))
        assert got == pytest.approx(wanted, rel=1e-13, abs=1e-14)
    strided = np.array([q[0], qd[0]]).T[:, 0]
    assert (code.inverse_dynamics(strided, *given[1:]) == code.inverse_dynamics(*given)).all()
    assert code.inverse_dynamics([0, 1], (0.5, 0), [0, 0], friction, par).shape == (2,)


@pytest.mark.parametrize("rows", [0, slice(3)])
def test_the_type_of_numbers_stays(code, rows):
    q, qd, x, friction, par = (a[rows] if a.ndim > 1 else a for a in inputs(code))
    wanted = code.inverse_dynamics(q, qd, x, friction, par)
    given = (q, qd, x, friction, par)
    for kind, precision in (("f4", 1e-5), ("c8", 1e-5), ("c16", 1e-13), ("g", 1e-13)):
        got = code.inverse_dynamics(*(a.astype(kind) for a in given))
        assert got.dtype == np.dtype(kind) and got.shape == wanted.shape
        assert np.abs(got - wanted).max() < precision * np.abs(wanted).max()
    for mixed in (q.astype("f4"), q.astype(int), q.astype("f2"), q.tolist(), q.astype(object)):
        assert code.inverse_dynamics(mixed, qd, x, friction, par).dtype == np.float64
    assert code.inverse_dynamics(q + 1e-30j, qd, x, friction, par).dtype == np.complex128


def test_what_floats_cannot_hold_arrays_can(code):
    """Python's sine of infinity and its division by zero raise; the results are NumPy's."""
    q, qd, x, friction, par = (a[0] if a.ndim > 1 else a for a in inputs(code))
    with np.errstate(invalid="ignore"):
        got = code.inverse_dynamics([0.0, math.inf], qd, x, friction, par)
    assert np.isnan(got).any()
    for tau in ([math.inf, 0.0], [0.0, math.nan], [1e308, 1e308]):
        with pytest.raises(np.linalg.LinAlgError, match="a result is not finite"):
            code.forward_dynamics(q, qd, tau, friction, par * 1e-3)
    for wrong in (-par, 0 * par):
        for given in ((q, qd, x), (q[None], qd, x)):
            with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
                code.forward_dynamics(*given, friction, wrong)


def test_what_does_not_fit_is_said(code):
    q, _, x, friction, par = (a[0] if a.ndim > 1 else a for a in inputs(code))
    for wrong in ([0.1], 0.1, np.zeros((2, 3)), []):
        with pytest.raises(ValueError, match="qd must have 2 entries along its last axis"):
            code.inverse_dynamics(q, wrong, x, friction, par)
    with pytest.raises(ValueError, match="broadcast"):
        code.inverse_dynamics(np.zeros((3, 2)), np.zeros((4, 2)), x, friction, par)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "jax", "casadi"])
def test_mypy_takes_what_is_written(language, tmp_path):
    mypy_must_be_installed()
    pytest.importorskip({"python": "numpy"}.get(language, language))
    _, folder = generated("pendulum", quantities=SIMPLE, languages=(language,))
    what = folder / ("pendulum.py" if language == "python" else f"pendulum_{language}")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(what)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
