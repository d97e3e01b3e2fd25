"""Conversion of JSON data to dataclasses. Every key and value is checked; errors name the path of
the value.

`decoded` reads what `dataclasses.asdict` writes. The types may be bool, int, float, str, `object`
(any data), Literal, dataclasses, tuples and sequences, mappings from str, and unions of these."""

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from symgen.text import quoted, shown


class Unfit(ValueError):
    """Data that do not have the expected type; the message has the path and the fault."""


def decoded(kind: Any, data: object, place: str = "") -> Any:
    """`data` as a value of type `kind`. Raises Unfit with the path of the first wrong value.

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


def unfit(place: str, message: str) -> Unfit:
    """The error for the value at the path `place`."""
    return Unfit(f"{place}: {message}" if place else message)


def _plain(kind: type, data: object, place: str) -> Any:
    known = (int, float) if kind is float else (kind,)
    if type(data) not in known:
        raise unfit(place, f"expected {NAMES[kind]}, found {said(data)}")
    if kind is not float:
        return data
    try:
        number = float(data)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise unfit(place, "expected a finite number")
    return number


def _object(kind: Any, data: object, place: str) -> Any:
    types_, init = _fields(kind)
    entries, names = _keys(data, place), set(types_)
    other = [*names - set(entries), *set(entries) - names]
    if other:
        missing = sorted(names - set(entries))
        trouble = "missing key" if missing else "unknown key"
        raise unfit(place, f"{trouble} {quoted(missing or sorted(set(entries) - names), 3)}")
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
        raise unfit(place, f"expected an object, found {said(data)}")
    return data


def _below(place: str, key: str) -> str:
    plain = re.fullmatch(r"\w+", key, re.ASCII)
    step = key if plain else f"'{shown(key, 40)}'"
    return f"{place}.{step}" if place else step


def _tuple(arguments: tuple[Any, ...], data: object, place: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise unfit(place, f"expected a list, found {said(data)}")
    kinds = [arguments[0]] * len(data) if arguments[-1] is Ellipsis else list(arguments)
    if len(kinds) != len(data):
        raise unfit(place, f"expected {len(kinds)} entries, found {len(data)}")
    pairs = enumerate(zip(kinds, data, strict=True))
    return tuple(decoded(kind, value, f"{place}[{k}]") for k, (kind, value) in pairs)


def _mapping(arguments: tuple[Any, ...], data: object, place: str) -> Mapping[str, Any]:
    pairs = _keys(data, place).items()
    return {key: decoded(arguments[1], value, _below(place, key)) for key, value in pairs}


def _union(arguments: tuple[Any, ...], data: object, place: str) -> Any:
    """The value as the first type that fits; the error is that of the last type."""
    *others, last = sorted(arguments, key=lambda kind: kind is not types.NoneType)
    for kind in others:
        with suppress(Unfit):
            return decoded(kind, data, place)
    return decoded(last, data, place)


def _literal(arguments: tuple[Any, ...], data: object, place: str) -> Any:
    if not any(type(data) is type(argument) and data == argument for argument in arguments):
        choices = ", ".join(map(str, arguments))
        raise unfit(place, f"expected one of {choices}, found {said(data)}")
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


def said(data: object) -> str:
    """A description of a value's type, for a message."""
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    name = kinds.get(type(data), "null" if data is None else "an object")
    return f"{name} ({shown(repr(data), 40)})" if isinstance(data, (int, float, str)) else name
