"""Joints that close loops, as files and job files give them."""

from dataclasses import dataclass

from symgen.mechanics.pose import IDENTITY, Matrix3, Pose, Triple, axes_across
from symgen.numbers.decimals import norm
from symgen.text import shown


@dataclass(frozen=True, slots=True)
class LoopElement:
    """A joint that closes a loop: it joins a frame on each of two `links`. The origins of the
    frames are `points` (m) and their rotation matrices `rotations`, in link axes. `joint` is the
    type of the joint, a key of `symgen.mechanics.kinematic_loop.CUT_JOINTS`; for ``distance``,
    `length` is the constant distance of the two points (m).

    `dependent` names the joints that the loop determines, `branch` (1 or -1) the assembly; empty
    and 0 leave the choice to `symgen.reading.closed_loop_joints`. A loop that is `optional` is left
    open with a warning where it is not supported. Of the joints that are not `independent`, as many
    as possible are determined. With `newton` their positions are the user's, found by Newton's
    method, and need no closed form. The `line` of a loop of an option is 0; the `file` is empty
    for a loop of the robot's file.

    Of the type ``polynomial``, `links` are two joints instead: the position of the first one is a
    `polynomial` of that of the second, the constant coefficient first."""

    name: str
    line: int
    links: tuple[str, str]
    points: tuple[Triple, Triple]
    dependent: tuple[str, ...] = ()
    branch: int = 0
    optional: bool = False
    joint: str = "ball"
    rotations: tuple[Matrix3, Matrix3] = (IDENTITY, IDENTITY)
    length: float = 0.0
    independent: tuple[str, ...] = ()
    newton: bool = False
    polynomial: tuple[float, ...] = ()
    file: str = ""

    @property
    def label(self) -> str:
        """How messages call the loop."""
        return f"{'loop' if self.line else '--loop'} '{shown(self.name)}'"


def with_z_along(rotation: Matrix3, axis: Triple) -> Matrix3:
    """A rotation matrix with its z axis along an axis of the frame that `rotation` gives."""
    length = norm(*axis) or 1.0
    z = Pose(rotation).turn((axis[0] / length, axis[1] / length, axis[2] / length))
    x, y = axes_across(z)
    return Pose((x, y, z)).inverse.rotation
