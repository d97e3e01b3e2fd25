"""Instrumental variables: a loop that was closed on noisy positions biases least squares and not
them."""

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.errors import OptionError
from symgen.identification.data.log_file import LogError
from symgen.identification.estimation.run import identify
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from tests.support.closed_loop import ARM, FILE, STEP, closed_loop


def found(tmp_path, columns, method, **options):
    job = Job.of(FILE)
    write(tmp_path / "log.npz", columns)
    settings = Settings(method=method, cutoff=20.0, **options)
    return identify(job, job.load(), str(tmp_path / "log.npz"), settings)


def test_instruments_take_the_bias_away(tmp_path):
    """The mean error over seeds, as forces along the true motion: that of instruments is noise,
    that of least squares is not."""
    errors = {"acceleration": [], "instrumental": []}
    for seed in range(2):
        columns, states = closed_loop(seed)
        for method, off in errors.items():
            made = found(tmp_path, columns, method).estimate
            true = made.mapping.base(made.mapping.prior)
            off.append(made.base - true)
            if method == "instrumental":
                assert np.abs((made.base - true) / made.standard_errors).max() < 4
    along = ARM.base_regressor(*states).reshape(-1, len(true))
    bias = {k: np.sqrt(np.mean((along @ np.mean(v, axis=0)) ** 2)) for k, v in errors.items()}
    assert bias["acceleration"] > 1.5, "the law needs a log that biases least squares"
    assert bias["instrumental"] < 0.05 * bias["acceleration"]


def test_a_log_without_commands_is_refused(tmp_path):
    names = Job.of(FILE).load().model.joint_names
    columns = {"t": np.arange(500) * STEP}
    for group in ("q", "tau"):
        columns |= {
            f"{group}_{name}": np.sin(columns["t"] * (k + 1)) for k, name in enumerate(names)
        }
    with pytest.raises(LogError, match=r"has no commanded positions.*--column ref=PATTERN"):
        found(tmp_path, columns, "instrumental")


@pytest.mark.parametrize(
    ("options", "flag"), [({"full": True}, "--full"), ({"loss": "huber"}, "--loss huber")]
)
def test_what_minimises_something_is_no_instrument(options, flag):
    with pytest.raises(OptionError, match=f"--method instrumental and {flag}"):
        Settings(method="instrumental", **options)


def test_commands_are_found_under_the_names_of_recorders(tmp_path):
    """As in UR's RTDE."""
    columns, _ = closed_loop(0)
    names = {
        f"{a}_{n}": f"{b}_{k}"
        for a, b in (("q", "actual_q"), ("ref", "target_q"))
        for k, n in enumerate(Job.of(FILE).load().model.joint_names)
    }
    columns = {names.get(k, k): v for k, v in columns.items()}
    made = found(tmp_path, columns, "instrumental", column=(("tau", "tau_{}"),))
    assert made.reading.layout.reference[0].name == "target_q_0"
