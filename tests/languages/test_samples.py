"""The committed samples in generated/ are what this version writes; `pytest --update` writes them
anew (so does `make generate`)."""

import pytest

from symgen.jobs.api import generate
from symgen.tracing.options import DEFAULT_QUANTITIES
from tests.support.tools import ROOT, robot_file, snapshot

SAMPLES = {
    "panda": {},
    "pendulum": {},
    "ur5": {},
    "quadruped": {"base": "floating", "quantities": (*DEFAULT_QUANTITIES, "forward_dynamics")},
    "ur5_q31": {
        "quantities": ("inverse_dynamics", "gravity"),
        "scalar": "q31",
        "certify_limits": {"acceleration": 10.0},
    },
}
FOLDER = ROOT / "generated"


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_up_to_date(name, tmp_path, update):
    robot = robot_file(name.partition("_")[0])
    if update:
        generate(robot, FOLDER / name, **SAMPLES[name])
    if not (FOLDER / name).is_dir():
        pytest.skip(f"generated/{name} is not there; make generate writes it")
    generate(robot, tmp_path / name, **SAMPLES[name])
    wanted, found = snapshot(tmp_path / name), snapshot(FOLDER / name)
    assert found.keys() == wanted.keys()
    stale = [file for file in wanted if found[file] != wanted[file]]
    assert not stale, (
        f"generated/{name} is not what this version writes ({', '.join(stale)}); pytest --update writes it"
    )


def test_no_other_samples():
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} <= set(SAMPLES)
