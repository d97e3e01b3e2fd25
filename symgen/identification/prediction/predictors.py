"""Models that predict the forces of a log: an estimate, the robot's files, or what an earlier run
has written to identification.json."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.model.drive_columns import (
    DriveColumn,
    DriveUnknowns,
    ShapePairs,
    presliding_states,
)
from symgen.identification.model.problem import Problem
from symgen.identification.prediction.prediction_errors import Predictor
from symgen.mechanics.base_parameters import is_same_sum
from symgen.mechanics.joint_forces import FRICTION_WIDTH, INERTIA_GROUP, LAWS, ForceLaw
from symgen.mechanics.model import Body
from symgen.numbers.types import Numbers
from symgen.text import shown


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
    """The predictor of the robot's files: inertial parameters, rotors, friction and springs."""
    columns = columns_of_files(problem)
    base = problem.mapping.base(problem.mapping.prior)
    return predictor(problem, base, [column for column, _ in columns], [x for _, x in columns])


def columns_of_files(problem: Problem) -> list[tuple[DriveColumn, float]]:
    """The laws of joint forces that the robot's files give, with their coefficients. Rotors are
    bodies of the model."""
    if problem.joints is None:
        return []
    bodies = {body.velocity: body for body in problem.mapping.model.bodies}
    laws = [law for law, row in LAWS.items() if row.group != INERTIA_GROUP]
    return [
        (DriveColumn(k, law, _shape(bodies[name], LAWS[law])), value)
        for k, name in enumerate(problem.joints.names)
        for law in laws
        if (value := bodies[name].coefficient(law))
    ]


def _shape(body: Body, law: ForceLaw) -> ShapePairs:
    """The shape parameters of a law at the coordinate of a body."""
    parameters = (*law.shape, *((FRICTION_WIDTH,) if law.has_width else ()))
    values = ((parameter.name, body.coefficient(parameter.name)) for parameter in parameters)
    return tuple((name, value) for name, value in values if value)


def of_file(problem: Problem, path: str) -> Predictor:
    """The predictor of an identification.json of the same robot, which replaces the parameters and
    the laws of joint forces of the robot's files. Raises OptionError."""
    rows = _rows(path)
    base = [_number(path, rows, name, "estimate") for name in problem.mapping.names]
    for name, grouping in zip(problem.mapping.names, problem.mapping.groupings, strict=True):
        other = rows[name].get("grouping")
        if isinstance(other, str) and not is_same_sum(other, grouping):
            raise OptionError(
                f"--estimate {shown(path)}: '{shown(name)}' has another definition than for this "
                "robot; use the robot file and the options (--lock, --root, ...) with which the "
                "estimate was made"
            )
    names = {name: k for k, name in enumerate(problem.joints.names)} if problem.joints else {}
    columns, values = [], []
    for name in rows:
        law, _, joint = name.partition(" ")
        law = FORMER_NAMES.get(law, law)
        if law in LAWS and joint in names:
            columns.append(DriveColumn(names[joint], law, _shape_of(path, law, rows[name])))
            values.append(_number(path, rows, name, "estimate"))
        elif name not in problem.mapping.names:
            raise OptionError(
                f"--estimate {shown(path)}: '{shown(name)}' is not a parameter of this robot; give "
                "an estimate of the same robot file"
            )
    return predictor(problem, np.array(base), columns, values)


FORMER_NAMES: Final = {"root": "power"}
"""Laws by the names that earlier versions wrote."""


def _shape_of(path: str, law: str, row: Mapping[str, Any]) -> ShapePairs:
    """The shape parameters of a law in a row of a file. Earlier versions wrote one number, `speed`,
    and none for the power 1/2. Raises OptionError."""
    parameters, shape = LAWS[law].shape, row.get("shape")
    if not isinstance(shape, dict):
        name = parameters[0].name if parameters else FRICTION_WIDTH.name
        former = 0.5 if name == "power_exponent" else row.get("speed")
        shape = {name: former} if former else {}
    known = {parameter.name for parameter in (*parameters, FRICTION_WIDTH)}
    if not set(shape) <= known or not all(parameter.name in shape for parameter in parameters):
        raise OptionError(f"--estimate {shown(path)}: a row of {law} has no {', '.join(known)}")
    return tuple((name, _finite(path, name, x)) for name, x in shape.items())


def _rows(path: str) -> Mapping[str, Any]:
    file = Path(path, "identification.json") if os.path.isdir(path) else Path(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        rows = data["parameters"]
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise ValueError("no parameters")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = (
            getattr(error, "strerror", None)
            or "it is not an identification.json of symgen identify"
        )
        raise OptionError(
            f"--estimate {shown(path)}: cannot be read ({shown(str(reason), 200)})"
        ) from None
    return rows


def _number(path: str, rows: Mapping[str, Any], name: str, key: str) -> float:
    return _finite(path, name, rows.get(name, {}).get(key))


def _finite(path: str, name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise OptionError(
            f"--estimate {shown(path)}: has no parameter '{shown(name)}'; give the estimate of "
            "the same robot file"
        )
    return float(value)
