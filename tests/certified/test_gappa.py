"""Gappa proves the bounds of generated C (`make gauntlet`), and sees a constant that is wrong."""

import pytest

from firmware import gappa
from firmware.tools import missing

pytestmark = pytest.mark.skipif(bool(missing(["gappa"])), reason="gappa is not installed")


def test_gappa_proves_bounds_of_right_code_only(tmp_path, monkeypatch):
    monkeypatch.setattr(gappa, "BOXES", 1)
    made = gappa.PENDULUM.written(tmp_path)
    function = next(f for f in made.module.functions if f.name == "mass_matrix")
    assert gappa.judge(made, function) == ""
    path = tmp_path / "pendulum_mass_matrix.c"
    text = path.read_text(encoding="ascii")
    path.write_text(text.replace("+ 1.2f", "+ 1.9f"), encoding="ascii")
    assert "Error" in gappa.judge(made, function)
