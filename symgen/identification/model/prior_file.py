"""Standard parameters that are known beforehand: those of the robot's file, or of a file of their
own."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.model.estimate import BaseMapping
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.numbers.scalar import Numbers
from symgen.reading import checked_values
from symgen.reading.checked_values import Table
from symgen.text import quoted, reason, shown

LEAST: Final = 0.01
"""A body counts as having this part of the mean mass and size of all bodies, if it has less."""


def deviations(mapping: BaseMapping, relative: float) -> Numbers:
    """The deviations D (s) that the prior is taken to have: `relative` times m, m l and m l², body
    by body.

    l² = tr(I) / (2 m) is the mean square distance of a body's mass from its link's origin; the
    inertia of a rotor has `relative` times its own value."""
    tens = mapping.prior[: 10 * len(mapping.bodies)].reshape(-1, 10)
    masses = np.abs(tens[:, 0])
    masses = np.maximum(masses, LEAST * masses.mean()) if masses.any() else np.ones(len(masses))
    squares = np.abs(tens[:, [4, 7, 9]].sum(axis=1)) / (2 * masses)
    squares = (
        np.maximum(squares, LEAST * squares.mean()) if squares.any() else np.full(len(masses), 0.01)
    )
    lengths = np.sqrt(squares)
    scales = np.stack([masses, *[masses * lengths] * 3, *[masses * squares] * 6], axis=1).ravel()
    rotors = np.abs(mapping.prior[len(scales) :])
    return relative * np.concatenate([scales, np.where(rotors > 0, rotors, 1e-6)])


def with_prior(mapping: BaseMapping, prior: str) -> BaseMapping:
    """The mapping with the prior of an option: ``urdf`` or a file. Raises SymgenError."""
    if prior == "urdf":
        return mapping
    bodies, values = _bodies(prior), mapping.prior.copy()
    for name in bodies.data:
        if name not in mapping.bodies:
            raise OptionError(
                f"--prior {shown(prior)}: no body is called '{shown(name)}'; the bodies are "
                f"{quoted(mapping.bodies)}"
            )
        row, k = bodies.table(name), mapping.bodies.index(name)
        row.check_keys(PARAMETER_NAMES)
        ten = [row.number(key) for key in PARAMETER_NAMES]
        if None in ten:
            raise row.error(None, f"needs the ten numbers {', '.join(PARAMETER_NAMES)}")
        values[10 * k : 10 * k + 10] = ten
    return replace(mapping, prior=values)


def _bodies(path: str) -> Table:
    """The table ``bodies`` of a JSON or TOML file. Raises OptionError."""
    if Path(path).suffix.lower() == ".json":
        try:
            text = Path(path).read_text(encoding="utf-8")
            data = json.loads(text)
            root = Table(path, text, data if isinstance(data, dict) else {})
        except (OSError, ValueError, RecursionError) as error:
            why = shown(reason(error), 200)
            raise OptionError(f"--prior {shown(path)}: cannot be read ({why})") from None
    else:
        root, _ = checked_values.read_toml(path, "a JSON or TOML file of parameters, or urdf")
    bodies = root.table("bodies")
    if not bodies.data:
        raise OptionError(
            f"--prior {shown(path)}: the file has no table bodies; see symgen docs identification"
        )
    return bodies
