"""Base inertial parameters: the fewest combinations of the users' parameters that the joint forces
depend on.

Regrouping (Gautier & Khalil, T-RA 1990) is done on symbols, so that its relations come in closed
form, and what is dependent still is found by `symgen.mechanics.independence`.

Names: ``hx_2`` is a parameter of the file, of body 2 about the origin of its link in link axes.
``MXR_2`` is the regrouped parameter, in the canonical frame of body 2: another number, so another
name. The style is that of Gautier & Khalil: MR mass, MXR, MYR, MZR first moments, ZZR inertia about
the joint axis, JR inertia of a rotor about its axis. Where their set has XXR and ZZR, the set here
keeps the second moments SXXR and SYYR (the integrals of x² and y²): ZZ = SXX + SYY and XX - YY =
SYY - SXX; products are SXYR = -XYR and so on."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from symgen.mechanics.canonical_frames import ROUNDING
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.independence import (
    MOMENTS,
    IndependentParameters,
    Key,
    independent_parameters,
    moment_values,
    regrouped,
    remaining_parameters,
)
from symgen.mechanics.model import PARAMETER_NAMES, RigidBodyModel
from symgen.mechanics.parameters import (
    WHOLE,
    Parameters,
    canonical_model,
    inertia_in_parent,
    pseudo_inertia,
    rotor_inertia,
)
from symgen.mechanics.spatial import Vector
from symgen.numbers.scalar import Numbers, Scalar, sum_in_order

REGROUPED: Final[Mapping[str, str]] = {
    "m": "MR",
    "hx": "MXR",
    "hy": "MYR",
    "hz": "MZR",
    "J": "JR",
    "Jo": "JR",
    **{name: f"{name.upper()}R" for name in MOMENTS if name.startswith("S")},
    **{f"I{axes}": f"{axes.upper()}R" for axes in ("xx", "xy", "xz", "yy", "yz", "zz")},
}
"""The stem of a base parameter's name, by the moment or the parameter of the file that it keeps."""

AXIAL_INERTIA: Final = "ZZR"
SXX, SYY = MOMENTS.index("Sxx"), MOMENTS.index("Syy")


def base_names(independent: IndependentParameters) -> tuple[str, ...]:
    """The names of base parameters: stem and number of the body, as in MXR_2."""
    names = []
    for body, moment in independent.keys:
        grouped = dict(independent.grouped[body, moment])
        # Sxx that acts with Syy of the same body alone is the inertia about z
        axial = moment == SXX and grouped.get((body, SYY)) == 1.0
        names.append(f"{AXIAL_INERTIA if axial else REGROUPED[MOMENTS[moment]]}_{body}")
    return tuple(names)


def regrouped_name(name: str) -> str:
    """The name of what a parameter of the file becomes with others grouped to it: hx_2, MXR_2."""
    stem, _, body = name.rpartition("_")
    return f"{REGROUPED[stem]}_{body}"


def link_of_parameter(model: RigidBodyModel, name: str) -> str:
    """The name of the link of the body in the name of a parameter."""
    return model.body(int(name.rpartition("_")[2])).name


def grouping_text(factors: Iterable[float], names: Sequence[str]) -> str:
    """A sum of parameters with factors in full digits, such as ``hx_2 - 0.425*m_3``; SymPy, Python
    and C read it."""
    pairs = ((x, name) for x, name in zip(factors, names, strict=True) if x)
    terms = ((x, name if abs(x) == 1 else f"{abs(x)!r}*{name}") for x, name in pairs)
    text = " ".join(f"{'-' if x < 0 else '+'} {term}" for x, term in terms)
    return (f"-{text[2:]}" if text.startswith("- ") else text.removeprefix("+ ")) or "0"


COEFFICIENT: Final = re.compile(r"(?<![\w.])\d[\d.]*(?:e[-+]?\d+)?")
"""A factor in a sum of parameters; numbers of bodies are parts of names."""


def is_same_sum(text: str, other: str) -> bool:
    """Whether two sums of `grouping_text` are the same except for rounding."""
    if COEFFICIENT.sub("#", text) != COEFFICIENT.sub("#", other):
        return False
    a, b = ([float(x) for x in COEFFICIENT.findall(one)] for one in (text, other))
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9))


def latex_name(name: str) -> str:
    """A parameter in LaTeX: m_{2}, h_{x,2}, I_{xx,2}; names of regrouped parameters upright."""
    stem, _, body = name.rpartition("_")
    if stem.endswith("R"):
        return rf"\mathrm{{{stem}}}_{{{body}}}"
    letter, axes = stem[0], stem[1:]
    return f"{letter}_{{{axes},{body}}}" if axes else f"{letter}_{{{body}}}"


def latex_sum(text: str) -> str:
    """A `grouping` in LaTeX."""
    return " ".join(_latex_word(word) for word in text.split(" "))


def _latex_word(word: str) -> str:
    """A sign between terms, or a term."""
    sign, unsigned = ("-", word[1:]) if word[0] == "-" and len(word) > 1 else ("", word)
    factor, times, name = unsigned.rpartition("*")
    if not unsigned[-1].isdigit() or unsigned == "0":
        return word
    mantissa, e, exponent = factor.partition("e")
    power = rf" \cdot 10^{{{int(exponent)}}}" if e else ""
    return rf"{sign}{mantissa}{power} \, {latex_name(name)}" if times else sign + latex_name(name)


if TYPE_CHECKING:
    import sympy  # half a second, for closed forms alone


def regrouped_parameters(system: CanonicalModel, parameters: Parameters) -> dict[Key, Scalar]:
    """The users' parameters (`CanonicalModel.columns`, any scalars) that each body keeps after
    regrouping."""
    inertias = {}
    for i, columns in system.columns.items():
        numbers = [parameters[k] for k in columns]
        inertias[i] = (
            rotor_inertia(numbers[0], system.body(i).joint)
            if i in system.rotors
            else inertia_in_parent(pseudo_inertia(numbers), system.link_pose(i))
        )
    left = regrouped(system, inertias)
    return {(i, k): moment_values(left[i])[k] for i, k in remaining_parameters(system)}


def base_values(system: CanonicalModel, parameters: Parameters) -> list[Scalar]:
    """The base parameters from the users' parameters (`CanonicalModel.columns`), on any scalars."""
    values, independence = regrouped_parameters(system, parameters), independent_parameters(system)
    return [
        sum_in_order(
            (coefficient * values[other] for other, coefficient in independence.grouped[key]),
            values[key],
        )
        for key in independence.keys
    ]


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot in terms of the ten inertial parameters of each body.

    `names` are the ten of every body in body order and the inertia of each rotor, `columns` the
    base parameters by canonical body and moment; `factors` (b x 10 n) takes the former to the
    latter."""

    model: RigidBodyModel
    robot: CanonicalModel
    independent: IndependentParameters
    factors: Numbers

    def __len__(self) -> int:
        return len(self.independent.keys)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The users' parameters: name and body number, as in hx_2."""
        tens = tuple(f"{name}_{i}" for i in self.robot.link_bodies for name in PARAMETER_NAMES)
        return tens + tuple(
            f"{self.robot.body(i).joint.rotor_moment[0]}_{i}" for i in self.robot.rotors
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The base parameters, named as in `symgen.mechanics.base_parameters`, as in MXR_2."""
        return base_names(self.independent)

    @property
    def links(self) -> tuple[str, ...]:
        """The link of each base parameter's body."""
        return tuple(link_of_parameter(self.model, name) for name in self.columns)

    @property
    def groupings(self) -> tuple[str, ...]:
        """Each base parameter as a sum of the users' parameters, in full digits."""
        return tuple(grouping_text(row, self.names) for row in self.factors.tolist())

    @cached_property
    def expressions(self) -> "tuple[sympy.Expr, ...]":
        """The base parameters in closed form, in the symbols `names`."""
        import sympy

        symbols = sympy.symbols(self.names, real=True)

        def number(x: float) -> sympy.Number:
            return sympy.Integer(int(x)) if x == int(x) else sympy.Float(x)

        return tuple(
            sympy.Add(*(number(x) * symbol for x, symbol in zip(row, symbols, strict=True) if x))
            for row in self.factors
        )

    @cached_property
    def reasons(self) -> dict[str, str]:
        """The fate of each of the users' parameters in words: kept, grouped, or without effect."""
        alone = np.einsum("pb,bp->p", np.linalg.pinv(self.factors), self.factors) > 1 - 1e-9
        owner = {p: i for i, columns in self.robot.columns.items() for p in columns}
        return {
            name: self._reason(p, owner[p], bool(alone[p])) for p, name in enumerate(self.names)
        }

    def _reason(self, p: int, body: int, alone: bool) -> str:
        bodies = sorted({self.independent.keys[b][0] for b in np.flatnonzero(self.factors[:, p])})
        if not bodies:
            return "no effect"
        if alone:
            return "identifiable by itself"
        other_names = ", ".join(self.model.body(i).name for i in bodies if i != body)
        if body not in bodies:
            return f"regrouped into {other_names}"
        return "identifiable only with others" + (
            f", also regrouped into {other_names}" if other_names else ""
        )


def base_parameters(
    model: RigidBodyModel, gravity: Vector | None = None, seed: int = 0
) -> BaseParameters:
    """The base parameters of a robot; with `gravity` (any vector) those for every direction of free
    fall."""
    robot = canonical_model(model, gravity=gravity, regrouping=WHOLE)
    symbols = np.eye(robot.parameters)  # a vector of factors stands for a sum of symbols
    independence = independent_parameters(robot, seed)
    values = base_values(robot, list(symbols))
    rows = np.array([_tidied(np.asarray(row)) for row in values])
    return BaseParameters(model, robot, independence, rows.reshape(-1, len(symbols)))


def _tidied(row: Numbers) -> list[float]:
    """The factors without rounding errors, in their last digits and where they should be zero."""
    size = float(np.abs(row).max())
    return [float(f"{x:.13g}") if abs(x) > ROUNDING * size else 0.0 for x in row]
