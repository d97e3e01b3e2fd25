"""Controllers on robots with closed loops that Pinocchio's constrained dynamics simulate: tracking,
the residual of a push, adaptation to an unknown payload."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.mechanics.coupling import coupling_of
from tests.support.constrained import constrained_dynamics, expanded
from tests.support.states import base_parameters
from tests.support.tools import ROOT

H = 0.004
START = {"excavator": [0.1, 0.4, -1.2, 0.0], "five_bar": [-0.3, 0.2]}
Accelerations = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def plant(name: str, tmp_path: Path) -> tuple[symgen.Robot, Accelerations, np.ndarray]:
    """A robot of robots/, the accelerations of its independent coordinates by Pinocchio, and
    positions to start from."""
    file = ROOT / f"robots/{name}.urdf"
    text = re.sub(r"<loop .*?</loop>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "tree.urdf").write_text(text)
    robot = symgen.Robot(file)
    dynamics = constrained_dynamics(robot.model, tmp_path / "tree.urdf")
    names = [body.joint.name for body in robot.model.bodies]
    leading = [names.index(joint) for joint in robot.model.joint_names]

    def accelerations(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        x, rates, _, _ = expanded(coupling_of(robot.model), q, qd)
        forces = np.zeros(len(names))
        forces[leading] = tau
        return dynamics(x, rates, forces)[leading]

    return robot, accelerations, np.array(START[name])


def wanted(q: np.ndarray, t: float) -> dict[str, np.ndarray]:
    """A motion that starts at rest."""
    w = np.linspace(2.0, 3.0, len(q))
    return {
        "q_ref": q + 0.1 * (1 - np.cos(w * t)),
        "qd_ref": 0.1 * w * np.sin(w * t),
        "qdd_ref": 0.1 * w * w * np.cos(w * t),
    }


@pytest.mark.parametrize(
    ("of", "name"),
    [
        ("excavator", "computed_torque"),
        ("five_bar", "joint_impedance"),
        ("five_bar", "adaptive_slotine_li"),
    ],
)
def test_a_motion_is_followed(of: str, name: str, tmp_path: Path) -> None:
    """From rest and on the reference; without its torques the robot falls."""
    robot, accelerations, start = plant(of, tmp_path)
    inertia = np.diag(robot.compile("mass_matrix").mass_matrix(start))
    gains: dict[str, Any] = {"limit": 1e6}
    if name == "computed_torque":
        gains |= {"k_p": 100.0, "k_d": 20.0, "k_i": 0.0}
    if name == "joint_impedance":
        gains |= {"k_p": 100.0 * inertia, "k_d": 20.0 * inertia}
    if name == "adaptive_slotine_li":
        gains |= {"k_p": 10.0, "k_d": 20.0 * inertia, "gamma": 0.0, "leak": 0.0}
        gains |= {"beta_mean": base_parameters(robot), "beta_reach": 1e6}
    law, q, qd, worst = robot.controller(name, gains), start.copy(), np.zeros(len(start)), 0.0
    timed = {} if name == "joint_impedance" else {"h": H}
    for k in range(60):
        reference = wanted(start, k * H)
        worst = max(worst, float(np.abs(reference["q_ref"] - q).max()))
        tau = law.step(q=q, qd=qd, **reference, **timed)
        middle = q + 0.5 * H * qd  # of the midpoint
        qdd = accelerations(middle, qd + 0.5 * H * accelerations(q, qd, tau), tau)
        q, qd = q + H * qd + 0.5 * H * H * qdd, qd + H * qdd
    assert worst < 5e-4
    assert np.abs(q - start).max() > 0.01


def test_a_push_is_the_residual_of_the_momentum_observer(tmp_path: Path) -> None:
    robot, accelerations, q = plant("five_bar", tmp_path)
    n, hold = len(q), robot.compile("gravity")
    observer, qd = robot.controller("momentum_observer", gain=200.0), np.zeros(n)
    push = 0.2 * np.diag(robot.compile("mass_matrix").mass_matrix(q))
    for _ in range(40):
        tau = hold.gravity(q)
        middle = q + 0.5 * 0.001 * qd
        qdd = accelerations(middle, qd, tau + push)
        q, qd = q + 0.001 * qd + 0.5e-6 * qdd, qd + 0.001 * qdd
        found = observer.step(q=q, qd=qd, tau=tau, h=0.001)
    assert found == pytest.approx(push, rel=0.02)
