"""Angles that a recorder keeps within one turn."""

import json
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.identification.data.usable_rows import FULL_TURN, AngleUnwrapper
from tests.support.arm_logs import log
from tests.support.tools import invoke, robot_file

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("size", [1, 7, 400])
@pytest.mark.parametrize("cut", [-np.pi, 0.0, 1.3])
def test_angles_become_continuous_whatever_the_pieces(size, cut):
    t = np.linspace(0, 20, 400)
    true = np.stack([4 * np.sin(t), 0.3 * t + np.cos(t), 0.1 * t], axis=1)
    kept = (true - cut) % FULL_TURN + cut
    kept[:, 2] = true[:, 2]
    turns, begins = AngleUnwrapper(np.array([0, 1])), np.zeros(400, np.bool_)
    made = kept.copy()
    for k in range(0, 400, size):
        turns(made[k : k + size], begins[k : k + size])
    assert np.allclose(np.diff(made, axis=0), np.diff(true, axis=0), rtol=0, atol=1e-12)
    jumps = (np.abs(np.diff(kept[:, :2], axis=0)) > 3).sum(axis=0)
    assert turns.counts.tolist() == jumps.tolist() and jumps.sum() > 1


def test_what_is_no_turn_is_left_as_it_is():
    """Glitches, what comes after a gap, and steps of angles that go further than a turn."""
    rows = np.array([[0.0, 0.0, -9.0], [3.0, 6.2, 0.0], [0.1, 6.1, 6.2], [0.2, 0.02, 0.0]])
    made, begins = rows.copy(), np.array([True, True, False, False])
    turns = AngleUnwrapper(np.arange(3))
    turns(made, begins)
    assert (made[:, [0, 2]] == rows[:, [0, 2]]).all() and turns.counts.tolist() == [0, 1, 0]
    assert made[:, 1].tolist() == pytest.approx([0.0, 6.2, 6.1, FULL_TURN + 0.02])


@pytest.mark.parametrize("derived", [True, False])
def test_continuous_joints_are_identified_from_angles_within_a_turn(tmp_path, derived):
    path = tmp_path / "arm.urdf"
    text = Path(robot_file("pendulum")).read_text().replace('type="revolute"', 'type="continuous"')
    path.write_text(text)
    t = np.arange(0, 8, 0.004)[:, None]
    by, rate = np.array([[2.5, 2.9], [1.5, -0.9]]), np.array([[1.1, 1.7], [2.3, 3.0]])
    q, qd, qdd = (
        sum(by[k] * rate[k] ** n * np.sin(rate[k] * t + k + n * np.pi / 2) for k in range(2))
        for n in range(3)
    )
    tau = symgen.compile(path, "inverse_dynamics").inverse_dynamics(q, qd, qdd)
    kept = (q + np.pi) % FULL_TURN - np.pi
    given = {"q": kept, "tau": tau + 0.01 * RNG.normal(size=tau.shape)}
    given |= {} if derived else {"qd": qd}
    names = ("shoulder", "elbow")
    columns = {f"{p}_{n}": x[:, k] for p, x in given.items() for k, n in enumerate(names)}
    recorded = log(tmp_path, {"t": t[:, 0], **columns})
    done = invoke("identify", path, recorded, "--friction", "none", "--json")
    assert done.exit_code == 0 and "'q_shoulder' jumps by a full turn" in done.stderr, done.output
    for parameter, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 0.01, parameter
