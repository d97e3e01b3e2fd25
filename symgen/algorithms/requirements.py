"""Requirements: what a robot must have for a formulation to apply."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from symgen.mechanics.canonical_model import CanonicalModel

SystemPredicate = Callable[[CanonicalModel], bool]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a robot must have for a formulation to apply: a predicate, and a phrase for messages,
    as in "only robots with rotors"."""

    holds: SystemPredicate
    text: str

    def __call__(self, system: CanonicalModel) -> bool:
        """Whether a robot meets it."""
        return self.holds(system)

    def __reduce__(self) -> tuple[Callable[[str, str], Any], tuple[str, str]]:
        """Pickle by name: the decorated predicate's name is that of the requirement."""
        return _named_in, (self.holds.__module__, self.holds.__qualname__)


def _named_in(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def requirement(text: str) -> Callable[[SystemPredicate], Requirement]:
    """Make a `Requirement` of the decorated predicate."""
    return lambda holds: Requirement(holds, text)


@requirement("")
def any_robot(system: CanonicalModel) -> bool:
    """True for every robot."""
    return True
