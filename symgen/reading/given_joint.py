"""A joint as a call of `symgen.Builder.joint` says it, made a joint and a drive of a
description."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.model import Limits
from symgen.reading.description import DriveElement, JointElement, Mimic
from symgen.reading.given import Numbers, one, origin, unit
from symgen.reading.joints import FIXED, JOINTS, JointRow, single
from symgen.reading.quaternions import Rows
from symgen.text import hint, shown

OptionalNumbers = Mapping[str, float | None]
"""Numbers by their words, None where they are not given."""

PLACES: Final = ("xyz", "rpy", "axis", "rotation", "quaternion")
FOLLOWS: Final = ("mimic", "multiplier", "offset")


@dataclass(frozen=True)
class GivenJoint:
    """What is said of a joint, not checked yet; `pose` is a position with an orientation in one of
    three ways, `follows` a joint or several with factors, a factor and an offset."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    pose: tuple[Numbers, Numbers, Rows | None, Numbers | None]
    axis: Numbers
    limits: OptionalNumbers
    drive: OptionalNumbers
    passive: Mapping[str, float]
    follows: tuple[str | Mapping[str, float] | None, float, float]
    constants: Mapping[str, Any]

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"joint '{shown(self.name)}'"

    @property
    def element(self) -> JointElement:
        """The joint of a description. Raises OptionError."""
        row = _row(self.label, self.kind)
        self._check_words()
        limits, drive = _optional_numbers(self.label, self.limits), self._driven
        felt = {key: one(f"{self.label}: {key}", x) for key, x in self.passive.items()}
        along = unit(self.label, self.axis) if row.axis else (1.0, 0.0, 0.0)
        _check_drive(self.label, drive)
        _check_single(
            self.label, self.kind, {**limits, **drive, **{k: x or None for k, x in felt.items()}}
        )
        return JointElement(
            self.name,
            self.line,
            self.kind,
            self.parent,
            self.child,
            origin(self.label, self.line, *self.pose),
            along,
            Limits(**limits),
            felt["damping"],
            felt["friction"],
            _mimic(self.label, self.line, *self.follows),
            row.given(self.label, along, self.constants),
            felt["stiffness"],
            felt["reference"],
        )

    def _check_words(self) -> None:
        """Refuses words that no joint has, with those near to them. Raises OptionError."""
        constants = [taken.word for row in JOINTS.values() for taken in row.takes]
        unknown = [word for word in self.constants if word not in constants]
        if unknown:
            numbers = (*self.limits, *self.drive, *self.passive)
            near = hint(unknown[0], [*PLACES, *numbers, *FOLLOWS, *constants], 30)
            raise OptionError(f"{self.label}: no argument is called '{shown(unknown[0])}'; {near}")

    @property
    def drives(self) -> list[DriveElement]:
        """The drive of a joint, where any of its numbers is given. Raises OptionError."""
        numbers = self._driven.values()
        given = any(x is not None for x in numbers)
        return [DriveElement(self.name, self.line, *numbers)] if given else []

    @cached_property
    def _driven(self) -> OptionalNumbers:
        return _optional_numbers(self.label, self.drive)


def _row(label: str, kind: object) -> JointRow:
    """The row of a type of joint. Raises OptionError where there is none of that name."""
    if not isinstance(kind, str) or kind not in (*JOINTS, FIXED):
        types = ", ".join((*JOINTS, FIXED))
        raise OptionError(f"{label}: no type '{shown(str(kind))}'; use {types}")
    return JOINTS.get(kind, JointRow(FIXED, axis=False))


def _check_single(label: str, kind: str, given: Mapping[str, Any]) -> None:
    """Refuses what only joints with one coordinate have. Raises OptionError."""
    foreign = [word for word, x in given.items() if x is not None]
    if foreign and not single(kind):
        raise OptionError(f"{label}: a {kind} joint has no {foreign[0]}; remove it")


def _optional_numbers(label: str, numbers: OptionalNumbers) -> OptionalNumbers:
    """Numbers, some of which are not given. Raises OptionError."""
    return {key: None if x is None else one(f"{label}: {key}", x) for key, x in numbers.items()}


def _check_drive(label: str, numbers: OptionalNumbers) -> None:
    """Refuses numbers that no drive has. Raises OptionError."""
    if numbers["ratio"] == 0 or any((numbers[k] or 0) < 0 for k in ("rotor_inertia", "armature")):
        raise OptionError(
            f"{label}: give a ratio other than 0, and no negative rotor_inertia or armature"
        )


def _mimic(
    label: str, line: int, mimic: str | Mapping[str, float] | None, multiplier: float, offset: float
) -> Mimic | None:
    """The joint that a joint follows. Raises OptionError where it is told to follow nothing."""
    if mimic is None:
        if multiplier != 1 or offset != 0:
            raise OptionError(f"{label}: multiplier and offset are of a mimic; name its joint")
        return None
    terms = {mimic: multiplier} if isinstance(mimic, str) else mimic
    if not terms or not isinstance(terms, Mapping):
        raise OptionError(f"{label}: mimics no joint; name one, or leave mimic out")
    (first, by), *also = (
        (str(name), one(f"{label}: multiplier", factor, names=False))
        for name, factor in terms.items()
    )
    return Mimic(line, first, by, one(f"{label}: offset", offset, names=False), tuple(also))
