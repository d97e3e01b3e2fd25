"""Wrong logs: each is refused, named with its cure, or mended, as in the table of wrong logs."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen import from_dh
from symgen.errors import SymgenError
from symgen.identification.data.dataset import open_dataset
from symgen.identification.diagnostics.channel_hypotheses import coupled_joints
from symgen.identification.diagnostics.diagnose import with_diagnosis
from symgen.identification.diagnostics.diagnostic_fit import Trial
from symgen.identification.estimation.run import identify
from symgen.identification.model.problem import problem_for
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from tests.support.altered_logs import MORE
from tests.support.simulated_arm import ARM, columns
from tests.support.wrong_logs import MENDED, NAMED, REFUSED, TABLE

FAULTS = TABLE | MORE
VARIED = (
    "payload of",
    "base tilted by",
    "base tilted about",
    "torques 80",
    "sign of torque 6",
    "zero of joint 2",
    "zero of joint 3 by half",
    "base on a slope",
    "signs of torques 1, 3",
    "gear ratio of joint 2",
    "torque 5 without sign",
)
"""The beginnings of the names of faults that repeat others with other numbers."""


def of_outcome(outcome):
    """The names of the faults with an outcome, of which those that repeat others are slow."""
    names = [name for name, fault in FAULTS.items() if fault.outcome == outcome]
    varied = [n.startswith(VARIED) and n != "payload of 5 kg halfway" for n in names]
    slow = pytest.mark.slow
    return [pytest.param(n, marks=slow if v else ()) for n, v in zip(names, varied, strict=True)]


@cache
def robot():
    job = Job.of(ARM)
    loaded = job.load()
    return job, loaded, problem_for(job, loaded, Settings())


def notes(path, log):
    """The warnings and notes of a log."""
    write(path, log)
    job, loaded, problem = robot()
    read = open_dataset(str(path), problem.needed, loaded.model, Settings(), 0.2)
    return with_diagnosis(read, problem, job, False).notes


def named(lines):
    return any("warning: " in line for line in lines)


def test_a_clean_log_has_no_warning(tmp_path):
    assert not named(notes(tmp_path / "log.npz", columns()))


@pytest.mark.parametrize("name", of_outcome(NAMED))
def test_a_fault_is_named_with_its_cure(tmp_path, name):
    lines = notes(tmp_path / "log.npz", FAULTS[name].make())
    assert named(lines) and FAULTS[name].text in " ".join(lines), lines


@pytest.mark.parametrize("name", of_outcome(MENDED))
def test_a_harmless_fault_has_no_warning(tmp_path, name):
    lines = notes(tmp_path / "log.npz", FAULTS[name].make())
    assert not named(lines) and FAULTS[name].text in " ".join(lines), lines


@pytest.mark.parametrize("usual", [15.0, 1e-200])
def test_a_force_that_hardly_ever_changes_is_reported(tmp_path, usual):
    """Fewer than one value in five hundred is another one, or no square of a value differs from
    zero."""
    log = dict(columns())
    name = next(name for name in log if name.startswith("tau_"))
    log[name] = np.full_like(log[name], usual)
    log[name][3] += abs(usual) / 15
    assert any("saturated" in line for line in notes(tmp_path / "log.npz", log))


@pytest.mark.parametrize("name", of_outcome(REFUSED))
def test_a_log_without_use_is_refused(tmp_path, name):
    path = tmp_path / "log.npz"
    write(path, FAULTS[name].make())
    job, loaded, _ = robot()
    with pytest.raises(SymgenError) as refused:
        identify(job, loaded, str(path), Settings(friction="viscous,coulomb,offset"))
    assert FAULTS[name].text in str(refused.value)


def test_only_joints_of_one_unit_can_be_coupled_by_a_parallelogram():
    """A torque and a force have no sum, and neither have an angle and a length."""
    names, trial = ("lift", "elbow", "wrist"), Trial(*np.ones((5, 4, 3)), np.ones((4, 3), bool))
    rows = [{"type": "prismatic"}, {"a": 1.0}, {"a": 1.0}]
    model = from_dh([dict(row, mass=1.0) for row in rows], "standard").model
    context = SimpleNamespace(
        model=SimpleNamespace(mapping=SimpleNamespace(model=model)),
        trial=trial, joints=names, forces=names, positions=names, explains=lambda trial: True,
    )  # fmt: skip
    found = [candidate.finding for candidate in coupled_joints(context)]
    assert len(found) == 3 and not any("lift" in text for text in found)
