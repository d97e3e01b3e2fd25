"""The result of `symgen.robot.sampled_loop`: gains that are stable at a sample rate."""

import math
from dataclasses import dataclass
from typing import Any, Final

from symgen.text import html_table

ROUNDING: Final = 1e-7
"""How far above 1 an eigenvalue may be computed that is 1: positions that nothing draws back."""


@dataclass(frozen=True)
class GainLimit:
    """One entry of a gain: the largest stable value while all other gains are zero (infinite where
    there is no such bound), and the value examined or proposed."""

    gain: str
    entry: str
    largest: float
    value: float


@dataclass(frozen=True)
class SampledLoop:
    """The loop of a controller at a sample rate (Hz).

    `radius` is the largest absolute eigenvalue of a step at any of the configurations, with the
    values of `limits`, which are `proposed` or the user's. Damping may grow by `factor`, stiffness
    by its square, integral gains by its cube before the loop is unstable."""

    controller: str
    rate: float
    configurations: int
    limits: tuple[GainLimit, ...]
    radius: float
    factor: float
    proposed: bool

    @property
    def stable(self) -> bool:
        """Whether the loop is stable at all configurations."""
        return self.radius <= 1.0 + ROUNDING

    def sentences(self) -> list[str]:
        """The result in words."""
        head = f"{self.controller} at {self.rate:g} Hz"
        if not self.limits:
            return [f"{head}: no gain is limited by the sample rate, because nothing is fed back."]
        whose = "proposed" if self.proposed else "given"
        verdict = "stable" if self.stable else "UNSTABLE"
        return [
            f"{head}, {self.configurations} configurations within the joint limits: the {whose} "
            f"gains are {verdict}, largest eigenvalue {self.radius:.6g}.",
            f"The loop is stable up to {self.factor:.3g} times their damping (stiffness times the "
            "square of that factor).",
        ]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A row of text for each entry of each gain."""
        return [
            (row.gain, row.entry, "" if math.isinf(row.largest) else f"{row.largest:.3g}",
             f"{row.value:.3g}")
            for row in self.limits
        ]  # fmt: skip

    @property
    def head(self) -> tuple[str, str, str, str]:
        """The titles of the columns of `rows`."""
        return "gain", "entry", "largest alone", "proposed" if self.proposed else "given"

    def data(self) -> dict[str, Any]:
        """The data of ``symgen check --controller --rate --json``."""
        return {
            "controller": self.controller,
            "rate": self.rate,
            "configurations": self.configurations,
            "stable": self.stable,
            "largest_eigenvalue": self.radius if self.limits else None,
            "factor": self.factor if self.limits else None,
            "proposed": self.proposed,
            "gains": [
                {
                    "gain": row.gain,
                    "entry": row.entry,
                    "largest_alone": None if math.isinf(row.largest) else row.largest,
                    "value": row.value,
                }
                for row in self.limits
            ],
        }

    def _repr_html_(self) -> str:
        return html_table(" ".join(self.sentences()), self.head, self.rows())
