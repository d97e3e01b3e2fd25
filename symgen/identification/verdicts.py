"""Whether an estimate may be believed: what its residuals, its prediction and its bodies say
against it, each with the cure. A refused estimate is not written to a URDF."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.bodies import Bodies
from symgen.identification.equations import Instants
from symgen.identification.estimate import BaseMapping, Estimate
from symgen.identification.payload import Payload
from symgen.identification.run import Identified
from symgen.identification.terms import FRICTION, TERMS
from symgen.text import shown

Numbers = NDArray[np.float64]

POOR: Final = 0.3
"""A channel of which a larger part (root mean square) is not explained refuses the model,"""
NOISY: Final = 3.0
"""if what is left is more than so many times the noise of its sensor."""
EXPLAINED: Final = 0.2
"""Friction is suspected where it explains this part of the squares of what is left."""
HEAVY: Final = 4.0
"""A link does not weigh so many times what its prior says, or so much less."""


@dataclass(frozen=True)
class Verdict:
    """A sentence against an estimate; `refuses` tells that it must not be used."""

    text: str
    refuses: bool = True


def verdicts(found: Identified) -> tuple[Verdict, ...]:
    """What speaks against an estimate, those that matter most first."""
    doubts = tuple(Verdict(text.partition("warning: ")[2]) for text in found.reading.doubts)
    forgotten = tuple(_forgotten(found))
    poor = tuple(_poor(found, bool(forgotten or doubts)))
    return (*doubts, *forgotten, *poor, *_of_standard(found.estimate))


# -- friction --------------------------------------------------------------------------------------


def _forgotten(found: Identified) -> Iterator[Verdict]:
    """Friction that what is left shows, of joints for which no term was asked."""
    drives = found.equations.drives
    if drives is None or not isinstance(found.equations, Instants) or not found.last:
        return
    there = {c.joint for c in drives.columns if c.term in FRICTION and TERMS[c.term].signed}
    shares = _friction_shares(found)
    own = [k for k in range(len(shares)) if k not in there and shares[k] > EXPLAINED]
    if own:
        names = drives.joints.names
        said = ", ".join(f"{shown(names[k])} {100 * shares[k]:.0f} %" for k in own)
        yield Verdict(
            f"what is left goes with the velocity as friction does (share of its squares: {said}); "
            "ask for --friction viscous,coulomb or auto"
        )


def _friction_shares(found: Identified) -> list[float]:
    """The part of the squares of each joint's residual that its velocity and the sign of that
    explain."""
    drives, samples = found.equations.drives, found.last[-1]
    assert drives is not None
    rows = found.equations.equations(samples)
    left = rows.measured - rows.regressor @ found.estimate.values
    shares = []
    for rate in drives.joints.rates:
        channel, own = int(np.argmax(np.abs(rate))), samples.qd @ rate
        r = left[samples.usable[:, channel], channel]
        own = own[samples.usable[:, channel]]
        a = np.column_stack([own, np.sign(own)])
        fitted = a @ np.linalg.lstsq(a, r, rcond=None)[0]
        total = float(np.sum(r**2))
        shares.append(float(np.sum(fitted**2)) / total if total and len(r) > 10 else 0.0)
    return shares


# -- residuals -------------------------------------------------------------------------------------


def _poor(found: Identified, explained: bool) -> Iterator[Verdict]:
    """Channels that the model does not describe, on the rows used or on others."""
    noise = _noise(found)
    cure = (
        "see above"
        if explained
        else "look at the residuals (-o DIR) and at the channels' order, "
        "units and signs (symgen log)"
    )
    for k, channel in enumerate(found.estimate.channels):
        shares = [(channel.residual, channel.measured, "of the log")]
        if channel.validation_residual and channel.validation_measured:
            shares.append((channel.validation_residual, channel.validation_measured, "held out"))
        if found.prediction is not None and not found.prediction.held_out:
            whole = found.prediction.channels[k].views["all"]
            shares.append((whole.error, whole.measured, "of the log for validation"))
        for left, measured, rows in shares:
            if left > POOR * measured and left > NOISY * noise[k]:
                yield Verdict(
                    f"'{shown(channel.name)}' is not explained: {left:.4g} of {measured:.4g} "
                    f"{channel.unit} (root mean square) is left in the rows {rows}; {cure}"
                )
                break


def _noise(found: Identified) -> Numbers:
    """The deviation of the noise of each channel's sensor, from second differences."""
    if not found.last or not isinstance(found.equations, Instants):
        return np.zeros(len(found.estimate.channels))
    last = found.last[-1]
    second, u = np.diff(last.measured, 2, axis=0), last.usable
    there = u[2:] & u[1:-1] & u[:-2]
    return np.asarray(np.sqrt((second**2 * there).sum(0) / np.maximum(there.sum(0), 1) / 6))


# -- bodies ----------------------------------------------------------------------------------------


def of_bodies(mapping: BaseMapping, bodies: Bodies, full: bool) -> Iterator[Verdict]:
    """Links whose mass no prior can mean; `full` tells that the prior has had its part."""
    cure = (
        "check units, friction and the mass in that file"
        if full
        else "check units and friction, or let the prior take part with --full"
    )
    stated = _stated_masses(mapping)
    for name, ten in bodies.links.items():
        masses = float(ten[0]), stated.get(name, 0.0)
        yield from _of_mass(f"link '{shown(name)}'", masses, "the robot's file", cure)


def _of_standard(estimate: Estimate) -> Iterator[Verdict]:
    """Bodies of the standard parameters that the prior cannot mean: what is no body's, such as the
    inertia of a rotor or a wrong torque constant, has gone into them. A neutral prior means no
    masses."""
    mapping = estimate.mapping
    links = (link for body in mapping.model.moving for link in body.links)
    if estimate.standard is None or not any(any(link.parameters or ()) for link in links):
        return
    cure = (
        "what is no body's may have gone into it: a rotor that is not in the robot's file "
        "(--actuators), a torque constant, friction"
    )
    prior = mapping.by_body(mapping.prior)
    for name, ten in mapping.by_body(estimate.standard).items():
        masses = ten["m"], prior[name]["m"]
        yield from _of_mass(f"body '{shown(name)}'", masses, "the prior", cure)


def _of_mass(what: str, masses: tuple[float, float], source: str, cure: str) -> Iterator[Verdict]:
    """Against a mass that is far from that of its prior, the second of the two (kg). A prior of
    0 or less means no mass."""
    mass, prior = masses
    if prior > 0 and not prior / HEAVY <= mass <= HEAVY * prior:
        yield Verdict(
            f"{what} would weigh {mass:.4g} kg where {source} says {prior:.4g} kg; {cure}"
        )


def _stated_masses(mapping: BaseMapping) -> dict[str, float]:
    """The masses of links in the robot's file (kg)."""
    links = (link for body in mapping.model.moving for link in body.links)
    return {link.name: link.parameters[0] for link in links if link.parameters}


def of_payload(carried: Payload) -> Iterator[Verdict]:
    """A payload that weighs less than nothing."""
    if math.isfinite(carried.mass_error) and carried.mass < -3 * carried.mass_error:
        yield Verdict(
            f"the payload of '{shown(carried.link)}' would weigh {carried.mass:.4g} kg: the log is "
            "not of this robot with more on it; check units, friction and the prior"
        )
