"""Functions of robots with closed loops state that a loop may be the cause of a failure."""

import numpy as np
import pytest

import symgen
from tests.support.tools import ROOT, generated


def test_errors_and_headers_name_the_loop(tmp_path):
    robot = symgen.compile(ROOT / "robots/five_bar.urdf", "forward_dynamics")
    with pytest.raises(np.linalg.LinAlgError, match="a closed loop cannot reach the state"):
        robot.forward_dynamics([0.0, 3.1], [0.0, 0.0], [0.0, 0.0])


def test_headers_of_trees_do_not():
    _, folder = generated("ur5", quantities=("forward_dynamics",))
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("ur5*.[ch]")]
    assert any("M is positive definite" in text for text in texts)
    assert not any("closed loop" in text for text in texts)
