"""Models that predict the forces of a log: an estimate, or the robot's files."""

from collections.abc import Sequence

import numpy as np

from symgen.identification.model.drive_columns import (
    DriveColumn,
    DriveUnknowns,
    ShapePairs,
    presliding_states,
)
from symgen.identification.model.problem import Problem
from symgen.identification.prediction.prediction_errors import Predictor
from symgen.mechanics.joint_forces import FRICTION_WIDTH, INERTIA_GROUP, LAWS, ForceLaw
from symgen.mechanics.model import Body
from symgen.numbers.types import Numbers


def predictor(
    problem: Problem, base: Numbers, columns: Sequence[DriveColumn], values: Sequence[float]
) -> Predictor:
    """The predictor of base parameters (b) and the coefficients of some columns of drives."""
    drives = None
    all_values = np.concatenate([base, np.asarray(values, np.float64)])
    if problem.joints is not None:
        slowest = np.zeros(len(problem.joints.names))
        states = presliding_states(columns, problem.joints)
        drives = DriveUnknowns(problem.joints, tuple(columns), slowest, presliding=states)
        drives = drives.with_loads(columns, all_values)
    return Predictor(problem.equations(drives), all_values, problem.channels)


def of_robot(problem: Problem) -> Predictor:
    """The predictor of the robot's files, or of the model file that replaces them: inertial
    parameters, rotors, friction and springs. Rotors are bodies of the model."""
    columns, values = list[DriveColumn](), list[float]()
    bodies = {body.velocity: body for body in problem.mapping.model.bodies}
    laws = [law for law, row in LAWS.items() if row.group != INERTIA_GROUP]
    for k, name in enumerate(problem.joints.names if problem.joints else ()):
        for law in laws:
            if value := bodies[name].coefficient(law):
                columns.append(DriveColumn(k, law, _shape(bodies[name], LAWS[law])))
                values.append(value)
    return predictor(problem, problem.mapping.base(problem.mapping.prior), columns, values)


def _shape(body: Body, law: ForceLaw) -> ShapePairs:
    """The shape parameters of a law at the coordinate of a body."""
    parameters = (*law.shape, *((FRICTION_WIDTH,) if law.has_width else ()))
    values = ((parameter.name, body.coefficient(parameter.name)) for parameter in parameters)
    return tuple((name, value) for name, value in values if value)
