"""What each mechanism of the estimator adds: the default of ``symgen identify`` beside the same
without one mechanism or with one more, on rows of real logs that were not fitted. ``python -m
benchmarks.estimators [FOLDER]`` writes docs/benchmarks/estimators.json, variant by variant (those
that the file has are not run again); `make figures` writes the table of
docs/benchmarks/identification.md from it.

Rows, errors and robots are those of `benchmarks.real_logs`; every log of the UR10e predicts the two
others."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.real_logs import (
    TRIALS,
    UR10E,
    Trial,
    halves,
    make_tx40,
    predicted,
    prepared,
)
from symgen.identification.data.sample_clock import PolledClock
from symgen.identification.diagnostics import cutoffs
from symgen.identification.estimation import iterative, priors
from symgen.identification.estimation.iterative import IterativeEstimator
from symgen.identification.estimation.log_reducer import LogReducer
from symgen.identification.estimation.run import solved
from symgen.identification.estimation.weighted_solve import regularizer
from symgen.identification.model import drive_columns
from symgen.identification.model.drive_columns import DEFAULT_LAWS

LOGS: Final = ("30s", "50s", "20s_with_standstill")
PAIRS: Final = tuple(
    Trial(
        f"UR10e {a.partition('s')[0]} s, {b.partition('s')[0]} s",
        "ur10e",
        f"logs/ur10e/motion_{a}.csv",
        f"logs/ur10e/motion_{b}.csv",
        0,
        5.0,
        UR10E,
    )
    for a, b in permutations(LOGS, 2)
)
ALL: Final = (*PAIRS, *(trial for trial in TRIALS if trial.robot != "ur10e"))
RESULTS: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "estimators.json"

Replacement = tuple[Any, str, Any]


@dataclass(frozen=True)
class Variant:
    """The default with other settings, without some laws or with further ones, or with functions
    of the estimator replaced, each an object, a name and what stands there instead."""

    options: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    replaced: tuple[Replacement, ...] = ()

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws that are fitted."""
        return tuple(law for law in (*DEFAULT_LAWS, *self.more) if law not in self.without)


def _same(estimator: IterativeEstimator, fit: Any) -> Any:
    return fit


def _without_drives(system: Any, of_drives: Any = None) -> Any:
    return regularizer(system)


def _middle(choices: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """The second of the largest candidates instead of all of them."""
    return lambda parameter, sizes: choices(parameter, sizes)[-2:][:1]


def _constant(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def _of(owner: Any, name: str, other: Any) -> Variant:
    return Variant(replaced=((owner, name, other),))


VARIANTS: Final = {
    "default": Variant(),
    "squares instead of the robust loss": Variant({"loss": "squares"}),
    "without the prior of the bodies": _of(IterativeEstimator, "_with_prior", _same),
    "without the prior of the laws": _of(iterative, "regularizer", _without_drives),
    "laws that depend on the load at every joint": _of(
        IterativeEstimator, "_without_self_locking", _same
    ),
    "cut-off from the bandwidth alone": _of(cutoffs, "lower_cutoff", _constant(None)),
    "every sample instead of means": _of(LogReducer, "equations_per_mean", _constant(1)),
    "fixed shape parameters": _of(drive_columns, "_choices", _middle(drive_columns._choices)),
    "a prior against naive variances": Variant(
        replaced=(
            (iterative, "inflation", _constant(1.0)),
            (priors, "inflation", _constant(1.0)),
        )
    ),
    "time stamps as they are recorded": _of(PolledClock, "of", staticmethod(_constant(None))),
    **{f"without {law}": Variant(without=(law,)) for law in DEFAULT_LAWS},
    **{f"with {law}": Variant(more=(law,)) for law in ("asymmetric", "stribeck", "power")},
    "with springs": Variant(without=("offset",), more=("stiffness", "preload")),
    "sign(q̇) instead of its smooth step": Variant({"friction_width": "0"}),
    "--full": Variant({"full": True}),
}
"""By name in the table."""


def fits(variant: Variant, folder: Path) -> Iterator[tuple[str, list[list[float]]]]:
    """The errors (all rows and moving ones, joint by joint, %) of every trial, each log fitted
    once."""
    found: dict[str, Any] = {}
    for trial in ALL:
        job, loaded, problem = prepared(trial.robot, trial.couple, folder)
        problem = replace(problem, laws=variant.laws)
        if trial.fitted not in found:
            settings = trial.settings(**variant.options)
            log = str(folder / trial.fitted)
            found[trial.fitted] = solved(job, loaded, problem, log, settings)
        tried = halves(trial, folder)[1]
        yield trial.name, np.round(predicted(problem, found[trial.fitted], tried), 4).tolist()


def main(folder: str = "../shared") -> None:
    """Writes the results file."""
    make_tx40(Path(folder))
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name, variant in VARIANTS.items():
        if name in found:
            continue
        with ExitStack() as stack:
            for owner, attribute, other in variant.replaced:
                stack.enter_context(patch.object(owner, attribute, other))
            found[name] = dict(fits(variant, Path(folder)))
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
