"""Values for the symbols of a robot."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from symgen.errors import OptionError
from symgen.numbers.named import Named, given
from symgen.reading.description import Description, Inertial
from symgen.reading.tensors import tensor_trouble
from symgen.text import quoted, shown


def symbols(robot: Description) -> tuple[str, ...]:
    """The names of the symbols in it, in alphabetical order."""
    return tuple(sorted({s.name for x in _named(robot) for s in x.expression.free_symbols}))


def _named(thing: Any) -> list[Named]:
    if isinstance(thing, Named):
        return [thing]
    if isinstance(thing, tuple):
        return [x for part in thing for x in _named(part)]
    if is_dataclass(thing) and not isinstance(thing, type):
        return [x for field in fields(thing) for x in _named(getattr(thing, field.name))]
    return []


def substituted(robot: Description, values: Mapping[Any, Any]) -> Description:
    """The robot with numbers, or other expressions, for some of its symbols, by symbol or by name.

    Raises OptionError for a symbol that it does not have, and for what is no number."""
    known = symbols(robot)
    wanted = {str(symbol): x for symbol, x in values.items()}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        has = quoted(known, 30) or "none"
        raise OptionError(f"the robot has no symbol {quoted(unknown)}; it has {has}")
    changed: Description = _with(robot, wanted)
    digest = f"{robot.sha256} {sorted((name, str(x)) for name, x in wanted.items())}"
    return replace(changed, sha256=hashlib.sha256(digest.encode()).hexdigest())


def _with(thing: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(thing, Named):
        return _valued(thing, values)
    if isinstance(thing, tuple):
        return tuple(_with(part, values) for part in thing)
    if not is_dataclass(thing) or isinstance(thing, type) or not _named(thing):
        return thing
    changed = replace(
        thing, **{f.name: _with(getattr(thing, f.name), values) for f in fields(thing)}
    )
    if isinstance(changed, Inertial):
        return replace(changed, trouble=tensor_trouble(changed.tensor, changed.mass))
    return changed


def _valued(x: Named, values: Mapping[str, Any]) -> float:
    expression = x.expression
    known = {s: values[s.name] for s in expression.free_symbols if s.name in values}
    try:
        return given(expression.subs(known))
    except (TypeError, ValueError):
        values_in_words = ", ".join(
            f"{symbol} = {shown(repr(value), 40)}" for symbol, value in known.items()
        )
        raise OptionError(f"{expression} is no finite number at {values_in_words}") from None
