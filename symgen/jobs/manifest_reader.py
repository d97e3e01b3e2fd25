"""Reading of a manifest. Every key and value is checked by its type, then by rules, then against
the manifest that the model in it gives.

`decoded` reads JSON data that `dataclasses.asdict` writes into dataclasses. The types may be bool,
int, float, str, `object` (any data), Literal, dataclasses, tuples and sequences, mappings from str,
and unions of these. Errors name the path of the value."""

import json
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from symgen.errors import OptionError, SymgenError
from symgen.jobs.manifest import FORMAT, NAME, Manifest, text, written
from symgen.jobs.options import MODULE
from symgen.languages.c.options import aim_of
from symgen.languages.module import Module
from symgen.mechanics.joint_forces import COMPENSATION, FRICTION
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.model_validation import validate
from symgen.options import Choices, rows
from symgen.reading.options import RobotOptions
from symgen.text import quoted, reason, shown
from symgen.tracing.options import FunctionOptions
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace


class SchemaError(ValueError):
    """Data that do not have the expected type; the message has the path and the fault."""


def decoded(kind: Any, data: object, place: str = "") -> Any:
    """`data` as a value of type `kind`. Raises SchemaError with the path of the first wrong value.

    Numbers must be finite; an integer is accepted as a float. An object must have exactly the keys
    of its dataclass whose names do not begin with an underscore. Fields that the constructor does
    not take are checked and dropped."""
    if is_dataclass(kind):
        return _object(kind, data, place)
    origin = get_origin(kind)
    if origin is not None:
        return CONTAINERS[origin](get_args(kind), data, place)
    if kind is object or kind is Any:
        return data
    return _plain(kind, data, place)


def schema_error(place: str, message: str) -> SchemaError:
    """The error for the value at the path `place`."""
    return SchemaError(f"{place}: {message}" if place else message)


def _plain(kind: type, data: object, place: str) -> Any:
    known = (int, float) if kind is float else (kind,)
    if type(data) not in known:
        raise schema_error(place, f"expected {NAMES[kind]}, found {type_name(data)}")
    if kind is not float:
        return data
    try:
        number = float(data)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise schema_error(place, "expected a finite number")
    return number


def _object(kind: Any, data: object, place: str) -> Any:
    types_, init = _fields(kind)
    entries, names = _keys(data, place), set(types_)
    other = [*names - set(entries), *set(entries) - names]
    if other:
        missing = sorted(names - set(entries))
        trouble = "missing key" if missing else "unknown key"
        raise schema_error(place, f"{trouble} {quoted(missing or sorted(set(entries) - names), 3)}")
    values = {name: decoded(of, entries[name], _below(place, name)) for name, of in types_.items()}
    return kind(**{name: value for name, value in values.items() if name in init})


@cache
def _fields(kind: Any) -> tuple[Mapping[str, Any], frozenset[str]]:
    """The types of a dataclass's fields by name, and the names of the constructor's arguments."""
    hints = get_type_hints(kind)
    rows = [field for field in fields(kind) if not field.name.startswith("_")]
    return {row.name: hints[row.name] for row in rows}, frozenset(r.name for r in rows if r.init)


def _keys(data: object, place: str) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise schema_error(place, f"expected an object, found {type_name(data)}")
    return data


def _below(place: str, key: str) -> str:
    plain = re.fullmatch(r"\w+", key, re.ASCII)
    step = key if plain else f"'{shown(key, 40)}'"
    return f"{place}.{step}" if place else step


def _tuple(arguments: tuple[Any, ...], data: object, place: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise schema_error(place, f"expected a list, found {type_name(data)}")
    kinds = [arguments[0]] * len(data) if arguments[-1] is Ellipsis else list(arguments)
    if len(kinds) != len(data):
        raise schema_error(place, f"expected {len(kinds)} entries, found {len(data)}")
    pairs = enumerate(zip(kinds, data, strict=True))
    return tuple(decoded(kind, value, f"{place}[{k}]") for k, (kind, value) in pairs)


def _mapping(arguments: tuple[Any, ...], data: object, place: str) -> Mapping[str, Any]:
    pairs = _keys(data, place).items()
    return {key: decoded(arguments[1], value, _below(place, key)) for key, value in pairs}


def _union(arguments: tuple[Any, ...], data: object, place: str) -> Any:
    """The value as the first type that fits; the error is that of the last type."""
    *others, last = sorted(arguments, key=lambda kind: kind is not types.NoneType)
    for kind in others:
        with suppress(SchemaError):
            return decoded(kind, data, place)
    return decoded(last, data, place)


def _literal(arguments: tuple[Any, ...], data: object, place: str) -> Any:
    if not any(type(data) is type(argument) and data == argument for argument in arguments):
        choices = ", ".join(map(str, arguments))
        raise schema_error(place, f"expected one of {choices}, found {type_name(data)}")
    return data


CONTAINERS: Final[dict[Any, Callable[[tuple[Any, ...], object, str], Any]]] = {
    tuple: _tuple,
    Sequence: lambda arguments, data, place: _tuple((*arguments, ...), data, place),
    Mapping: _mapping,
    dict: _mapping,
    Union: _union,
    types.UnionType: _union,
    Literal: _literal,
}
NAMES: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    types.NoneType: "null",
}


def type_name(data: object) -> str:
    """A description of a value's type, for a message."""
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    name = kinds.get(type(data), "null" if data is None else "an object")
    return f"{name} ({shown(repr(data), 40)})" if isinstance(data, (int, float, str)) else name


MAX_MANIFEST_BYTES: Final = 64 * 2**20
"""Bytes of a manifest; a robot of a thousand joints has a megabyte."""
ECHOES: Final = ("generator", "conventions", "files")
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
        data = _data(path)
        listed = decoded(Manifest, data)
        _check(listed)
        module = _module(listed)
        _check_derived(module, listed.files, data)
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


def _data(path: Path) -> Any:
    """The JSON of a file. Raises SchemaError, OSError, and OptionError for another format."""
    with path.open("rb") as stream:
        content = stream.read(MAX_MANIFEST_BYTES + 1)
    if len(content) > MAX_MANIFEST_BYTES:
        raise schema_error("", f"it is larger than {MAX_MANIFEST_BYTES >> 20} MiB")
    try:
        data = json.loads(content.decode("utf-8"), object_pairs_hook=_once)
    except SchemaError:
        raise
    except (ValueError, RecursionError):  # no UTF-8, no JSON, numbers of thousands of digits
        raise schema_error("", "it is not JSON") from None
    if isinstance(data, dict) and type(data.get("format")) is int and data["format"] != FORMAT:
        raise OptionError(
            f"the format is {shown(str(data['format']), 40)}, and this version reads {FORMAT}"
        )
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise schema_error("", "a key occurs twice")
    return values


def _check(listed: Manifest) -> None:
    """Raises SchemaError where values of the right type cannot be."""
    for place, holds in RULES.items():
        if not holds(listed):
            raise schema_error(place, "the value is not valid")
    trouble = validate(listed.model.bodies, listed.model.base)
    if trouble is not None:
        raise schema_error("model", trouble)


RULES: Final[dict[str, Callable[[Manifest], bool]]] = {
    "prefix": lambda m: bool(PREFIX.fullmatch(m.prefix)),
    "functions": lambda m: (
        any(row.quantities for row in m.functions.values())
        and all(map(PREFIX.fullmatch, m.functions))
    ),
    "files": lambda m: (
        bool(written(m.prefix, m.files))
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


def _check_derived(module: Module, files: Mapping[str, str], data: Mapping[str, Any]) -> None:
    """Raises SchemaError where the manifest differs from the one that its own model has."""
    derived = json.loads(text(module, files))
    other = next((key for key in derived if key not in ECHOES and derived[key] != data[key]), None)
    if other is not None:
        raise schema_error(other, "does not follow from the model")


def _module(listed: Manifest) -> Module:
    """The module, traced anew. Raises SymgenError where its functions cannot be."""
    tree, runtime, choices = listed.model, listed.runtime, _choices(listed.options)
    robot = ParametricModel(
        RigidBodyModel(tree.name, tree.bodies, tree.base, tree.gravity),
        tuple(runtime.parameters),
        runtime.gravity,
        runtime.wrenches,
        runtime.friction,
        runtime.friction_input,
        runtime.friction_width,
        runtime.springs,
        runtime.springs_input,
        runtime.friction_compensation,
        root_axes=choices[FunctionOptions].wrench_axes == "root",
        allow_unphysical=choices[RobotOptions].allow_unphysical,
    )
    aim = aim_of(choices)
    functions = tuple(
        trace(
            robot,
            FunctionRequest.parse(f"{name}={'+'.join(row.quantities)}"),
            row.formulations,
            aim,
        )
        for name, row in listed.functions.items()
        if row.quantities
    )
    return Module(
        listed.prefix,
        robot,
        functions,
        listed.source,
        choices,
    )


def _choices(options: Mapping[str, object]) -> Choices:
    """The options of a module. Raises SchemaError for a value of another type, and OptionError for
    a value that is none of the choices."""
    hints = {name: of for group in MODULE for name, of in get_type_hints(group).items()}
    names = [row.name for row in rows(*MODULE) if not row.local]
    if set(names) != set(options):
        other = sorted(set(names) ^ set(options))
        raise schema_error("options", f"{quoted(other, 3)} missing or unknown")
    values = {name: decoded(hints[name], options[name], f"options.{name}") for name in names}
    return Choices.of(MODULE, values)
