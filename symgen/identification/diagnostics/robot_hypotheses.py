"""Hypotheses about the robot of a log: gravity, lengths, a load, friction that changes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from symgen.identification.diagnostics.candidates import (
    Candidate,
    Context,
    parabolic_minimum,
)
from symgen.identification.diagnostics.diagnostic_fit import Trial
from symgen.numbers.types import Numbers
from symgen.text import shown

LARGEST: Final = 2.0
"""The largest logarithm of a factor of gravity that is tried."""


def gravity_sizes(context: Context) -> Iterator[Candidate]:
    """Gravity with another magnitude: none, or another size of the robot, because all lengths
    times a factor are gravity by that factor (the masses make up for the rest)."""

    def cost(log: float) -> float:
        return context.model.score(replace(context.trial, gravity=float(np.exp(log)))).cost

    limits = context.model.thresholds
    grid = np.linspace(-LARGEST, LARGEST, 9)
    best = float(grid[int(np.argmin([cost(x) for x in grid]))])
    factor = float(np.exp(parabolic_minimum(cost, best, 0.5)))
    size = ",".join(f"{0.0 - x:g}" for x in context.model.mapping.model.gravity)
    yield Candidate(
        replace(context.trial, gravity=-1.0),
        "the base is probably mounted upside down",
        f"give --gravity {size}",
    )
    yield Candidate(
        replace(context.trial, gravity=0.0),
        "the forces do not include gravity",
        "give --gravity 0,0,0 if it was subtracted from them",
    )
    if abs(best) < LARGEST and not 1 / limits.gravity < factor < limits.gravity:
        yield Candidate(
            replace(context.trial, gravity=factor),
            f"all lengths of the robot are probably {1 / factor:.3g} times those in the robot file",
            "use the file of the robot that was recorded",
            final=True,
        )


def gravity_directions(context: Context) -> Iterator[Candidate]:
    """Gravity in another direction of the base."""
    model = context.model.mapping.model
    if context.score.residuals.max() < context.model.thresholds.tilted**2:
        return
    size = float(np.linalg.norm(model.gravity))
    if not size:
        return

    def gravity(direction: Numbers) -> Numbers:
        return np.asarray(direction * (size / np.linalg.norm(direction)))

    def trial(direction: Numbers) -> Trial:
        return replace(context.trial, gravity=gravity(direction))

    corners = [np.array(v, float) for v in np.ndindex(3, 3, 3)]
    starts = [v - 1 for v in corners if (v != 1).any()]
    best = min(starts, key=lambda v: context.model.score(trial(v)).cost)
    best = best / np.linalg.norm(best)
    for width in (0.4, 0.2, 0.1, 0.04, 0.02):
        for _ in range(4):
            axes = np.linalg.svd(best[None])[2][1:]
            tried = [best, *(best + s * width * a for a in axes for s in (-1, 1))]
            better = min(tried, key=lambda v: context.model.score(trial(v)).cost)
            if better is best:
                break
            best = better / np.linalg.norm(better)
    tilt = np.degrees(
        np.arccos(np.clip(gravity(best) @ np.array(model.gravity, float) / size**2, -1, 1))
    )
    explained = context.model.score(trial(best)).residuals.max() < context.model.thresholds.poor**2
    if explained and tilt > context.model.thresholds.tilt:
        text = ",".join(f"{x:.2f}" for x in gravity(best))
        yield Candidate(
            trial(best),
            f"the base is probably mounted in another direction, {tilt:.0f}° from that of the "
            "robot file",
            f"give --gravity {text}",
        )


def payload(context: Context) -> Iterator[Candidate]:
    """A last body that is not as in the robot file."""
    mapping, last = context.model.mapping, len(context.model.mapping.bodies) - 1
    if last in context.trial.loose:
        return
    trial = replace(context.trial, loose=(last,))
    mass = context.model.standard(trial)[10 * last] - mapping.prior[10 * last]
    body = shown(mapping.bodies[last])
    if mass < context.model.thresholds.load * float(mapping.prior[: 10 * (last + 1) : 10].sum()):
        return
    yield Candidate(
        trial,
        f"link '{body}' probably carries a load that is not in the robot file, of about "
        f"{mass:.2g} kg",
        f"estimate it with --payload {body}",
        final=True,
    )


def drift(context: Context) -> Iterator[Candidate]:
    """Friction that changes over the log."""
    trial = context.trial
    ramp = (trial.t - trial.t.mean()) / max(np.ptp(trial.t), 1e-9)
    extra = tuple(column * ramp[:, None] for column in trial.drives[:3])
    yield Candidate(
        replace(trial, extra=extra),
        "friction changes over the log",
        "let the robot warm up, or identify parts of the log",
    )
