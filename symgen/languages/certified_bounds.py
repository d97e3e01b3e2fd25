"""Certified bounds of the functions of a module, as texts of generated files."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from symgen.certified.certificate import Certificate, CertifiedOutput, rounded_up
from symgen.certified.enclosures import Arithmetic
from symgen.certified.options import CertifyOptions
from symgen.languages.describe import FunctionDescription
from symgen.languages.module import Module

MOST_ENTRIES: Final = 32
"""Entries of a vector that are stated one by one; of larger arrays the largest bounds are."""


@lru_cache(maxsize=4)
def certificates(module: Module) -> Mapping[str, Certificate]:
    """The certificates of the functions by name; none without ``--certify``. Raises OptionError."""
    options = module[CertifyOptions]
    options.check_requested()
    if not options.certify:
        return {}
    model = module.robot.model
    return options.certificates(model, module.functions, Arithmetic(*module.arithmetic))


def certified_texts(module: Module, d: FunctionDescription) -> list[str]:
    """The bounds of a function, a line each; none without a certificate."""
    certificate = certificates(module).get(d.name)
    if certificate is None:
        return []
    units = {a.name: "" if "|" in a.unit or "," in a.unit else f" {a.unit}" for a in d.outs}
    kind = module.arithmetic[0]
    texts = [text for out in certificate.outputs for text in _lines(out, units[out.name], kind)]
    largest = rounded_up(certificate.largest, 3)
    return [*texts, f"no intermediate result is larger than {largest}"]


def _lines(out: CertifiedOutput, unit: str, scalar: str) -> list[str]:
    if len(out.shape) == 1 and len(out.error) <= MOST_ENTRIES:
        rows = [
            (f"{out.name}[{k}]", size, error)
            for k, (size, error) in enumerate(zip(out.magnitude, out.error, strict=True))
        ]
    else:
        rows = [(f"{out.name}[i]", max(out.magnitude), max(out.error))]
    return [
        f"|{name}| <= {rounded_up(size, 3)}{unit}, {scalar} error <= {rounded_up(error, 2)}{unit}"
        for name, size, error in rows
    ]
