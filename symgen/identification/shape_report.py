"""What is told of bodies and of a payload."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.identification.bodies import Bodies, differences
from symgen.identification.estimate import Estimate
from symgen.identification.payload import Payload
from symgen.text import shown

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """Bodies with the text of their URDF and how far the base parameters of that text, read again,
    are off."""

    estimate: Estimate
    bodies: Bodies
    text: bytes
    off: float


def bodies_said(found: Shape) -> list[str]:
    """The bodies of a URDF, a line each."""
    own, estimate = found.bodies, found.estimate
    lines = [
        f"bodies: {', '.join(shown(name) for name in own.links)} changed, consistent; their base "
        f"parameters are "
        f"those {'estimated' if own.consistent else 'below'} to {found.off:.1e}"
    ]
    if not own.consistent:
        steps = np.abs(own.base - estimate.base) / estimate.standard_errors[: len(own.base)]
        worst = int(np.argmax(steps))
        lines.append(
            f"no bodies have the estimated base parameters; the nearest that some have differ by "
            f"chi² = "
            f"{own.misfit:.3g} for {len(own.base)} parameters, {estimate.mapping.names[worst]} "
            f"most: "
            f"{steps[worst]:.2g} standard errors"
        )
    return lines + [_difference(*row) for row in differences(estimate.mapping, own.standard)]


def _difference(name: str, mass: float, centre: Numbers | None) -> str:
    place = "" if centre is None else f" with its centre at {_triple(centre)} m"
    return f"body {shown(name)} differs from the prior by {mass:+.4g} kg{place}"


def _triple(values: Numbers) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"


def payload_said(carried: Payload) -> list[str]:
    """A payload, a line each."""
    told = np.isfinite(carried.mass_error)
    mass = f"{carried.mass:.5g} ± {carried.mass_error:.2g} kg" if told else "not identifiable"
    lines = [f"payload of link {shown(carried.link)}, all else as the prior says: mass {mass}"]
    if np.isfinite(carried.centre_errors).all():
        lines[0] += (
            f", centre {_triple(carried.centre)} ± {_triple(carried.centre_errors)} m in the "
            f"link's axes"
        )
    verdict = "agrees" if carried.alone else "does NOT agree"
    lines.append(
        f"the rest {verdict} with the prior: chi² = {carried.misfit:.4g} for {carried.freedom} "
        f"degrees of "
        "freedom"
    )
    return lines


def shape_data(found: Shape) -> dict[str, Any]:
    """The bodies of a URDF, for JSON."""
    own = found.bodies
    return {
        "links": {name: ten.tolist() for name, ten in own.links.items()},
        "base_parameters": dict(zip(found.estimate.mapping.names, own.base.tolist(), strict=True)),
        "consistent": own.consistent,
        "chi_squared": own.misfit,
        "distance": own.distance,
        "read_again": found.off,
        "differences": [
            {"body": name, "mass": mass, "centre": None if centre is None else centre.tolist()}
            for name, mass, centre in differences(found.estimate.mapping, own.standard)
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
