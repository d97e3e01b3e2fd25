"""Values for the symbols of a robot."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from symgen.errors import OptionError
from symgen.numbers.named import Named, given
from symgen.reading.description import Inertial, RobotDescription
from symgen.reading.inertia_tensors import tensor_trouble
from symgen.text import quoted, shown


def symbols(robot: RobotDescription) -> tuple[str, ...]:
    """The names of the symbols in it, in alphabetical order."""
    return tuple(sorted({s.name for x in _named(robot) for s in x.expression.free_symbols}))


def _named(value: Any) -> list[Named]:
    if isinstance(value, Named):
        return [value]
    if isinstance(value, tuple):
        return [x for part in value for x in _named(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [x for field in fields(value) for x in _named(getattr(value, field.name))]
    return []


def substitute(robot: RobotDescription, values: Mapping[Any, Any]) -> RobotDescription:
    """The robot with numbers, or other expressions, for some of its symbols, by symbol or by name.

    Raises OptionError for a symbol that it does not have, and for what is no number."""
    known = symbols(robot)
    wanted = {str(symbol): x for symbol, x in values.items()}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        has = quoted(known, 30) or "none"
        raise OptionError(f"the robot has no symbol {quoted(unknown)}; it has {has}")
    changed: RobotDescription = _with(robot, wanted)
    digest = f"{robot.sha256} {sorted((name, str(x)) for name, x in wanted.items())}"
    return replace(changed, sha256=hashlib.sha256(digest.encode()).hexdigest())


def _with(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, Named):
        return _valued(value, values)
    if isinstance(value, tuple):
        return tuple(_with(part, values) for part in value)
    if not is_dataclass(value) or isinstance(value, type) or not _named(value):
        return value
    changed = replace(
        value, **{f.name: _with(getattr(value, f.name), values) for f in fields(value)}
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
        raise OptionError(f"{expression} is not a finite number at {values_in_words}") from None
