"""A first look at a log: how fast its joints move, and below which rate the sign of a friction is
not known."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.data.column_statistics import ColumnStatistics
from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import Joints
from symgen.numbers.types import Numbers

SIGMAS: Final = 6.0
"""A rate within so many standard deviations of its noise has no sign that can be relied on."""
PART: Final = 0.01
"""Nor has one below this part of the joint's largest rate: there friction is no step, and a delay
of a sample matters."""


@dataclass(frozen=True)
class Rates:
    """The rates seen in the motion of k joints that may have friction: the largest rate (rad/s or
    m/s), the range of the position (rad or m), the rate below which its sign is not known, and the
    number of rows by which derivatives are uncertain around a standstill."""

    fastest: Numbers
    travel: Numbers
    slowest: Numbers
    margin: int


def surveyed(
    joints: Joints, blocks: Iterable[Samples], margin: int, slowest: float | None
) -> Rates:
    """The rates in all blocks of a log; `slowest` is the rate where somebody gives it."""
    k, noise = len(joints.names), np.zeros(len(joints.names))
    positions, rates = (
        ColumnStatistics(np.full(k, np.inf), np.full(k, -np.inf)),
        ColumnStatistics(np.zeros(k), np.zeros(k)),
    )
    for samples in blocks:
        positions.add(samples.q @ joints.places.T + joints.offsets)
        rates.add(samples.qd @ joints.rates.T)
        noise = np.maximum(noise, np.abs(joints.rates) @ samples.noise)
    low, high = positions.ends
    least = np.maximum(SIGMAS * noise, PART * rates.largest)
    travel = np.maximum(high - low, 0.0)
    return Rates(
        rates.largest, travel, least if slowest is None else np.full_like(least, slowest), margin
    )
