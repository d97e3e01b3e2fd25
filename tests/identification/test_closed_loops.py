"""Identification of robots with closed loops, from logs of known truth in the independent
coordinates: parameters within their standard errors, and the forces of another motion."""

from functools import cache

import numpy as np
import pytest

import symgen
from symgen.errors import SymgenError
from tests.support.loops import jointed
from tests.support.states import base_parameters
from tests.support.tools import robot_file

CENTRE = {"excavator": (0.0, 0.4, -1.2, 0.0), "five_bar": (-0.3, 0.2)}
REACH = {"excavator": 0.45, "five_bar": 0.12}
NOISE = 0.01
LAWS = "viscous,coulomb"


@cache
def forces(name: str):
    return symgen.compile(robot_file(name), "inverse_dynamics").inverse_dynamics


def log(name: str, seed: int, seconds: float = 16.0):
    """A periodic motion of 10 s and the forces that it needs, with noise."""
    rng, t, centre = np.random.default_rng(seed), np.arange(0, seconds, 0.01), CENTRE[name]
    q, qd, qdd = (np.zeros((len(t), len(centre))) for _ in range(3))
    q += centre
    for k in range(1, 6):
        w, (a, b) = 2 * np.pi * k / 10, REACH[name] / k * rng.normal(size=(2, len(centre)))
        c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
        q, qd, qdd = q + a * s + b * c, qd + w * (a * c - b * s), qdd - w * w * (a * s + b * c)
    tau = forces(name)(q, qd, qdd)
    tau = tau + NOISE * tau.std(axis=0) * rng.normal(size=tau.shape)
    names = symgen.Robot(robot_file(name)).velocities
    columns = zip(names, q.T, tau.T, strict=True)
    pairs = [pair for n, x, f in columns for pair in ((f"q_{n}", x), (f"tau_{n}", f))]
    return {"t": t, **dict(pairs)}


@pytest.mark.parametrize("name", ["five_bar", "excavator"])
def test_parameters_of_a_robot_with_closed_loops(name: str) -> None:
    robot = symgen.Robot(robot_file(name))
    found = robot.identify(log(name, 1), friction=LAWS)
    true = base_parameters(robot)
    named = [n for n in found.parameters if " " not in n]
    off = [
        (found.parameters[n] - x) / found.standard_errors[n]
        for n, x in zip(named, true, strict=True)
    ]
    assert np.abs(off).max() < 4.5 and np.sqrt(np.mean(np.square(off))) < 1.6
    assert max(found.errors(log(name, 2, 6.0)).values()) < 2 * NOISE


def test_loops_of_newtons_method_are_refused() -> None:
    with pytest.raises(SymgenError, match="not supported in identification"):
        symgen.Robot(jointed("ball")).identify({"t": [0.0, 0.1]}, friction=LAWS)
