"""Joints whose position is a polynomial of that of another one: MuJoCo's constraint and its open
tree, projected with the derivatives of the polynomial in 40 digits; the references; refusals."""

from functools import cache, partial
from typing import Any

import mpmath
import numpy as np
import pytest

import symgen
from symgen.errors import SymgenError
from symgen.mechanics.coupling import coupling_of
from symgen.proof.laws import LawEvaluator
from tests.support.bars import CLOSED, MASS, PLUS
from tests.support.constrained import number
from tests.support.oracles import oracle
from tests.support.tools import invoke

TREE = """<mujoco><compiler angle="radian"/><worldbody>
<body name="arm" pos="0 0 0.1"><joint name="a" type="hinge" axis="0 1 0" ref="0.2"/>
<inertial pos="0.1 0.02 0" mass="1" diaginertia="0.01 0.02 0.015"/>
<body name="thigh" pos="0.2 0 0"><joint name="b" type="hinge" axis="0 0.6 0.8" armature="0.01"/>
<inertial pos="0.2 0 0.01" mass="0.7" diaginertia="0.01 0.02 0.015"/>
<body name="shin" pos="0.3 0.1 0"><joint name="c" type="slide" axis="1 0 0"/>
<joint name="d" type="hinge" axis="0 1 0" ref="-0.3"/>
<inertial pos="0.1 0 0.02" mass="0.9" diaginertia="0.01 0.02 0.015"/></body></body></body>
</worldbody><equality>%s</equality></mujoco>"""
TIES = """<joint name="slide" joint1="c" joint2="b" polycoef="0.01 0.2 -0.1 0.05 0.02"/>
<joint name="roll" joint1="d" joint2="a" polycoef="0.1 0.2 4.3 0 0"/>"""
ROLL = 'name="roll", joint="polynomial", first="d", second="a", polynomial=[%s]'


@cache
def robot() -> symgen.Robot:
    return symgen.Robot(TREE % TIES)


def test_dynamics_are_those_of_mujocos_tree_where_its_constraints_hold() -> None:
    mujoco = oracle("mujoco")
    model: Any = mujoco.MjModel.from_xml_string(TREE % TIES)
    data, arm, mp = mujoco.MjData(model), robot(), mpmath.mp.clone()
    mp.dps = 40
    ties = model.eq_data[:2, :5].tolist()
    curves = [  # of a and b, in the order of MuJoCo's joints
        lambda t, a, b: a + t,
        lambda t, a, b: b + t,
        lambda t, a, b: mp.polyval([mp.mpf(x) for x in ties[0][::-1]], b + t),
        lambda t, a, b: mp.polyval([mp.mpf(x) for x in ties[1][::-1]], a + t - mp.mpf(0.2)) - 0.3,
    ]
    for a, b, qd in ((0.4, -0.7, (1.3, -0.4)), (-1.1, 0.5, (0.2, 2.0))):
        x = [float(curve(0, a, b)) for curve in curves]
        leaders = [qd[0], qd[1], qd[1], qd[0]]
        along = [partial(curve, a=a, b=b) for curve in curves]
        slopes = [float(mp.diff(f, 0)) for f in along]
        g = np.array([[slopes[0], 0], [0, slopes[1]], [0, slopes[2]], [slopes[3], 0]])
        k = np.array([float(mp.diff(f, 0, 2)) for f in along]) * np.array(leaders) ** 2
        data.qpos[:], data.qvel[:] = x, g @ qd
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos[:2]).max() < 1e-14
        full = np.zeros((4, 4))
        mujoco.mj_fullM(model, data, full)
        state = {"q": [a, b], "qd": [*qd], "qdd": [0.3, 0.9]}
        places = coupling_of(arm.model).body_positions(state["q"])[:4]
        turned = [x[0], x[1], x[2], np.arctan2(np.sin(x[3]), np.cos(x[3]))]
        assert [number(p) for p in places] == pytest.approx(turned, abs=1e-14)
        for quantity, wanted in (
            ("mass_matrix", g.T @ full @ g),
            ("inverse_dynamics", g.T @ (data.qfrc_bias + full @ (k + g @ state["qdd"]))),
        ):
            function = arm.trace(quantity)
            (out,) = function.run(**{name: state[name] for name in function.inputs}).values()
            found = np.array([float(v) for v in out])
            assert found == pytest.approx(wanted.ravel(), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(
    "quantity",
    [
        *("transmission:d", "forward_dynamics_derivatives", "inverse_dynamics_hessian"),
        *("coriolis_matrix", "mass_matrix_second_rate", "regressor", "step:rk4"),
        *("frame_jacobian_dot_aligned:shin", "joint_step:c,d", "computed_torque"),
    ],
)
def test_quantities_equal_the_reference(quantity: str) -> None:
    function, rng = robot().trace(quantity), np.random.default_rng(4)
    row = {k: rng.uniform(-1, 1, shape).ravel().tolist() for k, shape in function.program.inputs}
    row |= {"h": [0.01]} if "h" in row else {}
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    wanted = LawEvaluator(parameters, {k: [x] for k, x in row.items()}).of(function.quantities[0])
    for out, exact in wanted.items():
        values = np.array([float(x) for x in function.run(**row)[out]])
        numbers = np.array(exact).astype(float).ravel()
        assert np.abs(values - numbers).max() <= 1e-11 * max(np.abs(numbers).max(), 1e-3)


def test_references_of_a_linkage_that_is_driven_beyond_half_a_turn() -> None:
    """The start of the reference's iteration is on the turn of the polynomial."""
    cam = f"""<link name="cam">{MASS}</link><joint name="l" type="continuous"><parent link="base"/>
<child link="cam"/><axis xyz="0 0 1"/></joint></robot>"""
    bars = CLOSED.format(axis="0 0 1", loop=PLUS.format("ball", "rocker"))
    tie = 'name="tie", joint="polynomial", first="a", second="l", polynomial=[0.1, 1.0, 0.2]'
    function = symgen.Robot(bars.replace("</robot>", cam), loop=(tie,)).trace("coriolis_matrix")
    parameters = function.regroups[function.parts[0][1].regrouping].robot
    row = {"q": [2.7], "qd": [1.3]}  # a is 4.258
    laws = LawEvaluator(parameters, {k: [x] for k, x in row.items()})
    wanted = np.array(laws.of(function.quantities[0])["C"]).astype(float).ravel()
    assert [float(x) for x in function.run(**row)["C"]] == pytest.approx(wanted, rel=1e-12)


def test_an_option_is_the_constraint_of_the_file() -> None:
    """In the coordinates of the robot: 0.3 + d = 0.1 + 0.2 (a - 0.2) + 4.3 (a - 0.2)²."""
    slide = 'name="slide", joint="polynomial", first="c", second="b"'
    loops = (f"{slide}, polynomial=[0.01, 0.2, -0.1, 0.05, 0.02]", ROLL % "-0.068, -1.52, 4.3")
    arm = symgen.Robot(TREE % "", loop=loops)
    assert {c.polynomial for c in arm.model.closures} == {
        c.polynomial for c in robot().model.closures
    }


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        (ROLL % "0.1", "belong together"),
        ('name="x", first="arm", second="shin", polynomial=[0, 1]', "belong together"),
        (ROLL % "0, 0, 1" + ", at_first=[1, 0, 0]", "at_first has no effect"),
        ((ROLL % "0, 0, 1").replace('"d"', '"a"'), "are the same joint"),
        (ROLL % "0, 0, 1" + ", newton=true", "newton has no effect"),
        ((ROLL % "0, 0, 1").replace('"d"', '"shin"'), "no joint is called 'shin'"),
        (
            (ROLL % "0, 0, 1").replace('"d"', '"c"').replace("roll", "twice"),
            "follows others already",
        ),
        ((ROLL % "0, 0, 1").replace('"d"', '"b"').replace('"a"', '"c"'), "that it moves"),
    ],
)
def test_what_is_no_polynomial_of_a_joint_is_refused(loop: str, words: str) -> None:
    with pytest.raises(SymgenError, match=words):
        _ = symgen.Robot(TREE % TIES, loop=(loop,)).model


def test_texts_have_the_polynomial(tmp_path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(TREE % TIES, encoding="utf-8")
    text = invoke("inspect", path).stdout
    assert "c (0.01 + 0.2 b - 0.1 b^2 + 0.05 b^3 + 0.02 b^4)" in text
    assert "d (-0.068 - 1.52 a + 4.3 a^2)" in text
    done = invoke("convert", path, "-o", tmp_path / "arm.urdf")
    assert "they are not written" in done.stderr
