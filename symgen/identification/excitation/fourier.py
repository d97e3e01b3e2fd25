"""Periodic motions as finite Fourier series (Swevers, Ganseman, Tukel, De Schutter & Van Brussel,
T-RA 1997, eq. 2).

q(t) = c + Σ_l a_l / (ω l) sin(ω l t) - b_l / (ω l) cos(ω l t), ω = 2π / period: after one period
the motion repeats, so a robot can run it for as long as the log is to be, and rates are exact."""

from dataclasses import dataclass

import numpy as np

from symgen.numbers.types import Numbers


def basis(harmonics: int, period: float, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The functions that coefficients a_1 ... a_N, b_1 ... b_N multiply in q, its rate and its
    acceleration (each N_t x 2 N)."""
    rates = 2 * np.pi / period * np.arange(1, harmonics + 1)
    s, c = np.sin(t[:, None] * rates), np.cos(t[:, None] * rates)
    return (
        np.hstack([s, -c]) / np.tile(rates, 2),
        np.hstack([c, s]),
        np.hstack([-s, c]) * np.tile(rates, 2),
    )


def rest_to_rest_basis(harmonics: int) -> Numbers:
    """Coefficients (2 N x 2 N - 2, orthonormal) that start and end at rest: Σ a_l = 0 and Σ l b_l =
    0."""
    constraints = np.zeros((2, 2 * harmonics))
    constraints[0, :harmonics], constraints[1, harmonics:] = 1.0, np.arange(1, harmonics + 1)
    return np.asarray(np.linalg.svd(constraints)[2][2:].T)


@dataclass(frozen=True)
class Fourier:
    """A motion of n joints: centres (n, rad or m), coefficients (n x 2 N, rad/s or m/s) and period
    (s)."""

    centre: Numbers
    coefficients: Numbers
    period: float

    @property
    def harmonics(self) -> int:
        """N, how many there are."""
        return int(self.coefficients.shape[1]) // 2

    def states(self, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Positions, velocities and accelerations (each N_t x n) at times t (s)."""
        place, rate, change = basis(self.harmonics, self.period, t)
        transposed = self.coefficients.T
        return self.centre + place @ transposed, rate @ transposed, change @ transposed

    def scaled(self, factor: float) -> "Fourier":
        """The same with its excursions from the centre times a factor."""
        return Fourier(self.centre, self.coefficients * factor, self.period)
