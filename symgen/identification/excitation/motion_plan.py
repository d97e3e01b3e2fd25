"""The options of an exciting motion."""

import math
from typing import ClassVar

import numpy as np

from symgen.errors import OptionError
from symgen.numbers.types import Numbers
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER, WHOLE


@group
class ExcitationPlan:
    """The options of a motion: harmonics, period (s), sample rate (Hz), the fraction of each limit
    that is kept free, whether it starts and ends at rest, the seed and the budget of the search.
    Raises OptionError."""

    SECTION: ClassVar[str] = "Motion"

    harmonics: int = option(
        "--harmonics",
        "N",
        "Number of harmonics of the Fourier series of each joint.",
        WHOLE,
        default=5,
    )
    period: float = option(
        "--period",
        "S",
        "Period of the motion (s). The highest frequency is harmonics / period.",
        NUMBER,
        default=10.0,
    )
    rate: float = option("--rate", "HZ", "Sample rate of the motion (Hz).", NUMBER, default=1000.0)
    margin: float = option(
        "--margin",
        "FRACTION",
        "Fraction of every limit that the motion keeps free.",
        NUMBER,
        default=0.1,
    )
    rest: bool = option(
        "--rest", None, "Start and end with zero velocity and acceleration.", FLAG, default=False
    )
    seed: int = option(
        "--seed",
        "N",
        "Seed of the random motions from which the search starts.",
        WHOLE,
        default=0,
        rare=True,
    )
    budget: int = option(
        "--budget",
        "N",
        "Number of motions that the search evaluates, with gradients.",
        WHOLE,
        rare=True,
        default=300,
    )

    def validate(self) -> None:
        """Raises OptionError."""
        tests = {
            "--harmonics": (
                self.harmonics,
                1 + self.rest <= self.harmonics <= 50,
                f"a number from {1 + self.rest} to 50",
            ),
            "--period": (self.period, 0 < self.period <= 1e4, "a time in s up to 10000"),
            "--margin": (
                self.margin,
                0 <= self.margin < 1,
                "a fraction of the limits from 0 to below 1",
            ),
            "--seed": (self.seed, self.seed >= 0, "0 or more"),
            "--budget": (
                self.budget,
                1 <= self.budget <= 10**6,
                "a number of evaluations, such as 300",
            ),
            "--rate": (self.rate, 0 < self.rate <= 1e6, "a rate in Hz, such as 1000"),
        }
        for flag, (value, fine, give) in tests.items():
            if not fine:
                raise OptionError(f"{flag} {value:g}: give {give}")
        self._check_rows()

    def _check_rows(self) -> None:
        rows = self.period * self.rate
        if not math.isclose(rows, round(rows), rel_tol=1e-9) or rows > 10**7:
            raise OptionError(
                f"--rate {self.rate:g}: the period of {self.period:g} s must contain a whole "
                "number of samples, at most 10 million"
            )
        if rows < 4 * self.harmonics:
            raise OptionError(
                f"--rate {self.rate:g}: {self.harmonics} harmonics in {self.period:g} s need at "
                f"least {4 * self.harmonics / self.period:g} Hz"
            )

    @property
    def times(self) -> Numbers:
        """The times of the samples: one period without its end, which equals its start; with --rest
        the end is included."""
        return np.arange(round(self.period * self.rate) + self.rest) / self.rate
