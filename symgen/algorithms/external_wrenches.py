"""External wrenches that are given in the root's axes, in those of their links."""

from collections.abc import Sequence

from symgen.algorithms.forward_kinematics import forward_kinematics
from symgen.algorithms.registry import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.rigid_motion import Rows
from symgen.numbers.scalar import Coordinates, Scalar


@requirement("only robots whose external wrenches are in the axes of their links")
def wrenches_in_link_axes(system: CanonicalModel) -> bool:
    """Whether no external wrench is given in root axes."""
    return not system.wrenches_in_root_axes


def rotate_wrenches(system: CanonicalModel, q: Coordinates) -> CanonicalModel:
    """The system under its wrenches in root axes, which turn against the links: in link axes where
    the bodies' coordinates are `q`. Where there are none, the same. The links must be moving
    ones."""
    if not system.root_wrenches:
        return system
    links: list[str] = []
    in_link_axes: list[Scalar] = []
    for link, six in system.root_wrenches:
        frame = system.link_frame(link)
        rows = forward_kinematics(system, q, [frame.body])[frame.body].at(frame.pose).rows
        links.append(link)
        in_link_axes += _in_columns(rows, six[:3]) + _in_columns(rows, six[3:])
    return system.pushed(links, in_link_axes)


def _in_columns(rows: Rows, v: Sequence[Scalar]) -> list[Scalar]:
    """A vector in root axes, in the axes of the columns."""
    return [sum((rows[i][k] * v[i] for i in range(1, 3)), rows[0][k] * v[0]) for k in range(3)]
