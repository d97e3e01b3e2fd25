"""What goes wrong with logs: one function per fault, which maps the columns of a clean log, and its
truth, to columns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.simulated_logs import Motion
from symgen.identification.model.equations import kernel
from symgen.jobs.job import Job
from tests.support.simulated_arm import (
    ARM,
    JOINTS,
    RATE,
    Columns,
    Truth,
    columns,
)


def _each(log: Columns, group: str, change: Callable[[np.ndarray], np.ndarray]) -> Columns:
    return {**log, **{f"{group}_{j}": change(log[f"{group}_{j}"]) for j in JOINTS}}


def _scaled(factor: float, *names: str) -> Callable[[], Columns]:
    """The clean log with some columns, or all of some groups, times a factor."""

    def make() -> Columns:
        chosen = [n for n in columns() if n in names or n.split("_")[0] in names]
        return {**columns(), **{n: factor * columns()[n] for n in chosen}}

    return make


def _exchanged(a: int, b: int, *groups: str) -> Callable[[], Columns]:
    def make() -> Columns:
        log = dict(columns())
        for g in groups:
            p, q = f"{g}_joint{a}", f"{g}_joint{b}"
            log[p], log[q] = log[q], log[p]
        return log

    return make


def _of(**truth) -> Callable[[], Columns]:
    return lambda: columns(Truth(**truth))


def _late(seconds: float) -> Callable[[], Columns]:
    """Torques that come later than the motion by a whole number of rows."""
    rows = round(seconds * RATE)
    return lambda: _each(columns(), "tau", lambda x: np.roll(x, rows))


def _early_commands() -> Columns:
    """Commanded positions and velocities, which the robot follows 20 ms later."""
    log = _each(columns(), "q", lambda x: np.roll(x, -5))
    return _each(log, "qd", lambda x: np.roll(x, -5))


def _lagged() -> Columns:
    """Torques through a filter of first order with a time constant of 20 ms."""

    def lag(x: np.ndarray) -> np.ndarray:
        y, a = x.copy(), np.exp(-1 / (0.02 * RATE))
        for k in range(1, len(x)):
            y[k] = a * y[k - 1] + (1 - a) * x[k]
        return y

    return _each(columns(), "tau", lag)


def _clipped(noise: float) -> Callable[[], Columns]:
    """The torque of joint 2, clipped at 60 % of its range, with noise of the sensor (N m)."""

    def make() -> Columns:
        x = columns()["tau_joint2"]
        top, random = 0.6 * np.abs(x).max(), np.random.default_rng(5)
        return {
            **columns(),
            "tau_joint2": np.clip(x, -top, top) + noise * random.normal(size=len(x)),
        }

    return make


def _outliers(size: float) -> Callable[[], Columns]:
    """0.5 % of the torques are off by `size` root mean squares."""

    def make() -> Columns:
        random = np.random.default_rng(6)

        def spoil(x: np.ndarray) -> np.ndarray:
            hit = random.random(len(x)) < 0.005
            signs = np.sign(random.normal(size=len(x)))
            return x + hit * signs * size * np.sqrt(np.mean(x**2))

        return _each(columns(), "tau", spoil)

    return make


def _rows(pick: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[[], Columns]:
    """Some of the rows, in some order."""

    def make() -> Columns:
        rows = pick(np.random.default_rng(7), len(columns()["t"]))
        return {name: x[rows] for name, x in columns().items()}

    return make


def _times(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[], Columns]:
    return lambda: {**columns(), "t": change(columns()["t"])}


def _without_gravity() -> Columns:
    """Torques from which the gravity of the file was subtracted."""
    job = Job.of(ARM, quantities=("gravity",))
    q = np.stack([columns()[f"q_{j}"] for j in JOINTS], axis=1)
    forces = kernel(job, job.load())(q)
    return {
        **columns(),
        **{f"tau_{j}": columns()[f"tau_{j}"] - forces[:, k] for k, j in enumerate(JOINTS)},
    }


def _zero(joint: int, angle: float) -> Callable[[], Columns]:
    """A zero of an encoder that is off by an angle (rad)."""
    name = f"q_joint{joint}"
    return lambda: {**columns(), name: columns()[name] + angle}


def _empty(log: Columns, part: float) -> Columns:
    random = np.random.default_rng(8)
    return {
        n: x if n == "t" else np.where(random.random(len(x)) < part, np.nan, x)
        for n, x in log.items()
    }


def _stale() -> Columns:
    """Two rows in a hundred repeat everything but the time."""
    stale = np.random.default_rng(9).random(len(columns()["t"])) < 0.02
    keep = np.maximum.accumulate(np.where(stale, 0, np.arange(len(stale))))
    return {n: x if n == "t" else x[keep] for n, x in columns().items()}


def _backwards() -> Columns:
    """Time that runs back by three steps, twice."""
    t = columns()["t"].copy()
    for row in (1000, 2000):
        t[row:] -= 3.5 / RATE
    return {**columns(), "t": t}


def _restarted() -> Columns:
    """Two logs in one file, each with its own time from zero."""
    other = columns(Truth(seed=4))
    return {n: np.concatenate([x, other[n]]) for n, x in columns().items()}


def _joined() -> Columns:
    """Two logs in one file without a break in time."""
    return {**_restarted(), "t": np.arange(2 * len(columns()["t"])) / RATE}


def _other(a: int, b: int) -> Callable[[], Columns]:
    """The torque of joint b is recorded for joint a too."""
    return lambda: {**columns(), f"tau_joint{a}": columns()[f"tau_joint{b}"]}


def _reordered(*groups: str) -> Callable[[], Columns]:
    """Columns in the order from tip to base."""

    def make() -> Columns:
        log = dict(columns())
        for g in groups:
            for j, k in zip(JOINTS, JOINTS[::-1], strict=True):
                log[f"{g}_{j}"] = columns()[f"{g}_{k}"]
        return log

    return make


def _motor_side() -> Columns:
    """Torques on the motor side of gears of 101."""
    return _each(columns(), "tau", lambda x: x / 101)


def _amperes() -> Columns:
    constants = (12.6, 12.6, 12.6, 9.3, 9.3, 9.3)
    named = zip(JOINTS, constants, strict=True)
    return {**columns(), **{f"tau_{j}": columns()[f"tau_{j}"] / k for j, k in named}}


def _even_zeros() -> Columns:
    """One row in twenty has a torque of zero: a recorder that writes 0 where it has nothing."""
    hit = np.random.default_rng(10).random(len(columns()["t"])) < 0.05
    return _each(columns(), "tau", lambda x: np.where(hit, 0.0, x))


def _tilted(angle: float) -> tuple[float, float, float]:
    return (9.81 * float(np.sin(angle)), 0.0, -9.81 * float(np.cos(angle)))


def _other_motion(group: str) -> Columns:
    """One group of columns comes from another run."""
    other = columns(Truth(seed=4))
    return {n: other[n] if n.split("_")[0] == group else x for n, x in columns().items()}


def _wrapped() -> Columns:
    """Positions from -1 to 1 rad, as an encoder of less than a turn has."""
    return _each(columns(), "q", lambda x: np.mod(x + 1.0, 2 * np.pi) - 1.0)


def _constant(value: float, *names: str) -> Callable[[], Columns]:
    return lambda: {**columns(), **{n: np.full_like(columns()[n], value) for n in names}}


@dataclass(frozen=True)
class Fault:
    """A wrong log and what must be reported. `outcome` is "refused" (exit status 2), "named" (a
    warning that contains `text`), or "mended" (no warning)."""

    make: Callable[[], Columns]
    outcome: str
    text: str = ""


NAMED, REFUSED, MENDED = "named", "refused", "mended"
TABLE = {
    # the 45 logs of the table
    "degrees": Fault(_scaled(180 / np.pi, "q", "qd"), REFUSED, "--unit"),
    "milliseconds": Fault(_scaled(1e3, "t"), REFUSED, "--unit t=ms"),
    "dead torque": Fault(_scaled(0.0, "tau_joint4"), REFUSED, "in every row"),
    "slow motion": Fault(_of(motion=Motion(0.1, 1, 0.01, 0.02)), REFUSED, "the motion does not"),
    "currents": Fault(_amperes, NAMED, "--torque-constant"),
    "torques 2 and 3 exchanged": Fault(_exchanged(2, 3, "tau"), NAMED, "tau_joint2=tau_joint3"),
    "torques 4 and 5 exchanged": Fault(_exchanged(4, 5, "tau"), NAMED, "tau_joint4=tau_joint5"),
    "sign of torque 3": Fault(_scaled(-1.0, "tau_joint3"), NAMED, "--scale tau_joint3=-1"),
    "torques 50 ms late": Fault(_late(0.052), NAMED, "ms after the motion; give --delay 0.0"),
    "torques 10 ms late": Fault(_late(0.012), MENDED),
    "commanded positions": Fault(_early_commands, NAMED, "--delay 0.0"),
    "torques through a lag": Fault(_lagged, MENDED),
    "clipped torque": Fault(_clipped(0.0), NAMED, "is saturated"),
    "clipped torque with noise": Fault(_clipped(0.05), NAMED, "is saturated"),
    "empty cells": Fault(lambda: _empty(columns(), 0.002), MENDED),
    "repeated rows": Fault(_rows(lambda r, n: np.sort(np.r_[0:n, r.integers(0, n, 60)])), MENDED),
    "stale rows": Fault(_stale, MENDED),
    "lost rows": Fault(_rows(lambda r, n: np.flatnonzero(r.random(n) > 0.05)), MENDED),
    "coarse positions": Fault(lambda: _each(columns(), "q", lambda x: np.round(x, 3)), MENDED),
    "20 Hz": Fault(_rows(lambda r, n: np.arange(0, n, 12)), MENDED),
    "restarted": Fault(_restarted, MENDED),
    "time backwards": Fault(_backwards, MENDED, "an earlier time"),
    "jittered time": Fault(
        _times(lambda t: t + np.random.default_rng(2).uniform(-0.3, 0.3, len(t)) / RATE), MENDED
    ),
    "velocities in rpm": Fault(_scaled(30 / np.pi, "qd"), NAMED, "--unit qd=rpm"),
    "sign of velocity 2": Fault(_scaled(-1.0, "qd_joint2"), NAMED, "--scale qd_joint2=-1"),
    "positions 2 and 3 exchanged": Fault(_exchanged(2, 3, "q"), NAMED, "q_joint2=q_joint3"),
    "base sideways": Fault(_of(gravity=(9.81, 0.0, 0.0)), NAMED, "--gravity 9.8"),
    "base tilted by 10°": Fault(_of(gravity=_tilted(0.1745)), NAMED, "--gravity 1.7"),
    "outliers": Fault(_outliers(10.0), MENDED),
    "torques without gravity": Fault(_without_gravity, NAMED, "--gravity 0,0,0"),
    "payload": Fault(_of(load=2.0), NAMED, "--payload link6"),
    "gain of joint 4 twice": Fault(_scaled(2.0, "tau_joint4"), NAMED, "--scale tau_joint4=0.5"),
    "lengths": Fault(_of(lengths=0.6), NAMED, "lengths"),
    "zero of joint 4": Fault(_zero(4, np.pi / 6), NAMED, "zero"),
    "friction drifts": Fault(_of(drift=0.4), NAMED, "change"),
    "joined logs": Fault(_joined, MENDED),
    "position and velocity 5 negated": Fault(
        _scaled(-1.0, "q_joint5", "qd_joint5"), NAMED, "--scale q_joint5=-1 --scale qd_joint5=-1"
    ),
    "sign of position 2": Fault(_scaled(-1.0, "q_joint2"), NAMED, "--scale q_joint2=-1"),
    "positions in degrees": Fault(_scaled(180 / np.pi, "q"), REFUSED, "positions in degrees"),
    "velocities in degrees": Fault(_scaled(180 / np.pi, "qd"), REFUSED, "velocities in degrees"),
    "torques in mNm": Fault(_scaled(1e3, "tau"), NAMED, "--unit tau=mNm"),
    "torques of motors": Fault(_motor_side, NAMED, "motor"),
    "torque 3 in mNm": Fault(_scaled(1e3, "tau_joint3"), NAMED, "--scale tau_joint3=0.001"),
    "all signs of torques": Fault(_scaled(-1.0, "tau"), NAMED, "--scale tau_joint1=-1"),
    "positions and velocities 2 and 3 exchanged": Fault(
        _exchanged(2, 3, "q", "qd"), NAMED, "q_joint2=q_joint3"
    ),
    # further ones
    "velocities 2 and 3 exchanged": Fault(_exchanged(2, 3, "qd"), NAMED, "qd_joint2=qd_joint3"),
    "velocities 4 and 6 exchanged": Fault(_exchanged(4, 6, "qd"), NAMED, "qd_joint4=qd_joint6"),
    "velocity 1 by half": Fault(_scaled(0.5, "qd_joint1"), NAMED, "--scale qd_joint1=2"),
    "velocity 4 of the motor": Fault(
        _scaled(101.0, "qd_joint4"), NAMED, "--scale qd_joint4=0.0099"
    ),
    "velocities of motors": Fault(_scaled(101.0, "qd"), NAMED, "--scale qd_joint1=0.0099"),
    "velocities in turns": Fault(_scaled(0.5 / np.pi, "qd"), NAMED, "--unit qd=rev"),
    "position 3 by half": Fault(_scaled(0.5, "q_joint3"), NAMED, "--scale q_joint3=2"),
    "all signs of velocities": Fault(_scaled(-1.0, "qd"), NAMED, "--scale qd_joint1=-1"),
    "time twice as fast": Fault(_times(lambda t: t / 2), NAMED, "--rate"),
    "signs of torques 2 and 5": Fault(
        _scaled(-1.0, "tau_joint2", "tau_joint5"), NAMED, "--scale tau_joint5=-1"
    ),
    "base upside down": Fault(_of(gravity=(0.0, 0.0, 9.81)), NAMED, "--gravity 0,0,9.81"),
    "base on a wall": Fault(_of(gravity=(0.0, -9.81, 0.0)), NAMED, "-9.8"),
    "base tilted by 30°": Fault(_of(gravity=_tilted(0.5236)), NAMED, "--gravity 5.0"),
    "larger robot": Fault(_of(lengths=1.5), NAMED, "lengths"),
    "zero of joint 2": Fault(_zero(2, np.pi / 2), NAMED, "zero"),
    "zero of joint 3": Fault(_zero(3, -0.35), NAMED, "zero"),
    "gain of joint 2 by half": Fault(_scaled(0.5, "tau_joint2"), NAMED, "--scale tau_joint2=2"),
    "all gains twice": Fault(_scaled(2.0, "tau"), NAMED, "times the prediction"),
    "torques reversed in order": Fault(_reordered("tau"), NAMED, "tau_joint1=tau_joint6"),
    "torque 2 recorded twice": Fault(_other(3, 2), NAMED, "same"),
    "torques zero in places": Fault(_even_zeros, MENDED),
    "torques 20 ms early": Fault(_late(-0.02), NAMED, "before the motion"),
    "payload of 5 kg": Fault(_of(load=5.0), NAMED, "--payload link6"),
    "torques 1 and 6 exchanged": Fault(_exchanged(1, 6, "tau"), NAMED, "tau_joint1=tau_joint6"),
    "torques in kNm": Fault(_scaled(1e-3, "tau"), NAMED, "times the prediction"),
    "sign of velocity 5": Fault(_scaled(-1.0, "qd_joint5"), NAMED, "--scale qd_joint5=-1"),
    "position 5 in degrees": Fault(
        _scaled(180 / np.pi, "q_joint5"), NAMED, "--scale q_joint5=0.01745"
    ),
    "velocity 3 in rpm": Fault(_scaled(30 / np.pi, "qd_joint3"), NAMED, "--scale qd_joint3=0.1047"),
    "sign of torque 6": Fault(_scaled(-1.0, "tau_joint6"), NAMED, "--scale tau_joint6=-1"),
    "signs of torques 1, 3 and 5": Fault(
        _scaled(-1.0, "tau_joint1", "tau_joint3", "tau_joint5"), NAMED, "--scale tau_joint1=-1"
    ),
    "sign of position and velocity 2": Fault(
        _scaled(-1.0, "q_joint2", "qd_joint2"), NAMED, "--scale q_joint2=-1 --scale qd_joint2=-1"
    ),
    "gain of joint 1 by 3": Fault(_scaled(3.0, "tau_joint1"), NAMED, "--scale tau_joint1=0.33"),
    "zero of joint 5": Fault(_zero(5, np.pi / 2), MENDED),
    "zero of joint 3 by half a turn": Fault(_zero(3, np.pi), NAMED, "zero"),
    "base tilted about x": Fault(_of(gravity=(0.0, 3.36, -9.22)), NAMED, "3.3"),
    "base on a slope upside down": Fault(_of(gravity=(3.0, 0.0, 9.34)), NAMED, "163°"),
    "torque 1 recorded twice": Fault(_other(2, 1), NAMED, "same"),
    "torques 80 ms late": Fault(_late(0.08), NAMED, "--delay 0.07"),
    "payload of 10 kg": Fault(_of(load=10.0), NAMED, "--payload link6"),
    "slightly smaller robot": Fault(_of(lengths=0.75), MENDED),
    "friction falls": Fault(_of(drift=-0.4), NAMED, "change"),
    "microseconds": Fault(_scaled(1e6, "t"), REFUSED, "--unit t="),
    "time that stands": Fault(_constant(0.0, "t"), REFUSED, "time"),
    "dead position": Fault(_constant(0.3, "q_joint3"), REFUSED, "in every row"),
    "dead velocity": Fault(_constant(0.0, "qd_joint3"), NAMED, "qd_joint3"),
    "no torques": Fault(_constant(0.0, *(f"tau_{j}" for j in JOINTS)), REFUSED, "in every row"),
    "torques of another run": Fault(lambda: _other_motion("tau"), NAMED, "same run"),
    "positions of another run": Fault(lambda: _other_motion("q"), NAMED, "derivative"),
    "velocities of another run": Fault(lambda: _other_motion("qd"), NAMED, "derivative"),
    "too short": Fault(_rows(lambda r, n: np.arange(40)), REFUSED, "too few rows"),
    "twice in one file": Fault(_rows(lambda r, n: np.r_[0:n, 0:n]), MENDED, ""),
    "positions within a turn": Fault(_wrapped, MENDED),
    "coarse torques": Fault(lambda: _each(columns(), "tau", lambda x: 2 * np.round(x / 2)), MENDED),
    "only zeros in torque 3 at the end": Fault(
        lambda: {
            **columns(),
            "tau_joint3": np.where(columns()["t"] < 9, columns()["tau_joint3"], 0.0),
        },
        NAMED,
        "tau_joint3",
    ),
}
