"""Gains and the sample rate: limits against simulated robots, the pages' own loops, and the command
that states them."""

import re
from pathlib import Path

import numpy as np
import pytest

import symgen
from benchmarks.closed_loops import GAINS, LEAD, LINK, LOOPS, paragraph
from symgen.algorithms.controllers import CONTROLLERS
from symgen.robot.sampled_loop import MARGIN
from tests.support.pinocchio_plants import Plant, revolute, robot, urdf
from tests.support.tools import ROOT, invoke

EXAMINED = {name for name, row in CONTROLLERS.items() if row.forces and not row.is_elastic}
STILL = {"q_ref": np.zeros(2), "qd_ref": np.zeros(2), "qdd_ref": np.zeros(2)}
RATE = 200.0


def left(name, gains, q):
    """How far the loop has moved from its reference after 8 s, from 1e-3 rad off."""
    h = 1.0 / RATE
    plant = Plant(revolute(), q + 1e-3, np.zeros(2))
    law = robot(urdf(dynamics=False)).controller(name, {**gains, "limit": 1e9})
    timed = {"h": h} if name == "computed_torque" else {}
    try:
        for _ in range(round(8 * RATE)):
            plant.go(law.step(q=plant.q, qd=plant.qd, **STILL | {"q_ref": q}, **timed), h)
    except ArithmeticError:
        return np.inf
    return np.abs(plant.q - q).max() + np.abs(plant.qd).max()


@pytest.mark.parametrize(
    "name, gains",
    [
        ("joint_impedance", {"k_p": 40.0, "k_d": [4.0, 1.0]}),
        ("joint_impedance", {"k_p": 300.0, "k_d": [2.0, 1.0]}),
        ("computed_torque", {"k_p": 900.0, "k_d": 60.0, "k_i": 2000.0}),
    ],
)
def test_a_simulated_loop_is_stable_up_to_the_factor(name, gains):
    """At the one configuration that the limits leave: both joints near 0.2 and -0.4 rad."""
    q = np.array([0.2, -0.4])
    text = urdf("revolute", "revolute", dynamics=False)
    for joint, at in zip("ab", q, strict=True):
        limit = f'<limit lower="{at - 1e-6}" upper="{at + 1e-6}" effort="1" velocity="1"/></joint>'
        text = re.sub(rf'(name="j{joint}".*?)</joint>', rf"\1{limit}", text, count=1)
    factor = symgen.Robot(text).sampled_loop(name, RATE, gains).factor
    powers = {"k_p": 2, "k_d": 1, "k_i": 3}
    below, above = (
        {key: np.array(x) * (share * factor) ** powers[key] for key, x in gains.items()}
        for share in (0.95, 1.05)
    )
    assert left(name, below, q) < 1e-2
    assert left(name, above, q) > 0.1


@pytest.mark.parametrize("name", sorted(EXAMINED))
@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_proposed_gains_are_stable_with_a_margin(name, rate):
    link = ":b" if name == "cartesian_impedance" else ""
    found = robot(urdf(dynamics=False)).sampled_loop(name + link, rate)
    assert found.proposed and found.stable and found.factor > 0.99 * MARGIN
    damping = [row for row in found.limits if row.gain in ("k_d", "d_x")]
    assert damping and all(0 < row.value < row.largest_alone for row in damping)


def test_an_observer_is_stable_at_any_rate():
    found = robot().sampled_loop("momentum_observer", 10.0)
    assert found.stable and "nothing is fed back" in found.sentences()[0]


@pytest.mark.parametrize("name", [name for name in LOOPS if not CONTROLLERS[name].is_elastic])
def test_gains_of_pages_are_stable_at_their_rate(name):
    link = f":{LINK}" if name == "cartesian_impedance" else ""
    arm = symgen.Robot(ROOT / "robots" / f"{LOOPS[name][0]}.urdf")
    assert arm.sampled_loop(name + link, 1000.0, GAINS[name]).stable


@pytest.mark.parametrize("name", LOOPS)
def test_pages_show_the_loops_that_are_simulated(name):
    page = (Path(ROOT) / "docs" / "controllers" / f"{name}.md").read_text()
    (paragraph_shown,) = re.findall(rf"^{LEAD}.*?(?=\n\n|\Z)", page, re.MULTILINE | re.DOTALL)
    shown = " ".join(paragraph_shown.split())
    now = paragraph(name)
    number = r"[\d.]+(?:e[-+]?\d+)?\d*"
    assert re.sub(number, "N", shown) == re.sub(number, "N", now)
    pairs = zip(
        re.findall(r"\d[\d.e+-]*\d|\d", shown), re.findall(r"\d[\d.e+-]*\d|\d", now), strict=True
    )
    assert all(float(a) == pytest.approx(float(b), rel=0.15) for a, b in pairs)


def test_the_command_examines_gains():
    arm = "robots/ur5.urdf"
    options = ("--controller", "joint_impedance", "--rate", "1000")
    good = invoke("check", arm, *options)
    assert good.exit_code == 0 and "the proposed gains are stable" in good.stdout
    bad = invoke("check", arm, *options, "--gain", "k_p=200", "--gain", "k_d=30")
    assert bad.exit_code == 1 and "the given gains are UNSTABLE" in bad.stdout


@pytest.mark.parametrize(
    "options, sentence",
    [
        (("--controller", "joint_impedance"), "also give its sample rate"),
        (("--controller", "joint_impedance", "--rate", "0"), "--rate 0: give a positive"),
        (("--rate", "0"), "--rate: has an effect only with --controller"),
        (("--rate", "1000"), "--rate: has an effect only with --controller"),
        (("--gain", "k_p=1"), "--gain: has an effect only with --controller"),
        (("--controller", "pid", "--rate", "1000"), "no controller is called 'pid'"),
        (("--controller", "joint_impedance", "--rate", "-1"), "give a positive sample rate"),
        (("--controller", "joint_impedance", "--rate", "1e3", "--gain", "k_d"), "give NAME=VALUE"),
        (("--controller", "joint_impedance", "--rate", "1e3", "--gain", "k_d=-1"), "k_d has -1"),
        (
            ("--controller", "joint_impedance", "--rate", "1e3", "--gain", "k_x=1"),
            "has no gain k_x",
        ),
        (
            ("--controller", "joint_impedance", "--rate", "1e3", "--gain", "k_d=1,2"),
            "give 6 numbers or one, not 2",
        ),
        (
            (
                "--controller",
                "joint_impedance",
                "--rate",
                "1",
                "--gain",
                "k_d=1",
                "--gain",
                "k_d=2",
            ),
            "two values are given; keep one of them",
        ),
        (("--controller", "cartesian_impedance", "--rate", "1e3"), "name one"),
        (
            ("--controller", "elastic_feedback_linearization", "--rate", "1e3"),
            "is not examined for joints with springs",
        ),
        (("--controller", "joint_impedance:link3", "--rate", "1e3"), "has no link; remove"),
        (("--controller", "cartesian_impedance:nobody", "--rate", "1e3"), "no link is called"),
    ],
)
def test_what_cannot_be_examined_is_refused(options, sentence):
    result = invoke("check", "robots/ur5.urdf", *options)
    assert result.exit_code == 2 and sentence in result.stderr and not result.stdout
