"""Coefficients that are small and alike in size at all joints: random effects.

An offset or the crosstalk of a sensor is there at every joint, but how large is another matter. A
test that takes or leaves it decides by chance on a short log, and a coefficient that is left free
takes what belongs to gravity. So the coefficients of a kind are taken as normal about 0 with one
variance, offsets relative to the joint's measured force and crosstalk as it is, and that variance
is estimated from the log with all of them: by expectation and maximisation (Laird & Ware,
Biometrics 1982), which needs their means and variances alone. What the log tells well is hardly
pulled, the rest towards 0."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.identification.estimation.term_selection import Chooser, Key
from symgen.identification.estimation.weighted_solve import Belief, solved
from symgen.numbers.types import Numbers


@dataclass(frozen=True)
class RandomEffect:
    """A kind: the terms of drives whose coefficients it is, what their size is told `of`, and
    whether it is `relative` to what would give all of the measured force."""

    terms: tuple[str, ...]
    of: str
    relative: bool = False


EFFECTS: Final[Mapping[str, RandomEffect]] = {
    "offsets": RandomEffect(("offset",), "force", relative=True),
    "crosstalk": RandomEffect(("crosstalk_x", "crosstalk_y"), "moment"),
}
"""By name."""
LEAST: Final = 1e-3
"""The least deviation of a kind; of none at all there were no way back."""
ROUNDS: Final = 50
SETTLED: Final = 0.01
"""Relative change of a deviation below which it counts as found."""


def with_effects(
    chooser: Chooser, chosen: Mapping[Key, int]
) -> tuple[Chooser, tuple[tuple[str, float], ...]]:
    """The chooser with the kinds' deviations in its belief, which has those of coefficients that
    give all of the measured force, and these deviations. They are estimated with the `chosen`
    columns."""
    belief = chooser.belief
    kinds = {name: _columns(chooser, effect) for name, effect in EFFECTS.items()}
    kinds = {name: numbers for name, numbers in kinds.items() if numbers}
    if belief is None or not kinds:
        return chooser, ()
    units = np.diag(belief.factor).copy()
    for name, numbers in kinds.items():
        units[numbers] = units[numbers] if EFFECTS[name].relative else 1.0
    columns = chooser.columns(chosen)
    part, scales = chooser.part(columns), dict.fromkeys(kinds, 1.0)
    for _ in range(ROUNDS):
        scaled = _scaled(belief, units, kinds, scales).only(columns)
        values, factor = solved(part, chooser.deviations, scaled, chooser.inflation)
        variances = np.sum(np.square(np.linalg.inv(factor)), axis=1)
        squares = (np.square(values) + variances) * np.square(units[columns])
        before = scales
        scales = {name: _scale(squares, columns, numbers) for name, numbers in kinds.items()}
        if all(abs(scales[name] / before[name] - 1) < SETTLED for name in kinds):
            break
    held = _scaled(belief, units, kinds, scales)
    return chooser.believing(held, chooser.inflation), tuple(scales.items())


def _columns(chooser: Chooser, effect: RandomEffect) -> list[int]:
    """The numbers of all columns of a kind in the system."""
    groups = chooser.groups.items()
    return sorted(
        chooser.first + k for key, numbers in groups if key[1] in effect.terms for k in numbers
    )


def _scale(squares: Numbers, columns: list[int], numbers: list[int]) -> float:
    """The deviation of a kind, of the expected squares of its coefficients."""
    places = np.flatnonzero(np.isin(columns, numbers))
    mean = float(np.mean(squares[places])) if places.size else 1.0
    return float(np.clip(np.sqrt(mean), LEAST, 1.0))


def _scaled(
    belief: Belief, units: Numbers, kinds: Mapping[str, list[int]], scales: Mapping[str, float]
) -> Belief:
    """A belief, whose coefficients of drives are independent and about 0, with other deviations."""
    factor = belief.factor.copy()
    for name, numbers in kinds.items():
        factor[numbers, numbers] = units[numbers] / scales[name]
    return replace(belief, factor=factor)
