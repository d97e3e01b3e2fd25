"""Which terms of friction, at which speeds: variable projection for the speeds, cross-validation
over parts of the log for the terms.

All of it is done with triangular factors of the equations with every candidate column, so that no
row is looked at again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from symgen.identification.estimation.triangular_factors import TriangularFactors, combined
from symgen.identification.estimation.weighted_solve import Belief, TriangularSystem, solve, solved
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.terms import ARMATURE, SPRINGS, TERMS
from symgen.numbers.types import Numbers

Key = tuple[int, str]
"""A joint's number and a term."""

FOLDS: Final = 5
"""Parts of the log, each of which is predicted from the others."""
GAIN: Final = 0.05
"""A term is taken where it makes the mean square of the prediction smaller by this part, in all
folds but one at least."""
SWEEPS: Final = 2


@dataclass(frozen=True)
class Trial:
    """A term that was tried at a joint, and the part of the mean square of predicted rows that it
    removes; `taken` tells whether it stayed."""

    joint: int
    term: str
    gain: float
    taken: bool


@dataclass(frozen=True)
class Choice:
    """The numbers of the chosen columns of the drives, what was tried, the deviation with which the
    prior counts beside the log, None where it does not or was not to be chosen, and those of
    coefficients that are random effects, by kind (`effects`)."""

    columns: tuple[int, ...]
    trials: tuple[Trial, ...] = ()
    deviation: float | None = None
    scales: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Chooser:
    """Chooses from the columns of `drives`, which are the last ones of `system`; all fits have
    `belief` beside them, the equations divided by `inflation`."""

    system: TriangularSystem
    drives: DriveUnknowns
    belief: Belief | None = None
    inflation: float = 1.0

    def believing(self, belief: Belief, inflation: float) -> "Chooser":
        """The same with a belief beside its fits; what comes of the system alone is not made
        again."""
        chooser = replace(self, belief=belief, inflation=inflation)
        kept = ("groups", "_plain", "deviations", "_folds")
        vars(chooser).update({name: getattr(self, name) for name in kept})
        return chooser

    @property
    def first(self) -> int:
        """The number of columns before those of drives."""
        return self.system.size - len(self.drives.columns)

    @cached_property
    def groups(self) -> Mapping[Key, list[int]]:
        """The numbers of the candidates of each joint and term."""
        groups: dict[Key, list[int]] = {}
        for k, column in enumerate(self.drives.columns):
            groups.setdefault((column.joint, column.term), []).append(k)
        return groups

    def fixed(self, terms: Sequence[str]) -> Choice:
        """These terms at every joint, with the best speeds."""
        keys = [key for key in self.groups if key[1] in terms]
        return Choice(tuple(sorted(self.best(keys).values())))

    def automatic(self, always: Sequence[str]) -> Choice:
        """These terms at every joint, and whatever else predicts parts of the log better that take
        no part in the fit."""
        chosen = self.best([key for key in self.groups if key[1] in always])
        errors, trials = self.errors(chosen), list[Trial]()
        open_keys = [key for key in self.groups if key[1] not in always]
        while open_keys:
            tried = self._tried(chosen, errors, open_keys)
            taken = _winners(tried, len(self.drives.joints.names))
            trials += [Trial(*key, gain, key in taken) for key, (gain, _) in tried.items()]
            if not taken:
                break
            chosen = self.best([*chosen, *taken], chosen | {key: tried[key][1] for key in taken})
            errors = self.errors(chosen)
            open_keys = [
                key for key in open_keys if key not in taken and key[0] in {j for j, _ in taken}
            ]
        kept, dropped = self._pruned(chosen, always)
        trials += [Trial(*key, gain, False) for key, gain in dropped.items()]
        return Choice(tuple(sorted(kept.values())), _last(trials))

    def _pruned(
        self, chosen: Mapping[Key, int], always: Sequence[str]
    ) -> tuple[dict[Key, int], dict[Key, float]]:
        """Without the terms that later ones have made superfluous, one after the other, and what
        each of these still removed: the first terms of all joints are taken at once, and some make
        up for what was missing at another joint."""
        kept, dropped = dict(chosen), dict[Key, float]()
        while True:
            errors = self.errors(kept)
            gains = {}
            for key in [key for key in kept if key[1] not in always]:
                rest = {other: k for other, k in kept.items() if other != key}
                gains[key] = self._gain(key[0], self.errors(rest), errors)
            least = min(gains, key=lambda key: gains[key], default=None)
            if least is None or gains[least] > GAIN:
                return kept, dropped
            dropped[least] = gains[least]
            del kept[least]

    def _tried(
        self, chosen: Mapping[Key, int], errors: Numbers, keys: Iterable[Key]
    ) -> dict[Key, tuple[float, int]]:
        """The gain of each open term and its best column, one term at all joints at a time."""
        tried = {}
        for term in sorted({term for _, term in keys}, key=list(TERMS).index):
            of_term = [key for key in keys if key[1] == term]
            best = self.best(of_term, dict(chosen), sweeps=1)
            with_term, possible = self.errors(best), self._possible(best)
            for key in of_term:
                gain = self._gain(key[0], errors, with_term) if best[key] in possible else 0.0
                tried[key] = gain, best[key]
        return tried

    def _possible(self, chosen: Mapping[Key, int]) -> set[int]:
        """The columns whose coefficients are not below what their terms can have."""
        numbers = sorted(set(chosen.values()))
        values = self._values(self._plain, self.columns(chosen))[self.first :]
        least = (TERMS[self.drives.columns[k].term].least for k in numbers)
        pairs = zip(numbers, values.tolist(), least, strict=True)
        return {k for k, x, low in pairs if low is None or x >= low}

    def _gain(self, joint: int, before: Numbers, after: Numbers) -> float:
        """The part of the squares (folds x channels) that is gone in a joint's channels; 0 where
        it is not so in all folds but one."""
        channels = self.drives.joints.channels[joint][: before.shape[1]]
        old, new = before[:, channels].sum(axis=1), after[:, channels].sum(axis=1)
        often = int(np.sum(new < old)) >= len(old) - 1
        return float(1 - new.sum() / old.sum()) if often and old.sum() else 0.0

    # -- speeds ------------------------------------------------------------------------------------

    def best(
        self, keys: Sequence[Key], start: Mapping[Key, int] | None = None, sweeps: int = SWEEPS
    ) -> dict[Key, int]:
        """The best candidate of each key, by the squares of its joint's channels: one term after
        the other, at all joints at once, for friction of one joint hardly explains another's."""
        chosen = {key: self.groups[key][0] for key in keys} | dict(start or {})
        several = sorted({key[1] for key in keys if len(self.groups[key]) > 1})
        for term in several * sweeps:
            of_term = [key for key in keys if key[1] == term and len(self.groups[key]) > 1]
            most = max(len(self.groups[key]) for key in of_term)
            squares = np.array([self._squares(self._nth(chosen, of_term, k)) for k in range(most)])
            for key in of_term:
                channels = self.drives.joints.channels[key[0]][: squares.shape[1]]
                best = int(np.argmin(squares[:, channels].sum(axis=1)))
                chosen[key] = self.groups[key][min(best, len(self.groups[key]) - 1)]
        return chosen

    def _nth(self, chosen: Mapping[Key, int], keys: Sequence[Key], k: int) -> dict[Key, int]:
        return dict(chosen) | {
            key: self.groups[key][min(k, len(self.groups[key]) - 1)] for key in keys
        }

    def columns(self, chosen: Mapping[Key, int]) -> list[int]:
        """The columns of the system: base parameters and the chosen ones of drives."""
        return [*range(self.first), *sorted(self.first + k for k in set(chosen.values()))]

    def _squares(self, chosen: Mapping[Key, int]) -> list[float]:
        """The weighted squares of each channel's residuals."""
        columns = self.columns(chosen)
        part, values = self._plain.only(columns), self._values(self._plain, columns)
        return [part.squares(j, values) / self.deviations[j] ** 2 for j in part.channels]

    def _values(self, system: TriangularSystem, columns: list[int]) -> Numbers:
        """Of some columns of a system, fitted to it."""
        belief = None if self.belief is None else self.belief.only(columns)
        return solved(system.only(columns), self.deviations, belief, self.inflation)[0]

    def part(self, columns: Sequence[int]) -> TriangularSystem:
        """Some columns of the whole system, without its batches."""
        return self._plain.only(columns)

    @cached_property
    def _plain(self) -> TriangularSystem:
        """The system without its batches, which selecting columns would carry along."""
        return self._system(self.system.factors)

    def _system(self, factors: TriangularFactors) -> TriangularSystem:
        return TriangularSystem(factors, self.system.supports, self.system.size)

    @cached_property
    def deviations(self) -> tuple[float, ...]:
        """Of the channels, with the first candidate of every key."""
        starting = {key: numbers[0] for key, numbers in self.groups.items() if key[1] in STARTING}
        columns = self.columns(starting)
        belief = None if self.belief is None else self.belief.only(columns)
        return solve(self._plain.only(columns), belief).deviations

    # -- cross-validation --------------------------------------------------------------------------

    @cached_property
    def _folds(self) -> list[tuple[TriangularSystem, TriangularSystem]]:
        """For each fold the system of the other rows, and that of its own."""
        batches = self.system.batches
        edges = np.linspace(0, len(batches), min(FOLDS, len(batches)) + 1).astype(int)
        folds = []
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            rest, held_out = combined([*batches[:a], *batches[b:]]), combined(batches[a:b])
            if rest is not None and held_out is not None:
                folds.append((self._system(rest), self._system(held_out)))
        return folds

    def errors(self, chosen: Mapping[Key, int]) -> Numbers:
        """The weighted squares of the predictions of each fold from the others (folds x
        channels)."""
        columns = self.columns(chosen)
        rows = []
        for rest, held_out in self._folds:
            tried, values = held_out.only(columns), self._values(rest, columns)
            rows.append(
                [tried.squares(j, values) / self.deviations[j] ** 2 for j in tried.channels]
            )
        return np.array(rows)


STARTING: Final = ("viscous", "coulomb", "offset", *SPRINGS, *ARMATURE)


def _winners(tried: Mapping[Key, tuple[float, int]], joints: int) -> dict[Key, int]:
    """The term with the largest gain of each joint, where that is enough."""
    taken = {}
    for joint in range(joints):
        of_joint = {key: x for key, x in tried.items() if key[0] == joint}
        best = max(of_joint, key=lambda key: of_joint[key][0], default=None)
        if best is not None and of_joint[best][0] > GAIN:
            taken[best] = of_joint[best][1]
    return taken


def _last(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The last trial of each joint and term."""
    return tuple({(trial.joint, trial.term): trial for trial in trials}.values())
