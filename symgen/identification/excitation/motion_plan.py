"""The options of an exciting motion."""

import math
from typing import ClassVar

import numpy as np

from symgen.advice import install
from symgen.errors import OptionError
from symgen.numbers.types import Numbers
from symgen.options import group, option
from symgen.options.kinds import FLAG, NUMBER, NUMBER_PAIRS, TEXT, WHOLE
from symgen.reading.options import joint_values
from symgen.text import cited


@group
class ExcitationPlan:
    """The options of a motion: harmonics, period (s), sample rate (Hz), the fraction of each limit
    that is kept free, whether it starts and ends at rest, its centre and the space that it may use,
    the seed and the budget of the search. Raises OptionError."""

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
    around: tuple[tuple[str, float], ...] = option(
        "--around",
        "JOINT=VALUE",
        "Position of a joint (rad or m) that the motion is centred on; other joints are centred on "
        "the middle of their range.",
        NUMBER_PAIRS.like("{ JOINT = 0.0 }"),
        default=(),
        give="give JOINT=VALUE (rad or m), as in elbow=1.2",
        names=joint_values,
        parted="=",
    )
    keep_above: float | None = option(
        "--keep-above",
        "Z",
        "Lowest height (m) of the collision geometry of moving links in the frame of the root.",
        NUMBER,
        default=None,
    )
    workspace: str = option(
        "--workspace",
        "X0,X1,Y0,Y1,Z0,Z1",
        "Box (m) that contains the collision geometry of moving links, in the axes of the root "
        "link.",
        TEXT,
        default="",
    )
    self_clearance: float | None = option(
        "--self-clearance",
        "M",
        "Smallest distance (m) of links that no joint connects, by the collision geometry of the "
        f"file. Needs coal ({install('coal')}).",
        NUMBER,
        default=None,
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
        if self.self_clearance is not None and not 0 <= self.self_clearance <= 10:
            raise OptionError(
                f"--self-clearance {self.self_clearance:g}: give a distance in m from 0 to 10"
            )
        lower, upper = self.box
        if not (lower < upper).all():
            raise OptionError(
                "--workspace and --keep-above: the box is empty; give X0 < X1, Y0 < Y1, Z0 < Z1"
            )

    @property
    def limits_space(self) -> bool:
        """Whether the motion has to keep to a free space."""
        return any(x is not None for x in (self.keep_above, self.self_clearance)) or bool(
            self.workspace
        )

    @property
    def box(self) -> tuple[Numbers, Numbers]:
        """Lower and upper corner (3 each, m, axes of the root link) of the box that moving links
        stay in. Raises OptionError."""
        sides = np.array([-np.inf, np.inf] * 3)
        if self.workspace:
            try:
                sides = np.array([float(x) for x in self.workspace.split(",")])
            except ValueError:
                sides = np.array([])
            if sides.shape != (6,) or not np.isfinite(sides).all():
                raise OptionError(
                    f"--workspace {cited(self.workspace)}: give X0,X1,Y0,Y1,Z0,Z1 in m, as in "
                    "-0.5,0.9,-0.6,0.6,0.05,1.2"
                )
        lower, upper = sides[::2].copy(), sides[1::2].copy()
        if self.keep_above is not None:
            lower[2] = max(lower[2], self.keep_above)
        return lower, upper

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
