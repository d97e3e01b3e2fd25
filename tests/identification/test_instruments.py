"""Instrumental variables: a loop that was closed on noisy positions biases least squares and not
them."""

import numpy as np
import pytest
from tools import robot_file

import symgen
from benchmarks.simulated_logs import write
from symgen.errors import OptionError
from symgen.identification.logs import LogError
from symgen.identification.run import identify
from symgen.identification.settings import Settings
from symgen.jobs.job import Job

FILE = robot_file("pendulum")
STEP, ROWS, NOISE = 0.005, 2000, 2e-3
ARM = symgen.compile(FILE, "forward_dynamics", "inverse_dynamics", "base_regressor")
FORCE = 0.05
"""Noise of the forces (N m)."""


def commanded(t):
    """A sum of sines for each joint, with its rates."""
    rates, sizes = np.array([[2.0, 5.1, 9.3], [2.7, 6.2, 11.9]]), np.array([0.8, 0.35, 0.15])
    angle = rates * t + np.array([[0.1, 1.0, 2.0], [2.3, 0.4, 1.1]])
    return (
        (sizes * np.sin(angle)).sum(axis=1),
        (sizes * rates * np.cos(angle)).sum(axis=1),
        -(sizes * rates**2 * np.sin(angle)).sum(axis=1),
    )


def closed_loop(seed):
    """The log of a computed torque on positions with noise: encoder, force, command."""
    random = np.random.default_rng(seed)
    names = Job.of(FILE).load().model.joint_names
    q, qd, _ = commanded(0.0)
    before, speed = q, qd
    rows, states = [], []
    for k in range(ROWS):
        seen = q + random.normal(0, NOISE, 2)
        speed = 0.7 * speed + 0.3 * (seen - before) / STEP if k else qd
        before, (at, rate, change) = seen, commanded(k * STEP)
        wanted = change + 400.0 * (at - seen) + 25.0 * (rate - speed)
        tau = ARM.inverse_dynamics(at, rate, wanted)
        rows.append((k * STEP, *seen, *at, *(tau + random.normal(0, FORCE, 2))))
        states.append((q, qd, ARM.forward_dynamics(q, qd, tau)))
        for _ in range(5):
            qdd = ARM.forward_dynamics(q, qd, tau)
            middle = qd + STEP / 10 * qdd
            qdd = ARM.forward_dynamics(q + STEP / 10 * qd, middle, tau)
            q, qd = q + STEP / 5 * middle, qd + STEP / 5 * qdd
    heads = ["t", *(f"{group}_{name}" for group in ("q", "ref", "tau") for name in names)]
    return dict(zip(heads, np.array(rows).T, strict=True)), np.array(states).swapaxes(0, 1)


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
    assert bias["acceleration"] > 2.0, "the law needs a log that biases least squares"
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
