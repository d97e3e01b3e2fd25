"""The report on bodies and a payload."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.identification.consistency.nearest_bodies import Bodies, differences
from symgen.identification.consistency.payload_estimate import Payload
from symgen.identification.model.estimate import Estimate
from symgen.numbers.types import Numbers
from symgen.text import shown


@dataclass(frozen=True)
class Shape:
    """Bodies with the text of their URDF and how far the base parameters of that text, read again,
    are off."""

    estimate: Estimate
    bodies: Bodies
    text: bytes
    off: float


SMALL: Final = 1e-3
"""A smaller change of a mass (kg) is not reported."""


def lines_of_bodies(shape: Shape) -> list[str]:
    """The bodies of a URDF, a line each."""
    bodies = shape.bodies
    lines = [
        f"the URDF has new, physically consistent inertias of "
        f"{', '.join(shown(name) for name in bodies.links)}; the residual of the log is "
        f"{100 * bodies.loss:.2g} % larger with them than with the estimate"
    ]
    rows = differences(shape.estimate.mapping, bodies.standard)
    for name, mass, centre in rows:
        if abs(mass) >= SMALL:
            place = (
                "" if centre is None else f"; the added mass has its centre at {_triple(centre)} m"
            )
            line = f"the mass of body {shown(name)} differs from the prior by {mass:+.2g} kg{place}"
            lines.append(line)
    return lines


def _triple(values: Numbers) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"


def lines_of_payload(carried: Payload) -> list[str]:
    """A payload, a line each."""
    known = np.isfinite(carried.mass_error)
    mass = f"{carried.mass:.5g} ± {carried.mass_error:.2g} kg" if known else "not identifiable"
    lines = [
        f"payload of link {shown(carried.link)} if all other parameters are those of the prior: "
        f"mass {mass}"
    ]
    if np.isfinite(carried.centre_errors).all():
        lines[0] += (
            f", centre of mass {_triple(carried.centre)} ± {_triple(carried.centre_errors)} m in "
            "the link frame"
        )
    verdict = "agree" if carried.alone else "do NOT agree"
    lines.append(
        f"the other parameters {verdict} with the prior: chi² = {carried.misfit:.4g} for "
        f"{carried.freedom} degrees of freedom"
    )
    return lines


def shape_data(shape: Shape) -> dict[str, Any]:
    """The bodies of a URDF, for JSON."""
    bodies = shape.bodies
    return {
        "links": {name: ten.tolist() for name, ten in bodies.links.items()},
        "base_parameters": dict(
            zip(shape.estimate.mapping.names, bodies.base.tolist(), strict=True)
        ),
        "loss": bodies.loss,
        "read_again": shape.off,
        "differences": [
            {"body": name, "mass": mass, "centre": None if centre is None else centre.tolist()}
            for name, mass, centre in differences(shape.estimate.mapping, bodies.standard)
        ],
    }


def payload_data(carried: Payload) -> dict[str, Any]:
    """A payload, for JSON."""
    return {
        "link": carried.link,
        "mass": carried.mass,
        "mass_error": _finite(carried.mass_error),
        "centre": carried.centre.tolist(),
        "centre_errors": [_finite(x) for x in carried.centre_errors.tolist()],
        "parameters": carried.ten.tolist(),
        "errors": [_finite(x) for x in carried.errors.tolist()],
        "chi_squared": carried.misfit,
        "freedom": carried.freedom,
    }


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None
