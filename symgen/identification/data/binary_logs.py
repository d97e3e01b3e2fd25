"""Logs in binary formats: NPZ files and ROS bags.

The arrays of an NPZ file are read as streams, a piece at a time. The checksum (CRC-32) that a ZIP
file keeps of each array is compared before its last rows are given, so that a damaged file is
refused. Of a ROS bag the messages of type sensor_msgs/JointState are the rows; a ROS 2 bag is its
folder, or the file in it, a ROS 1 bag is a file."""

import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from symgen.errors import SymgenError
from symgen.identification.data.log_file import CHUNK_ROWS, LogError
from symgen.numbers.scalar import Numbers
from symgen.text import install, shown


@dataclass(frozen=True)
class NpzArray:
    """An array of an NPZ file: rows x width (1 where it has one axis)."""

    name: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    flat: bool

    def piece(self, stream: IO[bytes], count: int) -> NDArray[Any]:
        """The next `count` rows."""
        data = stream.read(count * self.width * self.dtype.itemsize)
        return np.frombuffer(data, self.dtype).reshape(count, self.width)


@dataclass(frozen=True)
class NpzLog:
    """Arrays of one length; two-dimensional ones count as the columns ``NAME[0]``, ``NAME[1]``,
    ..."""

    file: str
    members: tuple[NpzArray, ...]
    rows: int
    nonnumeric: Mapping[str, str] = field(default_factory=dict)
    """The types of arrays that hold no real numbers, by name."""

    @classmethod
    def of(cls, path: str) -> "NpzLog":
        """Of a file, of which only the heads are read. Raises LogError."""
        try:
            with zipfile.ZipFile(path) as archive:
                nonnumeric = dict[str, str]()
                entries = [
                    _read_header(path, archive, info, nonnumeric)
                    for info in archive.infolist()
                    if info.filename.endswith(".npy")
                ]
        except (zipfile.BadZipFile, zlib.error) as error:
            raise LogError(shown(path), f"is not an NPZ file ({shown(str(error), 100)})") from None
        members = tuple(member for member in entries if member is not None)
        rows = members[0].rows if members else 0
        other = next((member for member in members if member.rows != rows), None)
        if other is not None:
            raise LogError(
                shown(path),
                f"'{shown(members[0].name)}' has {rows} rows but '{shown(other.name)}' has "
                f"{other.rows}; all columns must have the same length",
            )
        return cls(path, members, rows, nonnumeric)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(self._columns)

    @cached_property
    def _columns(self) -> Mapping[str, tuple[NpzArray, int]]:
        return {
            m.name if m.flat else f"{m.name}[{k}]": (m, k)
            for m in self.members
            for k in range(m.width)
        }

    def chunks(self, names: Sequence[str]) -> Iterator[Numbers]:
        """Rows of the named columns. Raises LogError where the file is damaged."""
        try:
            yield from self._chunks([self._columns[name] for name in names])
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise LogError(shown(self.file), f"cannot be read ({shown(str(error), 100)})") from None

    def _chunks(self, columns: Sequence[tuple[NpzArray, int]]) -> Iterator[Numbers]:
        members = {m.name: m for m, _ in columns}
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(self.file))
            streams = {name: stack.enter_context(archive.open(f"{name}.npy")) for name in members}
            for stream in streams.values():
                _array_header(stream)
            for start in range(0, self.rows, CHUNK_ROWS):
                count = min(CHUNK_ROWS, self.rows - start)
                pieces = {name: m.piece(streams[name], count) for name, m in members.items()}
                for stream in streams.values():
                    while start + count == self.rows and stream.read(1 << 20):
                        pass  # to the end, where the checksum is compared
                rows = [pieces[m.name][:, k] for m, k in columns]
                yield np.stack(rows, axis=1).astype(np.float64, copy=False)

    def location(self, row: int) -> str:
        """File and row, from 1."""
        return f"{shown(self.file)}: row {row + 1}"


def _read_header(
    path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, nonnumeric: dict[str, str]
) -> NpzArray | None:
    """The description in the head of an array, None where it has no rows of numbers, whose type is
    added to `nonnumeric`."""
    with archive.open(info) as stream:
        shape, fortran, dtype = _array_header(stream)
        begin = stream.tell()
    name = info.filename.removesuffix(".npy")
    if not 1 <= len(shape) <= 2 or dtype.kind not in "fiu":
        nonnumeric[name] = f"of type {dtype} and shape {shape}"
        return None
    if fortran and len(shape) == 2 and min(shape) > 1:
        raise LogError(
            shown(path),
            f"'{shown(name)}' is stored in column-major order; save it in row-major order "
            "(numpy.ascontiguousarray)",
        )
    size = math.prod(shape) * dtype.itemsize
    available = info.file_size - begin
    if available < size:
        raise LogError(
            shown(path),
            f"'{shown(name)}' has {available} bytes of numbers, but its header says {size}; the "
            "file is damaged",
        )
    width = shape[1] if len(shape) == 2 else 1
    return NpzArray(name, shape[0], width, dtype, len(shape) == 1)


def _array_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype


# -- ROS bags --------------------------------------------------------------------------------------


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
        for group in self.fields:
            values = getattr(message, group)
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
