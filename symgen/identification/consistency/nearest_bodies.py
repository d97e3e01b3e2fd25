"""From base parameters to bodies: the physically consistent bodies nearest to the file's that
predict the log almost as well as the estimate.

The standard errors of a model that is never exact are far smaller than what another log of the
same robot changes. So the bodies need not have the estimated base parameters: the residual of the
log may grow by GROWTH, with the drives fitted again. Among the bodies within this budget those
nearest to the file's are taken, by a distance with the scale of each body: with mass m₀ and size l
of the file and the changes of mass, first moments and inertia

    10 (Δm / m₀)² + |Δh|² / (l m₀)² + |ΔI|² / (l² m₀)²

Distances that are relative to the pseudo-inertia (log-det; Lee, Wensing & Park, T-RO 2020) are
dominated by the thin directions of drawn bodies, and change masses to keep these. Each link that
may change has the pseudo-inertia P = L X Lᵀ with P₀ = L Lᵀ of the file and X ⪰ LEAST, so that
bodies are solid (Sousa & Cortesao, IJRR 2014). The whole is one conic programme with an exact
optimum, solved by Clarabel. If no bodies are within the budget, it is that of the nearest ones.
Inertias of rotors stay those of the file, since no <inertial> holds them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from symgen.errors import SymgenError
from symgen.identification.model.estimate import BaseMapping, Estimate
from symgen.mechanics.inertia import (
    homogeneous_transform,
    inertial_parameters_of,
    pseudo_inertia_in_parent,
    pseudo_inertia_matrix,
)
from symgen.mechanics.model import Link, RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.text import install

MAX_RESIDUAL_GROWTH: Final = 0.0002
"""The part by which the residual may grow. Most of a residual is vibration, which a filtered
prediction does not contain: with 0.005 the filtered error of a joint of a TX40 doubles, and the
masses are almost the same (docs/benchmarks/identification.md)."""
BUDGET_FACTOR: Final = 1.02
"""The budget relative to the nearest possible base parameters, if these are beyond the budget."""
MIN_INERTIA_FRACTION: Final = 1e-3
"""The part of the file's inertia that stays in every direction."""
MIN_MOMENT_FRACTION: Final = 1e-3
"""A second moment of the file below this part of the mean is taken as this."""
DEFAULT_GYRATION_RADIUS: Final = 0.05
"""The radius of gyration of a body of which nothing is known (m)."""
MASS_WEIGHT: Final = 10.0
"""The weight of a relative change of mass beside one of first moments or inertia."""
REGULARISATION: Final = 1e-8
"""The weight of the file where the nearest possible base parameters are looked for."""


class BodiesError(SymgenError):
    """No bodies can be found, or the solver is missing."""


@dataclass(frozen=True)
class ConsistentBodies:
    """Consistent bodies: `links` has the ten numbers of the changed links, `standard` those of all
    bodies (s), `base` the base parameters that they have (b), `drives` the coefficients of drives
    fitted again (f).

    `loss` is the part by which the residual of the log is larger than that of the estimate."""

    links: dict[str, Numbers]
    standard: Numbers
    base: Numbers
    drives: Numbers
    loss: float


def nearest_consistent_bodies(
    model: RigidBodyModel, estimate: Estimate, rows: int
) -> ConsistentBodies:
    """The consistent bodies nearest to the prior within the budget.

    `model` is the robot with all its links, `rows` the number of equations of the fit. The heaviest
    link of each body changes, all of its links where that is not enough. Raises BodiesError."""
    mapping, metric = estimate.mapping, ResidualMetric(estimate)
    budget = math.sqrt(rows * ((1 + MAX_RESIDUAL_GROWTH) ** 2 - 1))
    few, all_links = (
        ConicProgramme(tuple(free_links(model, mapping, several)), mapping, metric)
        for several in (False, True)
    )
    programme = few if len(few.links) == len(all_links.links) else all_links
    x = few.nearest(budget)
    if x is None and programme is not few:
        x = programme.nearest(budget)
    else:
        programme = few
    if x is None:
        x = programme.nearest(BUDGET_FACTOR * programme.misfit(programme.least_misfit()))
    if x is None:
        raise BodiesError(
            "error: --urdf: no physically consistent bodies have base parameters near the estimate"
        )
    standard = programme.standard(x)
    base = mapping.base(standard)
    parts = zip(programme.links, x.reshape(-1, 10), strict=True)
    return ConsistentBodies(
        {link.name: link.columns_of_link @ part for link, part in parts},
        standard,
        base,
        metric.drives(base),
        math.sqrt(1 + programme.misfit(x) ** 2 / rows) - 1,
    )


@dataclass(frozen=True)
class ResidualMetric:
    """The growth of the weighted squares of residuals by changes of base parameters, with the
    drives fitted again."""

    estimate: Estimate

    @cached_property
    def _triangle(self) -> tuple[Numbers, int]:
        """The factor with the columns of the drives first, and the number of these."""
        b, p = len(self.estimate.mapping), len(self.estimate.values)
        order = [*range(b, p), *range(b)]
        return np.asarray(np.linalg.qr(self.estimate.factor[:, order], mode="r")), p - b

    @property
    def factor(self) -> Numbers:
        """R (b x b) of the base parameters."""
        triangle, f = self._triangle
        return triangle[f:, f:]

    def drives(self, base: Numbers) -> Numbers:
        """The coefficients of drives (f) that fit best with base parameters (b)."""
        triangle, f = self._triangle
        b = len(base)
        change = triangle[:f, f:] @ (base - self.estimate.base)
        return self.estimate.values[b:] - np.linalg.solve(triangle[:f, :f], change)


@dataclass(frozen=True)
class FreeLink:
    """A link whose inertia may change: its body's number among those with links, its transform
    there, its prior's P and L, and its size (m) and mass (kg) in the distance."""

    name: str
    body: int
    place: Numbers
    prior: Numbers
    root: Numbers
    size: float
    mass: float

    @cached_property
    def columns(self) -> Numbers:
        """From X to the ten of the body (10 x 10)."""
        return congruence_matrix(self.place @ self.root)

    @cached_property
    def columns_of_link(self) -> Numbers:
        """From X to the ten about the link's origin in its axes (10 x 10)."""
        return congruence_matrix(self.root)

    @cached_property
    def start(self) -> Numbers:
        """X of the prior, packed: that of 1, but for priors that are flat."""
        inverse = np.linalg.inv(self.root)
        return svec(inverse @ self.prior @ inverse.T)

    @property
    def weights(self) -> Numbers:
        """The weights of the ten in the distance."""
        off = math.sqrt(2.0)
        tensor = np.array([1.0, off, off, 1.0, off, 1.0]) / self.size**2
        return np.array([math.sqrt(MASS_WEIGHT), *[1 / self.size] * 3, *tensor]) / self.mass


@dataclass(frozen=True)
class ConicProgramme:
    """The conic programme: K π = `matrix` x + `constant` for X of all free links, one after the
    other in x."""

    links: tuple[FreeLink, ...]
    mapping: BaseMapping
    metric: ResidualMetric

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

    def standard(self, x: Numbers) -> Numbers:
        """π of x."""
        return np.asarray(self.mapping.prior + self.embedding @ (x - self.start))

    @cached_property
    def _weighted(self) -> tuple[Numbers, Numbers]:
        """A and y with the weighted change of base parameters A x - y."""
        factor = self.metric.factor
        matrix = self.mapping.factors @ self.embedding
        constant = self.mapping.base(self.mapping.prior) - matrix @ self.start
        base = self.metric.estimate.base
        return np.asarray(factor @ matrix), np.asarray(factor @ (base - constant))

    def misfit(self, x: Numbers) -> float:
        """The root of the growth of the weighted squares."""
        a, y = self._weighted
        return float(np.linalg.norm(a @ x - y))

    def nearest(self, budget: float) -> Numbers | None:
        """x nearest to the prior with a misfit of at most `budget`; None where there is none."""
        a, y = self._weighted
        rows = [link.weights[:, None] * link.columns_of_link for link in self.links]
        quadratic = np.zeros((len(self.start), len(self.start)))
        for k, row in enumerate(rows):
            quadratic[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = row.T @ row
        cone = np.vstack([np.zeros(len(self.start)), -a]) / budget
        right = np.concatenate([[1.0], -y / budget])
        return _solve_conic_programme(
            quadratic,
            -quadratic @ self.start,
            (cone, right),
            0,
            MIN_INERTIA_FRACTION,
            len(self.links),
        )

    def least_misfit(self) -> Numbers:
        """x with the least misfit. Raises BodiesError."""
        a, y = self._weighted
        n, b, scale = len(self.start), len(y), float(np.abs(a).max(initial=1e-300))
        quadratic = np.diag(np.concatenate([np.full(n, REGULARISATION), np.ones(b)]))
        right = np.concatenate([-REGULARISATION * self.start, np.zeros(b)])
        equal = (np.hstack([a / scale, -np.eye(b)]), y / scale)
        x = _solve_conic_programme(
            quadratic, right, equal, b, 2 * MIN_INERTIA_FRACTION, len(self.links)
        )
        if x is None:
            raise BodiesError("error: --urdf: no physically consistent bodies were found")
        return x[:n]


def _solve_conic_programme(
    quadratic: Numbers,
    linear_part: Numbers,
    rows: tuple[Numbers, Numbers],
    equalities: int,
    least: float,
    matrices: int,
) -> Numbers | None:
    """The minimum of ½ xᵀ Q x + lᵀ x by Clarabel, the first numbers of x matrices X ⪰ least 1; the
    `rows` (A, y) are `equalities` A x = y or, without these, y - A x in a second-order cone."""
    try:
        import clarabel
        from scipy.sparse import csc_matrix
    except ImportError:
        raise BodiesError(
            "error: consistent bodies need Clarabel and SciPy; install them: "
            + install("clarabel", "scipy")
        ) from None
    size = 10 * matrices
    cone = np.hstack([-np.eye(size), np.zeros((size, len(linear_part) - size))])
    floor = np.tile(-least * svec(np.eye(4)), matrices)
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    kind = clarabel.ZeroConeT if equalities else clarabel.SecondOrderConeT
    cones = [kind(len(rows[1])), *[clarabel.PSDTriangleConeT(4)] * matrices]
    solver = clarabel.DefaultSolver(
        csc_matrix(quadratic),
        linear_part,
        csc_matrix(np.vstack([rows[0], cone])),
        np.concatenate([rows[1], floor]),
        cones,
        settings,
    )
    answer = solver.solve()
    return np.array(answer.x) if str(answer.status) in ("Solved", "AlmostSolved") else None


# -- pseudo-inertias as conic solvers have them ----------------------------------------------------

UPPER_TRIANGLE: Final = tuple((i, j) for j in range(4) for i in range(j + 1))
"""The upper triangle, column by column: the order of conic solvers."""
ROOT2: Final = float(np.sqrt(2.0))


def svec(p: Numbers) -> Numbers:
    """The upper triangle of a symmetric matrix, with √2 off the diagonal."""
    return np.array([p[i, j] * (1.0 if i == j else ROOT2) for i, j in UPPER_TRIANGLE])


def smat(x: Numbers) -> Numbers:
    """The symmetric matrix of `packed`."""
    p = np.zeros((4, 4))
    for (i, j), value in zip(UPPER_TRIANGLE, x, strict=True):
        p[i, j] = p[j, i] = value if i == j else value / ROOT2
    return p


def congruence_matrix(columns: Numbers) -> Numbers:
    """The map (10 x 10) from `packed` X to the ten numbers of T X Tᵀ, for any 4 x 4 matrix T."""
    return np.array([inertial_parameters_of(columns @ smat(x) @ columns.T) for x in np.eye(10)]).T


# -- the bodies of the file ------------------------------------------------------------------------


def with_minimum_inertia(p: Numbers, mass: float, size: float) -> Numbers:
    """A definite P near to P: at least THIN of the mean second moment about the centre of mass, of
    `size`² at first, and at least THIN of `mass`."""
    m = max(p[3, 3], MIN_MOMENT_FRACTION * mass)
    shift = np.eye(4)
    shift[:3, 3] = p[:3, 3] / m
    central = p[:3, :3] - np.outer(p[:3, 3], p[:3, 3]) / m
    values, axes = np.linalg.eigh((central + central.T) / 2)
    mean = max(float(values.mean()), MIN_MOMENT_FRACTION * m * size**2)
    at_centre = np.zeros((4, 4))
    at_centre[:3, :3] = (axes * np.maximum(values, MIN_MOMENT_FRACTION * mean)) @ axes.T
    at_centre[3, 3] = m
    return np.asarray(shift @ at_centre @ shift.T)


def free_links(
    model: RigidBodyModel, mapping: BaseMapping, all_links: bool = False
) -> list[FreeLink]:
    """Of each body that β depends on the heaviest link, or with `all_links` all links with inertia.

    What the mapping's prior says of a body beside the sum of its links counts to its heaviest link.
    """
    links, mass = (
        list[FreeLink](),
        float(np.mean(np.abs(mapping.prior[: 10 * len(mapping.bodies) : 10]))) or 1.0,
    )
    for k, body in enumerate(model.moving):
        ten = slice(10 * k, 10 * k + 10)
        if not mapping.factors[:, ten].any():
            continue
        heaviest = max(body.links, key=_mass)
        others = [
            link
            for link in body.links
            if all_links and _mass(link) > 0 and not link.name.endswith(".rotor")
        ]
        rest = pseudo_inertia_matrix(mapping.prior[ten]) - sum(
            (_in_body_frame(link) for link in body.links), np.zeros((4, 4))
        )
        small = np.abs(rest).max() <= 1e-12 * max(float(np.abs(mapping.prior[ten]).max()), 1e-300)
        for link in others or [heaviest]:
            extra = rest if link is heaviest and not small else np.zeros((4, 4))
            links.append(_free_link(link, k, extra, mass))
    return links


def _mass(link: Link) -> float:
    """The mass of a link of the file; a rotor that drives add is none."""
    return -1.0 if link.name.endswith(".rotor") else (link.parameters or (0.0,))[0]


def _in_body_frame(link: Link) -> Numbers:
    return pseudo_inertia_in_parent(
        pseudo_inertia_matrix(link.parameters or (0.0,) * 10), link.pose
    )


def _free_link(link: Link, body: int, extra: Numbers, mass: float) -> FreeLink:
    place = homogeneous_transform(link.pose)
    back = np.linalg.inv(place)
    prior = pseudo_inertia_matrix(link.parameters or (0.0,) * 10) + back @ extra @ back.T
    definite = with_minimum_inertia(prior, mass, DEFAULT_GYRATION_RADIUS)
    own = float(definite[3, 3])
    size = max(math.sqrt(float(np.trace(definite[:3, :3])) / own), DEFAULT_GYRATION_RADIUS)
    root = np.asarray(np.linalg.cholesky(definite), np.float64)
    return FreeLink(link.name, body, place, prior, root, size, own)


def changed_bodies(
    mapping: BaseMapping, standard: Numbers
) -> Sequence[tuple[str, float, Numbers | None]]:
    """The bodies that differ from the prior, each with its name, the mass that it has more (kg) and
    the centre of that mass (m) in the body's axes, None where there is no mass to speak of."""
    changed = []
    for k, name in enumerate(mapping.bodies):
        ten = slice(10 * k, 10 * k + 10)
        change, size = standard[ten] - mapping.prior[ten], np.abs(mapping.prior[ten]).max()
        if np.abs(change).max() > 1e-6 * size:
            massive = abs(change[0]) > 1e-3 * abs(mapping.prior[10 * k])
            changed.append((name, float(change[0]), change[1:4] / change[0] if massive else None))
    return changed
