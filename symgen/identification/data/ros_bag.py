"""ROS bags: the messages of type sensor_msgs/JointState as rows of a log.

A ROS 2 bag is its folder, or the file in it; a ROS 1 bag is a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import SymgenError
from symgen.identification.data.log_file import LogError
from symgen.numbers.scalar import Numbers
from symgen.text import install, shown

JOINT_STATE: Final = "sensor_msgs/msg/JointState"
FIELDS: Final = ("position", "velocity", "effort")
CHUNK_MESSAGES: Final = 4096
"""Messages that are read at a time."""


@dataclass(frozen=True)
class BagLog:
    """The messages of one topic; columns are ``t``, the time of the message's header (s), and
    ``position_JOINT``, ``velocity_JOINT`` and ``effort_JOINT`` of the joints of the first
    message."""

    file: str
    topic: str
    joints: tuple[str, ...]
    fields: tuple[str, ...]
    rows: int

    @classmethod
    def of(cls, path: str) -> "BagLog":
        """Of a bag: the topic of joint states with most messages. Raises LogError."""
        with _open_bag(path) as reader:
            topics = [c for c in reader.connections if c.msgtype == JOINT_STATE]
            if not topics:
                raise LogError(
                    shown(path), "the bag has no messages of type sensor_msgs/JointState"
                )
            best = max(topics, key=lambda c: (c.msgcount, c.topic))
            first = next(_messages(reader, best), None)
            if first is None:
                raise LogError(
                    shown(path), f"the bag has no messages of topic '{shown(best.topic)}'"
                )
            fields = tuple(f for f in FIELDS if len(getattr(first, f)) == len(first.name))
            return cls(path, best.topic, tuple(map(str, first.name)), fields, best.msgcount)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return ("t", *(f"{field}_{joint}" for field in self.fields for joint in self.joints))

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns, NaN where a message lacks a joint. Raises LogError."""
        places = [self.names.index(name) for name in names]
        with _open_bag(self.file) as reader:
            topic = next(c for c in reader.connections if c.topic == self.topic)
            messages = _messages(reader, topic)
            while rows := [self._row(message) for message in islice(messages, CHUNK_MESSAGES)]:
                yield np.array(rows)[:, places]

    def _row(self, message: Any) -> list[float]:
        row, stamp = [], message.header.stamp
        places = {str(name): k for k, name in enumerate(message.name)}
        for field in self.fields:
            values = getattr(message, field)
            for joint in self.joints:
                k = places.get(joint, len(values))
                row.append(float(values[k]) if k < len(values) else np.nan)
        return [stamp.sec + 1e-9 * stamp.nanosec, *row]

    def location(self, row: int) -> str:
        """File and message, from 1."""
        return f"{shown(self.file)}: message {row + 1}"


@contextmanager
def _open_bag(path: str) -> Iterator[Any]:
    """A reader of a bag. Raises LogError where it is none."""
    try:
        reading = import_module("rosbags.highlevel")
        types = import_module("rosbags.typesys")
    except ImportError:
        text = f"error: reading ROS bags needs rosbags; install it: {install('rosbags')}"
        raise SymgenError(text) from None
    file = Path(path)
    folder = file.parent if file.suffix == ".db3" else file
    store = types.get_typestore(types.Stores.LATEST)
    try:
        with reading.AnyReader([folder], default_typestore=store) as reader:
            yield reader
    except SymgenError:
        raise
    except Exception as error:  # the reader has many of its own, and those of what it reads with
        raise LogError(
            shown(path), f"cannot be read as a ROS bag ({shown(' '.join(str(error).split()), 200)})"
        ) from None


def _messages(reader: Any, connection: Any) -> Iterator[Any]:
    for source, _, raw in reader.messages(connections=[connection]):
        yield reader.deserialize(raw, source.msgtype)
