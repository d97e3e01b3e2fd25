"""Whether the inertia that a quantity needs is one that a body can have: its principal moments
about the centre of mass are not negative.

What needs no constants of it, poses, Jacobians, regressors and whatever has them as inputs, does
not ask."""

from collections.abc import Iterable
from typing import Final

from symgen.algorithms.registry import Quantity
from symgen.errors import OptionError
from symgen.mechanics.consistency import principal_moments
from symgen.mechanics.model import Body, Link
from symgen.text import shown
from symgen.tracing.robot import Robot

MOST_NAMED: Final = 20


class ImpossibleInertia(OptionError):
    """A quantity needs the inertia of `links` that no body has; `told` says so of them."""

    def __init__(self, links: list[str], told: str) -> None:
        self.links, self.told = links, told
        super().__init__(f"{_named(links)}: {told}")


def _named(links: list[str]) -> str:
    return ", ".join(f"link '{shown(name)}'" for name in links[:MOST_NAMED])


def check_possible(robot: Robot, quantities: Iterable[Quantity]) -> None:
    """Refuses quantities that need the constants of a body with an impossible inertia, all of these
    at once. Raises ImpossibleInertia."""
    needing = next((q.name for q in quantities if q.needs_inertia), None)
    if needing is None:
        return
    bad = [link for body in robot.lumped.bodies for link in _bad(body, robot)]
    if not bad:
        return
    names = [link.name for link in bad]
    moments = "; ".join(
        ", ".join(f"{x:.4g}" for x in principal_moments([link])) for link in bad[:MOST_NAMED]
    )
    raise ImpossibleInertia(
        names,
        f"inertia has a negative principal moment (the three are {moments} kg m^2), which no body "
        f"has, and {needing} needs it; correct <inertia>, make it an input with --parameters "
        f"runtime:{','.join(map(shown, names[:MOST_NAMED]))}, or take the nearest that a body can "
        "have with --repair-inertia nearest",
    )


def _bad(body: Body, robot: Robot) -> list[Link]:
    """The links that make a body impossible, as far as it is constant."""
    constant = [link for link in body.links if link.name not in robot.blocks]
    if not any(link.parameters for link in constant) or not _negative(constant):
        return []
    return [link for link in constant if link.parameters and _negative([link])]


def _negative(links: list[Link]) -> bool:
    return bool(principal_moments(links)[0] < 0)
