"""The figures that pages show, each by its name, as text from the stored results."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from benchmarks import published
from benchmarks.bench.cases import QUANTITIES
from benchmarks.bench.report import ratio
from benchmarks.figures import counts
from benchmarks.figures.counts import ROOT
from benchmarks.operations import OTHERS

RESULTS: Final = ROOT / "docs" / "benchmarks"
HEADLINE: Final = {"ur5": "UR5", "panda": "Panda", "talos": "Talos"}
"""Robots that README and the first page of the site compare, by the key of results.json."""

LABELS: Final = {
    "gravity": "gravity",
    "bias": "bias C q̇ + g",
    "inverse_dynamics": "inverse dynamics",
    "mass_matrix": "mass matrix",
    "coriolis_matrix": "Coriolis matrix",
    "christoffel_symbols": "Christoffel symbols",
    "forward_dynamics": "forward dynamics",
    "inverse_dynamics_derivatives": "∂τ/∂q, ∂τ/∂q̇, M",
    "forward_dynamics_derivatives": "∂q̈/∂q, ∂q̈/∂q̇, M⁻¹",
}
"""Rows of README's table of operations."""


@cache
def results(name: str) -> Any:
    """A stored results file of docs/benchmarks."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """A Markdown table; all columns but the first are aligned to the right if they are
    `numbers`."""
    rule = "|---" + ("|---:" if numbers else "|---") * (len(head) - 1) + "|"
    return "\n".join([_row(head), rule, *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def span(values: Iterable[float], digits: int = 1) -> str:
    """Smallest and largest value in words."""
    found = sorted(values)
    return f"{found[0]:.{digits}f} to {found[-1]:.{digits}f}"


# -- operations ------------------------------------------------------------------------------------


def _ours() -> Mapping[str, Mapping[str, int]]:
    found: Mapping[str, Mapping[str, int]] = results("counts")["peers"]
    return found


def operations(robot: str, quantity: str) -> str:
    """Operations of a quantity of a robot of docs/benchmarks/operations.md."""
    return f"{_ours()[robot][quantity]:,}"


def operations_of_demo(quantity: str, kind: str = "total") -> str:
    """Operations of the UR5 of `make demo`: all of them, or ``trig``, its sines and cosines."""
    return str(results("counts")["default"][quantity][kind])


def operations_ratio() -> str:
    """How many times fewer operations than the best peer, over the robots of README's table."""
    shown = counts.PEERS[: len(HEADLINE)]
    ratios = [
        peer / _ours()[robot][quantity]
        for quantity, others in OTHERS.items()
        for robot, (peer, _) in zip(shown, others, strict=False)
        if peer
    ]
    return span(ratios)


def operations_table() -> str:
    """README's table: the best peer and ours."""
    rows = [
        [LABELS[quantity]]
        + [
            f"{peer or 'none'} / **{_ours()[robot][quantity]}**"
            for robot, (peer, _) in zip(counts.PEERS[: len(HEADLINE)], others, strict=False)
        ]
        for quantity, others in OTHERS.items()
    ]
    return table(("best peer / symgen", "UR5", "Panda, 7 joints", "Talos, 32 joints"), rows)


def closed_form_length(robot: str, masses: str) -> str:
    """Characters of entry (1, 1) of the mass matrix, with ``numbers`` or ``symbols`` for masses."""
    return f"{results('counts')['closed_forms'][robot][masses]:,}"


# -- speed -----------------------------------------------------------------------------------------


def _ratios(peer: str) -> list[list[float]]:
    rows = results("results")["robots"]
    found = [[ratio(rows, robot, quantity, peer) for quantity in QUANTITIES] for robot in HEADLINE]
    return [[x for x in row if x is not None] for row in found]


def speed_ratio(peer: str) -> str:
    """How many times faster than a peer (``CasADi``, ``Pinocchio``), over README's table."""
    return span(x for row in _ratios(peer) for x in row)


def speed_table() -> str:
    """README's table of speed: CasADi / Pinocchio, as docs/benchmarks/README.md has it."""
    pairs = zip(HEADLINE.values(), _ratios("CasADi"), _ratios("Pinocchio"), strict=True)
    rows = [
        [name, *(f"{a:.1f} / {b:.1f}" for a, b in zip(casadi, pinocchio, strict=True))]
        for name, casadi, pinocchio in pairs
    ]
    return table(("", *QUANTITIES.values()), rows)


def measured(name: str) -> str:
    """Processor and commit of a results file."""
    machine = results(name)["machine"]
    commit = machine["commit"].removesuffix("-dirty")
    return f"{machine['processor']}, commit {commit}"


@cache
def page_rows(page: str, heading: str) -> tuple[tuple[str, ...], ...]:
    """The rows, without the head, of the first table under a heading of a page in docs/benchmarks
    that a benchmark wrote. Raises LookupError if there is none."""
    text = (RESULTS / f"{page}.md").read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {heading}\n")
    if not found:
        raise LookupError(f"docs/benchmarks/{page}.md has no heading {heading!r}")
    lines = re.findall(r"^\|(.*)\|$", rest.partition("\n## ")[0], re.MULTILINE)[2:]
    return tuple(tuple(cell.strip() for cell in line.split("|")) for line in lines)


def python_share() -> str:
    """Time of one call from Python, in percent of Pinocchio's binding."""
    rows = [row for robot in ("UR5", "Panda") for row in page_rows("python", f"{robot}: one call")]
    times = [(_number(row[1]), _number(row[2])) for row in rows if row[2]]
    return f"{span((100 * ours / theirs for ours, theirs in times), 0)} %"


def batch_gain() -> str:
    """How many times less a state takes in a batch than in a single call, with fused products, over
    the robots of README's table; regressors, which are bound by memory, are left out."""
    rows = [row for robot in HEADLINE for row in page_rows("batch", robot) if row[0] != "regressor"]
    return span(_number(row[5]) / _number(row[8]) for row in rows)


def _number(cell: str) -> float:
    return float(cell.split()[0].replace(",", ""))


# -- SymPy -----------------------------------------------------------------------------------------

SYMPY_LABELS: Final = {
    "example/ur5": "UR5",
    "example/panda": "Panda",
    "example/talos": "Talos",
}


def sympy_table() -> str:
    """Operations and seconds of SymPy's cse and of symgen on the same recursion."""
    stored = results("sympy")
    rows = [
        [
            f"{SYMPY_LABELS[row['robot']]}, {LABELS[row['quantity']]}",
            *(_cell(row[kind], stored["limit"]) for kind in ("cse default", "cse basic", "symgen")),
        ]
        for row in stored["rows"]
    ]
    head = ("operations / seconds", "`sympy.cse`", 'with `optimizations="basic"`', "symgen")
    return table(head, rows, numbers=True)


def _cell(found: Mapping[str, float] | None, limit: int) -> str:
    if found is None:
        return f"more than {limit} s"
    return f"{found['operations']:.0f} / {_digits(found['seconds'])}"


def _digits(x: float) -> str:
    """Two significant digits, without an exponent."""
    return f"{x:.0f}" if x >= 10 else f"{x:.1f}" if x >= 1 else f"{x:.2g}"


def sympy_operations(robot: str, quantity: str, kind: str = "cse") -> str:
    """The fewest operations that `sympy.cse` finds for a quantity, or those of ``symgen``."""
    row = _sympy_row(robot, quantity)
    if kind == "symgen":
        return f"{row['symgen']['operations']:.0f}"
    found = (row[name] for name in ("cse default", "cse basic"))
    return f"{min(x['operations'] for x in found if x):.0f}"


def sympy_seconds(robot: str, quantity: str, kind: str) -> str:
    """Seconds of ``symgen``, or of the pass of `sympy.cse` with the fewest operations."""
    row = _sympy_row(robot, quantity)
    if kind == "symgen":
        return _digits(row["symgen"]["seconds"])
    found = [x for name in ("cse default", "cse basic") if (x := row[name])]
    return _digits(min(found, key=lambda x: x["operations"])["seconds"])


def _sympy_row(robot: str, quantity: str) -> Mapping[str, Any]:
    rows = results("sympy")["rows"]
    return next(row for row in rows if (row["robot"], row["quantity"]) == (robot, quantity))


# -- docs/proof.md ---------------------------------------------------------------------------------


def laws_table() -> str:
    """Errors of the laws."""
    found = results("proof")["laws"]
    robots = [*next(iter(found.values()))]
    rows = [[law, *(f"{row[name]:.1e}" for name in robots)] for law, row in found.items()]
    return table(("law", *robots), rows, numbers=True)


def validity_table() -> str:
    """Errors of C, of the rate of M and of Γ beside those of Echeandia (2020)."""
    rows = []
    for kind, (*errors, torque) in results("proof")["validity"].items():
        bodies = int(re.findall(r"\d+", kind)[0])
        theirs = published.ECHEANDIA_VALIDITY[bodies] if kind.startswith("chain") else ("",) * 3
        both = zip(errors, theirs, strict=True)
        cells = [f"{x:.1e} / {y}" if y else f"{x:.1e}" for x, y in both]
        rows.append([kind, *cells, f"{torque:.0f} N m"])
    head = ("ours / published", "C q̇ − τ", "Ṁ − (C + Cᵀ)", "Σ Γ q̇ − C", "largest torque")
    return table(head, rows, numbers=True)


def times_of_c_table() -> str:
    """Times of one call beside those of Echeandia's table 3.2."""
    rows = []
    for kind, by_flags in results("proof")["times_of_c"].items():
        theirs = (*published.ECHEANDIA_TIMES[kind], None)
        for flags, times in by_flags.items():
            cells = [
                f"{ns / 1000:.1f}" + (f" / {us}" if us else "")
                for ns, us in zip(times, theirs, strict=True)
            ]
            rows.append([f"{kind}, 20 bodies, `{flags}`", *cells])
    head = ("µs for one call, ours / published (C++)", "C", "Γ, all n³", "Γ, packed")
    return table(head, rows, numbers=True)


def symbolic_times_table() -> str:
    """Times from a robot's file to operations beside those of Echeandia's table 3.3."""
    rows = [
        [
            f"chain, {n} bodies",
            *(
                f"{ours:.2f} / {theirs:.2f}"
                for ours, theirs in zip(times, published.ECHEANDIA_SYMBOLIC[int(n)], strict=True)
            ),
        ]
        for n, times in results("proof")["symbolic_times"].items()
    ]
    head = ("s of processor time, ours / published (MATLAB)", "M", "Γ")
    return table(head, rows, numbers=True)


def agreement_table() -> str:
    """Sums of differences to Pinocchio beside Johannessen's (2019)."""
    rows = [
        [name]
        + [
            f"{x:.1e} / {y}" if y else f"{x:.1e}"
            for x, y in zip(sums, published.JOHANNESSEN_AGREEMENT[name], strict=True)
        ]
        for name, sums in results("proof")["agreement"].items()
    ]
    names = ("g", "C q̇", "inverse dynamics", "M", "forward dynamics")
    return table(("ours to Pinocchio / published", *names), rows, numbers=True)


def johannessen_table() -> str:
    """Operations beside Johannessen's (2019)."""
    ours = results("counts")["johannessen"]
    rows = [
        [label]
        + [
            f"**{ours[robot][quantity]}** / {theirs}"
            for robot, theirs in zip(counts.JOHANNESSEN, published_counts, strict=True)
        ]
        for quantity, (label, published_counts) in published.JOHANNESSEN_OPERATIONS.items()
    ]
    return table(("", "pendulum", "UR5", "snake, 16 joints"), rows, numbers=True)


def johannessen(robot: str, quantity: str) -> str:
    """One count of `johannessen_table`."""
    return f"{results('counts')['johannessen'][robot][quantity]:,}"


def johannessen_ratio(robot: str, quantity: str) -> str:
    """Our count as a multiple of the published one."""
    theirs = published.JOHANNESSEN_OPERATIONS[quantity][1][counts.JOHANNESSEN.index(robot)]
    return f"{results('counts')['johannessen'][robot][quantity] / theirs:.2f}"


def humanoid_table() -> str:
    """All matrices and their rates of a humanoid beside Garofalo et al. (2013)."""
    operations_of, times = results("counts")["humanoid"], results("proof")["humanoid_times"]
    names = {"": "C of Christoffel symbols", "newton_euler_": "C of Newton-Euler form"}
    rows = []
    for prefix, words in names.items():
        pair = (f"{prefix}terms", f"{prefix}rates")
        for name, what in zip(pair, ("M, C, g", "with Ṁ, Ċ, ġ"), strict=True):
            spent = (f"{by_flags[name] / 1000:.2f}" for by_flags in times.values())
            rows.append([f"{what}; {words}", str(operations_of[name]), *spent])
        ratios = (f"{by[pair[1]] / by[pair[0]] / 2:.2f}" for by in times.values())
        share = operations_of[pair[1]] / operations_of[pair[0]] / 2
        rows.append([f"ratio to twice the former; {words}", f"{share:.2f}", *ratios])
    their = published.GAROFALO
    rows.append(["published: M, C, g; ratio", "", f"{their['microseconds']}; {their['ratio']}", ""])
    return table(
        ("one C function", "operations", *(f"µs, `{x}`" for x in times)), rows, numbers=True
    )


def humanoid(name: str) -> str:
    """Operations of a function of the humanoid."""
    return f"{results('counts')['humanoid'][name]:,}"


def humanoid_ratio(prefix: str = "") -> str:
    """Operations with rates relative to twice those without."""
    found = results("counts")["humanoid"]
    return f"{found[f'{prefix}rates'] / found[f'{prefix}terms'] / 2:.2f}"


def self_tests_table() -> str:
    """Where the reference values of self-tests come from."""
    head = ("robot", "velocities", "quantities", "independent law", "the same algorithm")
    rows = (
        [
            key,
            *map(str, (row["n"], row["quantities"], row["quantities"] - row["same"], row["same"])),
        ]
        for key, row in results("counts")["self_tests"].items()
    )
    return table(head, rows, numbers=True)


FIGURES: Final[Mapping[str, Callable[..., str]]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        operations,
        operations_of_demo,
        operations_ratio,
        operations_table,
        closed_form_length,
        speed_ratio,
        speed_table,
        measured,
        python_share,
        batch_gain,
        sympy_table,
        sympy_operations,
        sympy_seconds,
        laws_table,
        validity_table,
        times_of_c_table,
        symbolic_times_table,
        agreement_table,
        johannessen_table,
        johannessen,
        johannessen_ratio,
        humanoid_table,
        humanoid,
        humanoid_ratio,
        self_tests_table,
    )
}
"""By name: the function that gives a figure's text; its arguments are the words after the name."""
