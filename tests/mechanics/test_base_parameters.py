"""Base parameters: published counts, the same list for every seed, closed forms, reasons in words,
ranks."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
import sympy

from symgen.algorithms.regressors import regressor
from symgen.mechanics.base_parameters import base_parameters, base_values
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.mechanics.spatial import Vector
from symgen.reading.assemble import load
from tests.support.public_robots import example_robot
from tests.support.random_trees import RANDOM, ROBOTS, model
from tests.support.tree_energies import with_moved_frames

HERE = Path(__file__).resolve().parents[1]
FINGERS = [("panda_finger_joint1", 0.0), ("panda_finger_joint2", 0.0)]
COUNTS = {
    "ur_description/urdf/ur5_robot.urdf": 36,
    "rx90.urdf": 36,
    "puma560.urdf": 36,
    "snake16.urdf": 106,
    "kinova_description/robots/kinova.urdf": 36,
    "panda_description/urdf/panda.urdf": 43,
    "panda.urdf": 51,
    "talos_data/robots/talos_reduced.urdf": 206,
}
FILES = sorted((HERE / "cases").glob("*.json"))
CASES = [
    path.stem for path in FILES if "base_parameters" in json.loads(path.read_text(encoding="utf-8"))
]
robots = pytest.mark.parametrize("name", RANDOM)
clear = pytest.mark.parametrize(
    "name", [name for name in RANDOM if "nearly" not in name and "roughly" not in name]
)
"""Robots without tilts of 1e-9, whose effect is neither rounding nor anything to be seen."""


def published(name):
    path = ROBOTS / name if (ROBOTS / name).exists() else example_robot(name)
    return load(path, lock=FINGERS if name == "panda_description/urdf/panda.urdf" else ()).model


def stacked(robot, states=20, **options):
    """The regressor of joint forces at random states, from the algorithm that is compiled."""
    arm, random = canonical_model(robot, regrouping=WHOLE, **options), np.random.default_rng(5)
    rows = [regressor(arm, *random.uniform(-2, 2, (3, robot.dof)).tolist()) for _ in range(states)]
    return np.array(rows, float).reshape(states * robot.dof, 10 * robot.dof)


@cache
def seen(name):
    """The regressor of a random robot at random states, and its base parameters."""
    return stacked(model(name)), base_parameters(model(name))


@cache
def spectrum(name):
    """Singular values and right vectors of that regressor, which are those of its triangular factor."""
    _, sizes, right = np.linalg.svd(np.linalg.qr(seen(name)[0], mode="r"))
    return sizes, right


@pytest.mark.parametrize("name", COUNTS)
def test_published_counts(name):
    found = base_parameters(published(name))
    assert len(found) == COUNTS[name]
    assert found.independent.smallest_kept > 1e8 * found.independent.largest_dropped


@pytest.mark.parametrize("name", [name for name in COUNTS if COUNTS[name] < 60])
def test_every_seed_gives_the_same_list(name):
    robot = published(name)
    lists = [base_parameters(robot, seed=seed) for seed in range(8)]
    assert all(
        other.columns == lists[0].columns and (other.factors == lists[0].factors).all()
        for other in lists
    )


@pytest.mark.parametrize("name", CASES)
def test_counts_of_the_cases(name):
    case = json.loads((HERE / "cases" / f"{name}.json").read_text(encoding="utf-8"))
    robot = load(
        HERE / "cases" / f"{name}.urdf", gravity=case.get("gravity_vector", (0.0, 0.0, -9.81))
    ).model
    assert len(base_parameters(robot)) == case["base_parameters"]["count"]


@robots
def test_the_count_is_the_rank_of_the_regressor(name):
    sizes, _ = spectrum(name)
    assert (sizes > 1e-9 * sizes[0]).sum() == len(seen(name)[1])


@robots
def test_the_factors_have_the_null_space_of_the_regressor(name):
    rows, found = seen(name)
    null = np.linalg.svd(found.factors)[2][len(found) :]
    tolerance = max(1e-10, 100 * found.independent.largest_dropped)
    assert np.abs(rows @ null.T).max(initial=0.0) <= tolerance * np.abs(rows).max()


@robots
def test_every_seed_gives_the_same_list_of_a_random_robot(name):
    lists = [base_parameters(model(name), seed=seed) for seed in range(5)]
    assert all(other.columns == lists[0].columns for other in lists)
    assert all(np.abs(other.factors - lists[0].factors).max() < 1e-11 for other in lists)


@pytest.mark.parametrize(
    "name", [f"{family} 0" for family in ("square chain", "square tree", "parallel", "prismatic")]
)
def test_regrouping_symbols_gives_the_closed_forms(name):
    """The pass itself, run on SymPy symbols."""
    robot = model(name)
    found = base_parameters(robot)
    symbols = sympy.symbols(found.names, real=True)
    values = base_values(canonical_model(robot, regrouping=WHOLE), symbols)
    both = sympy.lambdify(symbols, [[*values], [*found.expressions]], "math")
    ours, closed = both(*np.random.default_rng(1).uniform(-1, 1, len(symbols)))
    assert ours == pytest.approx(closed, abs=1e-12)


@robots
def test_moved_frames_change_no_count(name):
    robot = model(name)
    assert len(base_parameters(with_moved_frames(robot, Random(3)))) == len(base_parameters(robot))


@clear
def test_gravity_of_any_direction_finds_at_least_as_many(name):
    robot = model(name)
    anyhow = base_parameters(robot, Vector(*robot.gravity))
    assert (
        len(anyhow)
        >= len(base_parameters(robot))
        >= len(base_parameters(replace(robot, gravity=(0.0, 0.0, 0.0))))
    )
    both = [stacked(replace(robot, gravity=g)) for g in ((3.0, 2.0, -9.0), (-5.0, 7.0, 1.0))]
    sizes = np.linalg.svd(np.linalg.qr(np.concatenate(both), mode="r"), compute_uv=False)
    assert (sizes > 1e-9 * sizes[0]).sum() == len(anyhow)


# -- reasons ---------------------------------------------------------------------------------------


@clear
def test_reasons_say_what_the_regressor_shows(name):
    """A column stands alone where the null space does not reach it: then no combination of others
    gives it, and the rank without it is lower by one."""
    rows, found = seen(name)
    _, right = spectrum(name)
    shared = np.linalg.norm(right[len(found) :], axis=0)
    for p, parameter in enumerate(found.names):
        reason = found.reasons[parameter]
        assert (reason == "no effect") == (np.abs(rows[:, p]).max() < 1e-10)
        assert (reason == "identifiable by itself") == (shared[p] < 1e-9)


def test_a_double_pendulum_in_words_and_symbols():
    found = base_parameters(load(HERE / "cases" / "regressor_pendulum.urdf").model)
    assert len(found) == 10 and len(found.names) == 20
    assert found.reasons["m_1"] == "no effect" and found.reasons["m_2"].startswith(
        "regrouped into body"
    )
    assert all(
        x.free_symbols <= set(sympy.symbols(found.names, real=True)) for x in found.expressions
    )


def test_the_words_name_the_bodies():
    found = base_parameters(published("ur_description/urdf/ur5_robot.urdf"))
    assert found.reasons["m_1"] == "no effect"
    assert found.reasons["Izz_1"] == "identifiable only with others"
    assert found.reasons["m_2"] == "regrouped into shoulder_link"
    assert found.reasons["hx_2"] == "identifiable by itself"
    assert found.reasons["hz_5"] == "regrouped into wrist_1_link"
    assert (
        str(found.expressions[found.columns.index("MXR_3")])
        == "hz_3 + 0.39225*m_4 + 0.39225*m_5 + 0.39225*m_6"
    )


def test_a_tilted_base_has_more_than_a_level_one():
    scara = load(ROBOTS / "scara.urdf").model
    tilted = replace(scara, gravity=(3.0, 2.0, -9.0))
    assert len(base_parameters(tilted)) > len(base_parameters(scara))
