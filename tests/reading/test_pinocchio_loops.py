"""Constraints of Pinocchio beside a model close loops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.reading.assemble import load
from tests.support.loops import ankle, four_bar
from tests.support.oracles import oracle

pinocchio = oracle("pinocchio")


def pair(made: Any, folder: Path) -> Any:
    """A model of Pinocchio, and constraints for the loops of a robot."""
    symgen.Robot(made(closed=False)).write_urdf(folder / "tree.urdf")
    model = pinocchio.buildModelFromUrdf(str(folder / "tree.urdf"))
    robot, constraints = symgen.Robot(made()).model, []
    names = [body.joint.name for body in robot.bodies]
    for closure in robot.closures:
        ends = []
        for body, point in zip(closure.bodies, closure.points, strict=True):
            ends.append(model.getJointId(names[body - 1]) if body else 0)
            ends.append(pinocchio.SE3(np.eye(3), np.array(point)))
        frame, kind = pinocchio.ReferenceFrame.LOCAL, pinocchio.ContactType.CONTACT_3D
        constraints.append(pinocchio.RigidConstraintModel(kind, model, *ends, frame))
    return model, constraints


@pytest.mark.parametrize("made", [four_bar, ankle])
def test_constraints_are_the_loops_of_the_builder(made: Any, tmp_path: Path) -> None:
    read, own = load(pair(made, tmp_path)).model, symgen.Robot(made()).model
    assert read.joint_names == own.joint_names
    for a, b in zip(read.closures, own.closures, strict=True):
        assert (a.joint, a.dependent, a.branch, a.bodies) == (
            b.joint,
            b.dependent,
            b.branch,
            b.bodies,
        )
        assert np.array(a.points) == pytest.approx(np.array(b.points), abs=1e-15)


def test_a_constraint_of_six_rows_is_a_fixed_joint(tmp_path: Path) -> None:
    model, (constraint,) = pair(four_bar, tmp_path)
    place = pinocchio.SE3(pinocchio.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3]))
    ends = constraint.joint1_id, place, constraint.joint2_id, constraint.joint2_placement
    frame, kind = pinocchio.ReferenceFrame.LOCAL, pinocchio.ContactType.CONTACT_6D
    fixed = pinocchio.RigidConstraintModel(kind, model, *ends, frame)
    from symgen.reading.from_pinocchio import robot_of_pinocchio

    (loop,) = robot_of_pinocchio(model, [fixed]).loops
    assert (loop.joint, loop.points[0]) == ("fixed", (0.1, 0.2, 0.3))
    assert np.array(loop.rotations[0]) == pytest.approx(place.rotation, abs=1e-15)


def test_other_constraints_are_refused(tmp_path: Path) -> None:
    class Other:
        name, type = "tip", "CONTACT_UNDEFINED"

    model, _ = pair(four_bar, tmp_path)
    with pytest.raises(
        OptionError, match="'tip' has the type CONTACT_UNDEFINED; give CONTACT_3D or"
    ):
        symgen.Robot((model, [Other()])).trace("gravity")
