"""Each mechanism with closed loops against evidence that shares nothing with its G and k: Pinocchio's
constrained dynamics, projections of the open tree, virtual work, differences in 40 digits, and the
rank of its regressor."""

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import symgen
from symgen.algorithms import QUANTITIES
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.independence import independent_parameters
from symgen.tracing.function import run_part
from tests.support.loops import delta, engine, four_bar
from tests.support.open_tree import OpenTree
from tests.support.oracles import oracle
from tests.support.tools import ROOT

oracle("pinocchio")
BUILT: dict[str, Any] = {
    "four-bar": four_bar,
    "skew four-bar": lambda **k: four_bar(skew=True, **k),
    "slider-crank": engine,
    "delta with rods": delta,
}
BASE_PARAMETERS = {
    "four-bar": 26,
    "skew four-bar": 28,
    "slider-crank": 6,
    "delta with rods": 39,
    "excavator": 40,
    "five_bar": 7,
    "palletiser": 25,
    "ankle": 37,
    "three_rrr": 14,
    "stewart": 98,
    "delta": 12,
}
"""The mechanisms, and how many base parameters they have."""
DERIVATIVES = {
    "inverse_dynamics": ("qd", "qdd"),
    "forward_dynamics": ("qd", "tau"),
}
"""The dynamics, and their arguments after q."""


@cache
def robot(name: str) -> symgen.Robot:
    if name in BUILT:
        return symgen.Robot(BUILT[name]())
    return symgen.Robot(ROOT / "robots" / f"{name}.{'toml' if name == 'delta' else 'urdf'}")


@cache
def open_tree(name: str) -> OpenTree:
    if name in BUILT:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tree.urdf"
            symgen.Robot(BUILT[name](closed=False)).write_urdf(file)
            return OpenTree.of(robot(name).model, file)
    text = (ROOT / "robots" / f"{name}.urdf").read_text(encoding="utf-8")
    return OpenTree.of(robot(name).model, re.sub(r"<loop .*?</loop>", "", text, flags=re.DOTALL))


def states(name: str, count: int, seed: int = 3) -> list[dict[str, list[float]]]:
    """Random states at which all loops close, with directions of change."""
    rng, n = np.random.default_rng(seed), robot(name).dof
    rows = []
    for _ in range(count):
        row = {k: rng.normal(size=n).tolist() for k in ("qd", "qdd", "tau", "lam")}
        q = coupling_of(robot(name).model).closing_positions(rng.uniform(-2, 2, n).tolist())
        rows.append(row | {"q": [*q]})
    return rows


def formulations(name: str, quantity: str) -> list[Any]:
    """Each way to compute a quantity, as a function of its inputs."""
    parameters = robot(name).job.robot(robot(name).loaded)
    row, layout = QUANTITIES[quantity], parameters.regroups["minimal"].layout

    def computed(formulation: Any, inputs: Any) -> list[np.ndarray]:
        given = {k: inputs["lam" if k.startswith("lam") else k] for k in row.inputs}
        found = run_part((row, formulation), parameters.regroups[formulation.regrouping], given)
        return [np.array([x + mpmath.mpf(0) for x in values]) for values in found.values()]

    suited = [f for f in row.formulations if f.closed_loops and f.applicable(layout)]
    assert suited
    return [lambda inputs, f=f: computed(f, inputs) for f in suited]


def check(found: Any, wanted: Any, tolerance: float) -> None:
    found, wanted = (np.array(x).astype(float) for x in (found, wanted))
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize("name", BASE_PARAMETERS)
def test_loops_close_in_the_open_tree(name: str) -> None:
    for state in states(name, 3):
        tree = open_tree(name)
        gaps, jacobian, _ = tree.rows(tree.positions(state["q"]), np.zeros(tree.tree.nv))
        assert np.abs(gaps).max() < 1e-14 * max(1.0, 100 * np.abs(jacobian).max())


@pytest.mark.parametrize("name", BASE_PARAMETERS)
def test_accelerations(name: str) -> None:
    """Of the projected tree, and of Pinocchio's constrained dynamics with μ > 0 and the same rows,
    which it does not have for a constant distance."""
    tree = open_tree(name)
    points = all(loop.joint != "distance" for loop in robot(name).model.closures)
    for state in states(name, 3):
        at = state["q"], state["qd"], state["tau"]
        wanted = tree.forward_dynamics(*at)
        for compute in formulations(name, "forward_dynamics"):
            check(compute(state)[0], wanted, 1e-12)
        if points:
            of_pinocchio, others = tree.constraint_dynamics(*at)
            check(wanted, of_pinocchio, 1e-9)
            assert np.abs(others).max() < 1e-9 * np.abs(of_pinocchio).max()


@pytest.mark.parametrize("name", BASE_PARAMETERS)
def test_forces_are_the_virtual_work_of_all_bodies(name: str) -> None:
    for state in states(name, 3):
        wanted = open_tree(name).virtual_work(state["q"], state["qd"], state["qdd"])
        for compute in formulations(name, "inverse_dynamics"):
            check(compute(state)[0], wanted, 1e-12)


@pytest.mark.parametrize("dynamics", DERIVATIVES)
@pytest.mark.parametrize("name", BASE_PARAMETERS)
def test_derivatives_are_differences_in_40_digits(name: str, dynamics: str) -> None:
    """Of each argument along a random direction, and of a product with them."""
    (state,), n = states(name, 1), robot(name).dof
    arguments, value = ("q", *DERIVATIVES[dynamics]), formulations(name, dynamics)[0]
    direction = states(name, 1, seed=5)[0]["qd"]
    matrices, products = (
        formulations(name, f"{dynamics}_{kind}")[0](state) for kind in ("derivatives", "vjp")
    )
    with mpmath.workdps(40):
        h = mpmath.mpf("1e-12")
        for argument, matrix, product in zip(arguments, matrices, products, strict=True):
            moved = [
                [x + side * h * d for x, d in zip(state[argument], direction, strict=True)]
                for side in (1, -1)
            ]
            after, before = (value(state | {argument: x})[0] for x in moved)
            change = (after - before) / (2 * h)
            check(matrix.reshape(n, n) @ direction, change, 1e-11)
            check([product @ direction], [change @ state["lam"]], 1e-10)


@pytest.mark.parametrize(("name", "count"), BASE_PARAMETERS.items())
def test_base_parameters_are_the_rank_of_the_regressor(name: str, count: int) -> None:
    """Of Gᵀ Y with Pinocchio's regressor Y of the open tree, at random states."""
    parameters = robot(name).job.robot(robot(name).loaded)
    rows = [
        open_tree(name).regressor(state["q"], state["qd"], state["qdd"])
        for state in states(name, 2 * count // robot(name).dof + 4)
    ]
    sizes = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    system = parameters.regroups["minimal"].system((), None)
    assert len(independent_parameters(system).keys) == count
    assert int((sizes > 1e-10 * sizes[0]).sum()) == count


def test_links_between_joints_of_the_platform_have_base_parameters_of_their_own() -> None:
    """The delta robot's arms, crosses, rods and platform have 37; the two links between the slides
    of its platform add the masses that move along x and along x and y. A model of it whose platform
    hangs on a rod by two joints, with one link between them, has 38 for the same reason."""
    tree = open_tree("delta with rods")
    rows = np.concatenate(
        [
            tree.regressor(state["q"], state["qd"], state["qdd"])
            for state in states("delta with rods", 30)
        ]
    )
    joints = [*tree.tree.names][1:]
    kept = [k for k in range(rows.shape[1]) if joints[k // 10] not in ("x", "y")]
    sizes = np.linalg.svd(rows[:, kept], compute_uv=False)
    assert int((sizes > 1e-10 * sizes[0]).sum()) == BASE_PARAMETERS["delta with rods"] - 2 == 37
