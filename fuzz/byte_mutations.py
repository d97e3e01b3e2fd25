"""Changes of a file's bytes, whatever it holds; a registry."""

from collections.abc import Callable
from random import Random
from typing import Final

Bytes = Callable[[Random, bytes], bytes]
BYTES: Final[dict[str, Bytes]] = {}
PIECES: Final = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"<!-- -- -->", b"<![CDATA[", b"]]>", b"&x;"),
    *(b"<?xml version='1.1'?>", b"<!DOCTYPE r [<!ENTITY a 'b'>]>", b"&#0;", b"&#x1b;", b"<", b">"),
    *(
        b"'''",
        b'"""',
        b"[[a]]",
        b"= =",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\x9b",
        b"\xc2\x9b",
        b"1e999",
    ),
    *(b"nan", b"{", b"}", b"[" * 5000, b'{"a":' * 3000, b",,,,", b"\t", b"\n\n", b"\x1b[31m"),
)


def mutation(change: Bytes) -> Bytes:
    """Registers a change under its name in words."""
    BYTES[change.__name__.replace("_", " ")] = change
    return change


def _place(rng: Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


@mutation
def flipped(rng: Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if made:
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


@mutation
def other_bytes(rng: Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 40))) + data[at + 4 :]


@mutation
def cut(rng: Random, data: bytes) -> bytes:
    return data[: _place(rng, data)]


@mutation
def hole(rng: Random, data: bytes) -> bytes:
    a, b = sorted((_place(rng, data), _place(rng, data)))
    return data[:a] + data[b:] if b - a < len(data) // 2 else data[:a] + data[a + 10 :]


@mutation
def doubled(rng: Random, data: bytes) -> bytes:
    a, b = sorted((_place(rng, data), _place(rng, data)))
    return data[:b] + data[a:]


@mutation
def piece(rng: Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.choice(PIECES) + data[at:]


@mutation
def lines_swapped(rng: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines[: len(lines)])


@mutation
def another_encoding(rng: Random, data: bytes) -> bytes:
    kind = rng.choice(("utf-16", "latin-1", "utf-32", "utf-8-sig", "cp037"))
    return data.decode("utf-8", "replace").encode(kind, "replace")


@mutation
def nothing(rng: Random, data: bytes) -> bytes:
    return rng.choice((b"", b"\n", b" ", b"\0" * 100))


def mutated(rng: Random, data: bytes) -> bytes:
    """The bytes with one change, or a few."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(list(BYTES.values()))(rng, data)
    return data
