"""Certified bounds of the functions of a module, as texts of generated files."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from symgen.certified.certificate import Certificate, CertifiedOutput, rounded_up
from symgen.certified.domain import checked_limits
from symgen.certified.enclosures import Arithmetic
from symgen.certified.fixed_functions import FixedFunction, fixed_functions
from symgen.certified.fixed_types import FIXED, FixedType
from symgen.certified.options import CertifyOptions
from symgen.languages.describe import FunctionDescription
from symgen.languages.module import Module

MOST_ENTRIES: Final = 32
"""Entries of a vector that are stated one by one; of larger arrays the largest bounds are."""


BOXES_SHARE: Final = 4
"""Functions in fixed point have one grid of boxes for all of their results, with fewer boxes."""


@lru_cache(maxsize=4)
def certificates(module: Module) -> Mapping[str, Certificate]:
    """The certificates of the functions by name; none without ``--certify``. Raises OptionError."""
    options = module[CertifyOptions]
    options.check_requested(module.arithmetic[0])
    if module.arithmetic[0] in FIXED:
        return _of_fixed_point(module)
    if not options.certify:
        return {}
    model = module.robot.model
    return options.certificates(model, module.functions, Arithmetic(*module.arithmetic))


@lru_cache(maxsize=4)
def fixed_point(module: Module) -> Mapping[str, FixedFunction]:
    """The functions in fixed point by name. Raises OptionError."""
    options, model = module[CertifyOptions], module.robot.model
    limits = checked_limits(model, options.certify_limits)
    kind = FixedType.of(module.arithmetic[0], module.options["target"])
    boxes = max(options.certify_boxes // BOXES_SHARE, 1)
    return fixed_functions(model, module.functions, limits, kind, boxes)


def _of_fixed_point(module: Module) -> dict[str, Certificate]:
    """The bounds of functions in fixed point."""
    arithmetic = Arithmetic(*module.arithmetic)
    return {
        name: Certificate(name, arithmetic, f.boxes, f.domain, f.outputs, f.largest_value)
        for name, f in fixed_point(module).items()
    }


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
