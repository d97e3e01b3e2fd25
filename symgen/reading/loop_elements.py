"""Joints that close loops, as files and job files give them."""

from dataclasses import dataclass

from symgen.mechanics.pose import Triple


@dataclass(frozen=True, slots=True)
class LoopElement:
    """A joint that closes a loop: a point of each of two `links` (m, in link axes) at which they
    stay together. `dependent` names the two joints that the loop determines, `branch` (1 or -1)
    the assembly; empty and 0 leave the choice to `symgen.reading.closed_loop_joints`. A loop that
    is `optional` is left open with a warning where it is not supported."""

    name: str
    line: int
    links: tuple[str, str]
    points: tuple[Triple, Triple]
    dependent: tuple[str, ...] = ()
    branch: int = 0
    optional: bool = False
