"""NPZ logs without loading them: members that are stored plainly are mapped, compressed ones are
read as streams.

The checksum (CRC-32) that a ZIP file keeps of each member is compared before its last rows are
given, so that a damaged file is refused."""

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any, Final

import numpy as np
from numpy.lib import format as npy

from symgen.identification.data.log_file import CHUNK, LogError
from symgen.numbers.types import Numbers
from symgen.text import shown

LOCAL_HEADER: Final = 30
"""Bytes of a ZIP file's local header before the name; the lengths of name and extra field are at 26
and 28."""


@dataclass(frozen=True)
class NpzArray:
    """An array of an NPZ file: rows x width (1 where it has one axis), whose numbers begin `head`
    bytes after its own beginning; `plain` says where in the file that is, None where the array is
    compressed. `size` and `checksum` are those of the whole member, head included."""

    name: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    flat: bool
    head: int
    size: int
    checksum: int
    plain: int | None


@dataclass(frozen=True)
class NpzLog:
    """Arrays of one length; two-dimensional ones count as the columns ``NAME[0]``, ``NAME[1]``,
    ..."""

    file: str
    members: tuple[NpzArray, ...]
    rows: int
    unread: Mapping[str, str] = field(default_factory=dict)
    """The types of arrays that hold no real numbers, by name."""

    @classmethod
    def of(cls, path: str) -> "NpzLog":
        """Of a file, of which only the heads are read. Raises LogError."""
        try:
            with zipfile.ZipFile(path) as archive:
                unread = dict[str, str]()
                entries = [
                    _member(path, archive, info, unread)
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
        return cls(path, members, rows, unread)

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
        with ExitStack() as stack:
            readers = {m.name: self._pieces(m, stack) for m, _ in columns}
            for start in range(0, self.rows, CHUNK):
                count = min(CHUNK, self.rows - start)
                pieces = {name: next(reader) for name, reader in readers.items()}
                yield np.stack([pieces[m.name][:count, k] for m, k in columns], axis=1)

    def _pieces(self, member: NpzArray, stack: ExitStack) -> Iterator[Numbers]:
        """A member from its beginning, CHUNK rows at a time."""
        sizes = [min(CHUNK, self.rows - start) for start in range(0, self.rows, CHUNK)]
        if member.plain is None:
            archive = stack.enter_context(zipfile.ZipFile(self.file))
            return _streamed(stack.enter_context(archive.open(f"{member.name}.npy")), member, sizes)
        return _mapped(self.file, member, member.plain, sizes)

    def place(self, row: int) -> str:
        """File and row, from 1."""
        return f"{shown(self.file)}: row {row + 1}"


def _member(
    path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, unread: dict[str, str]
) -> NpzArray | None:
    """The description in the head of an array, None where it has no rows of numbers, whose type is
    added to `unread`."""
    with archive.open(info) as stream:
        shape, fortran, dtype = _head(stream)
        begin = stream.tell()
    name = info.filename.removesuffix(".npy")
    if not 1 <= len(shape) <= 2 or dtype.kind not in "fiu":
        unread[name] = f"of type {dtype} and shape {shape}"
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
    plain = _start(path, info) if info.compress_type == zipfile.ZIP_STORED else None
    return NpzArray(
        name, shape[0], width, dtype, len(shape) == 1, begin, info.file_size, info.CRC, plain
    )


def _head(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype


def _start(path: str, info: zipfile.ZipInfo) -> int:
    """Where the bytes of a plainly stored member begin."""
    with open(path, "rb") as stream:  # noqa: PTH123
        stream.seek(info.header_offset)
        name, extra = struct.unpack("<HH", stream.read(LOCAL_HEADER)[26:30])
    return int(info.header_offset + LOCAL_HEADER + name + extra)


def _mapped(path: str, member: NpzArray, start: int, sizes: Sequence[int]) -> Iterator[Numbers]:
    """Each piece is mapped by itself, so that pages of earlier ones can go."""
    step, end = member.width * member.dtype.itemsize, start + member.size
    place = start + member.head
    sum_ = _summed(path, start, place)
    for k, count in enumerate(sizes, 1):
        raw = np.memmap(path, np.uint8, "r", place, (count * step,))
        place, sum_ = place + count * step, zlib.crc32(raw.data, sum_)
        if k == len(sizes) and _summed(path, place, end, sum_) != member.checksum:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file '{member.name}.npy'")
        yield raw.view(member.dtype).reshape(count, member.width).astype(np.float64)


def _summed(path: str, begin: int, end: int, before: int = 0) -> int:
    """The checksum of some bytes of a file behind others whose checksum is `before`."""
    with open(path, "rb") as stream:  # noqa: PTH123
        stream.seek(begin)
        return zlib.crc32(stream.read(end - begin), before)


def _streamed(stream: IO[bytes], member: NpzArray, sizes: Sequence[int]) -> Iterator[Numbers]:
    _head(stream)
    for k, count in enumerate(sizes, 1):
        data = stream.read(count * member.width * member.dtype.itemsize)
        while k == len(sizes) and stream.read(1 << 20):
            pass  # to the end, where the checksum is compared
        yield np.frombuffer(data, member.dtype).reshape(count, member.width).astype(np.float64)
