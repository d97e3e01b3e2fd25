"""More wrong logs of the same robot: signals of drives and recorders instead of those of joints."""

from collections.abc import Callable

import numpy as np

from benchmarks.simulated_logs import Motion
from symgen.identification.model.equations import kernel
from symgen.jobs.job import Job
from tests.support.simulated_arm import ARM, JOINTS, RATE, Columns, Truth, columns
from tests.support.wrong_logs import MENDED, NAMED, REFUSED, Fault

Change = Callable[[np.ndarray], np.ndarray]


def _changed(change: Change, *names: str) -> Callable[[], Columns]:
    """The clean log with a change of some columns."""
    return lambda: {**columns(), **{n: change(columns()[n]) for n in names}}


def _all(group: str, change: Change) -> Callable[[], Columns]:
    return _changed(change, *(f"{group}_{j}" for j in JOINTS))


def _geared(joint: int, ratio: float) -> Callable[[], Columns]:
    """Positions and velocities of one joint by another gear ratio, or in another unit."""
    return _changed(lambda x: x * ratio, f"q_joint{joint}", f"qd_joint{joint}")


def _later(joint: int, seconds: float) -> Callable[[], Columns]:
    return _changed(lambda x: np.roll(x, round(seconds * RATE)), f"tau_joint{joint}")


def _cycle() -> Columns:
    """The torques of joints 2, 3 and 1 are recorded for joints 1, 2 and 3."""
    log = columns()
    return {**log, **{f"tau_joint{k}": log[f"tau_joint{k % 3 + 1}"] for k in (1, 2, 3)}}


def _loaded_halfway(mass: float) -> Callable[[], Columns]:
    def make() -> Columns:
        before, after = columns(), columns(Truth(load=mass))
        half = len(before["t"]) // 2
        return {n: np.concatenate([x[:half], after[n][half:]]) for n, x in before.items()}

    return make


def _compensated(joint: int) -> Callable[[], Columns]:
    """The torque of one joint without the gravity of the file."""

    def make() -> Columns:
        job, log = Job.of(ARM, quantities=("gravity",)), columns()
        forces = kernel(job, job.load())(np.stack([log[f"q_{j}"] for j in JOINTS], axis=1))
        return {**log, f"tau_joint{joint}": log[f"tau_joint{joint}"] - forces[:, joint - 1]}

    return make


def _of_motors(positions: bool, forces: bool) -> Callable[[], Columns]:
    """Motors of joints 2 and 3 on the base: angles in space, or torques across a parallelogram."""

    def make() -> Columns:
        log = columns()
        q = {f"{x}_joint3": log[f"{x}_joint3"] + log[f"{x}_joint2"] for x in ("q", "qd")}
        tau = {"tau_joint2": log["tau_joint2"] - log["tau_joint3"]}
        return {**log, **(q if positions else {}), **(tau if forces else {})}

    return make


def _clipped(x: np.ndarray) -> np.ndarray:
    """Positions of an encoder that covers 60 % of the motion."""
    middle, half = x.mean(), 0.6 * np.abs(x - x.mean()).max()
    return np.clip(x, middle - half, middle + half)


def _bursts() -> Columns:
    """Six times 0.3 s without a torque, at different times for each joint."""
    log = columns()
    for k, j in enumerate(JOINTS):
        tau = log[f"tau_{j}"].copy()
        for start in np.random.default_rng(k).integers(0, len(tau) - 75, 6):
            tau[start : start + 75] = np.nan
        log = {**log, f"tau_{j}": tau}
    return log


def _turning() -> Columns:
    """Angles between -pi and pi of joints that turn further."""
    log = columns(Truth(motion=Motion(0.1, 5, 0.6, 4.0)))
    within = {f"q_{j}": np.mod(log[f"q_{j}"] + np.pi, 2 * np.pi) - np.pi for j in JOINTS}
    return {**log, **within}


def _jittered_milliseconds(t: np.ndarray) -> np.ndarray:
    return 1e3 * t + np.random.default_rng(3).uniform(-1, 1, len(t))


MORE = {
    "position and velocity 5 in degrees": Fault(_geared(5, 180 / np.pi), REFUSED, "--unit"),
    "jittered milliseconds": Fault(_changed(_jittered_milliseconds, "t"), REFUSED, "--unit t=ms"),
    "torques of joints 1, 2 and 3 in a cycle": Fault(_cycle, NAMED, "tau_joint2=tau_joint1"),
    "angles within a turn": Fault(_turning, MENDED, "unwrapped"),
    "gear ratio of joint 3": Fault(_geared(3, 1.25), NAMED, "--scale q_joint3=0.8"),
    "gear ratio of joint 2": Fault(_geared(2, 0.5), NAMED, "--scale q_joint2=1.99"),
    "payload of 5 kg halfway": Fault(_loaded_halfway(5.0), NAMED, "changes at about 6 s"),
    "payload of 2 kg halfway": Fault(_loaded_halfway(2.0), NAMED, "changes at about 6 s"),
    "gravity compensated at joint 2": Fault(_compensated(2), NAMED, "not include gravity"),
    "gravity compensated at joint 3": Fault(_compensated(3), NAMED, "'tau_joint3' probably does n"),
    "torque 2 is 20 ms late": Fault(_later(2, 0.02), MENDED),
    "torque 3 is 60 ms late": Fault(_later(3, 0.06), NAMED, "'tau_joint3' is recorded about"),
    "bursts without torques": Fault(_bursts, NAMED, "not used for this column"),
    "position 2 clipped": Fault(_changed(_clipped, "q_joint2"), NAMED, "velocity moves it by"),
    "velocities 48 ms late": Fault(
        _all("qd", lambda x: np.roll(x, 12)), NAMED, "ms after the positions; remove the columns"
    ),
    "torque 3 without sign": Fault(_changed(np.abs, "tau_joint3"), NAMED, "without its sign"),
    "torque 5 without sign": Fault(_changed(np.abs, "tau_joint5"), NAMED, "without its sign"),
    "torques without signs": Fault(_all("tau", np.abs), NAMED, "without its sign"),
    "torque 2 of a motor": Fault(_of_motors(False, True), NAMED, "add 'tau_joint3'"),
    "position 3 in space": Fault(_of_motors(True, False), NAMED, "subtract 'q_joint2'"),
    "joints 2 and 3 by a parallelogram": Fault(_of_motors(True, True), NAMED, "parallelogram"),
    "positions from the start": Fault(_all("q", lambda x: x - x[0]), NAMED, "zero"),
}
