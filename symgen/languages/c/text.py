"""C as text: literals, legal names, comments and strings for whatever a robot's file holds."""

import math
import re
import struct
import sys
import unicodedata
from collections.abc import Sequence
from typing import Final

from symgen.errors import OptionError

KEYWORDS: Final = frozenset(
    word
    for line in (
        "False None True and as assert async await def del elif except finally from global "
        "import in is lambda",
        "nonlocal not or pass raise with yield",
        "auto break case char const continue default do double else enum extern float for goto "
        "if inline int",
        "long register restrict return short signed sizeof static struct switch typedef union "
        "unsigned void",
        "volatile while _Bool _Complex _Imaginary alignas alignof and and_eq asm bitand bitor "
        "bool catch",
        "class compl concept const_cast constexpr decltype delete dynamic_cast explicit export "
        "false friend",
        "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
        "public",
        "reinterpret_cast requires static_assert static_cast template this thread_local throw "
        "true try typeid",
        "typename using virtual wchar_t xor xor_eq",
    )
    for word in line.split()
)
"""Words that C, C++ or Python keep to themselves."""

BYTES: Final = {"double": 8, "float": 4}
"""Sizes by scalar."""

LARGEST: Final = {"double": sys.float_info.max, "float": (2 - 2.0**-23) * 2.0**127}
"""Largest finite numbers by scalar."""

SUFFIX: Final = {"double": "", "float": "f"}


def single(x: float) -> float:
    """`x` rounded to single precision, infinite where that has no such number."""
    return float(struct.unpack("f", struct.pack("f", x))[0])


def fits(x: float, scalar: str) -> bool:
    """Whether the scalar type has a finite number near `x`."""
    return math.isfinite(x if scalar == "double" else single(x))


def literal(x: float, scalar: str) -> str:
    """The shortest decimal text that reads back as the same number of the scalar type.

    Raises OptionError for a number that is too large for the type."""
    if not fits(x, scalar):
        raise OptionError(
            f"--scalar {scalar}: a number of the code, {x:.6g}, is beyond the largest of this type "
            f"({LARGEST[scalar]:.2g}); the robot's masses, lengths or gravity are too large for it"
            + ("; use --scalar double" if scalar == "float" else "")
        )
    text = repr(x) if scalar == "double" else _shortest_single(x)
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + e + exponent + SUFFIX[scalar]


def _shortest_single(x: float) -> str:
    wanted = single(x)
    return next(
        repr(short)
        for digits in range(1, 10)
        if single(short := float(f"{wanted:.{digits}g}")) == wanted
    )


MODULES: Final = frozenset(sys.stdlib_module_names) | frozenset(
    word
    for line in (
        "numpy assert complex ctype errno fenv features float inttypes iso646 limits locale math "
        "setjmp signal",
        "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
        "threads time uchar",
        "wchar wctype all clean edit_cache help install m package package_source preinstall "
        "rebuild_cache test",
    )
    for word in line.split()
)
"""Python modules and C headers that a file of the same name would hide, and targets that CMake
keeps to itself."""


def identifier(name: str) -> str:
    """A legal lower-case C and Python identifier for any text.

    Whatever is not an ASCII letter or digit becomes ``_``; accents are dropped; ``r_`` is put
    before a digit, a reserved word or the name of a standard header or module."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:48]
    if not word:
        return "robot"
    return word if word[0].isalpha() and word not in KEYWORDS | MODULES else f"r_{word}"


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that cannot end it, begin one or splice lines; the rest
    is escaped."""
    return "".join(
        c if c.isascii() and c.isprintable() and c not in "*\\?" else f"<{ord(c):x}>" for c in text
    )


def string(text: str) -> str:
    """`text` as a C string literal of its UTF-8 bytes, all in plain ASCII."""
    return '"' + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogatepass")) + '"'


def _escaped(byte: int) -> str:
    c = chr(byte)
    return c if 32 <= byte < 127 and c not in '"\\?' else f"\\{byte:03o}"


def numbers(values: Sequence[float], scalar: str) -> str:
    """The values as initialisers."""
    return ", ".join(("-" if x < 0 else "") + literal(abs(x), scalar) for x in values)
