"""Sums of parameters as MathML, which browsers set by themselves."""

import re
from html import escape
from typing import Final

TERM: Final = re.compile(r"(-?)(?:([0-9.e+-]+)\*)?([A-Za-z]\w*)_(\d+)")
SYMBOLS: Final = {"m": "m", "h": "h", "I": "I", "S": "Σ", "J": "J"}
"""The symbol of a parameter of the file, by its first letter."""


def grouping(name: str, text: str) -> str:
    """A base parameter and the sum that it stands for (see parameter_names.grouping), an
    equation."""
    terms = "".join(_word(word) for word in text.split(" "))
    return f"<math><mrow>{_name(name)}<mo>=</mo>{terms}</mrow></math>"


def _word(word: str) -> str:
    """A sign between terms, or a term with its factor."""
    match = TERM.fullmatch(word)
    if match is None:
        return f"<mo>{escape(word.replace('-', '−'))}</mo>"
    sign, factor, stem, body = match.groups()
    minus = "<mo>−</mo>" if sign else ""
    return f"{minus}{_factor(factor)}{_name(f'{stem}_{body}')}"


def _factor(factor: str | None) -> str:
    if factor is None:
        return ""
    mantissa, e, exponent = factor.partition("e")
    power = f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>" if e else ""
    return f"<mn>{mantissa}</mn>{power}<mspace width='0.17em'/>"


def _name(name: str) -> str:
    """m with its body below, Ixx with axes and body; regrouped names stay in one word, upright."""
    stem, _, body = name.rpartition("_")
    if stem.endswith("R"):
        return f'<msub><mi mathvariant="normal">{stem}</mi><mn>{body}</mn></msub>'
    below = " ".join(filter(None, (stem[1:], body)))
    return f"<msub><mi>{SYMBOLS[stem[0]]}</mi><mtext>{below}</mtext></msub>"
