"""Models that predict the forces of a log: an estimate, the robot's files, or what an earlier run
has written to identification.json."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, presliding_states
from symgen.identification.model.problem import Problem
from symgen.identification.model.terms import TERMS
from symgen.identification.prediction.prediction_errors import Predictor
from symgen.numbers.types import Numbers
from symgen.text import shown


def predictor(
    sought: Problem, base: Numbers, columns: Sequence[DriveColumn], values: Sequence[float]
) -> Predictor:
    """The predictor of base parameters (b) and the coefficients of some columns of drives."""
    drives = None
    if sought.joints is not None:
        slowest = np.zeros(len(sought.joints.names))
        states = presliding_states(columns, sought.joints)
        drives = DriveUnknowns(sought.joints, tuple(columns), slowest, load=base, presliding=states)
    all_values = np.concatenate([base, np.asarray(values, np.float64)])
    return Predictor(sought.equations(drives), all_values, sought.channels)


def of_robot(sought: Problem) -> Predictor:
    """The predictor of the robot's files: inertial parameters, friction and springs. Raises
    OptionError for other laws of friction than viscous, coulomb and offset."""
    bodies = [body for body in sought.mapping.model.bodies if body.has_friction]
    others = [body for body in bodies if body.joint.laws or body.joint.type.is_rotor]
    if others:
        raise OptionError(
            f"--actuators: '{shown(others[0].velocity)}' has a law of friction that predictions do "
            "not support; keep viscous, coulomb and offset of joints"
        )
    names = sought.joints.names if sought.joints else ()
    rows = [
        (DriveColumn(k, term), value)
        for k, joint in enumerate(names)
        for term in TERMS
        if (value := sought.known.get(f"{term} {joint}", 0.0))
    ]
    base = sought.mapping.base(sought.mapping.prior)
    return predictor(sought, base, [column for column, _ in rows], [value for _, value in rows])


def of_file(sought: Problem, path: str) -> Predictor:
    """The predictor of an identification.json of the same robot. Raises OptionError."""
    rows = _rows(path)
    base = [_number(path, rows, name, "estimate") for name in sought.mapping.names]
    for name, grouping in zip(sought.mapping.names, sought.mapping.groupings, strict=True):
        other = rows[name].get("grouping")
        if isinstance(other, str) and not _alike(other, grouping):
            raise OptionError(
                f"--estimate {shown(path)}: '{shown(name)}' has another definition than for this "
                "robot; use the robot file and the options (--lock, --root, ...) with which the "
                "estimate was made"
            )
    names = {name: k for k, name in enumerate(sought.joints.names)} if sought.joints else {}
    columns, values = [], []
    for name in rows:
        term, _, joint = name.partition(" ")
        if term in TERMS and joint in names:
            speed = rows[name].get("speed") or 0.0
            columns.append(DriveColumn(names[joint], term, float(speed)))
            values.append(_number(path, rows, name, "estimate"))
        elif name not in sought.mapping.names:
            raise OptionError(
                f"--estimate {shown(path)}: '{shown(name)}' is not a parameter of this robot; give "
                "an estimate of the same robot file"
            )
    return predictor(sought, np.array(base), columns, values)


COEFFICIENT: Final = re.compile(r"(?<![\w.])\d[\d.]*(?:e[-+]?\d+)?")
"""A number in a grouping; those of bodies are parts of names."""


def _alike(name: str, other: str) -> bool:
    """Whether two groupings are the same but for rounding."""
    if COEFFICIENT.sub("#", name) != COEFFICIENT.sub("#", other):
        return False
    a, b = ([float(x) for x in COEFFICIENT.findall(text)] for text in (name, other))
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9))


def _rows(path: str) -> Mapping[str, Any]:
    file = Path(path) / "identification.json" if Path(path).is_dir() else Path(path)
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
    value = rows.get(name, {}).get(key)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise OptionError(
            f"--estimate {shown(path)}: has no parameter '{shown(name)}'; give the estimate of "
            "the same robot file"
        )
    return float(value)
