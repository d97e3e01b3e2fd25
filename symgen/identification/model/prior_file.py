"""Standard parameters that are known beforehand: those of the robot's file, or of a file of their
own."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.model.estimate import BaseMapping
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.numbers.types import Numbers
from symgen.reading import toml_reader
from symgen.text import quoted, reason, shown

HUGE: Final = 1e30
"""No parameter is as large; what is would overflow in squares."""
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
    for name, ten in bodies.items():
        if name not in mapping.bodies:
            raise OptionError(
                f"--prior {shown(prior)}: no body is called '{shown(name)}'; the bodies are "
                f"{quoted(mapping.bodies)}"
            )
        k = mapping.bodies.index(name)
        values[10 * k : 10 * k + 10] = _ten(prior, name, ten)
    return replace(mapping, prior=values)


def _bodies(path: str) -> Mapping[str, Any]:
    """The table ``bodies`` of a JSON or TOML file."""
    data = _json(path) if Path(path).suffix.lower() == ".json" else _toml(path)
    bodies = data.get("bodies") if isinstance(data, dict) else None
    if not isinstance(bodies, dict) or not bodies:
        raise OptionError(
            f"--prior {shown(path)}: the file has no table bodies; see symgen docs identification"
        )
    return bodies


def _toml(path: str) -> Mapping[str, Any]:
    return toml_reader.read(path, "a JSON or TOML file of parameters, or urdf")[0].data


def _json(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = shown(reason(error), 200)
        raise OptionError(f"--prior {shown(path)}: cannot be read ({why})") from None


def _ten(path: str, name: str, ten: Any) -> list[float]:
    given = ten if isinstance(ten, dict) else {}
    numbers = [given.get(key) for key in PARAMETER_NAMES]
    if set(given) != set(PARAMETER_NAMES) or not all(_finite(x) for x in numbers):
        raise OptionError(
            f"--prior {shown(path)}: body '{shown(name)}' needs the ten numbers "
            f"{', '.join(PARAMETER_NAMES)}"
        )
    return [float(x) for x in numbers if x is not None]


def _finite(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < HUGE
