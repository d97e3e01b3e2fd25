"""How programs grow with joints: `python -m benchmarks.growth` measures long chains, stores them in
docs/benchmarks/growth.json and draws curves.svg; `make figures` writes docs/benchmarks/growth.md.

Chains of UR5 joints, the six again and again, as in Johannessen, Arbo & Gravdahl (urdf2casadi,
2019). Up to 60 joints their published counts stand beside ours; up to 200 joints inverse dynamics
and its tape must grow linearly."""

import json
import sys
import time
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from benchmarks.bench.cases import ROBOTS
from benchmarks.bench.plain import Plain, chain_urdf
from benchmarks.bench.published import JOHANNESSEN
from benchmarks.pictures import save
from symgen.inspection.rendering import BLUE, ORANGE, new_figure, styled
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

DOCS: Final = Path(__file__).resolve().parents[1] / "docs/benchmarks"
FILE: Final = DOCS / "growth.json"
PUBLISHED_LENGTHS: Final = (1, 2, 5, 10, 20, 30, 40, 50, 60)
MANY: Final = 20
LONG_WAYS: Final = {
    "mass_matrix": ("composite/minimal",),
    "forward_dynamics": (
        "forward_dynamics_articulated/minimal",
        "forward_dynamics_articulated/balanced",
    ),
}
"""The formulations that are the cheapest for chains of `MANY` joints or more; the others are slow
to trace there."""
LONG: Final = (25, 50, 100, 200)
SHALLOW: Final = 120
"""Frames of Python that the longest chain must do with above those of the caller: far fewer than it
has joints."""


class Growth(NamedTuple):
    """What inverse dynamics of a chain takes."""

    joints: int
    operations: int
    nodes: int
    seconds: float
    """CPU time from the loaded robot to the traced program, both regroupings tried."""
    bytes: int
    """Memory of the finished program."""


def chain(joints: int) -> ParametricModel:
    """A chain of UR5 joints."""
    links = Plain.of(ROBOTS / "ur5.urdf", (), False).joints
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chain.urdf"
        path.write_text(
            chain_urdf([links[k % len(links)] for k in range(joints)]), encoding="utf-8"
        )
        return ParametricModel(load(path).model)


def curves() -> dict[str, dict[int, int]]:
    """Our operations by quantity and joints."""
    robots = {n: chain(n) for n in PUBLISHED_LENGTHS}
    return {q: {n: _operations(r, q) for n, r in robots.items()} for q in JOHANNESSEN}


def _operations(robot: ParametricModel, quantity: str) -> int:
    ways = LONG_WAYS.get(quantity) if robot.model.dof >= MANY else None
    choices = [{quantity: way} for way in ways] if ways else [{}]
    return min(
        trace(robot, FunctionRequest.parse(quantity), choice).counts.total for choice in choices
    )


def growth(joints: int) -> Growth:
    """Inverse dynamics of a chain, with hardly any recursion allowed."""
    robot, wanted = chain(joints), FunctionRequest.parse("inverse_dynamics")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(SHALLOW)
    try:
        start = time.process_time()
        counts = trace(robot, wanted).counts
        seconds = time.process_time() - start
        tracemalloc.start()
        program = trace(robot, wanted, {"inverse_dynamics": "newton_euler/minimal"}).program
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    finally:
        sys.setrecursionlimit(before)
    return Growth(joints, counts.total, len(program.nodes), seconds, size)


def page(ours: Mapping[str, Mapping[int, int]], long: Sequence[Growth]) -> Iterator[str]:
    """The lines of the page: `ours` are operations by quantity and number of joints."""
    yield from (*HEAD, "")
    yield f"| quantity | tool | {' | '.join(map(str, PUBLISHED_LENGTHS))} |"
    yield "|---" * (len(PUBLISHED_LENGTHS) + 2) + "|"
    for q, counts in ours.items():
        yield f"| {q} | symgen | {' | '.join(str(counts[n]) for n in PUBLISHED_LENGTHS)} |"
        yield (
            f"| {q} | published | "
            f"{' | '.join(str(JOHANNESSEN[q].get(n, '–')) for n in PUBLISHED_LENGTHS)} |"
        )
    yield from ("", *LINEAR, "")
    yield (
        "| joints | operations | per joint | nodes of the graph | CPU s | ms per joint | bytes "
        "per node |"
    )
    yield "|---" * 7 + "|"
    for g in long:
        yield (
            f"| {g.joints} | {g.operations} | {g.operations / g.joints:.1f} | {g.nodes} | "
            f"{g.seconds:.2f} | "
            f"{1000 * g.seconds / g.joints:.1f} | {g.bytes / g.nodes:.0f} |"
        )


HEAD: Final = """# Growth: operations and generation time for long chains

`make figures` writes this page; `python -m benchmarks.growth` (extra `bench`) measures the times.

The robots are chains with the parameters of UR5 links. The published counts are those of urdf2casadi (Johannessen, Arbo &
Gravdahl 2019) for a UR5 with other parameters. Their bias is C q̇ without gravity, and their forward dynamics is the
articulated-body algorithm.

![Operations over the number of joints, symgen and published](curves.svg)

""".splitlines()
LINEAR: Final = f"""## Generation time up to 200 joints

The table is for inverse dynamics, traced with both kinds of regrouping. Python's recursion limit is set to {SHALLOW} frames,
which shows that no step recurses over joints or operations. The bytes are those of the complete expression graph (nodes,
index and names); an operation is one node.

""".splitlines()


@styled
def draw(ours: dict[str, dict[int, int]], path: Path) -> None:
    """Operations over joints, log-log, a panel a quantity: ours in full lines, the published ones
    dashed."""
    figure = new_figure(13, 3.4)
    axes = figure.subplots(1, len(ours), sharey=True)
    for axis, (q, counts) in zip(axes, ours.items(), strict=True):
        both = (
            (JOHANNESSEN[q], ORANGE, "s--", "published (urdf2casadi)"),
            (counts, BLUE, "o-", "symgen"),
        )
        for found, color, look, label in both:
            rows = {n: c for n, c in found.items() if c and n > 1}
            axis.plot([*rows], [*rows.values()], look, color=color, ms=4, label=label)
        axis.set(xscale="log", yscale="log", xlabel="joints", title=q.replace("_", " "))
        shown = [n for n in PUBLISHED_LENGTHS if n not in (1, 30, 50)]
        axis.set_xticks(shown, [str(n) for n in shown])
        axis.minorticks_off()
    axes[0].set_ylabel("operations")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    save(figure, path)


def stored() -> list[Growth]:
    """The stored measurements of long chains."""
    return [Growth(*row) for row in json.loads(FILE.read_text(encoding="utf-8"))]


def main() -> None:
    """Measure long chains and draw the curves."""
    draw(curves(), DOCS / "curves.svg")
    FILE.write_text(json.dumps([growth(n) for n in LONG], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
