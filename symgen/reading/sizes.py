"""Numbers of a file that are finite, and too large to compute with all the same."""

from collections.abc import Iterator, Sequence

from symgen.mechanics.model import Model
from symgen.mechanics.pose import Pose
from symgen.mechanics.soundness import LARGEST, numbers_of
from symgen.reading.part import RobotPart
from symgen.text import shown


def check_size(part: RobotPart, model: Model) -> None:
    """Raises RobotError for numbers whose products need not be finite."""
    elements = part.links
    for poses, links in ((((), model.base)), *(((b.pose,), b.links) for b in model.bodies)):
        for link in links:
            numbers = [*(link.parameters or ()), *_numbers((*poses, link.pose))]
            if not all(abs(x) <= LARGEST for x in numbers):
                message = "its inertia or its place is too large to compute with; use m, kg and rad"
                raise part.robot.error(
                    elements[link.name].line, f"link '{shown(link.name)}'", message
                )
    lines = {joint.name: joint.line for joint in part.robot.joints}
    for _, joint in model.joints:
        if not all(abs(x) <= LARGEST for x in numbers_of(joint)):
            raise part.robot.error(
                lines.get(joint.name, part.robot.line),
                f"joint '{shown(joint.name)}'",
                "its friction, spring, drive, pitch or second axis is too large to compute with; "
                "use m, N and rad",
            )


def _numbers(poses: Sequence[Pose]) -> Iterator[float]:
    for pose in poses:
        yield from (x for row in (*pose.rotation, pose.position) for x in row)
