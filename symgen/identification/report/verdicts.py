"""Whether an estimate may be believed: what its residuals, its prediction and its bodies say
against it, each with the cure. A refused estimate is not written to files; implausible bodies
withhold the URDF only, and a joint that the model explains in part withholds nothing."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.consistency.nearest_bodies import BodiesError, ConsistentBodies
from symgen.identification.consistency.payload_estimate import Payload
from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import BaseMapping
from symgen.mechanics.joint_forces import FRICTION
from symgen.numbers.scalar import Numbers
from symgen.text import shown

MAX_RELATIVE_RESIDUAL: Final = 0.3
"""A channel of which a larger part (root mean square) is not explained has a warning,"""
MIN_NOISE_RATIO: Final = 3.0
"""if what is left is more than so many times the noise of its sensor."""
MAX_UNEXPLAINED: Final = math.sqrt(0.5)
"""With a larger part, more than half of the squares, the model is refused: cables, tendons and
sensors of other joints leave less (a da Vinci master arm 0.65, a Rokae xMate 0.62)."""
MIN_FRICTION_SHARE: Final = 0.2
"""Friction is suspected where it explains this part of the squares of what is left."""
SMOOTH_LAWS: Final = ("viscous", "asymmetric", "offset")
"""Terms that do not describe a friction that depends on the sign of the velocity."""
MAX_REASONS: Final = 3
"""The largest number of reasons in a summary."""
REASON_END: Final = re.compile(": |; ")
"""What separates the finding of a verdict from its details and its advice."""
MORE_MOTION: Final = "use a log in which all joints move more"
MAX_MASS_RATIO: Final = 4.0
"""A link does not weigh so many times what its prior says, or so much less."""


NOTHING, URDF, FILES = range(3)
"""What a warning withholds: nothing, the URDF, the URDF and the actuator file."""


@dataclass(frozen=True)
class Verdict:
    """A warning about an estimate, and what it withholds."""

    text: str
    withholds: int = FILES

    @property
    def reason(self) -> str:
        """The finding without its details and without the advice."""
        return REASON_END.split(self.text, maxsplit=1)[0]


def summary(against: Sequence[Verdict]) -> str:
    """One sentence: whether the estimate is usable, with the reasons if it is not."""
    if not against:
        return "The estimate is usable: the checks of the log, residuals and masses found no fault."
    most = max(verdict.withholds for verdict in against)
    reasons = [verdict.reason for verdict in against if verdict.withholds == most]
    subject = SUBJECTS[most]
    more = f"; and {len(reasons) - MAX_REASONS} more reasons" if len(reasons) > MAX_REASONS else ""
    return f"{subject}: {'; '.join(reasons[:MAX_REASONS])}{more}."


SUBJECTS: Final = {
    NOTHING: "The estimate is usable with a restriction",
    URDF: "The URDF of the estimate is not usable",
    FILES: "The estimate is not usable",
}
"""How a summary begins, by what is withheld."""


def verdicts(identified: Identified) -> tuple[Verdict, ...]:
    """The verdicts against an estimate, those that matter most first."""
    doubts = tuple(Verdict(text.partition("warning: ")[2]) for text in identified.dataset.warnings)
    forgotten = tuple(_unmodelled_friction(identified))
    poor = tuple(_unexplained_channels(identified, bool(forgotten or doubts)))
    return (*doubts, *forgotten, *poor, *_of_standard(identified))


# -- friction --------------------------------------------------------------------------------------


def _unmodelled_friction(identified: Identified) -> Iterator[Verdict]:
    """Friction that what is left shows, of joints for which no term was asked."""
    drives = identified.equations.drives
    if drives is None or identified.settings.wrenches or not identified.last_blocks:
        return
    modelled = {c.joint for c in drives.columns if c.law in FRICTION and c.law not in SMOOTH_LAWS}
    shares = _friction_shares(identified)
    forgotten = [
        k for k in range(len(shares)) if k not in modelled and shares[k] > MIN_FRICTION_SHARE
    ]
    if forgotten:
        names = drives.joints.names
        listed = ", ".join(f"{shown(names[k])} {100 * shares[k]:.0f} %" for k in forgotten)
        yield Verdict(
            "the residual depends on the velocity as friction does: the part of its squares that "
            f"friction explains is {listed}; use --friction auto"
        )


def _friction_shares(identified: Identified) -> list[float]:
    """The part of the squares of each joint's residual that its velocity and the sign of that
    explain."""
    drives, samples = identified.equations.drives, identified.last_blocks[-1]
    assert drives is not None
    rows = identified.equations.equations(samples)
    residuals = rows.measured - rows.regressor @ identified.estimate.values
    shares = []
    for rate in drives.joints.rates:
        channel, speed = int(np.argmax(np.abs(rate))), samples.qd @ rate
        r = residuals[samples.usable[:, channel], channel]
        speed = speed[samples.usable[:, channel]]
        a = np.column_stack([speed, np.sign(speed)])
        fitted = a @ np.linalg.lstsq(a, r, rcond=None)[0]
        total = float(np.sum(r**2))
        shares.append(float(np.sum(fitted**2)) / total if total and len(r) > 10 else 0.0)
    return shares


# -- residuals -------------------------------------------------------------------------------------


def _unexplained_channels(identified: Identified, explained: bool) -> Iterator[Verdict]:
    """Channels that the model does not describe, on the rows used or on others."""
    noise = _noise(identified)
    cure = (
        "see the first warning"
        if explained
        else "plot the residuals with -o DIR and check the order, units and signs of the columns "
        "with symgen log"
    )
    for k, channel in enumerate(identified.estimate.channels):
        shares = [(channel.residual_rms, channel.measured_rms, "for the estimate")]
        if channel.validation_residual_rms and channel.validation_measured_rms:
            shares.append(
                (channel.validation_residual_rms, channel.validation_measured_rms, "for validation")
            )
        if identified.prediction is not None and not identified.prediction.held_out:
            total = identified.prediction.channels[k].views["all"]
            shares.append((total.error_rms, total.measured_rms, "of the second log"))
        residual, measured, rows = max(shares, key=lambda x: x[0] / x[1] if x[1] else 0.0)
        if residual > max(MAX_RELATIVE_RESIDUAL * measured, MIN_NOISE_RATIO * noise[k]):
            name, partly = shown(channel.name), residual <= MAX_UNEXPLAINED * measured
            found = f"explains '{name}' only in part" if partly else f"does not explain '{name}'"
            yield Verdict(
                f"the model {found}: the residual is {residual:.4g} of {measured:.4g} "
                f"{channel.unit} (rms) in the rows {rows}; {cure}",
                NOTHING if partly else FILES,
            )


def _noise(identified: Identified) -> Numbers:
    """The deviation of the noise of each channel's sensor, from second differences."""
    if not identified.last_blocks or identified.settings.wrenches:
        return np.zeros(len(identified.estimate.channels))
    last = identified.last_blocks[-1]
    second, u = np.diff(last.measured, 2, axis=0), last.usable
    usable = u[2:] & u[1:-1] & u[:-2]
    return np.asarray(np.sqrt((second**2 * usable).sum(0) / np.maximum(usable.sum(0), 1) / 6))


# -- bodies ----------------------------------------------------------------------------------------


def of_bodies(mapping: BaseMapping, bodies: ConsistentBodies) -> Iterator[Verdict]:
    """Links of a URDF whose mass is far from that in the robot's file."""
    cure = f"check units, friction and the mass in that file, or {MORE_MOTION}"
    every = (link for body in mapping.model.moving for link in body.links)
    stated = {link.name: link.parameters[0] for link in every if link.parameters}
    for name, ten in bodies.links.items():
        masses = float(ten[0]), stated.get(name, 0.0)
        yield from _of_mass(f"link '{shown(name)}'", masses, "the robot file", cure)


def no_bodies(fault: BodiesError) -> Verdict:
    """The warning for an estimate for which no bodies were found."""
    text = str(fault).removeprefix("error: ")
    return Verdict(f"{text}; {MORE_MOTION}", withholds=URDF)


def _of_standard(identified: Identified) -> Iterator[Verdict]:
    """Bodies of the standard parameters that the prior cannot mean: what is no body's, such as the
    inertia of a rotor or a wrong torque constant, has gone into them. A neutral prior means no
    masses."""
    estimate, mapping = identified.estimate, identified.estimate.mapping
    links = (link for body in mapping.model.moving for link in body.links)
    if estimate.standard is None or not any(any(link.parameters or ()) for link in links):
        return
    cure = (
        "the mass may include effects that are missing in the model, such as a rotor "
        f"(--actuators), a wrong torque constant or friction; model them, or {MORE_MOTION}"
    )
    prior = mapping.by_body(mapping.prior)
    for name, ten in mapping.by_body(estimate.standard).items():
        masses = ten["m"], prior[name]["m"]
        yield from _of_mass(f"body '{shown(name)}'", masses, "the prior", cure)


def _of_mass(
    subject: str, masses: tuple[float, float], source: str, cure: str
) -> Iterator[Verdict]:
    """The verdict against a mass that is far from its prior; `masses` are both (kg). A prior of 0
    or less means no mass."""
    mass, prior = masses
    if prior > 0 and not prior / MAX_MASS_RATIO <= mass <= MAX_MASS_RATIO * prior:
        yield Verdict(
            f"the estimated mass of {subject} is {mass:.4g} kg, but in {source} it is "
            f"{prior:.4g} kg; {cure}",
            withholds=URDF,
        )


def of_payload(carried: Payload) -> Iterator[Verdict]:
    """A payload that weighs less than nothing."""
    if math.isfinite(carried.mass_error) and carried.mass < -3 * carried.mass_error:
        yield Verdict(
            f"the estimated mass of the payload of '{shown(carried.link)}' is "
            f"{carried.mass:.4g} kg, which is negative; check units, friction and the prior"
        )
