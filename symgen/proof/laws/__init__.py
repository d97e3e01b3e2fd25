"""The laws that judge quantities; to import them is to register them."""

from symgen.proof.laws import (
    base,
    controllers,
    derivatives,
    dynamics,
    energies,
    kinematics,
    manifold,
    newton_euler,
    rates,
    regressors,
    task_space,
)
from symgen.proof.laws.registry import LAWS, Judge, Law, LawError, judged, law_of

__all__ = [
    "LAWS",
    "Judge",
    "Law",
    "LawError",
    "base",
    "controllers",
    "derivatives",
    "dynamics",
    "energies",
    "judged",
    "kinematics",
    "law_of",
    "manifold",
    "newton_euler",
    "rates",
    "regressors",
    "task_space",
]
