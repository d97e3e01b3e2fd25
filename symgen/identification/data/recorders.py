"""Recorders whose column names are known by name.

A pattern has ``{}`` for the name or the number of a joint and may begin with ``*``, any text that
is the same for every joint (the topic of a message)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symgen.identification.data.log_file import Log

OWN: Final = "symgen"


@dataclass(frozen=True)
class Recorder:
    """The names that a program gives to its columns; empty where it has no such group.

    `time` are columns of time with their unit."""

    title: str
    time: tuple[tuple[str, str], ...]
    q: str
    qd: str = ""
    qdd: str = ""
    tau: str = ""
    current: str = ""

    def pattern(self, group: str) -> str:
        """Of a group but time."""
        return str(getattr(self, group, f"{group}_{{}}"))


TIMES: Final = (
    ("t", "s"),
    ("time", "s"),
    ("timestamp", "s"),
    ("stamp", "s"),
    ("Time", "s"),
    ("time_s", "s"),
    ("t_ms", "ms"),
    ("time_ms", "ms"),
    ("timestamp_ns", "ns"),
)
"""Of recorders that are not known."""

RECORDERS: Final = (
    Recorder(OWN, TIMES, "q_{}", "qd_{}", "qdd_{}", "tau_{}", "current_{}"),
    Recorder("matrices", TIMES, "q[{}]", "qd[{}]", "qdd[{}]", "tau[{}]", "current[{}]"),
    # Universal Robots RTDE: the recipe's variables, one column an element
    Recorder(
        "UR RTDE", (("timestamp", "s"), *TIMES), "actual_q_{}", "actual_qd_{}", "", "",
        "actual_current_{}",
    ),
    # libfranka, logToCSV: time is a duration in ms
    Recorder(
        "libfranka", (("duration", "ms"), ("time", "ms")), "state.q[{}]", "state.dq[{}]", "",
        "state.tau_J[{}]",
    ),
    Recorder(
        "libfranka", (("duration", "ms"), *TIMES), "q[{}]", "dq[{}]", "ddq[{}]", "tau_J[{}]",
    ),
    Recorder("libfranka", TIMES, "q{}", "dq{}", "ddq{}", "tau_J{}"),
    Recorder("libfranka", TIMES, "q_{}", "dq_{}", "ddq_{}", "tau_J_{}"),
    # sensor_msgs/JointState, as `symgen` reads bags, as PlotJuggler and rostopic write it
    Recorder("JointState", TIMES, "position_{}", "velocity_{}", "", "effort_{}"),
    Recorder(
        "PlotJuggler", (("__time", "s"), *TIMES), "*/{}/position", "*/{}/velocity", "",
        "*/{}/effort",
    ),
    Recorder(
        "PlotJuggler", (("__time", "s"), *TIMES), "*/position[{}]", "*/velocity[{}]", "",
        "*/effort[{}]",
    ),
    Recorder(
        "rostopic", (("time", "ns"), ("%time", "ns"), ("field.header.stamp", "ns")),
        "field.position{}", "field.velocity{}", "", "field.effort{}",
    ),
    Recorder("q1, dq1, tau1", TIMES, "q{}", "qd{}", "qdd{}", "tau{}", "i{}"),
    Recorder("pos, vel", TIMES, "pos_{}", "vel_{}", "acc_{}", "torque_{}", "current_{}"),
)  # fmt: skip
"""In the order in which they are tried."""


def columns(
    log: Log, pattern: str, joints: Sequence[str], partly: bool = False
) -> tuple[str, ...] | None:
    """The columns of a pattern, one a joint: by the joints' names, or numbered from 0 or from 1;
    None where there are none. `partly` takes them where at least one is there."""
    names, count = set(log.names), len(joints)
    for keys in (list(joints), [*map(str, range(count))], [*map(str, range(1, count + 1))]):
        for key in keys if partly else keys[:1]:
            start = _start(log, pattern, key)
            if start is not None:
                found = tuple(start + _end(pattern, k) for k in keys)
                if partly or names.issuperset(found):
                    return found
    return None


def _end(pattern: str, key: str) -> str:
    return pattern.removeprefix("*").replace("{}", key)


def _start(log: Log, pattern: str, key: str) -> str | None:
    """The text before the name of the first column of a key; None if it has none."""
    end = _end(pattern, key)
    if not pattern.startswith("*"):
        return "" if pattern and end in log.names else None
    match = next((name for name in log.names if name.endswith(end)), None)
    return None if match is None else match[: len(match) - len(end)]


def keys(log: Log, recorder: Recorder) -> tuple[tuple[str, ...], int]:
    """The names or numbers of the joints of which a log has positions, in its order, those of which
    it has something else too where there are such; and how many columns they have in all."""
    shape = re.escape(recorder.q).replace(r"\{\}", r"(?P<key>[^/\[\]]+)").replace(r"\*", ".*", 1)
    matches = [m["key"] for name in log.names if (m := re.fullmatch(shape, name))]
    others = (recorder.qd, recorder.tau, recorder.current)
    count = {key: sum(_start(log, x, key) is not None for x in others) for key in matches}
    kept = [key for key in count if count[key] == max(count.values())]
    return tuple(kept), sum(count[key] + 1 for key in kept)


def number_of_extra_columns(log: Log, pattern: str, count: int, matches: Sequence[str]) -> int:
    """How many columns a numbered pattern has where these are more than `count` joints; 0
    otherwise."""
    starts = ((str(k), _start(log, pattern, str(k))) for k in range(count + 64))
    numbered = {start + _end(pattern, key) for key, start in starts if start is not None}
    return len(numbered) if set(matches) < numbered else 0
