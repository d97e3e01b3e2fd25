"""The figures of docs/benchmarks/identification.md, from the results of `benchmarks.real_logs` and
`benchmarks.coverage`."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures.values import results, table

Errors = NDArray[np.float64]
SHOWN: Final = ("textbook", "textbook, moving rows", "default")
"""The models of the main table."""


def _errors() -> Mapping[str, Mapping[str, Errors]]:
    """Errors (2 x joints: of all rows, of moving ones; %) by trial and model."""
    return {
        trial: {name: np.array(x) for name, x in rows.items()}
        for trial, rows in results("real_logs").items()
    }


def _table(models: tuple[str, ...]) -> str:
    rows = [
        [trial if name == models[0] else "", name, *map(_cells, rows[name])]
        for trial, rows in _errors().items()
        for name in models
    ]
    return table(("fitted, predicted", "model", "all rows", "faster than 0.02 rad/s"), rows)


def _cells(errors: Errors) -> str:
    return " ".join(f"{x:.2f}" if x < 2 else f"{x:.1f}" for x in errors)


def real_logs_table() -> str:
    """Errors of the recipe, of the recipe fitted to moving rows, and of `symgen identify`."""
    return _table(SHOWN)


def friction_table() -> str:
    """Errors of the default beside those of seven fixed laws by least squares."""
    rows = [
        [split if not k else "", name, *(_cells(np.array(x)) for x in errors)]
        for split, models in results("friction_table").items()
        for k, (name, errors) in enumerate(models.items())
    ]
    return table(("fitted, predicted", "model", "all rows", "faster than 0.02 rad/s"), rows)


def friction_smaller(model: str) -> str:
    """At how many figures of `friction_table` a model, whose name has hyphens in place of spaces,
    has a smaller error than the seven laws."""
    name = model.replace("-", " ")
    found = results("friction_table").values()
    smaller = np.concatenate([np.ravel(np.less(x[name], x["seven laws"])) for x in found])
    return f"{int(smaller.sum())} of {smaller.size}"


def prior_table() -> str:
    """Errors of `symgen identify` with and without the robot's file as a prior."""
    return _table(("default", "default without the prior"))


def bodies_table() -> str:
    """The errors of the bodies of ``--urdf`` by those of the estimate."""
    rows = [
        [trial, *map(_ratios, models["default, bodies of --urdf"] / models["default"])]
        for trial, models in _errors().items()
    ]
    return table(("fitted, predicted", "all rows", "faster than 0.02 rad/s"), rows)


def _ratios(ratios: Errors) -> str:
    return " ".join(f"{x:.2f}" for x in ratios)


def code_table() -> str:
    """The predictions of generated C beside those of the estimates, and the growths by bodies."""
    rows = [
        [
            name,
            f"{found['difference']:.0e}",
            _cells(np.array(found["errors"])),
            *(f"{x:.2f} %" for x in found["growth"]),
        ]
        for name, found in results("code_of_logs").items()
    ]
    head = ("log", "difference of the C", "error of the C, %", "bodies", "bodies at least")
    return table(head, rows)


def coverage_table() -> str:
    """The part of the 95 % intervals that contain the true value."""
    rows = [
        [truth if not k else "", model, *(_covered(found[kind]) for kind in ("base", "friction"))]
        for truth, models in results("coverage")["truths"].items()
        for k, (model, found) in enumerate(models.items())
    ]
    return table(("simulated robot", "model", "base parameters", "friction"), rows)


def _covered(found: Mapping[str, float]) -> str:
    count = int(found["count"])
    return f"{100 * found['covered']:.1f} % of {count}" if count else ""


def coverage_seeds() -> str:
    """How many logs of each robot are simulated."""
    return str(results("coverage")["seeds"])


def real_logs_smaller(model: str, factor: str = "1") -> str:
    """At how many figures of joints and rows the default's error is less than `factor` times that
    of a model, whose name has hyphens in place of spaces."""
    name = model.replace("-", " ").replace("textbook ", "textbook, ")
    ratios = np.concatenate([(x["default"] / x[name]).ravel() for x in _errors().values()])
    return f"{int(np.sum(ratios < float(factor)))} of {ratios.size}"


def real_logs_larger() -> str:
    """The joints at which the default's error exceeds that of the textbook recipe on all rows or
    on moving ones, trial by trial."""
    return "; ".join(_larger(_errors(), "default", "textbook", 1.0))


def friction_larger(factor: str) -> str:
    """The joints at which the error from recorded samples exceeds `factor` times that of the seven
    laws, split by split."""
    found = {
        split: {name: np.array(x) for name, x in models.items()}
        for split, models in results("friction_table").items()
    }
    return "; ".join(_larger(found, "default, recorded samples", "seven laws", float(factor)))


def _larger(
    errors: Mapping[str, Mapping[str, Errors]], model: str, other: str, factor: float
) -> Iterator[str]:
    for trial, rows in errors.items():
        worse = np.any(rows[model] > factor * rows[other], axis=0)
        numbers = [str(k) for k in np.flatnonzero(worse) + 1]
        if numbers:
            yield f"{trial}: joint{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


CLEAR: Final = 0.02
"""Relative change of an error that counts as one."""


def estimators_table() -> str:
    """What each mechanism of the estimator adds, beside the default."""
    found = {
        variant: {trial: np.array(x) for trial, x in rows.items()}
        for variant, rows in results("estimators").items()
    }
    default = found.pop("default")
    head = ("variant", "smaller", "larger", "mean of all", *ROBOTS)
    rows = [
        [name, *_changes({trial: np.log(x / default[trial]) for trial, x in errors.items()})]
        for name, errors in found.items()
    ]
    return table(head, rows, numbers=True)


ROBOTS: Final = ("UR10e", "Panda", "Rokae", "TX40", "MTM")


def _changes(logarithms: Mapping[str, Errors]) -> Iterator[str]:
    """How many errors are smaller and larger, and the geometric means of their changes in %."""
    every = np.concatenate([x.ravel() for x in logarithms.values()])
    yield from (str(int(np.sum(sign * every > CLEAR))) for sign in (-1, 1))
    yield f"{100 * np.expm1(every.mean()):+.1f} %"
    for robot in ROBOTS:
        own = [x.ravel() for name, x in logarithms.items() if name.startswith(robot)]
        yield f"{100 * np.expm1(np.concatenate(own).mean()):+.1f} %"


def fleet(*keys: str) -> str:
    """A number of the results of `benchmarks.fleet`, such as ``two_workers seconds``."""
    value = results("fleet")
    for key in keys:
        value = value[key]
    values = value if isinstance(value, list) else [value]
    return ", ".join(f"{x:,.4g}" if isinstance(x, float) else f"{x}" for x in values)


FIGURES: Final = {
    "code-table": code_table,
    "estimators-table": estimators_table,
    "fleet": fleet,
    "friction-table": friction_table,
    "friction-smaller": friction_smaller,
    "friction-larger": friction_larger,
    "real-logs-table": real_logs_table,
    "prior-table": prior_table,
    "bodies-table": bodies_table,
    "coverage-table": coverage_table,
    "coverage-seeds": coverage_seeds,
    "real-logs-smaller": real_logs_smaller,
    "real-logs-larger": real_logs_larger,
}
"""By name, as `benchmarks.figures.values.FIGURES` has its own."""
