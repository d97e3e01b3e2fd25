"""Logs in which the arm stands still: the sign of friction is not known there."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import standstill
from symgen.identification.model.drive_columns import dilated, standing


@pytest.mark.parametrize(("robot", "part"), [("scara", 0.0), ("scara", 0.6), ("ur5", 0.9)])
def test_parameters_are_within_their_errors_whatever_part_is_standstill(robot, part):
    found = standstill.score(robot, part, seed=1, moving=12.0)
    assert found.beyond <= 1 and found.off.max() < 4, found.off


def test_the_sign_of_noise_is_what_spoils_them(monkeypatch):
    """Without a threshold the same log gives friction that is far off."""
    wrong = replace(standstill.SETTINGS, slowest=0.0)
    monkeypatch.setattr(standstill, "SETTINGS", wrong)
    assert standstill.score("scara", 0.6, seed=1, moving=12.0).off.max() > 6


def test_standing_is_a_long_run_of_slow_rows():
    slow = np.array([[c == "s"] for c in "s....sss.sssss..ss.....ssssss....s"])
    runs = "".join("s" if row else "." for row in standing(slow, 5)[:, 0])
    assert runs == "s........sssss.........ssssss....s"
    wider = dilated(np.array([[False], [False], [True], [False], [False]]), 1)
    assert wider[:, 0].tolist() == [False, True, True, True, False]
