"""Kinds of values of options: how the command line, a job file and Python give one."""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from operator import index
from os import fspath
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of value: how the command line and a job file spell it."""

    description: str
    """What a job file must contain, for messages."""
    example: str
    """An example of a value, as TOML."""
    from_toml: Callable[[Any], Any]
    """From a value of TOML to the text, number or list of texts of the command line; raises
    TypeError for a value of another type."""
    from_text: Callable[[Any], Any] = lambda given: given
    """From the text of the command line to the field's value; raises ValueError."""
    from_python: Callable[[Any], Any] = lambda value: value
    """From a value in Python to the field's value; raises TypeError or ValueError."""
    toml: Callable[[Any], str | None] = lambda value: None
    """A value as TOML, None if there is none."""
    click_type: type | None = None
    """The type that the command line converts to: ``int`` or ``float``."""
    repeatable: bool = False
    flag: bool = False
    choices: tuple[str, ...] = ()
    """All values, if they are few."""

    def with_example(self, example: str) -> "ValueKind":
        """The kind with another example."""
        return replace(self, example=example)


def finite(text: str) -> float:
    """The number. Raises ValueError, for infinity and NaN too."""
    number = float(text)
    if number - number != 0:
        raise ValueError(text)
    return number


def quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _of_type(*types: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError
        return value

    return read


_text, _number = _of_type(str), _of_type(int, float)


def _float(value: Any) -> float:
    """A number as the command line reads it: infinite where it is beyond a double."""
    try:
        return float(_number(value))
    except OverflowError:
        return float("inf")


def _texts(value: Any) -> list[str]:
    return [_text(entry) for entry in _of_type(list)(value)]


def _table(value: Any) -> list[str]:
    """Pairs as the command line spells them: numbers exactly, booleans as xacro does."""
    entries = {key: _of_type(str, int, float, bool)(x) for key, x in _of_type(dict)(value).items()}
    return [f"{k}={x if isinstance(x, str) else str(x).lower()}" for k, x in entries.items()]


def _names(value: Any) -> str:
    names = _texts(value)
    if any("," in name for name in names):
        raise TypeError
    return ",".join(names)


def _list(values: Iterable[str]) -> str | None:
    entries = list(values)
    return f"[{', '.join(entries)}]" if entries else None


def _inline_table(pairs: Iterable[tuple[str, str]]) -> str | None:
    entries = [f"{quoted(key)} = {value}" for key, value in pairs]
    return f"{{ {', '.join(entries)} }}" if entries else None


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(text)
    return name, value


def inline(value: Any) -> str:
    """A text, a number, true, false or a list of these as TOML. Raises TypeError."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(inline, value))}]"
    return quoted(value) if isinstance(value, str) else repr(_number(value))


def _inline_entries(table: Any) -> str:
    """The entries of a table, as between the braces of an inline table of TOML. Raises
    TypeError."""
    return ", ".join(f"{key} = {inline(value)}" for key, value in _of_type(dict)(table).items())


def table_of(text: str) -> dict[str, Any]:
    """The table with these entries, which stand between the braces of an inline table of TOML.
    Raises ValueError."""
    table = tomllib.loads(f"table = {{{text}}}")
    if len(table) != 1:
        raise ValueError(text)
    return dict(table["table"])


def _tables(tables: Iterable[Any]) -> tuple[str, ...]:
    """Entries of tables, each a text or a mapping, spelled alike. Raises ValueError."""
    try:
        return tuple(
            _inline_entries(table_of(x) if isinstance(x, str) else dict(x)) for x in tables
        )
    except (TypeError, RecursionError) as error:
        raise ValueError(*error.args) from None


def _as_text(value: Any) -> str:
    """A text, or a path. Raises TypeError."""
    text = fspath(value)
    if not isinstance(text, str):
        raise TypeError
    return text


def _as_number(value: Any) -> float:
    if isinstance(value, (str, bytes, bool)):
        raise TypeError
    return float(value)


def _as_flag(value: Any) -> bool:
    if isinstance(value, (str, bytes)) or value not in (True, False):
        raise TypeError
    return bool(value)


def _as_texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return tuple(map(_as_text, value))


def _pairs(convert_value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Pairs of a name and what `convert_value` takes, or a mapping of these."""

    def from_python(value: Any) -> tuple[tuple[str, Any], ...]:
        pairs = value.items() if isinstance(value, Mapping) else value
        return tuple((_as_text(name), convert_value(entry)) for name, entry in pairs)

    return from_python


TEXT: Final = ValueKind(
    "a text",
    '"..."',
    _text,
    from_python=_as_text,
    toml=lambda value: quoted(value) if value is not None else None,
)
NUMBER: Final = ValueKind(
    "a number", "0.0", _float, from_python=_as_number, toml=repr, click_type=float
)
WHOLE: Final = ValueKind(
    "a whole number", "0", _of_type(int), from_python=index, toml=repr, click_type=int
)
FLAG: Final = ValueKind("true or false", "false", _of_type(bool), from_python=_as_flag, flag=True)
TEXTS: Final = ValueKind(
    "a list of texts",
    '["VALUE"]',
    _texts,
    tuple,
    _as_texts,
    lambda value: _list(map(quoted, value)),
    repeatable=True,
)
NAMES: Final = ValueKind(
    "a list of names without commas",
    '["NAME"]',
    _names,
    lambda text: tuple(text.split(",")) if text else (),
    _as_texts,
    lambda value: _list(map(quoted, value)),
)
PAIRS: Final = ValueKind(
    "a table of names and values",
    '{ NAME = "VALUE" }',
    _table,
    lambda texts: tuple(map(_pair, texts)),
    _pairs(_as_text),
    lambda value: _inline_table((key, quoted(x)) for key, x in value),
    repeatable=True,
)
NUMBER_PAIRS: Final = ValueKind(
    "a table of joints and values",
    "{ NAME = 0.0 }",
    _table,
    lambda texts: tuple((name, finite(x)) for name, _, x in (t.rpartition("=") for t in texts)),
    _pairs(_as_number),
    lambda value: _inline_table((key, repr(x)) for key, x in value),
    repeatable=True,
)
TABLES: Final = ValueKind(
    "a list of tables of texts, numbers and lists of these",
    '[{ KEY = "VALUE" }]',
    lambda value: [_inline_entries(table) for table in _of_type(list)(value)],
    _tables,
    _tables,
    lambda value: _list(f"{{ {text} }}" for text in value),
    repeatable=True,
)


def choice(*names: str) -> ValueKind:
    """One of some names."""
    return replace(TEXT, choices=names)


def vector_or(word: str) -> ValueKind:
    """Three numbers, or a word in their place."""

    def from_toml(value: Any) -> str:
        if isinstance(value, str):
            return value
        return ",".join(repr(_number(x)) for x in _of_type(list)(value))

    def from_text(text: str) -> Any:
        if text == word:
            return text
        x, y, z = map(finite, text.split(","))
        return x, y, z

    def from_python(value: Any) -> Any:
        return value if isinstance(value, str) else tuple(map(_as_number, value))

    def toml(value: Any) -> str | None:
        return _list(map(repr, value)) if isinstance(value, tuple) else None

    return ValueKind(
        f'three numbers or "{word}"', "[0.0, 0.0, -9.81]", from_toml, from_text, from_python, toml
    )


def flag_or(word: str) -> ValueKind:
    """True (on the command line ``yes``) or False (``no``), or a word in their place."""
    values: Mapping[str, Any] = {"yes": True, "no": False, word: word}
    texts = {value: text for text, value in values.items()}

    def from_text(text: str) -> Any:
        if text not in values:
            raise ValueError(text)
        return values[text]

    def from_python(value: Any) -> Any:
        if value not in texts:
            raise ValueError(value)
        return values[texts[value]]

    return ValueKind(
        f'true, false or "{word}"',
        quoted(word),
        lambda value: texts.get(_of_type(str, bool)(value), value),
        from_text,
        from_python,
        inline,
    )


def whole_or(word: str) -> ValueKind:
    """A whole number, or a word in its place; the value is a text."""
    words = f'a whole number or "{word}"'

    def text(value: Any) -> str:
        return str(_of_type(str, int)(value))

    return ValueKind(words, quoted(word), text, from_python=text)
