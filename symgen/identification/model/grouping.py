"""Base parameters in words."""

import re
from collections.abc import Sequence

from symgen.identification.model.estimate import BaseMapping


def unidentified(mapping: BaseMapping, names: Sequence[str]) -> str:
    """Some base parameters with what they consist of, for a message."""
    groups = dict(zip(mapping.names, mapping.groupings, strict=True))
    return ", ".join(
        f"{name} ({short(groups[name])})" if groups.get(name, name) != name else name
        for name in names
    )


def short(text: str, most: int = 46) -> str:
    """The first terms of a sum of parameters, with six digits of its factors."""
    text = re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda number: f"{float(number[0]):.6g}", text)
    return text if len(text) <= most else text[: most - 4].rpartition(" ")[0] + " ..."
