"""A joint as a call of `symgen.Builder.joint` says it, made a joint and a drive of a
description."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.model import Limits, PerCoordinate
from symgen.reading.coordinate_constants import from_python, is_negative
from symgen.reading.description import DriveElement, JointElement, Mimic
from symgen.reading.given import Numbers, as_number, as_unit_vector, origin
from symgen.reading.joints import FIXED, JOINTS, JointRow, has_one_coordinate, springs_are_linear
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
    drive: Mapping[str, Any]
    passive: Mapping[str, PerCoordinate]
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
        felt = {
            key: from_python(f"{self.label}: {key}", x, self.kind)
            for key, x in self.passive.items()
        }
        along = as_unit_vector(self.label, self.axis) if row.axis else (1.0, 0.0, 0.0)
        _check_drive(self.label, drive)
        nonzero = {key: x or None for key, x in felt.items()}  # 0 is the default of each
        _check_several(self.label, self.kind, limits, drive, nonzero)
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
            raise OptionError(f"{self.label}: there is no argument '{shown(unknown[0])}'; {near}")

    @property
    def drives(self) -> list[DriveElement]:
        """The drive of a joint, where any of its numbers is given. Raises OptionError."""
        numbers = self._driven.values()
        given = any(x is not None for x in numbers)
        return [DriveElement(self.name, self.line, *numbers)] if given else []

    @cached_property
    def _driven(self) -> Mapping[str, Any]:
        numbers = {key: x for key, x in self.drive.items() if key != "armature"}
        felt, label = self.drive["armature"], f"{self.label}: armature"
        armature = None if felt is None else from_python(label, felt, self.kind)
        return {**_optional_numbers(self.label, numbers), "armature": armature}


def _row(label: str, kind: object) -> JointRow:
    """The row of a type of joint. Raises OptionError where there is none of that name."""
    if not isinstance(kind, str) or kind not in (*JOINTS, FIXED):
        types = ", ".join((*JOINTS, FIXED))
        raise OptionError(f"{label}: unknown type '{shown(str(kind))}'; use {types}")
    return JOINTS.get(kind, JointRow(FIXED, axis=False))


def _check_several(label: str, kind: str, *given: Mapping[str, Any]) -> None:
    """Check that a joint of a kind has each of the numbers that are given (not None): a fixed joint
    has none of them, a joint with several coordinates those in `OF_COORDINATES` or `OF_TWISTS`.
    Raises OptionError."""
    if has_one_coordinate(kind):
        return
    known = () if kind == FIXED else OF_COORDINATES if springs_are_linear(kind) else OF_TWISTS
    for word, x in (pair for words in given for pair in words.items()):
        if x is not None and word not in known:
            raise OptionError(f"{label}: a {kind} joint has no {word}; remove it")


OF_TWISTS: Final = ("damping", "friction", "armature")
"""What a joint with a quaternion has beside its place."""
OF_COORDINATES: Final = (*OF_TWISTS, "stiffness", "reference")
"""What other joints with several coordinates have beside their place and axis."""


def _optional_numbers(label: str, numbers: OptionalNumbers) -> OptionalNumbers:
    """Numbers, some of which are not given. Raises OptionError."""
    return {
        key: None if x is None else as_number(f"{label}: {key}", x) for key, x in numbers.items()
    }


def _check_drive(label: str, numbers: Mapping[str, Any]) -> None:
    """Refuses numbers that no drive has. Raises OptionError."""
    inertias = (numbers["rotor_inertia"] or 0.0, numbers["armature"] or 0.0)
    if numbers["ratio"] == 0 or any(map(is_negative, inertias)):
        raise OptionError(
            f"{label}: give a ratio other than 0, and no negative rotor_inertia or armature"
        )


def _mimic(
    label: str, line: int, mimic: str | Mapping[str, float] | None, multiplier: float, offset: float
) -> Mimic | None:
    """The joint that a joint follows. Raises OptionError where it is told to follow nothing."""
    if mimic is None:
        if multiplier != 1 or offset != 0:
            raise OptionError(
                f"{label}: multiplier and offset are given without mimic; add mimic with the "
                "name of a joint"
            )
        return None
    terms = {mimic: multiplier} if isinstance(mimic, str) else mimic
    if not terms or not isinstance(terms, Mapping):
        raise OptionError(f"{label}: mimic has no joint; name one, or remove mimic")
    (first, by), *also = (
        (str(name), as_number(f"{label}: multiplier", factor, names=False))
        for name, factor in terms.items()
    )
    return Mimic(line, first, by, as_number(f"{label}: offset", offset, names=False), tuple(also))
