"""Names of parameters: those of the file, and the regrouped ones in capitals with R behind.

``hx_2`` is a parameter of the file, of body 2 about its link's origin in its link's axes. ``MXR_2``
is what regrouping makes of it, in body 2's canonical frame: another number, so another name. The
style is that of Gautier & Khalil (IEEE T-RA 1990): MR mass, MXR, MYR, MZR first moments, ZZR
inertia about the joint's axis, JR inertia of a rotor about its own. Where their set has XXR and
ZZR, ours keeps the second moments SXXR and SYYR (the integrals of x² and y²): ZZ = SXX + SYY and XX
- YY = SYY - SXX; products are SXYR = -XYR and so on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from symgen.mechanics.independence import MOMENTS, Independent, Key
from symgen.mechanics.model import Model

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

AXIAL: Final = "ZZR"
SXX, SYY = MOMENTS.index("Sxx"), MOMENTS.index("Syy")


def base_names(independent: Independent) -> tuple[str, ...]:
    """The names of base parameters: stem and number of the body, as in MXR_2."""
    return tuple(_base_name(key, dict(independent.grouped[key])) for key in independent.keys)


def _base_name(key: Key, with_it: Mapping[Key, float]) -> str:
    """Sxx that acts with Syy of the same body alone is the inertia about z."""
    body, moment = key
    axial = moment == SXX and with_it.get((body, SYY)) == 1.0
    return f"{AXIAL if axial else REGROUPED[MOMENTS[moment]]}_{body}"


def regrouped_name(name: str) -> str:
    """The name of what a parameter of the file becomes with others grouped to it: hx_2, MXR_2."""
    stem, _, body = name.rpartition("_")
    return f"{REGROUPED[stem]}_{body}"


def link_of(model: Model, name: str) -> str:
    """The name of the link that moves with the body in a parameter's name."""
    return model.body(int(name.rpartition("_")[2])).name


def grouping(factors: Iterable[float], names: Sequence[str]) -> str:
    """A sum of parameters with factors in full digits, as in ``hx_2 - 0.425*m_3``; SymPy, Python
    and C read it."""
    terms = [(x, name) for x, name in zip(factors, names, strict=True) if x]
    text = " ".join(f"{'-' if x < 0 else '+'} {_times(abs(x), name)}" for x, name in terms)
    return _unspaced(text) or "0"


def _unspaced(text: str) -> str:
    """A sum whose first sign is one of a number, or not there."""
    return f"-{text[2:]}" if text.startswith("- ") else text.removeprefix("+ ")


def _times(factor: float, name: str) -> str:
    return name if factor == 1 else f"{factor!r}*{name}"


def latex_name(name: str) -> str:
    """A parameter in LaTeX: m_{2}, h_{x,2}, I_{xx,2}; regrouped ones upright, as they are."""
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
