"""C as text: literals, comments and strings for whatever a robot's file holds."""

import math
import struct
import sys
from collections.abc import Sequence
from typing import Final

from symgen.errors import OptionError
from symgen.text import in_ascii

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
    if "." not in text:  # 1e+20
        mantissa, e, exponent = text.partition("e")
        text = f"{mantissa}.0{e}{exponent}"
    return text + SUFFIX[scalar]


def _shortest_single(x: float) -> str:
    wanted = single(x)
    return next(
        repr(short)
        for digits in range(1, 10)
        if single(short := float(f"{wanted:.{digits}g}")) == wanted
    )


def comment(text: str) -> str:
    """`text` for a comment: printable ASCII that cannot end it, begin one or splice lines; the rest
    is escaped."""
    return in_ascii(text, "<{:x}>", "*\\?")


def string(text: str) -> str:
    """`text` as a C string literal of its UTF-8 bytes, all in plain ASCII."""
    return '"' + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogatepass")) + '"'


def _escaped(byte: int) -> str:
    c = chr(byte)
    return c if 32 <= byte < 127 and c not in '"\\?' else f"\\{byte:03o}"


def numbers(values: Sequence[float], scalar: str) -> str:
    """The values as initialisers."""
    distinct = dict.fromkeys(values)  # a few: most are zero
    texts = {x: f"{'-' if x < 0 else ''}{literal(abs(x), scalar)}" for x in distinct}
    return ", ".join([texts[x] for x in values])
