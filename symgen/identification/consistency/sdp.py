"""The conic programme behind consistent bodies: mass distributions nearest to the prior, or nearest
to what was estimated, solved by Clarabel."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from symgen.advice import install
from symgen.errors import SymgenError
from symgen.identification.consistency.pseudo_inertia import linear, packed, unpacked
from symgen.identification.model.estimate import BaseMapping
from symgen.mechanics.inertia_matrices import inertial_parameters_of
from symgen.numbers.types import Numbers

LEAST: Final = 1e-3
"""δ: the part of the prior's inertia that stays in every direction, so that bodies are solid and
not flat."""


REGULARISATION: Final = 1e-8
"""Weight of the prior where the nearest possible β is looked for."""


class BodiesError(SymgenError):
    """No bodies can be found, or the solver is missing."""


@dataclass(frozen=True)
class FreeLink:
    """A link whose inertia may change: its body's number among those with links, its transform
    there, its prior's P and L of the metric."""

    name: str
    body: int
    place: Numbers
    prior: Numbers
    root: Numbers

    @cached_property
    def columns(self) -> Numbers:
        """From X to the ten of the body (10 x 10)."""
        return linear(self.place @ self.root)

    @cached_property
    def start(self) -> Numbers:
        """X of the prior, packed: that of 1, but for priors that are flat."""
        inverse = np.linalg.inv(self.root)
        return packed(inverse @ self.prior @ inverse.T)

    def ten(self, x: Numbers) -> Numbers:
        """The ten about the link's origin in its axes."""
        return inertial_parameters_of(self.root @ unpacked(x) @ self.root.T)


@dataclass(frozen=True)
class Programme:
    """The conic programme: K π = `matrix` x + `constant` for X of all free links, one after the
    other in x."""

    links: tuple[FreeLink, ...]
    mapping: BaseMapping

    @cached_property
    def start(self) -> Numbers:
        """x of the prior."""
        return np.concatenate([link.start for link in self.links])

    @cached_property
    def embedding(self) -> Numbers:
        """From x to π (s x 10 k)."""
        matrix = np.zeros((self.mapping.factors.shape[1], 10 * len(self.links)))
        for k, link in enumerate(self.links):
            matrix[10 * link.body : 10 * link.body + 10, 10 * k : 10 * k + 10] = link.columns
        return matrix

    @cached_property
    def matrix(self) -> Numbers:
        """K times that."""
        return np.asarray(self.mapping.factors @ self.embedding)

    def standard(self, x: Numbers) -> Numbers:
        """π of x."""
        return np.asarray(self.mapping.prior + self.embedding @ (x - self.start))

    @cached_property
    def constant(self) -> Numbers:
        """K π without x."""
        return self.mapping.base(self.mapping.prior) - np.asarray(self.matrix @ self.start)

    def nearest(self, base: Numbers) -> Numbers | None:
        """x nearest to the prior with K π = `base`; None where there is none."""
        scale = np.linalg.norm(self.matrix, axis=1)
        scale[scale == 0] = 1.0
        x = _solved(
            np.eye(len(self.start)),
            -self.start,
            self.matrix / scale[:, None],
            (base - self.constant) / scale,
            LEAST,
            len(self.links),
        )
        return None if x is None else self._exact(x, base)

    def _exact(self, x: Numbers, base: Numbers) -> Numbers | None:
        """The last digits, by the smallest correction in the metric; None where it would leave the
        cone."""
        for _ in range(3):
            x = (
                x
                + np.linalg.lstsq(self.matrix, base - self.constant - self.matrix @ x, rcond=1e-12)[
                    0
                ]
            )
        off = np.abs(base - self.constant - self.matrix @ x).max(initial=0.0)
        solid_enough = min(
            (np.linalg.eigvalsh(unpacked(entries))[0] for entries in x.reshape(-1, 10)), default=1.0
        )
        fine = off <= 1e-10 * max(1.0, float(np.abs(base).max())) and solid_enough > LEAST / 2
        return x if fine else None

    def possible(self, base: Numbers, factor: Numbers) -> Numbers | None:
        """The base parameters nearest to `base` that some bodies have, in the metric |R Δ|²."""
        n, b = len(self.start), len(base)
        quadratic = np.diag(np.concatenate([np.full(n, REGULARISATION), np.ones(b)]))
        equal = np.hstack([factor @ self.matrix, -np.eye(b)])
        x = _solved(
            quadratic,
            np.concatenate([-REGULARISATION * self.start, np.zeros(b)]),
            equal,
            factor @ (base - self.constant),
            2 * LEAST,
            len(self.links),
        )
        return None if x is None else np.asarray(self.matrix @ x[:n] + self.constant)

    def fitted(self, values: Numbers, factor: Numbers, positive: Sequence[int]) -> Numbers | None:
        """The values, base parameters first, nearest to `values` in the metric |R Δ|² whose base
        parameters some bodies have and of which the `positive` ones (by number, none of a base
        parameter) are not below 0: least squares with these bounds in one step."""
        n, b, p = len(self.start), len(self.constant), len(values)
        drives, size = p - b, float(np.abs(factor).max(initial=1e-300))
        scaled = factor / size
        equal = np.hstack([scaled[:, :b] @ self.matrix, scaled[:, b:], -np.eye(p)])
        x = _solved(
            np.diag(
                np.concatenate([np.full(n, REGULARISATION), np.zeros(drives), np.full(p, size**2)])
            ),
            np.concatenate([-REGULARISATION * self.start, np.zeros(drives + p)]),
            equal,
            scaled @ values - scaled[:, :b] @ self.constant,
            2 * LEAST,
            len(self.links),
            [n + k - b for k in positive],
        )
        if x is None:
            return None
        of_drives = x[n : n + drives]
        places = [k - b for k in positive]
        of_drives[places] = np.maximum(of_drives[places], 0.0)
        return np.concatenate([self.matrix @ x[:n] + self.constant, of_drives])


def _solved(
    quadratic: Numbers,
    linear: Numbers,
    equal: Numbers,
    value: Numbers,
    least: float,
    matrices: int,
    positive: Sequence[int] = (),
) -> Numbers | None:
    """The minimum of ½ xᵀ Q x + lᵀ x with E x = v, the first 10 k numbers of x matrices X ⪰ least 1
    and the `positive` ones (by number) not below 0, by Clarabel."""
    try:
        import clarabel
        from scipy.sparse import csc_matrix
    except ImportError:
        raise BodiesError(
            "error: consistent bodies need Clarabel and SciPy; install them: "
            + install("clarabel", "scipy")
        ) from None
    cone = np.hstack(
        [-np.eye(10 * matrices), np.zeros((10 * matrices, len(linear) - 10 * matrices))]
    )
    floor = np.tile(-least * packed(np.eye(4)), matrices)
    bounds = -np.eye(len(linear))[list(positive)]
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    cones = [clarabel.ZeroConeT(len(value)), *[clarabel.PSDTriangleConeT(4)] * matrices]
    cones += [clarabel.NonnegativeConeT(len(positive))] * bool(positive)
    solver = clarabel.DefaultSolver(
        csc_matrix(quadratic),
        linear,
        csc_matrix(np.vstack([equal, cone, bounds])),
        np.concatenate([value, floor, np.zeros(len(positive))]),
        cones,
        settings,
    )
    answer = solver.solve()
    return np.array(answer.x) if str(answer.status) in ("Solved", "AlmostSolved") else None
