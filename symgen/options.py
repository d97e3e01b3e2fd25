"""What an option is, defined once: its name on the command line and in a job file, the values that
it takes, its default and its help.

Options are fields of frozen dataclasses that belong to whom they concern (`group`); the command
line, job files and their documentation read the fields' rows (`rows`)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Final, TypeVar, dataclass_transform

from symgen.errors import OptionError
from symgen.text import cited, hint


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of value: how the command line and a job file spell it."""

    said: str
    """What a job file must hold, in words."""
    example: str
    """An example of a value, as TOML."""
    plain: Callable[[Any], Any]
    """From a value of TOML to the text or number, or the list of texts, that the command line would
    have; raises TypeError for a value of another type."""
    parsed: Callable[[Any], Any] = lambda given: given
    """From what the command line has to the field's value; raises ValueError."""
    toml: Callable[[Any], str | None] = lambda value: None
    """The default as TOML, None where nothing is the default."""
    click_type: type | None = None
    """What the command line itself takes apart: ``int`` or ``float``."""
    repeatable: bool = False
    flag: bool = False
    choices: tuple[str, ...] = ()
    """All values, where they are few."""

    def like(self, example: str) -> "ValueKind":
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


def _exactly(*types: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError
        return value

    return read


_text, _number = _exactly(str), _exactly(int, float)


def _float(value: Any) -> float:
    """A number as the command line reads it: infinite where it is beyond a double."""
    try:
        return float(_number(value))
    except OverflowError:
        return float("inf")


def _texts(value: Any) -> list[str]:
    return [_text(entry) for entry in _exactly(list)(value)]


def _spelled(value: Any) -> str:
    """A value as the command line spells it: numbers exactly, booleans as xacro does."""
    plain = _exactly(str, int, float, bool)(value)
    return plain if isinstance(plain, str) else str(plain).lower()


def _table(value: Any) -> list[str]:
    return [f"{key}={_spelled(entry)}" for key, entry in _exactly(dict)(value).items()]


def _vector(value: Any) -> str:
    if isinstance(value, str):
        return value
    return ",".join(repr(_number(x)) for x in _exactly(list)(value))


def _names(value: Any) -> str:
    names = _texts(value)
    if any("," in name for name in names):
        raise TypeError
    return ",".join(names)


def _list(values: Iterable[str]) -> str | None:
    entries = list(values)
    return f"[{', '.join(entries)}]" if entries else None


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(text)
    return name, value


def _number_pair(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    return name, finite(value)


TEXT: Final = ValueKind(
    "a text", '"..."', _text, toml=lambda value: quoted(value) if value is not None else None
)
NUMBER: Final = ValueKind("a number", "0.0", _float, toml=repr, click_type=float)
WHOLE: Final = ValueKind("a whole number", "0", _exactly(int), toml=repr, click_type=int)
FLAG: Final = ValueKind("true or false", "false", _exactly(bool), flag=True)
TEXTS: Final = ValueKind("a list of texts", '["VALUE"]', _texts, tuple, repeatable=True)
NAMES: Final = ValueKind(
    "a list of names without commas",
    '["NAME"]',
    _names,
    lambda text: tuple(text.split(",")) if text else (),
    lambda value: _list(map(quoted, value)),
)
PAIRS: Final = ValueKind(
    "a table of names and values",
    '{ NAME = "VALUE" }',
    _table,
    lambda texts: tuple(map(_pair, texts)),
    repeatable=True,
)
NUMBER_PAIRS: Final = ValueKind(
    "a table of joints and values",
    "{ NAME = 0.0 }",
    _table,
    lambda texts: tuple(map(_number_pair, texts)),
    repeatable=True,
)


def choice(*names: str) -> ValueKind:
    """One of some names."""
    return replace(TEXT, choices=names)


def vector_or(word: str) -> ValueKind:
    """Three numbers, or a word in their place."""

    def parsed(text: str) -> Any:
        if text == word:
            return text
        x, y, z = map(finite, text.split(","))
        return x, y, z

    def toml(value: Any) -> str | None:
        return _list(map(repr, value)) if isinstance(value, tuple) else None

    return ValueKind(f'three numbers or "{word}"', "[0.0, 0.0, -9.81]", _vector, parsed, toml)


def whole_or(word: str) -> ValueKind:
    """A whole number, or a word in its place; the value is a text."""
    said = f'a whole number or "{word}"'
    return ValueKind(said, quoted(word), lambda value: str(_exactly(str, int)(value)))


Names = tuple[str, ...] | Callable[[Any, str], Iterable[str]]
"""What may be typed next: the same names everywhere, or from the description of the robot's file
(None where there is none) and what stands before in the value, up to what parts it."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option: `flag` is its name on the command line, `name` the field's and a job file's key.

    `give` says what to type where a text is none of its kind; `path` is one that a job file takes
    relative to itself.
    """

    flag: str
    metavar: str | None
    help: str
    kind: ValueKind = TEXT
    give: str = ""
    short: str | None = None
    path: bool = False
    local: bool = False
    """Whether it is a matter of this machine, which no generated file repeats."""
    required: bool = False
    names: Names | None = None
    """What a shell completes, where that is more than `ValueKind.choices`."""
    parted: str = ""
    """The characters after which another name begins."""
    shown_default: str = ""
    """What is the default, in words, where no value says it."""
    name: str = ""
    default: Any = None

    def parsed(self, given: Any) -> Any:
        """The value of what the command line has. Raises OptionError."""
        for text in given if isinstance(given, tuple) else (given,):
            try:
                self.kind.parsed((text,) if isinstance(given, tuple) else text)
            except ValueError:
                raise OptionError(f"{self.flag} {cited(text)}: {self.give}") from None
        return self.kind.parsed(given)

    def check(self, value: Any) -> None:
        """Raises OptionError for a value that is none of the choices."""
        choices = self.kind.choices
        if choices and value is not None and value not in choices:
            raise OptionError(f"{self.flag} {cited(value)}: use one of {', '.join(choices)}")


def option(
    flag: str, metavar: str | None, help: str, kind: ValueKind = TEXT, *, default: Any, **more: Any
) -> Any:
    """A field of a group of options."""
    return field(default=default, metadata={"option": Option(flag, metavar, help, kind, **more)})


Group = TypeVar("Group")


@dataclass_transform(frozen_default=True, field_specifiers=(option,))
def group(cls: type[Group]) -> type[Group]:
    """Makes a frozen dataclass of options, each of which is checked when one is made.

    A class may check what concerns several of them in a method ``validate``."""

    def __post_init__(self: Any) -> None:
        for row in rows(type(self)):
            row.check(getattr(self, row.name))
        if hasattr(self, "validate"):
            self.validate()

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    return dataclass(frozen=True)(cls)


def rows(*groups: type, only: Iterable[str] | None = None) -> tuple[Option, ...]:
    """The options of some groups in order, or those of them that are named."""
    every = [
        replace(
            f.metadata["option"], name=f.name, default=None if f.default is MISSING else f.default
        )
        for cls in groups
        for f in fields(cls)
        if "option" in f.metadata
    ]
    wanted = None if only is None else set(only)
    return tuple(row for row in every if wanted is None or row.name in wanted)


@dataclass(frozen=True)
class Choices:
    """A value of each of some groups of options, by the group's class."""

    values: Mapping[type, Any]

    @classmethod
    def of(cls, groups: Iterable[type], given: Mapping[str, Any]) -> "Choices":
        """The groups with the options given, the others at their defaults. Raises OptionError for
        a value, TypeError for a name that is no option of theirs."""
        groups, taken = tuple(groups), dict(given)
        values = {
            group: group(**{r.name: taken.pop(r.name) for r in rows(group) if r.name in taken})
            for group in groups
        }
        if taken:
            name, known = next(iter(taken)), [row.name for row in rows(*groups)]
            raise TypeError(f"no option is called {cited(name)}; {hint(name, known, len(known))}")
        return cls(values)

    def __getitem__(self, group: type[Group]) -> Group:
        return self.values[group]  # type: ignore[no-any-return]

    def flat(self) -> dict[str, Any]:
        """All options by name."""
        return {
            row.name: getattr(v, row.name) for v in self.values.values() for row in rows(type(v))
        }

    def used(self, name: str) -> bool:
        """Whether the option of this name is at another value than its default."""
        row = next(row for row in rows(*self.values) if row.name == name)
        return bool(self.flat()[name] != row.default)

    def changed(self, **changes: Any) -> "Choices":
        """The choices with some options changed. Raises OptionError, TypeError."""
        return Choices.of(self.values, {**self.flat(), **changes})
