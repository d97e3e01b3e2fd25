"""JAX: it runs the pure functions and the C that it calls, with the values and derivatives of the
algorithms.

JAX has threads, and a process with threads must not fork as other tests do: every script here runs
in a process of its own."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import jax_compile
from tests.support import packages
from tests.support.tools import STRICT_C, compiled, generated, invoke, robot_file, verified

pytestmark = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")

PAIRS = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "mass_matrix",
    "mass_matrix_gradient",
)
CASES = {
    "pendulum": {"quantities": PAIRS[:2]},
    "biped": {"base": "floating", "quantities": ("mass_matrix", "inverse_dynamics")},
    "ur5": {
        "parameters": "runtime:flange",
        "gravity": "runtime",
        "friction": "runtime:coulomb",
        "quantities": ("inverse_dynamics", "mass_matrix"),
    },
}


def python(folder, code, *flags, **environment):
    """What a script prints that runs beside a package, JAX in double precision."""
    settings = {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    return packages.python(folder, code, *flags, **(settings | environment))


def built(name, folder, **options):
    """A copy of a robot's package with its C compiled."""
    packages.package("jax", name, folder, **options)
    python(folder, f"from {name}_jax.build import build; build()")
    return folder


QUICK = [
    name if name == "pendulum" else pytest.param(name, marks=pytest.mark.slow) for name in CASES
]


@pytest.mark.parametrize("name", QUICK)
def test_verify_proves_it(name):
    _, folder = generated(name, languages=("jax",), **CASES[name])
    said = verified(folder)
    assert "JAX equals the float run" in said
    assert "C called by JAX equals the float run" in said


@pytest.mark.slow
def test_all_quantities():
    _, folder = generated("pendulum", languages=("jax",), quantities=("all",))
    verified(folder)


TRANSFORMS = """
import jax, jax.numpy as jnp, numpy as np
import pendulum_jax as pure
from pendulum_jax import native
rng = np.random.default_rng(0)
q, qd, tau, dq = (jnp.asarray(rng.uniform(-1, 1, 2)) for _ in range(4))
near = lambda a, b, tol=1e-12: np.testing.assert_allclose(a, b, rtol=tol, atol=tol)
near(jax.jit(native.forward_dynamics)(q, qd, tau), pure.forward_dynamics(q, qd, tau))
for robot in (pure, native):  # derivatives, in both directions, are those of the algorithms
    slopes = native.forward_dynamics_derivatives(q, qd, tau)
    for mode in (jax.jacfwd, jax.jacrev):
        for got, wanted in zip(mode(robot.forward_dynamics, (0, 1, 2))(q, qd, tau), slopes):
            near(got, wanted, 1e-11)
        near(mode(robot.mass_matrix)(q), native.mass_matrix_gradient(q))
    near(jax.jit(jax.grad(lambda q: robot.inverse_dynamics(q, qd, tau) @ dq))(q),
         dq @ pure.inverse_dynamics_derivatives(q, qd, tau)[0])
    near(jax.jvp(robot.christoffel_symbols, (q,), (dq,))[1],
         jax.jvp(pure.christoffel_symbols, (q,), (dq,))[1])
    near(jax.hessian(lambda q: robot.inverse_dynamics(q, qd, tau)[0])(q),
         jax.hessian(lambda q: pure.inverse_dynamics(q, qd, tau)[0])(q), 1e-11)
Q = jnp.asarray(rng.uniform(-1, 1, (3, 5, 2)))
wanted = np.array([[pure.mass_matrix(x) for x in row] for row in Q])
for robot in (pure, native):  # many states: by vmap, nested, and by leading axes that broadcast
    near(jax.vmap(jax.vmap(robot.mass_matrix))(Q), wanted)
    near(jax.jit(robot.mass_matrix)(Q), wanted)
    tall = robot.inverse_dynamics(Q[:, :1], qd, Q)
    assert tall.shape == (3, 5, 2)
    near(tall[2, 4], pure.inverse_dynamics(Q[2, 0], qd, Q[2, 4]))
    near(jax.vmap(robot.inverse_dynamics, (None, None, 0))(q, qd, Q[0])[3],
         pure.inverse_dynamics(q, qd, Q[0, 3]))
    near(jax.vmap(jax.jacfwd(robot.mass_matrix))(Q[0]), pure.mass_matrix_gradient(Q[0]), 1e-11)
for robot in (pure, native):  # types: float32 stays, whole numbers become floating ones
    single = robot.inverse_dynamics(*(jnp.asarray(x, jnp.float32) for x in (Q, Q, Q)))
    assert single.dtype == jnp.float32
    near(single, pure.inverse_dynamics(Q, Q, Q), 1e-5)
    assert robot.mass_matrix([1, 2]).dtype == jnp.float64
    bad = robot.forward_dynamics(Q.at[1, 2, 0].set(jnp.nan), Q, Q)
    assert np.isnan(bad[1, 2]).all() and np.isnan(np.asarray(bad)).sum() == 2
    try:
        robot.mass_matrix(jnp.zeros(3))
    except ValueError as error:
        assert str(error) == "q must have 2 entries along its last axis, not shape (3,)"
    else:
        raise AssertionError
print("done")
"""


BRIEFLY = """
import jax, jax.numpy as jnp, numpy as np
import pendulum_jax as pure
from pendulum_jax import native
q, qd, qdd = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (3, 2)))
@jax.jit
def both(q, qd, qdd):
    run = lambda robot: (
        robot.inverse_dynamics(q, qd, qdd),
        jax.jacrev(robot.inverse_dynamics)(q, qd, qdd),
        jax.vmap(robot.inverse_dynamics, (0, None, None))(jnp.stack([q, qd]), qd, qdd),
    )
    return run(pure), run(native), native.inverse_dynamics_derivatives(q, qd, qdd)[0]
one, other, slope = both(q, qd, qdd)
for a, b in zip(one, other):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
np.testing.assert_allclose(one[1], slope, rtol=1e-12, atol=1e-12)
print("done")
"""


def test_values_gradients_and_batches(tmp_path):
    folder = built("pendulum", tmp_path, **CASES["pendulum"])
    assert python(folder, BRIEFLY) == "done\n"


@pytest.mark.slow
def test_transformations(tmp_path):
    folder = built("pendulum", tmp_path, quantities=(*PAIRS, "christoffel_symbols"))
    assert python(folder, TRANSFORMS) == "done\n"


def test_pure_functions_need_no_compiler_and_say_what_the_others_need(tmp_path):
    _, made = generated("pendulum", languages=("jax",), **CASES["pendulum"])
    shutil.copytree(made / "pendulum_jax", tmp_path / "pendulum_jax")
    code = """
import pendulum_jax
print(pendulum_jax.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).shape)
try:
    import pendulum_jax.native
except ImportError as error:
    print(error)
from pendulum_jax.build import BuildError, build
try:
    build()
except BuildError as error:
    print(error)
"""
    assert python(tmp_path, code, PATH="", CC="").splitlines() == [
        "(2,)",
        "the C of pendulum_jax is not compiled: run python -m pendulum_jax.build",
        "no C compiler found: install gcc or clang, or set CC; the functions of the package itself need none",
    ]


def test_many_entries_are_joined_in_parts(tmp_path):
    """XLA takes minutes to compile what joins the thousands of entries of a Panda's derivatives at
    once."""
    _, made = generated("ur5", languages=("jax",), quantities=("regressor",))
    shutil.copytree(made / "ur5_jax", tmp_path / "ur5_jax")
    code = """
import jax, jax.numpy as jnp
from ur5_jax import regressor
def sizes(jaxpr):
    for eqn in jaxpr.eqns:
        yield len(eqn.invars)
        for inner in jax.core.jaxprs_in_params(eqn.params):
            yield from sizes(inner)
print(max(sizes(jax.make_jaxpr(regressor)(*jnp.ones((3, 6))).jaxpr)), regressor(*jnp.ones((3, 6))).shape)
"""
    assert python(tmp_path, code) == "128 (6, 60)\n"


@pytest.mark.parametrize("name", QUICK)
def test_the_c_compiles_under_strict_warnings(name, tmp_path):
    _, folder = generated(name, languages=("jax",), **CASES[name])
    include = Path(find_spec("jaxlib").origin).parent / "include"  # jax.ffi.include_dir()
    for source in (folder / f"{name}_jax" / "c").glob("*.c"):
        compiled(*STRICT_C, "-O1", "-isystem", include, "-c", source, "-o", tmp_path / "x.o")


def test_names_stay_data(tmp_path):
    nasty = 'é*/ #\\n"\'"""`x`'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    escaped = nasty.replace('"', "&quot;")
    (tmp_path / "x.urdf").write_text(text.replace(f'"{joint}"', f'"{escaped}"'), "utf-8")
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "jax")
    assert done.exit_code == 0, done.output
    code = "import pendulum_jax as r; print(ascii(r.JOINT_NAMES[0]))"
    assert python(tmp_path / "x", code).strip() == ascii(nasty)


STORED = json.loads(jax_compile.FILE.read_text(encoding="utf-8"))


def test_xla_compiles_a_ur5_in_two_seconds(tmp_path):
    """By the stored times, which are those of as many operations as now."""
    rows = STORED["functions"]
    assert all(row["seconds"] <= 2 for row in rows.values())
    assert jax_compile.table(STORED) in jax_compile.PAGE.read_text(encoding="utf-8")
    _, made = generated("ur5", languages=("jax",), quantities=("inverse_dynamics",))
    shutil.copytree(made / "ur5_jax", tmp_path / "ur5_jax")
    code = """
import jax, jax.numpy as jnp, ur5_jax
(call,) = jax.make_jaxpr(jax.jit(ur5_jax.inverse_dynamics))(*jnp.ones((3, 6))).jaxpr.eqns
print(len(call.params["jaxpr"].jaxpr.eqns))
"""
    assert int(python(tmp_path, code)) <= rows["inverse_dynamics"]["equations"]


def test_derivatives_call_each_function_once():
    """The mass matrix is an output of the derivatives of inverse dynamics."""
    quantities = (*PAIRS[:2], "mass_matrix")
    _, folder = generated("pendulum", languages=("jax",), quantities=quantities)
    text = (folder / "pendulum_jax" / "native.py").read_text("utf-8")
    moved = text.partition("def _move_inverse_dynamics(")[2].partition("\n\n\n")[0]
    assert "inverse_dynamics_derivatives(q, qd, qdd)" in moved
    assert "mass_matrix(" not in moved
