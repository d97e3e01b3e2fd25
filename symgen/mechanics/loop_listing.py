"""The closed loops of a robot for people: which joints each determines, and how many coordinates
the robot has."""

from dataclasses import dataclass

from symgen.mechanics.cut_joints import CUT_JOINTS
from symgen.mechanics.loop_groups import PLANAR_UNKNOWNS
from symgen.mechanics.model import Closure, RigidBodyModel, paths_of


@dataclass(frozen=True, slots=True)
class ListedLoop:
    """A closed loop: its cut joint, the names of the joints that it determines and of the others,
    and the number of equations of the cut joint."""

    closure: Closure
    dependent: tuple[str, ...]
    others: tuple[str, ...]
    equations: int

    @property
    def kind(self) -> str:
        """Whether it is planar or spatial."""
        return "planar" if len(self.dependent) == PLANAR_UNKNOWNS else "spatial"


def listed_loops(model: RigidBodyModel) -> list[ListedLoop]:
    """The loops, each after those that determine joints of its chains."""
    rows = []
    for closure in model.closures:
        bodies = [i for path in paths_of(model, closure.bodies) for i in path]
        dependent, others = (
            tuple(model.body(i).joint.name for i in bodies if (i in closure.dependent) is chosen)
            for chosen in (True, False)
        )
        rows.append(ListedLoop(closure, dependent, others, CUT_JOINTS[closure.joint].rows))
    return rows


def gruebler_mobility(model: RigidBodyModel) -> int:
    """The number of coordinates by Grübler's formula, which counts all equations as independent."""
    return model.dof - sum(x.equations - len(x.dependent) for x in listed_loops(model))
