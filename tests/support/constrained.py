"""Pinocchio's constrained dynamics of a robot with closed loops."""

from collections.abc import Callable, Sequence
from math import atan2
from pathlib import Path
from typing import Any

import numpy as np

from symgen.mechanics.coupling import Coupling
from symgen.mechanics.kinematic_loop import UnitAngle
from symgen.mechanics.model import RigidBodyModel
from tests.support.oracles import oracle

Numbers = np.ndarray
Dynamics = Callable[[Numbers, Numbers, Numbers], Numbers]


def number(x: Any) -> float:
    return atan2(x.applied("sin"), x.applied("cos")) if isinstance(x, UnitAngle) else float(x)


def expanded(coupling: Coupling, q: Any, qd: Any) -> tuple[Numbers, ...]:
    """Positions and rates of all joints, G and k."""
    at, x = coupling.at(list(q), list(qd))
    rates = np.array([float(r) for r in at.body_rates(list(qd))])
    return (
        np.array([number(p) for p in x]),
        rates,
        at.velocity_matrix,
        np.array(at.bias_accelerations, float),
    )


def constrained_dynamics(model: RigidBodyModel, tree: Path) -> Dynamics:
    """Accelerations of all joints from their positions, rates and forces, in the order of the
    bodies of `model`, whose open tree is a URDF. With μ > 0: at μ = 0 Pinocchio's redundant rows
    of planar loops give wrong accelerations."""
    pinocchio = oracle("pinocchio")
    other = pinocchio.buildModelFromUrdf(str(tree))
    names = [body.joint.name for body in model.bodies]
    order = [names.index(n) for n in list(other.names)[1:]]

    def place(body: int, point: Sequence[float]) -> tuple[int, Any]:
        joint = other.getJointId(names[body - 1]) if body else 0
        return joint, pinocchio.SE3(np.eye(3), np.array(point))

    constraints, data = pinocchio.StdVec_RigidConstraintModel(), other.createData()
    for closure in model.closures:
        ends = [x for pair in map(place, closure.bodies, closure.points) for x in pair]
        kind, frame = pinocchio.ContactType.CONTACT_3D, pinocchio.ReferenceFrame.LOCAL
        constraints.append(pinocchio.RigidConstraintModel(kind, other, *ends, frame))
    workspaces = pinocchio.StdVec_RigidConstraintData()
    workspaces.extend([c.createData() for c in constraints])
    pinocchio.initConstraintDynamics(other, data, constraints, workspaces)
    settings = pinocchio.ProximalSettings(1e-14, 1e-10, 200)

    def accelerations(x: Numbers, rates: Numbers, forces: Numbers) -> Numbers:
        state = (values[order] for values in (x, rates, forces))
        found = pinocchio.constraintDynamics(other, data, *state, constraints, workspaces, settings)
        out = np.empty(len(names))
        out[order] = found
        return out

    return accelerations
