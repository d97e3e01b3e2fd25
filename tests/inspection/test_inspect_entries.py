"""Closed forms of ``symgen inspect``: numbers of the generated functions, symbols, LaTeX."""

import json
import re
from functools import cache

import numpy as np
import pytest
import sympy

import symgen
from symgen.algorithms import QUANTITIES
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import WHOLE, canonical_model, inertial_parameters
from symgen.symbolic.symbol_graph import SYMBOL_STEMS
from tests.support.inspected import PENDULUM, data
from tests.support.shell import documented, refusal
from tests.support.tools import generated, imported, invoke, robot_file

ENTRIES = {
    "pendulum": [
        "mass_matrix:1,1",
        "mass_matrix:1,2",
        "gravity:1",
        "bias:2",
        "inverse_dynamics:1",
        "regressor:2,13",
        "coriolis_matrix:2,1",
        "christoffel_symbols_full:1,1,2",
        "kinetic_energy:1",
    ],
    "scara": [
        "mass_matrix:1,1",
        "mass_matrix:3,4",
        "bias:2",
        "gravity:3",
        "inverse_dynamics:1",
        "regressor:1,14",
        "base_regressor:2,3",
        "inverse_dynamics_derivatives:1,2",
        "com:1",
        "com_jacobian:3,2",
        "centroidal_momentum_matrix:4,1",
        "potential_energy:1",
    ],
    "ur5": ["mass_matrix:2,4", "gravity:2", "christoffel_symbols_full:3,5,5"],
}


CASES = [(robot, text) for robot, texts in ENTRIES.items() for text in texts]


@cache
def written(robot):
    """The Python that is generated of a robot, which `verify` compares with the C."""
    names = tuple(dict.fromkeys(text.split(":")[0] for text in ENTRIES[robot]))
    module, folder = generated(robot, quantities=names, languages=("python",))
    return imported(folder / f"{module.name}.py")


def state(quantity, n):
    """Random inputs of a quantity, by array."""
    random = np.random.default_rng(6)
    return {name: random.uniform(-2, 2, n) for name in QUANTITIES[quantity].inputs}


def evaluated(expression, values):
    """An expression with q1, qdot1, ... from arrays; `values` may also hold numbers by name."""
    numbers = {name: float(x) for name, x in values.items() if np.ndim(x) == 0}
    for name, array in values.items():
        stem = SYMBOL_STEMS.get(name, name)
        numbers |= {
            f"{stem}{k}": float(x) for k, x in enumerate(np.ravel(array), 1) if np.ndim(array)
        }
    assert {str(s) for s in expression.free_symbols} <= set(numbers)
    return float(expression.subs({s: numbers[str(s)] for s in expression.free_symbols}))


@pytest.mark.parametrize(("robot", "text"), CASES)
def test_an_entry_is_that_of_the_generated_function(robot, text):
    quantity, indices = text.split(":")
    done = invoke("inspect", robot_file(robot), "--entry", text)
    assert done.exit_code == 0 and done.stderr == ""
    real = {
        name: sympy.Symbol(name, real=True) for name in re.findall(r"\b[a-z]+\d+\b", done.stdout)
    }
    given = state(quantity, data(robot)["dof"])
    found = getattr(written(robot), quantity)(*given.values())
    found = found if len(QUANTITIES[quantity].outputs) == 1 else found[0]
    expected = np.atleast_1d(found)[tuple(int(k) - 1 for k in indices.split(","))]
    shown = evaluated(sympy.sympify(done.stdout, real), given)
    assert shown == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert expected != 0 or done.stdout == "0\n"


def tens(robot, canonical):
    """The ten parameters of each body as a whole by name: as in the file, or in the canonical
    frames."""
    if not canonical:
        return [b["parameters"] for b in data(robot)["bodies"]]
    bodies = canonical_model(symgen.load(robot_file(robot)).model, regrouping=WHOLE).bodies
    return [
        dict(zip(PARAMETER_NAMES, inertial_parameters(body.inertia), strict=True))
        for body in bodies
    ]


@pytest.mark.parametrize(
    ("robot", "text"),
    [
        ("pendulum", "mass_matrix:1,1"),
        ("scara", "mass_matrix:2,4"),
        ("scara", "gravity:3"),
        ("scara", "com:2"),
        ("pendulum", "potential_energy:1"),
        ("ur5", "mass_matrix:5,5"),
    ],
)
@pytest.mark.parametrize("kinds", [("masses",), ("lengths",), ("masses", "lengths")])
def test_symbols_stand_for_what_the_file_has(robot, text, kinds):
    found, given = data(robot), state(text.split(":")[0], data(robot)["dof"])
    known = {
        f"{name}{k}": x
        for k, ten in enumerate(tens(robot, "lengths" in kinds), 1)
        for name, x in ten.items()
    }
    known |= {
        f"{name}{k}": f[name]
        for k, f in enumerate(found["canonical_frames"], 1)
        for name in ("b", "d", "r")
    }
    name, _, indices = text.partition(":")
    symbolic, at = symgen.Robot(robot_file(robot)).symbolic, tuple(map(int, indices.split(",")))
    with_symbols = symbolic.entry(name, *at, **dict.fromkeys(kinds, "symbols"))
    plain = symbolic.entry(name, *at)
    names = {re.sub(r"\d+$", "", str(s)) for s in with_symbols.free_symbols}
    assert bool(names & set(PARAMETER_NAMES)) == ("masses" in kinds)
    assert names <= set(given) | set(PARAMETER_NAMES) | {"b", "d", "r"}
    assert evaluated(with_symbols, given | known) == pytest.approx(
        evaluated(plain, given), rel=1e-9
    )


def test_gravity_at_run_time_is_a_symbol():
    done = invoke("inspect", PENDULUM, "--entry", "gravity:2", "--gravity", "runtime")
    assert {str(s) for s in sympy.sympify(done.stdout).free_symbols} == {"g_x", "g_z", "q1", "q2"}


def test_whole_arrays_and_outputs_by_name():
    lines = invoke("inspect", PENDULUM, "--entry", "mass_matrix").stdout.splitlines()
    assert lines[0] == "M[1,1] = 0.6*cos(q2) + 1.2" and len(lines) == 4
    one = invoke("inspect", PENDULUM, "--entry", "mass_matrix:M:1,1").stdout
    assert one == "0.6*cos(q2) + 1.2\n"
    tip = data("scara")["bodies"][-1]["name"]
    place = invoke("inspect", robot_file("scara"), "--entry", f"frame_pose:{tip}:p").stdout
    assert place.count("\n") == 3 and "cos(q1 + q2)" in place


def test_an_entry_as_data():
    found = json.loads(
        invoke(
            *("inspect", PENDULUM, "--entry", "mass_matrix", "--json"),
            *("--symbolic", "masses,lengths"),
        ).stdout
    )
    assert keys_of_entry(found) == documented("symgen inspect --entry --json")
    assert found["shape"] == [2, 2] and found["indices"] is None
    assert found["symbols"]["m2"]["unit"] == "kg" and found["symbols"]["q2"]["value"] is None
    values = {name: row["value"] for name, row in found["symbols"].items() if row["value"]}
    shown = sympy.sympify(found["entries"][1][1]).subs(values)
    plain = sympy.sympify(invoke("inspect", PENDULUM, "--entry", "mass_matrix:2,2").stdout)
    assert float(shown - plain) == pytest.approx(0, abs=1e-15)


def keys_of_entry(found):
    return {*found, *(key for row in found["symbols"].values() for key in row)}


def test_a_legend_tells_what_symbols_mean():
    options = ("--entry", "mass_matrix:2,2", "--symbolic", "masses")
    done = invoke("inspect", PENDULUM, *options)
    assert done.stdout.count("\n") == 1 and "kg m^2" in done.stderr
    assert all(name in done.stdout for name in re.findall(r"^(\w+):", done.stderr, re.MULTILINE))


def test_canonical_frames_have_their_inertia():
    """The ten about the canonical frame, carried back to the link's, are those of the body."""
    for b, frame in zip(data("ur5")["bodies"], data("ur5")["canonical_frames"], strict=True):
        ten, pose = frame["parameters"], np.array(frame["pose"])
        own = np.array([ten[name] for name in ("hx", "hy", "hz")])
        there = pose[:3, :3] @ own + ten["m"] * pose[:3, 3]
        assert there == pytest.approx([b["parameters"][k] for k in ("hx", "hy", "hz")], abs=1e-12)


def test_an_entry_as_latex():
    assert invoke("inspect", PENDULUM, "--entry", "mass_matrix:1,1").stdout == "0.6*cos(q2) + 1.2\n"
    shown = invoke("inspect", PENDULUM, "--entry", "mass_matrix:1,1", "--latex").stdout
    assert shown == "0.6 \\cos{\\left(q_{2} \\right)} + 1.2\n"


def test_groupings_in_closed_form():
    options = ("inspect", robot_file("puma560"), "--groupings", "--symbolic", "lengths")
    lines = invoke(*options).stdout.splitlines()
    assert len(lines) == 36 and "MXR_2 = d3*(m3 + m4 + m5 + m6) + hx2" in lines
    found = json.loads(invoke(*options, "--json").stdout)
    inner = keys_of_entry({"symbols": found["symbols"]})
    heading = "symgen inspect --groupings --symbolic lengths --json"
    assert {*found} | inner == documented(heading)
    assert r"\mathrm{MXR}_{2} &= d_{3}" in invoke(*options, "--latex").stdout
    said = refusal("inspect", PENDULUM, "--symbolic", "lengths")
    assert said == (
        "error: --symbolic 'lengths': has an effect only with --entry or --groupings; add one of them"
    )
