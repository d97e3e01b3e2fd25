"""The shape parameters of the joints' laws by variable projection: each joint takes the candidate
with which its forces are explained best, everything else fitted again.

All of it is done with triangular factors of the equations with every candidate column, so that no
row is looked at again. Candidates that explain the forces nearly as well give other coefficients;
their spread belongs to the standard errors (Hoeting, Madigan, Raftery & Volinsky, Statistical
Science 1999, eq. 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.estimation.triangular_factors import triangle
from symgen.identification.estimation.weighted_solve import (
    GaussianPrior,
    TriangularSystem,
    solve,
)
from symgen.identification.model.drive_columns import DriveUnknowns, ShapePairs
from symgen.mechanics.joint_forces import FRICTION_WIDTH

Numbers = NDArray[np.float64]
Key = tuple[int, tuple[str, ...]]
"""A joint's number and the names of shape parameters."""

CLEAR: Final = 0.02
"""The part of a joint's squares by which a width has to be better than a larger one."""
SWEEPS: Final = 2
"""Passes over the shape parameters: each depends little on the others."""


@dataclass(frozen=True)
class ShapeSearch:
    """Selects from the columns of `drives`, which are the last ones of `system`; every fit has
    `prior` in addition."""

    system: TriangularSystem
    drives: DriveUnknowns
    prior: GaussianPrior

    @property
    def first(self) -> int:
        """The number of columns before those of drives."""
        return self.system.size - len(self.drives.columns)

    @cached_property
    def candidates(self) -> Mapping[Key, list[list[int]]]:
        """For the shape parameters of a joint the numbers of the columns of each candidate. Laws
        with the same parameters have them in common, such as the presliding distance."""
        values: dict[Key, dict[ShapePairs, list[int]]] = {}
        for k, column in enumerate(self.drives.columns):
            key = column.joint, tuple(name for name, _ in column.shape)
            values.setdefault(key, {}).setdefault(column.shape, []).append(k)
        return {key: [numbers for _, numbers in sorted(x.items())] for key, x in values.items()}

    @property
    def best(self) -> tuple[int, ...]:
        """The numbers of the columns of drives with the best candidate of each parameter."""
        return tuple(k - self.first for k in self._columns(self._chosen)[self.first :])

    def spread(self, inflation: float) -> Numbers:
        """What the choice of each parameter adds to the standard errors of the values with the best
        candidates (p): squares count 1 / `inflation`."""
        deviations = self._deviations(self._chosen)
        factor = self._factor(deviations)
        best, variance = self._values(self._chosen, factor), 0.0
        for key, groups in self.candidates.items():
            if len(groups) > 1:
                tried = [dict(self._chosen) | {key: n} for n in range(len(groups))]
                fits = np.array([self._values(chosen, factor) for chosen in tried])
                pairs = zip(tried, fits, strict=True)
                squares = np.array([self._squares(*x, deviations).sum() for x in pairs])
                weights = np.exp((squares.min() - squares) / (2 * inflation))
                variance = variance + weights @ np.square(fits - best) / weights.sum()
        return np.sqrt(variance + np.zeros(len(best)))

    def _factor(self, deviations: tuple[float, ...]) -> Numbers:
        """The factor of all equations and the prior with every candidate, with given deviations of
        the channels."""
        prior = np.column_stack([self.prior.factor, self.prior.target])
        return triangle(np.concatenate([self.system.weighted(deviations), prior]))

    def _values(self, chosen: Mapping[Key, int], factor: Numbers) -> Numbers:
        """The values with some candidates by the factor with all of them."""
        part = triangle(factor[:, [*self._columns(chosen), -1]])
        return np.asarray(np.linalg.solve(part[:-1, :-1], part[:-1, -1]))

    def _squares(
        self, chosen: Mapping[Key, int], values: Numbers, deviations: tuple[float, ...]
    ) -> Numbers:
        """The weighted squares of the residuals of each channel."""
        wide = np.zeros(self.system.size)
        wide[self._columns(chosen)] = values
        squares = [self.system.squares(j, wide) for j in self.system.channels]
        return np.array(squares) / np.square(deviations)

    @cached_property
    def _chosen(self) -> Mapping[Key, int]:
        """The number of the best candidate of each parameter."""
        chosen = dict.fromkeys(self.candidates, 0)
        deviations = self._deviations(chosen)
        factor, count = self._factor(deviations), self.drives.joints.channels.shape[1]
        several = sorted({key[1] for key in chosen if len(self.candidates[key]) > 1})
        for name in several * SWEEPS:
            keys = [key for key in chosen if key[1] == name]
            most = max(len(self.candidates[key]) for key in keys)
            tried = [self._nth(chosen, keys, k) for k in range(most)]
            squares = np.array(
                [self._squares(x, self._values(x, factor), deviations)[:count] for x in tried]
            )
            for key in keys:
                of_joint = squares[: len(self.candidates[key]), self._channels(key[0])].sum(axis=1)
                margin = CLEAR if name == (FRICTION_WIDTH.name,) else 0.0
                chosen[key] = int(np.flatnonzero((1 - margin) * of_joint <= of_joint.min())[-1])
        return chosen

    def _channels(self, joint: int) -> NDArray[np.bool_]:
        return np.asarray(self.drives.joints.channels[joint][: len(self.system.supports)])

    def _nth(self, chosen: Mapping[Key, int], keys: Sequence[Key], n: int) -> dict[Key, int]:
        return dict(chosen) | {key: min(n, len(self.candidates[key]) - 1) for key in keys}

    def _columns(self, chosen: Mapping[Key, int]) -> list[int]:
        of_drives = sorted(k for key, n in chosen.items() for k in self.candidates[key][n])
        return [*range(self.first), *(self.first + k for k in of_drives)]

    def _deviations(self, chosen: Mapping[Key, int]) -> tuple[float, ...]:
        """The deviations of the channels with some candidates."""
        columns = self._columns(chosen)
        return solve(self.system.only(columns), self.prior.only(columns)).deviations
