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
    flags = " and with ".join(f"`{' '.join(words)}`" for words in machine["flags"].values())
    return f"""# Benchmarks: time of one call compared with CasADi and Pinocchio

`make bench` measures the figures and writes this page. All functions run in one process, in turns of one millisecond, over
64 random states one after the other. A value is the minimum over all rounds. The result of each tool is first compared with
that of symgen, and a tool is timed only if both agree.

The processor is {machine["processor"]}, {machine["cores"]} cores with {_kib(machine)} KiB of instruction cache each. It was
shared with other programs, so the ratios are more reliable than the times. Versions: {machine["gcc"]}, Python
{machine["python"]}, {packages}; symgen at {machine["commit"]}. All results are in [results.json](results.json).

The contenders are:

- **default**: the C of `symgen generate` without options, compiled with `-O2`.
- **libm**: symgen with `--trig libm --zeros once`.
- **inline**: symgen with inline sines (the default) and `--zeros once`. With `-ffast-math` it is compiled with the
  additional flags `{" ".join(EXACT_ENOUGH)}`, because inline sines need the order of their operations.
- **CasADi**: C that CasADi generates with elimination of common subexpressions. The algorithms are those of urdf2casadi
  (chains only) or of Pinocchio with `casadi::SX`; the faster one is shown.
- **Pinocchio**: its C++ templates with `-O3 -march=native -DNDEBUG`. If there are two conventions, the faster one is shown.
  The templates are compiled for the joint types of these robots only, with continuous joints as revolute joints; results
  stay in its `data`.

CasADi and symgen are compiled by gcc with {flags}; the faster result is shown. With `--zeros once` the function does not
write structural zeros, and neither does CasADi. symgen chooses formulations by latency, which is the default.

The quantities are ID inverse dynamics, bias C q̇ + g, M mass matrix, C Coriolis matrix, FD forward dynamics, and dID and dFD,
all first derivatives of ID and FD (with M or M⁻¹).

![Speed-up over CasADi and Pinocchio by robot and quantity](ratios.svg)

![Time per call of each tool by robot and quantity](times.svg)
"""


def _kib(machine: dict[str, Any]) -> int:
    return int(machine["instruction_cache"]) // 1024


def _defaults(rows: Sequence[Row]) -> str:
    """Ratios of the C of `symgen generate` without options, compiled with -O2."""
    return (
        "## Speed-up with default options\n\nThe table compares `symgen generate` without options and "
        "`gcc -O2 -std=c99` with CasADi's C with\n`-O2` and Pinocchio's C++ with its best flags. With "
        "default options symgen also writes structural zeros;\nCasADi does not. "
        '"a / b" means a times faster than CasADi and b times faster than Pinocchio.\nThe '
        "targets are 2 and 8; values below the target are bold.\n\n"
        + _ratios(rows, "defaults", (("CasADi -O2", CASADI), ("Pinocchio", PINOCCHIO)))
    )


def _summary(rows: Sequence[Row]) -> str:
    """All ratios with the best flags of each."""
    return (
        "## Speed-up with the best flags of each tool\n\n"
        '"a / b" means a times faster than CasADi and b times faster than Pinocchio. The targets are '
        "2 and 8; values\nbelow the target are bold.\n\n" + _ratios(rows, "best", _peers())
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
    return f"""## Times and operations by robot

The tables contain two estimates of the minimum time, by the processor model of `symgen ops`. *Throughput* assumes two
additions or multiplications per cycle. *Path* is the longest chain of dependent operations with four cycles each; a division
takes 13 cycles, a sine and cosine of an input 40. Both are divided by the clock{clock}. The larger one is bold, and `/ limit` is the best time
of symgen divided by it. A time can be below the first estimate if the compiler vectorises scalar code or fuses
multiplications and additions. It can be below the second one because a processor starts a call before the previous call
has ended.
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
        "operations of CasADi",
        "throughput, path ns",
        "default ns",
        "libm ns",
        "inline ns",
        "CasADi ns",
        "Pinocchio ns",
        "/ limit",
        "CasADi / symgen",
        "Pinocchio / symgen",
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
    """The ratio, bold if it is below the target."""
    return "–" if x is None else f"**{x:.1f}**" if x < bar else f"{x:.1f}"


def _below(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """The ratios below the target, with an explanation."""
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
    title = f"## Speed-ups below the targets ({CASADI:g} × CasADi, {PINOCCHIO:g} × Pinocchio)"
    table = _table(("robot", "quantity", "ratio", "explanation"), lines)
    return (
        f"{title}\n\n{len(found)} of {cells} values are below the target (bold above):\n\n{table}"
    )


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
        found.append(f"{taken / max(bounds):.1f} × the limit ({which}, {max(bounds):.0f} ns)")
    if peer == "CasADi" and ours and theirs:
        found.append(f"{theirs / ours:.1f} times the operations")
    found += _sines(rows, robot, quantity, taken, machine)
    code = best(rows, robot, quantity, "symgen", "code") or 0
    if code > machine["instruction_cache"]:
        found.append(f"{code / 1024:.0f} KiB of machine code, more than the instruction cache")
    if peer == "Pinocchio" and ours:
        found.append(f"{ours / taken:.1f} operations per ns")
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
        which, what, share = "libm", "time", trig * machine["trig"] / taken
    else:
        which, what, share = "inline", "operations", own / (operations - trig + own)
    text = (
        f"{which} sines and cosines are about {100 * min(share, 1):.0f} % of the {what} of symgen"
    )
    return [text] if share > NOTABLE else []


def _costs(rows: Sequence[Row]) -> str:
    """Generation of all quantities, size of C and compile time, by robot and tool."""
    head = ("robot", "tool", "C kB", "generation s", "MB", "compile -O2 s", "compile fast s")
    return (
        "## Code size, generation time and compile time\n\nThe values are for all quantities above that the "
        "tool supports (their number is in parentheses). Times are CPU\ntimes from the start of the "
        "process.\n\n"
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

This section repeats the experiment of Johannessen, Arbo & Gravdahl (urdf2casadi, 2019) with chains of 2 to 60 joints and the
parameters of UR5 links. The functions of urdf2casadi are used without elimination of common subexpressions. All C is compiled
with `-O2`. The published counts are for a UR5 with other parameters, and their bias is C q̇ without gravity.

![Operations and time per call over the number of joints](growth.svg)
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
