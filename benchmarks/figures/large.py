"""The figures of docs/large.md, from stored results."""

from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.bench.cases import QUANTITIES
from benchmarks.figures.values import results, table


def large_agreement() -> str:
    """Errors against Pinocchio and against the laws, a row for each robot."""
    rows = results("large_agreement")["rows"]
    names = [*rows[0]["laws"]]
    head = ("robot", "velocities", *(QUANTITIES[name] for name in names))
    cells = [
        [f"{row['pinocchio'][name]:.0e} / {row['laws'][name]:.0e}" for name in names]
        for row in rows
    ]
    lines = [
        (row["robot"], str(row["velocities"]), *line) for row, line in zip(rows, cells, strict=True)
    ]
    return table(head, lines, numbers=True)


def large_agreement_worst(way: str) -> str:
    """The largest error against `pinocchio` or `laws`."""
    worst = max(x for row in results("large_agreement")["rows"] for x in row[way].values())
    return f"{worst:.0e}"


FIGURES: Final[Mapping[str, Callable[..., str]]] = {
    "large-agreement": large_agreement,
    "large-agreement-worst": large_agreement_worst,
}
