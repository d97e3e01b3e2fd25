"""A legend for the local variables of generated functions, and names for their constants.

Variables are named after the symbols of the algorithms (Featherstone 2008 for articulated bodies,
Khalil and Kleinfinger 1986 for canonical frames). A legend explains only the names that occur."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from symgen.compiler.passes import live_nodes
from symgen.languages.conventions import ROW_MAJOR, IndexConvention
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import Inertia
from symgen.numbers.decimals import DecimalFloat
from symgen.numbers.scalar import Scalar
from symgen.tracing.function import Function

BODY: Final = "body {1}"
COMPOSITE: Final = "body {1} and all bodies that it carries"
ARTICULATED: Final = "articulated body {1}"

STEM_MEANINGS: Final[dict[str, str]] = {
    "w": f"angular velocity of {BODY}",
    "wr": f"reference angular velocity of {BODY}",
    "wd": f"angular acceleration of {BODY}",
    "v": f"linear velocity of the origin of {BODY}",
    "a": f"linear acceleration of the origin of {BODY}, gravity included",
    "ao": "linear acceleration of the origin of joint {1}, in the axes of the body that carries it",
    "U": f"matrix of the acceleration field of {BODY}: acceleration = a{{1}} + U{{1}} r",
    "da": f"change of the linear acceleration of {BODY} by joint accelerations",
    "dwd": f"change of the angular acceleration of {BODY} by joint accelerations",
    "f": f"force on {COMPOSITE}",
    "n": f"moment on {COMPOSITE}",
    "m": f"mass of {COMPOSITE}",
    "h": f"first moment of mass of {COMPOSITE}",
    "S": f"second moment of mass of {COMPOSITE}",
    "T": "term of the rotation of S{1} (double-angle form)",
    "R": f"row of the rotation matrix from {BODY} to the root",
    "p": f"position of the origin of {BODY}, or, with K, momentum of {COMPOSITE}",
    "K": f"first moment of the velocity field of {COMPOSITE}",
    "e": "transposed part of the Coriolis column of joint {1}",
    "F": "force of the Coriolis column of joint {1}",
    "N": "moment of the Coriolis column of joint {1}",
    "pu": f"linear momentum of {COMPOSITE} at the velocities lambda",
    "lu": f"angular momentum of {COMPOSITE} at the velocities lambda",
    "su": f"cross moment of velocity fields of {COMPOSITE}",
    "MA": f"mass matrix block of {ARTICULATED}",
    "BA": f"coupling block of {ARTICULATED}",
    "IA": f"rotational inertia block of {ARTICULATED}",
    "Ma": "MA{1} after projecting out joint {1}",
    "Ba": "BA{1} after projecting out joint {1}",
    "Ia": "IA{1} after projecting out joint {1}",
    "Kf": "force per unit force of joint {1} on its articulated body",
    "Kn": "moment per unit force of joint {1} on its articulated body",
    "pf": f"bias force of {ARTICULATED}",
    "pn": f"bias moment of {ARTICULATED}",
    "paf": "bias force that joint {1} transmits to its parent",
    "pan": "bias moment that joint {1} transmits to its parent",
    "d": "reciprocal of the pivot of joint {1} (its articulated inertia)",
    "u": "force of joint {1} minus the bias force along its axis",
    "r": "u{1} times d{1}",
    "theta": "position of joint {1} plus a constant angle",
}
"""Stems of names that end with the number of a body or joint, and what they denote."""

PAIR_NAME: Final = re.compile(r"^([fnmhSKeFNwvpR]|pu|lu|su)(\d+)_(\d+)(?:_|$)")
STEP_NAME: Final = re.compile(r"^([A-Za-z]+)(\d+)([a-j])(?:_|$)")
PRODUCT_OF_COMPONENTS: Final = re.compile(r"^((?:wr|wd|w|a|v|h|f|n)\d+)_([xyz])([xyz])$")
SINE_NAME: Final = re.compile(r"^([cs])(\d+(?:_\d+)*)$")
SUM_NAME: Final = re.compile(r"^(q|qd|qdd)(\d+(?:_\d+)+)$")
SHIFTED_ANGLE_NAME: Final = re.compile(r"^([cs])(theta\d+(?:_\d+)*)$")
DERIVED_NAMES: Final = {
    "partial sum of {}": re.compile(r"^(.+)_p\d+$"),
    "another value of {}": re.compile(r"^(.+)_v\d+$"),
    "constant times {}": re.compile(r"^k\d*_(.+)$"),
}
"""What is said of a name that contains another one."""
NUMBERED_NAME: Final = re.compile(r"^t\d+$")
NEGATED_PREFIX: Final = "neg_"

LegendRow = tuple[str, str, str]
"""Kind, example and meaning of a name."""


def legend(
    names: Iterable[str], outputs: Iterable[str], entries: IndexConvention = ROW_MAJOR
) -> list[str]:
    """A table with an example of each kind of variable that occurs, and its meaning. `names` are
    those of the variables in the order of definition, `outputs` those of the output arrays;
    `entries` is how the language indexes arrays."""
    found, arrays = dict[str, tuple[str, str]](), [*dict.fromkeys(outputs)]
    for name in dict.fromkeys(names):
        for kind, example, text in _rows_of_name(name, arrays, entries):
            found.setdefault(kind, (example, text))
    width = max((len(example) for example, _ in found.values()), default=0)
    return [f"{example:<{width}}  {text}" for example, text in found.values()]


def _rows_of_name(
    name: str, outputs: Sequence[str], entries: IndexConvention
) -> Iterator[LegendRow]:
    """The rows of a name and of the names that it is composed of."""
    if name.startswith(NEGATED_PREFIX):
        yield NEGATED_PREFIX, name, f"-{name.removeprefix(NEGATED_PREFIX)}"
        name = name.removeprefix(NEGATED_PREFIX)
    if NUMBERED_NAME.match(name):
        yield "t", "t1, t2, ...", "intermediate values without a name"
        return
    for text, pattern in DERIVED_NAMES.items():
        while match := pattern.match(name):
            yield text, name, text.format(match[1])
            name = match[1]
    rows = _simple_rows(name, outputs, entries)
    pieces = re.split(r"_(?=[A-Za-z]+\d)", name, maxsplit=1)
    if not rows and len(pieces) == 2:
        entry = re.compile(r"(q|qd|qdd)(\d+)")
        first, second = (
            entries.of(match[1], int(match[2]) - 1) if (match := entry.fullmatch(piece)) else piece
            for piece in pieces
        )
        yield "product", name, f"{first} times {second}"
        rows = [row for piece in pieces for row in _simple_rows(piece, outputs, entries)]
    yield from rows


def _simple_rows(name: str, outputs: Sequence[str], entries: IndexConvention) -> list[LegendRow]:
    """The rows of a name that is no product, none where it is of no kind."""

    def total(array: str, joints: str) -> str:
        return " + ".join(entries.of(array, int(k) - 1) for k in joints.split("_"))

    function = {"c": "cosine", "s": "sine"}
    if match := SINE_NAME.match(name):
        return [("sine", name, f"{function[match[1]]} of {total('q', match[2])}")]
    if match := SHIFTED_ANGLE_NAME.match(name):
        return [("shifted", name, f"{function[match[1]]} of {match[2]}")]
    if match := SUM_NAME.match(name):
        return [("sum", name, total(match[1], match[2]))]
    if match := PRODUCT_OF_COMPONENTS.match(name):
        stem, i, j = match.groups()
        return [("components", name, f"{stem}_{i} times {stem}_{j}"), *_stem_rows(stem)]
    words = name.split("_")
    for k in range(len(words) - 1, 0, -1):
        if not words[k].isdigit():
            break
        if (output := "_".join(words[:k])) in outputs:
            index = ", ".join(words[k:])
            return [("entry", name, f"entry [{index}] of {output}, indices from 0")]
    return _stem_rows(name)


def _stem_rows(name: str) -> list[LegendRow]:
    """The row of a name by its stem; for names of a pair or of a step their row, too."""
    match = re.match(r"([A-Za-z]+)(\d+)", name)
    if not match or match[1] not in STEM_MEANINGS:
        return []
    stem, number = match.groups()
    if pair := PAIR_NAME.match(name):
        text = f"per unit velocity or acceleration of joint {number}, in axes of body {pair[3]}"
        return [(f"{stem} pair", f"{stem}{number}_{pair[3]}", f"{stem} {text}")]
    row = (stem, stem + number, STEM_MEANINGS[stem].replace("{1}", number))
    if step := STEP_NAME.match(name):
        text = f"{stem}{number} in an intermediate frame between the body and its parent"
        return [row, ("step", f"{stem}{number}{step[3]}", text)]
    return [row]


# -- constants -------------------------------------------------------------------------------------

TRIVIAL_FACTORS: Final = frozenset({0.5, 1.0, 2.0})
"""Factors that occur in every formula, so that a name for them would mislead."""


def named_constants(function: Function) -> list[str]:
    """The numeric constants of a function that have a name, as texts such as ``0.425 = -d_3``, in
    the order of first use; of several names the first.

    The names are the regrouped inertial parameters of bodies (with their sums and differences), the
    constants of canonical frames, and the gravitational acceleration."""
    names: dict[float, str] = {}
    for regrouping in dict.fromkeys(formulation.regrouping for _, formulation in function.parts):
        for name, value in _model_constants(function.regroups[regrouping].layout):
            number = _as_constant(value)
            if number and abs(number) not in TRIVIAL_FACTORS:
                names.setdefault(abs(number), f"{'-' if number < 0 else ''}{name}")
    nodes = (function.program.nodes[k] for k in live_nodes(function.program))
    values = dict.fromkeys(abs(float(node.a)) for node in nodes if node.op == "const")
    return [f"{value!r} = {names[value]}" for value in values if value in names]


def _as_constant(value: Scalar) -> float | None:
    """The value of a constant, None for a tape value or a structural zero."""
    return float(value) if isinstance(value, DecimalFloat | int | float) else None


def _model_constants(layout: CanonicalModel) -> Iterator[tuple[str, Scalar]]:
    """The constants of a model by name; a frame that is not canonical has none."""
    for i, body in enumerate(layout.bodies, 1):
        if (to_axis := getattr(body.placement, "to_axis", None)) is not None:
            yield from ((f"d_{i}", to_axis.d), (f"b_{i}", to_axis.b))
            yield from ((f"r_{i}", body.placement.r), (f"y_{i}", to_axis.y))
            for name in ("alpha", "beta", "gamma"):
                yield f"cos({name})_{i}", getattr(to_axis, name).c0
                yield f"sin({name})_{i}", getattr(to_axis, name).s0
        inertia = body.inertia
        yield f"MR_{i}", inertia.m
        yield from ((f"M{axis}R_{i}", inertia.h[k]) for k, axis in enumerate("XYZ"))
        for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            yield f"S{'XYZ'[a]}{'XYZ'[b]}R_{i}", inertia.s[a, b]
        yield from _second_moment_sums(i, inertia)
    for free_fall in layout.gravity.values():
        yield from ((f"g_{axis}", free_fall[k]) for k, axis in enumerate("xyz"))


def _second_moment_sums(i: int, inertia: Inertia) -> Iterator[tuple[str, Scalar]]:
    """Sums and differences of two second moments: moments of inertia, and the terms that rotate
    them. Differences are positive."""
    for a, b, axis in ((0, 1, "Z"), (1, 2, "X"), (0, 2, "Y")):
        first, second = _as_constant(inertia.s[a, a]), _as_constant(inertia.s[b, b])
        if first is None or second is None:
            continue
        yield f"{axis}{axis}R_{i}", inertia.s[a, a] + inertia.s[b, b]
        larger, smaller = (a, b) if first >= second else (b, a)
        names = (f"S{'XYZ'[k] * 2}R_{i}" for k in (larger, smaller))
        yield " - ".join(names), inertia.s[larger, larger] - inertia.s[smaller, smaller]
