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


def columns(log: Log, pattern: str, joints: Sequence[str]) -> tuple[str, ...] | None:
    """The columns of a pattern, one a joint: by the joints' names, or numbered from 0 or from 1;
    None where there are none."""
    names = set(log.names)
    for keys in _keys(joints):
        filled = _columns_of(log.names, pattern, keys)
        if filled is not None and names.issuperset(filled):
            return filled
    return None


def partly_present(log: Log, pattern: str, joints: Sequence[str]) -> tuple[str, ...] | None:
    """The columns that a pattern means where at least one of them is there; None otherwise."""
    names = set(log.names)
    for keys in _keys(joints):
        for key in keys:
            filled = _columns_of(log.names, pattern, [key])
            if filled is not None and names.issuperset(filled):
                prefix = filled[0][: len(filled[0]) - len(_column_end(pattern, key))]
                return tuple(prefix + _column_end(pattern, k) for k in keys)
    return None


def _keys(joints: Sequence[str]) -> tuple[list[str], ...]:
    count = len(joints)
    return list(joints), [*map(str, range(count))], [*map(str, range(1, count + 1))]


def _column_end(pattern: str, key: str) -> str:
    return pattern.removeprefix("*").replace("{}", key)


def _columns_of(names: Sequence[str], pattern: str, keys: Sequence[str]) -> tuple[str, ...] | None:
    """The columns of some keys, whatever the text before them; None where the first has none."""
    if not pattern or not keys:
        return None
    if not pattern.startswith("*"):
        return tuple(_column_end(pattern, key) for key in keys)
    first = _column_end(pattern, keys[0])
    match = next((name for name in names if name.endswith(first)), None)
    if match is None:
        return None
    prefix = match[: len(match) - len(first)]
    return tuple(prefix + _column_end(pattern, key) for key in keys)


def keys(log: Log, recorder: Recorder) -> tuple[tuple[str, ...], int]:
    """The names or numbers of the joints of which a log has positions, in its order, those of which
    it has something else too where there are such; and how many columns they have in all."""
    shape = re.escape(recorder.q).replace(r"\{\}", r"(?P<key>[^/\[\]]+)").replace(r"\*", ".*", 1)
    matches = [m["key"] for name in log.names if (m := re.fullmatch(shape, name))]
    others = (recorder.qd, recorder.tau, recorder.current)
    count = {key: sum(_present(log, pattern, key) for pattern in others) for key in matches}
    kept = [key for key in count if count[key] == max(count.values())]
    return tuple(kept), sum(count[key] + 1 for key in kept)


def _present(log: Log, pattern: str, key: str) -> bool:
    filled = _columns_of(log.names, pattern, [key])
    return filled is not None and filled[0] in log.names


def number_of_extra_columns(log: Log, pattern: str, count: int, matches: Sequence[str]) -> int:
    """How many columns a numbered pattern has where these are more than `count` joints; 0
    otherwise."""
    numbered = [
        name
        for k in range(count + 64)
        for name in (_columns_of(log.names, pattern, [str(k)]) or ())
        if name in log.names
    ]
    return len(numbered) if set(matches) < set(numbered) else 0
