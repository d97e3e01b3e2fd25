"""The public cases of tests/wild."""

import json

from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.tools import ROOT

WILD = ROOT / "tests" / "wild"


def case(name, **options):
    """The robot, its numbers and what is said of it."""
    loaded = load(WILD / f"{name}.urdf", **options)
    numbers = WILD / f"{name}.json"
    wanted = json.loads(numbers.read_text()) if numbers.exists() else {}
    return ParametricModel(loaded.model), wanted, [str(notice) for notice in loaded.notices]


def differential(**options):
    return load(WILD / "differential.urdf", **options)
