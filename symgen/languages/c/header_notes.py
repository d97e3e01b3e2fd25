"""Sentences at the head of a C header: how formulations were chosen, and what errors there are."""

from symgen.certified.options import CertifyOptions
from symgen.compiler.objective import Objective
from symgen.languages.c.options import COptions, objective_of
from symgen.languages.certified_bounds import certificates
from symgen.languages.module import Module


def header_notes(module: Module) -> list[str]:
    """The sentences, in order. Raises OptionError for a function without certified bounds."""
    return [*_objective(module), *_precision(module), *_certified(module)]


def _objective(module: Module) -> list[str]:
    """The objective of the choice between formulations, if it is not the operation count."""
    aim = objective_of(module.choices)
    if aim == Objective("operations"):
        return []
    if aim.name == "size":
        return [
            "Of several formulations, the generator chose the one with the smallest code; columns "
            "of a matrix that the same operations compute are computed in loops."
        ]
    return [
        "Of several formulations, the generator chose the one with the lowest estimated latency on "
        f"{aim.machine.description}."
    ]


def _precision(module: Module) -> list[str]:
    """A sentence on the errors of single precision that are stated at each function."""
    if module[COptions].scalar == "double":
        return []
    return [
        "The float error of an output is the largest absolute error of its entries in the "
        f"{len(module.test_states)} states of the self-test. 'At most' is a bound of the rounding "
        "errors. 'Observed' is the error with the sines of --trig inline. Values in parentheses "
        "are relative to the largest entry in these states.",
    ]


def _certified(module: Module) -> list[str]:
    """A sentence on the inputs for which the certified bounds hold; none without certificates."""
    found = certificates(module)
    texts = list(dict.fromkeys(text for c in found.values() for text in c.domain.texts))
    if not found:
        return []
    scalar, trig = module.arithmetic
    sines = "the included sines" if trig == "inline" else "sines of the C library within 1 ulp"
    return [
        f"Certified bounds (option --certify, {module[CertifyOptions].certify_boxes} boxes) hold "
        f"for all inputs of type {scalar} with {', '.join(texts)}. A range is that of the exact "
        "value; the error bounds the difference between the computed value and the exact value, "
        f"for IEEE arithmetic that rounds to nearest, fused or not, and {sines}."
    ]
