"""The work array in parts that one instruction of a Cortex-M reaches."""

import re

import numpy as np
import pytest

from symgen.jobs import api
from symgen.languages.c.backend import functions
from symgen.languages.c.checks import build
from symgen.languages.c.work_array import WorkArraySegments
from tests.support.tools import ROOT, verified

QUANTITIES = ("forward_dynamics_derivatives",)


def made(folder, **options):
    file = ROOT / "robots" / "ur5.urdf"
    module, *_ = api.generate(file, folder, ["c"], quantities=QUANTITIES, **options)
    return module, (folder / "ur5_forward_dynamics_derivatives.c").read_text()


@pytest.mark.parametrize(
    "place, said", [(0, "w[0]"), (255, "w[255]"), (256, "w256[0]"), (700, "w512[188]")]
)
def test_an_entry_lies_behind_the_last_pointer_before_it(place, said):
    assert WorkArraySegments(701, 256).entry("w", place) == said
    assert WorkArraySegments(701, 0).entry("w", place) == f"w[{place}]"
    assert WorkArraySegments(701, 256).entry("tau", place) == f"tau[{place}]"


def test_banks_are_the_whole_array():
    found = WorkArraySegments(701, 256).arguments
    assert [(a.name, a.size) for a in found] == [("w", 256), ("w256", 256), ("w512", 189)]
    assert [(a.name, a.size) for a in WorkArraySegments(256, 256).arguments] == [("w", 256)]
    assert WorkArraySegments(0, 256).arguments == []


def test_pieces_reach_all_they_name_and_values_are_those_of_one_array(tmp_path):
    module, text = made(tmp_path / "banks", target="cortex-m4f")
    (function,) = functions(module)
    assert function.work > 128
    assert "double w128[UR5_APART" in text.replace("ur5_real", "double")
    assert "&w[128]" in text
    places = [
        int(k)
        for line in re.findall(r"enum \{(.*?)\}", text, re.S)
        for k in re.findall(r"= (\d+)", line)
    ]
    assert places and max(places) < 128
    same = {QUANTITIES[0]: module.functions[0].formulation}
    plain, whole = made(tmp_path / "whole", optimize="operations", formulations=tuple(same.items()))
    assert "APART" not in whole and "w128" not in whole
    verified(tmp_path / "banks")
    one, two = build(module, tmp_path / "banks"), build(plain, tmp_path / "whole")
    rng = np.random.default_rng(5)
    given = [rng.uniform(-2.0, 2.0, 6) for _ in range(3)]
    for a, b in zip(
        one.forward_dynamics_derivatives(*given),
        two.forward_dynamics_derivatives(*given),
        strict=True,
    ):
        assert np.array_equal(a, b)
