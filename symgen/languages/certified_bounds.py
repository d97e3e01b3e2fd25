"""Certified bounds of the functions of a module, as texts of generated files."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from symgen.certified.certificate import Certificate, CertifiedOutput, CertifyOptions, rounded_up
from symgen.certified.domain import validated_limits
from symgen.certified.enclosures import Arithmetic
from symgen.certified.fixed_functions import FixedFunction, fixed_functions
from symgen.certified.fixed_types import FIXED, FixedType
from symgen.compiler.evaluate import evaluate_batch
from symgen.compiler.program import LoopProgram
from symgen.languages.describe import FunctionDescription
from symgen.languages.module import Module
from symgen.numbers.trig import TYPES
from symgen.numbers.types import Numbers
from symgen.proof.bounds import ROUNDOFF, representation_error
from symgen.tracing.function import Function

MOST_ENTRIES: Final = 32
"""Entries of a vector that are stated one by one; of larger arrays the largest bounds are."""


UNBOUNDED: Final = (
    "no bound, as intervals cannot bound an elimination. The error of qdd",
    "is M^-1 times the residual, which a function here returns with a bound",
)
"""What the header says of forward dynamics."""

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
    limits = validated_limits(model, options.certify_limits)
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
    found = certificates(module)
    certificate = found.get(d.name)
    if certificate is None:
        return [*UNBOUNDED] if found else []
    units = {a.name: "" if "|" in a.unit or "," in a.unit else f" {a.unit}" for a in d.outs}
    kind = module.arithmetic[0]
    texts = [text for out in certificate.outputs for text in _lines(out, units[out.name], kind)]
    largest = rounded_up(certificate.largest, 3)
    return [*texts, f"no intermediate result is larger than {largest}"]


def tolerances(module: Module, function: Function) -> dict[str, Numbers]:
    """The largest difference of each result in the test states from its reference by the
    certificate, states x entries: the certified error and what rounding the inputs changes. It is
    infinite in states beyond the limits; there are none without a certificate."""
    certificate, program = certificates(module).get(function.name), function.program
    if certificate is None or isinstance(program, LoopProgram) or "par" in function.inputs:
        return {}
    scalar = certificate.arithmetic.scalar
    given = {
        name: np.array([s.inputs[name] for s in module.test_states], TYPES[scalar]).T.astype(float)
        for name, _ in program.inputs
    }
    inside = np.ones(len(module.test_states), bool)
    for name, rows in certificate.domain.ranges.items():
        lower, upper = np.array(rows).T[:, :, None]
        inside &= ((given[name] >= lower) & (given[name] <= upper)).all(axis=0)
    run = evaluate_batch(program, given, "double")
    found = {}
    for out, traced in zip(certificate.outputs, program.outputs, strict=True):
        wanted = np.array([s.expected[out.name] for s in module.test_states], float).T
        wanted = wanted.reshape(len(traced.refs), -1)
        live = [ref is not None for ref in traced.refs]
        off = representation_error(wanted, scalar) + np.spacing(np.abs(wanted))
        off[live] += np.abs(run[out.name] - wanted[live])
        doubled = 1.0 + ROUNDOFF["double"] / ROUNDOFF[scalar]  # the run is in double itself
        error = doubled * np.array(out.error)[:, None]
        found[out.name] = np.where(inside, error + off, np.inf).T
    return found


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
