"""Refusal of options that have no effect on what a job requests: languages, products, functions."""

from collections.abc import Iterable
from typing import Final

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.languages import LANGUAGES
from symgen.languages.c.options import PRODUCTS

TARGETS: Final = {name: (name,) for name in (*LANGUAGES, *PRODUCTS)}
"""What options of languages apply to, each with its name as its tag."""


def check_effects(job: Job, targets: Iterable[str]) -> None:
    """Refuse options that change neither a target (a language, or one of `PRODUCTS`) nor a function
    of the job. Raises OptionError."""
    job.choices.check_effect({name: (name,) for name in targets}, TARGETS)
    check_functions(job)


def check_functions(job: Job) -> None:
    """Refuse options that change no function of the job. Raises OptionError."""
    functions = job.wanted()
    quantities = [quantity for function in functions for quantity in function.quantities]
    unused = job.choice().keys() - {quantity.name for quantity in quantities}
    if unused and "formulations" in job.choices.given:
        raise OptionError(f"--formulation {min(unused)}: no function computes that quantity")
    known = {q.name: q.tags for q in (*QUANTITIES.values(), *LINK_QUANTITIES.values())}
    job.choices.check_effect({q.name: q.tags for q in quantities}, known)
