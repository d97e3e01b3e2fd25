"""Reading of a manifest. Every key and value is checked by its type, then by `RULES`, then against
the manifest that the model in it gives."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from symgen.errors import OptionError, SymgenError
from symgen.jobs.jobfile import MODULE_OPTIONS
from symgen.jobs.manifest import (
    FORMAT,
    NAME,
    OPTIONAL_MODEL_KEYS,
    RUNTIME_FIELDS,
    Manifest,
    languages_of,
    text,
)
from symgen.languages.c.options import COptions, objective_of
from symgen.languages.module import Module
from symgen.mechanics.joint_forces import COMPENSATION, FRICTION
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.model_validation import validate
from symgen.options import Choices, rows
from symgen.reading.checked_values import described_type
from symgen.text import quoted, reason, shown
from symgen.tracing.body_loops import functions_in_loops, loop_functions
from symgen.tracing.request import FunctionRequest, parse_thrusters
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace


class SchemaError(ValueError):
    """Data that do not have the expected type; the message has the path and the fault."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)


def decoded(kind: Any, data: Any, place: str = "") -> Any:
    """Data of JSON as a value of type `kind`, as `dataclasses.asdict` writes it. Raises SchemaError
    with the path of the first wrong value.

    `kind` is bool, int, float, str, `object` (any data), a dataclass, a tuple or sequence, a
    mapping from str, or a union of these. Numbers must be finite; an integer is accepted as a
    float."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _object(kind, data, place)
    if origin in (Union, UnionType):
        return _union(arguments, data, place)
    if origin in (tuple, Sequence):
        return _tuple(arguments, _typed(list, data, place), place)
    if origin in (dict, Mapping):
        entries = _typed(dict, data, place).items()
        return {key: decoded(arguments[1], x, f"{place}.{shown(key, 40)}") for key, x in entries}
    return data if kind is object else _typed(kind, data, place)


def _typed(kind: type, data: Any, place: str) -> Any:
    """A value of a type of JSON. Raises SchemaError."""
    if type(data) not in ((int, float) if kind is float else (kind,)):
        raise SchemaError(place, f"expected {JSON_TYPE_NAMES[kind]}, found {described_type(data)}")
    with suppress(OverflowError):
        if kind is not float or math.isfinite(data):
            return float(data) if kind is float else data
    raise SchemaError(place, "expected a finite number")


JSON_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    NoneType: "null",
}


def _object(kind: Any, data: Any, place: str) -> Any:
    """A dataclass from an object with exactly the keys of its fields whose names do not begin with
    an underscore. Fields that the constructor does not take are checked and dropped."""
    types, entries = _fields(kind), _typed(dict, data, place)
    for word, names in (("missing", types.keys() - entries), ("unknown", entries.keys() - types)):
        if names:
            raise SchemaError(place, f"{word} key {quoted(sorted(names), 3)}")
    start = f"{place}." if place else ""
    values = {name: decoded(of, entries[name], f"{start}{name}") for name, (of, _) in types.items()}
    return kind(**{name: x for name, x in values.items() if types[name][1]})


@cache
def _fields(kind: Any) -> Mapping[str, tuple[Any, bool]]:
    """The type of each field of a dataclass, and whether the constructor takes it."""
    hints = get_type_hints(kind)
    return {f.name: (hints[f.name], f.init) for f in fields(kind) if not f.name.startswith("_")}


def _tuple(arguments: tuple[Any, ...], data: list[Any], place: str) -> tuple[Any, ...]:
    """The entries of a list, all of one type (a sequence, or ``tuple[X, ...]``) or of one each."""
    several = len(arguments) == 1 or arguments[-1] is Ellipsis
    kinds = [arguments[0]] * len(data) if several else arguments
    if len(kinds) != len(data):
        raise SchemaError(place, f"expected {len(kinds)} entries, found {len(data)}")
    pairs = enumerate(zip(kinds, data, strict=True))
    return tuple(decoded(kind, value, f"{place}[{k}]") for k, (kind, value) in pairs)


def _union(kinds: tuple[Any, ...], data: Any, place: str) -> Any:
    """The value as the first type that fits; the error is that of the last type."""
    *others, last = sorted(kinds, key=lambda kind: kind is not NoneType)
    for kind in others:
        with suppress(SchemaError):
            return decoded(kind, data, place)
    return decoded(last, data, place)


MAX_MANIFEST_BYTES: Final = 64 * 2**20
"""Bytes of a manifest; a robot of a thousand joints has a megabyte."""
NOT_DERIVED: Final = ("generator", "conventions", "files")
"""What does not follow from the rest of a manifest, or changes with symgen's version only."""

PREFIX: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
FILE: Final = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,199}")
DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def read(folder: Path) -> tuple[Module, dict[str, str]]:
    """The module that a folder's manifest describes, traced anew, and the hashes of its files.

    Raises OptionError, one line, where there is no manifest of this format, where one of its keys
    or values is not what it must be, and where it says something else of its files than follows
    from its own model.
    """
    path = folder / NAME
    try:
        data = _json_data(path)
        listed = decoded(Manifest, _with_optional(data))
        _check(listed)
        module = _module(listed)
        derived = json.loads(text(module, listed.files))
        other = (key for key in derived if key not in NOT_DERIVED and derived[key] != data[key])
        for key in other:
            raise SchemaError(key, "does not follow from the model")
    except OSError as error:
        raise OptionError(
            f"cannot read {str(path)!r}: {reason(error)}; give a folder that symgen generate wrote"
        ) from error
    except SchemaError as error:
        raise OptionError(
            f"{str(path)!r} is not a valid manifest ({error}); generate the folder again"
        ) from error
    except SymgenError as error:
        sentence = str(error).removeprefix("error: ")
        raise OptionError(f"{str(path)!r}: {sentence}; generate the folder again") from error
    return module, dict(listed.files)


def _json_data(path: Path) -> Any:
    """The JSON of a file. Raises SchemaError, OSError, and OptionError for another format."""
    with path.open("rb") as stream:
        content = stream.read(MAX_MANIFEST_BYTES + 1)
    if len(content) > MAX_MANIFEST_BYTES:
        raise SchemaError("", f"it is larger than {MAX_MANIFEST_BYTES >> 20} MiB")
    try:
        data = json.loads(content.decode("utf-8"), object_pairs_hook=_with_unique_keys)
    except SchemaError:
        raise
    except (ValueError, RecursionError):  # no UTF-8, no JSON, numbers of thousands of digits
        raise SchemaError("", "it is not JSON") from None
    if isinstance(data, dict) and type(data.get("format")) is int and data["format"] != FORMAT:
        raise OptionError(
            f"the format is {shown(str(data['format']), 40)}, and this version reads {FORMAT}"
        )
    return data


def _with_optional(data: Any) -> Any:
    """The data with the keys of a model that are written only if they are not empty."""
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        return data
    return {**data, "model": {**{key: [] for key in OPTIONAL_MODEL_KEYS}, **data["model"]}}


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise SchemaError("", "a key occurs twice")
    return values


def _check(listed: Manifest) -> None:
    """Raises SchemaError where values of the right type cannot be."""
    for place, holds in RULES.items():
        if not holds(listed):
            raise SchemaError(place, "the value is not valid")
    trouble = validate(listed.model.bodies, listed.model.base, listed.model.closures)
    if trouble is not None:
        raise SchemaError("model", trouble)


RULES: Final[dict[str, Callable[[Manifest], bool]]] = {
    "prefix": lambda m: bool(PREFIX.fullmatch(m.prefix)),
    "functions": lambda m: (
        any(row.quantities for row in m.functions.values())
        and all(map(PREFIX.fullmatch, m.functions))
    ),
    "files": lambda m: (
        bool(languages_of(m.prefix, m.files))
        and all(FILE.fullmatch(part) for name in m.files for part in name.split("/"))
        and all(map(DIGEST.fullmatch, m.files.values()))
    ),
    "runtime.friction": lambda m: (
        set(m.runtime.friction) <= set(FRICTION)
        and len(set(m.runtime.friction)) == len(m.runtime.friction)
    ),
    "runtime.springs": lambda m: m.runtime.springs or not m.runtime.springs_input,
    "runtime.friction_width": lambda m: 0 <= m.runtime.friction_width <= 1e9,
    "runtime.friction_compensation": lambda m: m.runtime.friction_compensation in COMPENSATION,
    "runtime.parameters or runtime.wrenches": lambda m: (
        {*m.runtime.parameters, *m.runtime.wrenches}
        <= {link.name for body in m.model.bodies for link in body.links}
    ),
    "model.gravity": lambda m: max(map(abs, m.model.gravity)) <= 1e100,
}
"""What holds of every manifest beyond the types of its values, by the place that is at fault."""


def _module(listed: Manifest) -> Module:
    """The module, traced anew. Raises SymgenError where its functions cannot be."""
    model_entry, runtime, choices = listed.model, listed.runtime, _choices(listed.options)
    options = choices.flat()
    model = RigidBodyModel(
        model_entry.name,
        model_entry.bodies,
        model_entry.base,
        model_entry.gravity,
        closures=model_entry.closures,
    )
    robot = ParametricModel(
        model,
        tuple(runtime.parameters),
        **{name: getattr(runtime, key) for key, name in RUNTIME_FIELDS.items()},
        root_axes=options["wrench_axes"] == "root",
        thrusters=parse_thrusters(model, options["thrusters"]),
        fluid=options["fluid"],
        allow_unphysical=options["allow_unphysical"],
        estimated=options["estimate"] is not None,
    )
    requests = {
        name: FunctionRequest.parse(f"{name}={'+'.join(row.quantities)}")
        for name, row in listed.functions.items()
        if row.quantities
    }
    names_of_loops = functions_in_loops(choices[COptions].body_loops, robot, [*requests.values()])
    functions = tuple(
        loop_functions(robot, [request])[0]
        if name in names_of_loops
        else trace(robot, request, listed.functions[name].formulations, objective_of(choices))
        for name, request in requests.items()
    )
    return Module(listed.prefix, robot, functions, listed.source, choices)


def _choices(options: Mapping[str, Any]) -> Choices:
    """The options of a module. Raises SchemaError for a missing, unknown or empty option, and
    OptionError for a value that the option does not have."""
    known = {row.name: row.default for row in rows(*MODULE_OPTIONS) if not row.local}
    if known.keys() != options.keys():
        other = sorted(known.keys() ^ options.keys())
        raise SchemaError("options", f"{quoted(other, 3)} missing or unknown")
    for name, default in known.items():
        if options[name] is None and default is not None:
            raise SchemaError(f"options.{name}", "found null")
    return Choices.from_values(MODULE_OPTIONS, options)
