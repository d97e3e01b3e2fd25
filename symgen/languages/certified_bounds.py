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

MAX_LISTED_ENTRIES: Final = 32
"""Entries of a vector that are stated one by one; of larger arrays the largest bounds are."""


UNBOUNDED: Final = (
    "no bound, as intervals cannot bound an elimination. The error of qdd",
    "is M^-1 times the residual, which a function here returns with a bound",
)
"""What the header says of forward dynamics."""

FIXED_POINT_BOX_DIVISOR: Final = 4
"""Functions in fixed point have one grid of boxes for all of their results, with fewer boxes."""


@lru_cache(maxsize=4)
def certificates(module: Module) -> Mapping[str, Certificate]:
    """The certificates of the functions by name; none without ``--certify``. Raises OptionError."""
    options = module[CertifyOptions]
    options.check_requested(module.arithmetic[0])
    if module.arithmetic[0] in FIXED:
        return _fixed_point_certificates(module)
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
    boxes = max(options.certify_boxes // FIXED_POINT_BOX_DIVISOR, 1)
    return fixed_functions(model, module.functions, limits, kind, boxes)


def _fixed_point_certificates(module: Module) -> dict[str, Certificate]:
    """The bounds of functions in fixed point."""
    arithmetic = Arithmetic(*module.arithmetic)
    return {
        name: Certificate(name, arithmetic, f.boxes, f.domain, f.outputs, f.largest_value)
        for name, f in fixed_point(module).items()
    }


def certified_lines(module: Module, d: FunctionDescription) -> list[str]:
    """The bounds of a function, a line each; none without a certificate."""
    found = certificates(module)
    certificate = found.get(d.name)
    if certificate is None:
        return [*UNBOUNDED] if found else []
    units = {a.name: "" if "|" in a.unit or "," in a.unit else f" {a.unit}" for a in d.outs}
    kind = module.arithmetic[0]
    texts = [
        text for out in certificate.outputs for text in _bound_lines(out, units[out.name], kind)
    ]
    largest = rounded_up(certificate.largest, 3)
    return [*texts, f"no intermediate result is larger than {largest}"]


def certified_tolerances(module: Module, function: Function) -> dict[str, Numbers]:
    """The largest difference of each result in the test states from its reference by the
    certificate, states x entries: the certified error and what rounding the inputs changes. It is
    infinite in states beyond the limits; there are none without a certificate."""
    certificate, program = certificates(module).get(function.name), function.program
    if certificate is None or isinstance(program, LoopProgram) or "par" in function.inputs:
        return {}
    scalar = certificate.arithmetic.scalar
    inputs = {
        name: np.array([s.inputs[name] for s in module.test_states], TYPES[scalar]).T.astype(float)
        for name, _ in program.inputs
    }
    inside = np.ones(len(module.test_states), bool)
    for name, rows in certificate.domain.ranges.items():
        lower, upper = np.array(rows).T[:, :, None]
        inside &= ((inputs[name] >= lower) & (inputs[name] <= upper)).all(axis=0)
    run = evaluate_batch(program, inputs, "double")
    found = {}
    for out, traced in zip(certificate.outputs, program.outputs, strict=True):
        expected = np.array([s.expected[out.name] for s in module.test_states], float).T
        expected = expected.reshape(len(traced.refs), -1)
        live = [ref is not None for ref in traced.refs]
        deviation = representation_error(expected, scalar) + np.spacing(np.abs(expected))
        deviation[live] += np.abs(run[out.name] - expected[live])
        doubled = 1.0 + ROUNDOFF["double"] / ROUNDOFF[scalar]  # the run is in double itself
        error = doubled * np.array(out.error)[:, None]
        found[out.name] = np.where(inside, error + deviation, np.inf).T
    return found


def _bound_lines(out: CertifiedOutput, unit: str, scalar: str) -> list[str]:
    if len(out.shape) == 1 and len(out.error) <= MAX_LISTED_ENTRIES:
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
