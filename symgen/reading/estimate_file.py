"""Model files of ``symgen identify``: an estimate in base parameters as the inertia of a model.

A model file is an actuator file (`symgen.reading.actuators`) with the base parameters of joint
forces beside the laws of the drives. Base parameters are as many combinations of the inertial
parameters of links as joint forces depend on (Gautier & Khalil, T-RA 1990). Any parameters of links
with these combinations have the same joint forces and the same mass matrix. Here the first
independent ones have values and the others are zero, so that generated code has no more constants
than there are base parameters."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from symgen.errors import Notice
from symgen.mechanics.base_parameters import BaseParameters, base_parameters, is_same_sum
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.parameters import lump_links
from symgen.numbers.types import Numbers
from symgen.reading.toml_reader import Table
from symgen.text import shown


def with_estimate(
    model: RigidBodyModel, root: Table, sha256: str
) -> tuple[RigidBodyModel, tuple[Notice, ...]]:
    """The model with the base parameters of a model file, and a warning if the robot file, with the
    digest `sha256`, has changed since the estimate.

    Raises RobotError for a file without base parameters, or with those of another robot or of other
    options."""
    lumped = lump_links(model, [body.name for body in model.moving])
    base = base_parameters(lumped)
    standard = iter(_placed(base, _values(root, base)).tolist())
    changed = [_with_links(body, standard) for body in model.bodies]
    rotors = {i: next(standard) for i in base.robot.rotors}
    bodies = (replace(b, spin=rotors.get(i, b.spin)) for i, b in enumerate(changed, 1))
    stated = root.table("estimate").data.get("robot_sha256")
    warning = Notice(
        root.place("estimate"),
        "warning",
        "estimate",
        "the robot file has changed since the estimate; its base parameters have the same "
        "definitions, so the estimate is used",
    )
    return replace(model, bodies=tuple(bodies)), (warning,) * (stated != sha256)


def _values(root: Table, base: BaseParameters) -> Numbers:
    """The base parameters of a file. Raises RobotError."""
    table, groupings = root.table("base_parameters"), root.table("groupings")
    if not table.data:
        raise root.error(None, "has no base parameters; give a file of symgen identify -o DIR")
    for name, grouping in zip(base.columns, base.groupings, strict=True):
        stated = groupings.data.get(name)
        if (
            name not in table.data
            or not isinstance(stated, str)
            or not is_same_sum(stated, grouping)
        ):
            raise table.error(
                name if name in table.data else None,
                f"{shown(name)} has another definition than for this robot; use the robot file and "
                "the options (--lock, --root, ...) with which the estimate was made",
            )
    table.only(base.columns, "base parameter of this robot")
    return np.array([table.number(name) for name in base.columns], np.float64)


def _placed(base: BaseParameters, values: Numbers) -> Numbers:
    """Standard parameters with these base parameters: the first independent ones, the others 0."""
    chosen = list(independent_columns(base.factors).chosen)
    standard = np.zeros(base.factors.shape[1])
    standard[chosen] = np.linalg.solve(base.factors[:, chosen], values)
    return standard


def _with_links(body: Body, standard: Iterator[float]) -> Body:
    """The body with the next ten parameters on its first link, none if it consists of no links."""
    if not body.links:
        return body
    first, *others = body.links
    first = replace(first, parameters=tuple(islice(standard, 10)))
    return replace(body, links=(first, *(replace(link, parameters=None) for link in others)))
