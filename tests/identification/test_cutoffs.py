"""The automatic cutoff of derivatives: lower where velocities shake and forces do not."""

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Recipe, simulated, write
from symgen.identification.estimation.run import identify
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from tests.support.tools import robot_file

FILE = robot_file("scara")
RECIPE = Recipe(duration=20.0, rate=250.0, seed=3, motion=Motion(frequency=0.1, reach=0.9))


def found(tmp_path, shaking, **options):
    """What is identified where velocities shake at 18 Hz by a part of their root mean square."""
    job = Job.of(FILE)
    loaded = job.load()
    columns = simulated(job, loaded, RECIPE, accelerations=False)
    for name in columns:
        if name.startswith("qd_"):
            size = shaking * np.sqrt(np.mean(columns[name] ** 2))
            columns[name] = columns[name] + size * np.sin(2 * np.pi * 18 * columns["t"])
    write(tmp_path / "log.npz", columns)
    return identify(job, loaded, str(tmp_path / "log.npz"), Settings(**options))


def off(result):
    """How far base parameters are off, the worst by the largest."""
    mapping = result.estimate.mapping
    true = mapping.base(mapping.prior)
    return np.abs(result.estimate.base - true).max() / np.abs(true).max()


@pytest.mark.parametrize("shaking", [0.1])
def test_shaking_velocities_are_cut_off_lower(tmp_path, shaking):
    result = found(tmp_path, shaking)
    assert result.dataset.derivative_filter.cutoff < 18
    assert any("predicts the forces better" in note for note in result.notes)
    assert off(result) < 0.03 < off(found(tmp_path, shaking, cutoff=60.0))


def test_a_clean_log_keeps_its_cutoff(tmp_path):
    result = found(tmp_path, 0.0)
    assert not result.dataset.extra_notes
    assert not found(tmp_path, 0.0, cutoff=3.0).dataset.extra_notes
