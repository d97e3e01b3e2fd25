"""Options. Each is defined once: its name on the command line and in job files, its kind of value,
its default and its help.

Options are fields of frozen dataclasses (`group`) in the packages that use them. The command line,
job files and the documentation read the rows of these fields (`rows`). Knows errors and text.
Offers `group`, `rows`, `Choices` (the values of several groups) and the kinds of values
(`kinds`)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from inspect import get_annotations
from typing import Any, Final, TypeVar, dataclass_transform

from symgen.errors import OptionError
from symgen.options.kinds import TEXT, ValueKind
from symgen.text import cited, hint, quoted

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
    separators: str = ""
    """The characters after which another name begins."""
    shown_default: str = ""
    """A description of the default, where its value alone does not describe it."""
    section: str = ""
    """The heading of the help under which the option is listed."""
    rare: bool = False
    """True for an option that only ``--help-all`` describes."""
    applies_to: tuple[str, ...] = ()
    """What the option has an effect on, each a tag of `Choices.check_effect`; empty where it has an
    effect on everything."""
    requests: Callable[[Any], bool] = lambda value: True
    """Whether a value requests the effect to which `applies_to` refers."""
    name: str = ""
    default: Any = None

    def from_text(self, given: Any) -> Any:
        """The value of a text, or of several, of the command line; `checked` must still accept it.
        Raises OptionError for a text of another kind."""
        for text in given if isinstance(given, tuple) else (given,):
            try:
                self.kind.from_text((text,) if isinstance(given, tuple) else text)
            except ValueError:
                raise OptionError(f"{self.flag} {cited(text)}: {self.give}") from None
        return self.kind.from_text(given)

    def typed(self, value: Any) -> list[str]:
        """The words that give a value on the command line."""
        if self.kind.flag:
            return [self.flag] if value else []
        if not self.kind.repeatable:
            listed = isinstance(value, tuple)
            if isinstance(value, bool):
                return [self.flag, "yes" if value else "no"]
            return [self.flag, ",".join(map(str, value)) if listed else str(value)]
        entries = (x if isinstance(x, str) else "=".join(map(str, x)) for x in value)
        return [word for entry in entries for word in (self.flag, entry)]

    def checked(self, value: Any) -> Any:
        """The field's value of what was given. Raises OptionError for what is none of the kind, or
        of the choices."""
        choices = self.kind.choices
        if value is None or value is self.default:
            return value
        if choices and value not in choices:
            raise OptionError(f"{self.flag} {cited(value)}: use one of {', '.join(choices)}")
        try:
            return self.kind.from_python(value)
        except (TypeError, ValueError, OverflowError):
            needed = self.give or f"give {self.kind.description}"
            raise OptionError(f"{self.flag} {cited(value)}: {needed}") from None


def option(
    flag: str, metavar: str | None, help: str, kind: ValueKind = TEXT, *, default: Any, **more: Any
) -> Any:
    """A field of a group of options."""
    return field(default=default, metadata={"option": Option(flag, metavar, help, kind, **more)})


Group = TypeVar("Group")


@dataclass_transform(frozen_default=True, field_specifiers=(option,))
def group(cls: type[Group]) -> type[Group]:
    """Makes a frozen dataclass of options. Its constructor checks each option.

    A class may check relations between options in a method ``validate``. Its attribute ``SECTION``
    is the section of the options that do not name one."""

    def __post_init__(self: Any) -> None:
        for row in rows(type(self)):
            object.__setattr__(self, row.name, row.checked(getattr(self, row.name)))
        if hasattr(self, "validate"):
            self.validate()

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    return dataclass(frozen=True)(cls)


def rows(*groups: type, only: Iterable[str] | None = None) -> tuple[Option, ...]:
    """The options of some groups in order, or those of them that are named."""
    options = [
        replace(
            f.metadata["option"],
            name=f.name,
            default=None if f.default is MISSING else f.default,
            section=f.metadata["option"].section or getattr(owner, "SECTION", ""),
        )
        for cls in groups
        for f in fields(cls)
        if "option" in f.metadata
        for owner in [next(c for c in cls.__mro__ if f.name in get_annotations(c))]
    ]
    wanted = None if only is None else set(only)
    return tuple(row for row in options if wanted is None or row.name in wanted)


Tags = Mapping[str, Collection[str]]
"""Things that options can apply to, such as languages, each by its name with its tags."""

MAX_NAMED: Final = 9
"""Names that a message lists, so that it remains one readable sentence."""


@dataclass(frozen=True)
class Choices:
    """A value of each of some groups of options, by the group's class."""

    values: Mapping[type, Any]
    given: frozenset[str] = field(default=frozenset(), compare=False)
    """The names of the options that the user has set, to their defaults or to other values."""

    @classmethod
    def from_values(cls, groups: Iterable[type], given: Mapping[str, Any]) -> "Choices":
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
        return cls(values, frozenset(given))

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
        changed = Choices.from_values(self.values, {**self.flat(), **changes})
        return replace(changed, given=self.given | changes.keys())

    def check_effect(self, requested: Tags, known: Tags) -> None:
        """Refuse options that the user has set and that have no effect on what is requested.

        An option has an effect on a thing that has one of the tags in the option's `applies_to`.
        Options that apply to none of the things `known` are not checked. Raises OptionError with
        the names of the things to which the option applies."""
        tags, flat = {tag for tags in requested.values() for tag in tags}, self.flat()
        for row in rows(*self.values):
            possible = [name for name, its in known.items() if {*row.applies_to} & {*its}]
            concerned = row.name in self.given and row.requests(flat[row.name])
            if concerned and possible and not tags & {*row.applies_to}:
                raise OptionError(
                    f"{row.flag}: this option has no effect on {quoted(requested)}; it applies to "
                    f"{quoted(possible, MAX_NAMED)}"
                )


def typed(choices: Choices, *groups: type, leave: Iterable[str] = ()) -> list[str]:
    """The words that give the options of some groups on the command line, those that are at their
    defaults or named in `leave` left out."""
    omitted, flat = set(leave), choices.flat()
    used = (row for row in rows(*groups) if row.name not in omitted and choices.used(row.name))
    return [word for row in used for word in row.typed(flat[row.name])]
