"""The page docs/benchmarks/README.md from the results."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks.bench.cases import CHAIN_QUANTITIES, QUANTITIES
from benchmarks.bench.ours import EXACT_ENOUGH
from benchmarks.bench.published import JOHANNESSEN

Row = dict[str, Any]
CASADI, PINOCCHIO = 2.0, 8.0
"""How many times faster than each a cell should be."""

NOTABLE = 0.25
"""A share of sines and cosines in the time worth naming."""

SINCOS = 46
"""Operations of a sine and a cosine of symgen's own."""

KINDS: dict[str, Callable[[str], bool]] = {
    "symgen": lambda tool: tool in ("symgen O2", "symgen fast"),
    "symgen inline": lambda tool: tool.startswith("symgen inline"),
    "CasADi": lambda tool: "casadi" in tool,
    "Pinocchio": lambda tool: tool.startswith("pinocchio"),
    "defaults": lambda tool: tool == "symgen default O2",
    "CasADi -O2": lambda tool: "casadi" in tool and tool.endswith(" O2"),
}
"""Tools by what stands in a column; its figure is the best of them."""

COLUMNS = ("defaults", "symgen", "symgen inline", "CasADi", "Pinocchio")

OURS = ("symgen", "symgen inline", "defaults")


def best(
    rows: Iterable[Row], robot: str, quantity: str, kind: str, key: str = "minimum"
) -> float | None:
    """The smallest figure of a kind of tool."""
    found = [
        row[key]
        for row in rows
        if row["robot"] == robot
        and row["quantity"] == quantity
        and key in row
        and KINDS[kind](row["tool"])
    ]
    return min(found, default=None)


def robots_of(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["robot"] for row in rows))


def ratio(
    rows: Sequence[Row], robot: str, quantity: str, peer: str, kind: str = "best"
) -> float | None:
    """How many times as long the peer takes; `best` is the faster kind of ours."""
    mine = [
        x
        for k in (OURS if kind == "best" else (kind,))
        if (x := best(rows, robot, quantity, k)) is not None
    ]
    other = best(rows, robot, quantity, peer)
    return other / min(mine) if mine and other else None


def page(results: dict[str, Any]) -> str:
    """The whole page."""
    rows, chains = results["robots"], results["chains"]
    below = _below(rows, results["machine"])
    parts = [
        _head(results["machine"]),
        _defaults(rows),
        _summary(rows),
        _limits_in_words(results["machine"]),
        *_times(rows, results["machine"]),
        below,
        _costs(rows),
    ]
    return "\n".join([*parts, *(_chains(chains) if chains else [])]).rstrip() + "\n"


def _head(machine: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    flags = "; ".join(f"`{' '.join(words)}`" for words in machine["flags"].values())
    return f"""# Benchmarks

Written by `make bench`: every figure is of one process, in which all functions take turns of a millisecond, round after
round; 64 random states in a row. Each competitor's result was compared with ours first and is timed only if it agrees.
{machine["processor"]}, {machine["cores"]} cores (shared: trust ratios) with {_kib(machine)} KiB for instructions each;
{machine["gcc"]}, Python {machine["python"]}, {packages}; symgen at {machine["commit"]}.
All figures: [results.json](results.json).

- **default**: the C of `symgen generate` without options, compiled with `-O2` alone; **libm**: with `--trig libm`;
  **inline**: with sines of its own, as by default, which refuse what `-ffast-math` does to the order of operations: there
  with `{" ".join(EXACT_ENOUGH)}`. The latter two with `--zeros once`: entries that vanish in every
  state are not written, as CasADi does not. Formulations are chosen by latency, as by default.
- **CasADi**: C that CasADi writes, the faster of urdf2casadi's algorithms (chains only) and Pinocchio's over
  `casadi::SX`, common subexpressions eliminated. It and symgen are compiled by gcc with {flags};
  the faster counts.
- **Pinocchio**: its C++ templates, `-O3 -march=native -DNDEBUG`, the faster convention where there are two;
  compiled with the joint types of these robots only, continuous joints as revolute ones, results left in its `data`.
- Quantities: ID inverse dynamics, bias C q̇ + g, M mass matrix, C Coriolis matrix, FD forward dynamics, dID and dFD all
  first derivatives (with M, M⁻¹). Minimum over the rounds.

![Ratios](ratios.svg)

![Times](times.svg)
"""


def _kib(machine: dict[str, Any]) -> int:
    return int(machine["instruction_cache"]) // 1024


def _defaults(rows: Sequence[Row]) -> str:
    """What a newcomer has: the C of `symgen generate` without options, and -O2."""
    return (
        "## As it comes\n\n`symgen generate` without options and `gcc -O2 -std=c99`, beside CasADi's C "
        "with `-O2` and Pinocchio's\nC++ with its best flags. Ours writes the entries that vanish in "
        "every state, too, which CasADi's do not have.\nHow many times faster than each (aims 2 "
        "and 8; bold: below):\n\n"
        + _ratios(rows, "defaults", (("CasADi -O2", CASADI), ("Pinocchio", PINOCCHIO)))
    )


def _summary(rows: Sequence[Row]) -> str:
    """All ratios with the best flags of each."""
    return (
        "## With the best flags of each\n\n"
        "How many times faster than CasADi / Pinocchio (aims 2 and 8; bold: below):\n\n"
        + _ratios(rows, "best", _peers())
    )


def _ratios(rows: Sequence[Row], mine: str, peers: Sequence[tuple[str, float]]) -> str:
    lines = [
        [
            robot,
            *(
                " / ".join(
                    _marked(ratio(rows, robot, quantity, peer, mine), bar) for peer, bar in peers
                )
                for quantity in QUANTITIES
            ),
        ]
        for robot in robots_of(rows)
    ]
    return _table(("robot", *QUANTITIES.values()), lines)


def _limits_in_words(machine: dict[str, Any]) -> str:
    clock = f" (here {1 / machine['cycle']:.2f} GHz, measured)" if "cycle" in machine else ""
    return f"""## Robots

**Limits**: what our operations take at least by the model of `symgen ops`: *throughput*, two sums or products a cycle, and
*path*, the longest chain of them at four cycles each (quotients 13; a sine and cosine at the start 40), both divided by the
clock{clock}. Compilers that make vectors of scalar code or fuse products go below the
first, and processors, which begin a call before the last one has ended, below the second. Bold is the larger one, and
`/ limit` what the best of our times is of it.
"""


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n{body}\n"


def _shown(x: float | None, digits: int = 0) -> str:
    return "–" if x is None else f"{x:.{digits}f}"


def _times(rows: Sequence[Row], machine: dict[str, Any]) -> Iterator[str]:
    head = (
        "quantity",
        "operations",
        "CasADi's",
        "throughput, path ns",
        "default ns",
        "libm ns",
        "inline ns",
        "CasADi ns",
        "Pinocchio ns",
        "/ limit",
        "CasADi / ours",
        "Pinocchio / ours",
    )
    for robot in robots_of(rows):
        yield f"### {robot}\n"
        yield _table(head, (_line(rows, robot, quantity, machine) for quantity in QUANTITIES))


def _line(rows: Sequence[Row], robot: str, quantity: str, machine: dict[str, Any]) -> list[str]:
    counts = [
        _shown(best(rows, robot, quantity, kind, "operations")) for kind in ("symgen", "CasADi")
    ]
    times = [_shown(best(rows, robot, quantity, kind)) for kind in COLUMNS]
    bounds = limits(rows, robot, quantity, machine)
    shown = ", ".join(f"**{x:.0f}**" if x == max(bounds) else f"{x:.0f}" for x in bounds)
    share = spent(rows, robot, quantity) / max(bounds) if bounds else None
    marks = [_marked(ratio(rows, robot, quantity, peer), bar) for peer, bar in _peers()]
    return [QUANTITIES[quantity], *counts, shown or "–", *times, _shown(share, 1), *marks]


def spent(rows: Sequence[Row], robot: str, quantity: str) -> float:
    """The best of our times."""
    return min(x for kind in OURS if (x := best(rows, robot, quantity, kind)) is not None)


def limits(
    rows: Sequence[Row], robot: str, quantity: str, machine: dict[str, Any]
) -> tuple[float, ...]:
    """Nanoseconds of throughput and of the longest path; none where they are not known."""
    found = [best(rows, robot, quantity, "symgen inline", key) for key in ("work", "path")]
    cycle = machine.get("cycle", 0.0)
    return tuple(x * cycle for x in found if x is not None and cycle)


def _peers() -> tuple[tuple[str, float], ...]:
    return (("CasADi", CASADI), ("Pinocchio", PINOCCHIO))


def _marked(x: float | None, bar: float) -> str:
    """Bold where it is below the bar."""
    return "–" if x is None else f"**{x:.1f}**" if x < bar else f"{x:.1f}"


def _below(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """The cells below the bar, by name and reason."""
    found = [
        (robot, quantity, peer, x)
        for robot in robots_of(rows)
        for quantity in QUANTITIES
        for peer, bar in _peers()
        if (x := ratio(rows, robot, quantity, peer)) is not None and x < bar
    ]
    lines = [
        (
            robot,
            QUANTITIES[quantity],
            f"{x:.1f} × {peer}",
            _reason(rows, robot, quantity, peer, machine),
        )
        for robot, quantity, peer, x in found
    ]
    cells = sum(
        ratio(rows, robot, quantity, peer) is not None
        for robot in robots_of(rows)
        for quantity in QUANTITIES
        for peer, _ in _peers()
    )
    title = f"## Below {CASADI:g} × CasADi or {PINOCCHIO:g} × Pinocchio"
    table = _table(("robot", "quantity", "ratio", "why"), lines)
    return f"{title}\n\n{len(found)} of {cells} cells (bold above):\n\n{table}"


def _reason(
    rows: Sequence[Row], robot: str, quantity: str, peer: str, machine: dict[str, Any]
) -> str:
    """What is known: of the pair itself, from counts, the time of sines and cosines, and the size
    of the code."""
    ours, theirs = (
        best(rows, robot, quantity, kind, "operations") for kind in ("symgen", "CasADi")
    )
    taken = spent(rows, robot, quantity)
    found = []
    bounds = limits(rows, robot, quantity, machine)
    if bounds:
        which = "path" if bounds[1] == max(bounds) else "throughput"
        found.append(f"{taken / max(bounds):.1f} × our limit ({which}, {max(bounds):.0f} ns)")
    if peer == "CasADi" and ours and theirs:
        found.append(f"{theirs / ours:.1f} times the operations")
    found += _sines(rows, robot, quantity, taken, machine)
    code = best(rows, robot, quantity, "symgen", "code") or 0
    if code > machine["instruction_cache"]:
        found.append(f"{code / 1024:.0f} KiB of machine code, more than the instruction cache")
    if peer == "Pinocchio" and ours:
        found.append(f"{ours / taken:.1f} operations a ns")
    return "; ".join(found)


def _sines(
    rows: Sequence[Row], robot: str, quantity: str, taken: float, machine: dict[str, Any]
) -> list[str]:
    """The share of sines and cosines where it is notable: of the time with libm's, of the
    arithmetic with ours."""
    trig, operations = (
        best(rows, robot, quantity, "symgen", key) or 0 for key in ("trig", "operations")
    )
    own = trig / 2 * SINCOS
    if taken == best(rows, robot, quantity, "symgen"):
        whose, what, share = "libm's", "time", trig * machine["trig"] / taken
    else:
        whose, what, share = "our", "arithmetic", own / (operations - trig + own)
    text = f"{whose} sines and cosines are about {100 * min(share, 1):.0f} % of our {what}"
    return [text] if share > NOTABLE else []


def _costs(rows: Sequence[Row]) -> str:
    """Generation of all quantities, size of C and compile time, by robot and tool."""
    head = ("robot", "tool", "C kB", "generation s", "MB", "compile -O2 s", "compile fast s")
    return (
        "## Cost of the code\n\nAll quantities above that the tool has; CPU time from process "
        "start.\n\n"
        + _table(
            head,
            (
                _cost(rows, robot, tool)
                for robot in robots_of(rows)
                for tool in ("symgen", "symgen inline", "urdf2casadi", "casadi pinocchio")
                if any(row["tool"] == f"{tool} O2" and row["robot"] == robot for row in rows)
            ),
        )
    )


def _cost(rows: Sequence[Row], robot: str, tool: str) -> list[str]:
    plain, fast = (
        [row for row in rows if row["robot"] == robot and row["tool"] == f"{tool} {flag}"]
        for flag in ("O2", "fast")
    )
    made = plain[0]["generation"]
    seconds = [sum(row["compile"]["seconds"] for row in some) for some in (plain, fast)]
    return [
        robot,
        f"{tool} ({len(plain)})",
        _shown(sum(row["bytes"] for row in plain) / 1e3),
        _shown(made["seconds"], 1),
        _shown(made["megabytes"]),
        *(_shown(x, 1) for x in seconds),
    ]


def _chains(rows: Sequence[Row]) -> Iterator[str]:
    yield """## Chains of UR5 joints

The experiment of Johannessen, Arbo & Gravdahl (urdf2casadi, 2019): chains of 2 to 60 joints made of UR5 parameters.
Here urdf2casadi's functions are as it makes them (no elimination of common subexpressions); all C with `-O2`. Published
counts are of a UR5 with other numbers and of C q̇ without gravity in place of bias.

![Growth](growth.svg)
"""
    lengths = sorted({row["joints"] for row in rows})
    for key, title in (("operations", "Operations"), ("minimum", "Nanoseconds")):
        tools = (
            "symgen O2",
            "casadi pinocchio O2",
            "urdf2casadi O2",
            *(("pinocchio",) if key == "minimum" else ()),
        )
        lines = [
            _grown(rows, key, quantity, tool, lengths)
            for quantity in CHAIN_QUANTITIES
            for tool in tools
        ]
        lines += (
            [_published(quantity, lengths) for quantity in JOHANNESSEN]
            if key == "operations"
            else []
        )
        yield f"{title}:\n"
        yield _table(("quantity", "tool", *map(str, lengths)), lines)


def _grown(
    rows: Sequence[Row], key: str, quantity: str, tool: str, lengths: Sequence[int]
) -> list[str]:
    figures = (_shown(at(rows, key, quantity, tool, n)) for n in lengths)
    return [QUANTITIES[quantity], tool.removesuffix(" O2"), *figures]


def at(rows: Iterable[Row], key: str, quantity: str, tool: str, joints: int) -> float | None:
    """A figure of a chain; of Pinocchio's conventions the faster."""
    found = [
        row[key]
        for row in rows
        if key in row
        and row["quantity"] == quantity
        and row["joints"] == joints
        and (row["tool"] == tool or (tool == "pinocchio" and row["tool"].startswith("pinocchio")))
    ]
    return min(found, default=None)


def _published(quantity: str, lengths: Sequence[int]) -> list[str]:
    counts = JOHANNESSEN[quantity]
    return [QUANTITIES[quantity], "published", *(str(counts.get(n, "–")) for n in lengths)]
