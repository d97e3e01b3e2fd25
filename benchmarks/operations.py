"""The page docs/benchmarks/operations.md, which `make figures` writes: our operation counts, those of
the best peer and those of the first prototype.

Our counts are deterministic. Those of the peers were measured once, with Pinocchio 4.1 over
casadi::SX in its best mode and urdf2casadi 1.0 (the smaller one is the best peer)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Final

TITLE: Final = ("UR5", "Panda", "Talos", "snake 16")
AIM: Final = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
)
"""Quantities whose mean ratio to the prototype has a target of 0.9."""

OTHERS: Final[Mapping[str, tuple[tuple[int | None, int], ...]]] = {
    "gravity": ((133, 22), (328, 114), (1086, 570), (457, 248)),
    "bias": ((499, 288), (1210, 572), (4960, 2909), (1717, 1040)),
    "inverse_dynamics": ((574, 320), (1230, 599), (5010, 3019), (1803, 1073)),
    "mass_matrix": ((305, 163), (1085, 332), (3859, 2142), (2716, 1793)),
    "coriolis_matrix": ((3330, 630), (4664, 1344), (23030, 8005), (13085, 5949)),
    "christoffel_symbols": ((None, 443), (None, 1166), (None, 9659), (None, 16681)),
    "forward_dynamics": ((1295, 565), (2687, 1129), (10024, 6520), (4807, 4775)),
    "inverse_dynamics_derivatives": ((3696, 1488), (7562, 2988), (38046, 17132), (23244, 11839)),
    "forward_dynamics_derivatives": ((7740, 2651), (10673, 5264), (68642, 37957), (46448, 34767)),
}
"""By quantity, for each robot: the best peer's operations (None: no peer has it) and the
prototype's."""


def text(counts: Mapping[str, Mapping[str, int]]) -> str:
    """The page; `counts` are ours by robot, in the order of `TITLE`, and quantity."""
    ours = {quantity: [row[quantity] for row in counts.values()] for quantity in OTHERS}
    return "\n".join(page(ours)) + "\n"


def page(ours: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """The lines of the page."""
    ratios = {q: [n / OTHERS[q][k][1] for k, n in enumerate(row)] for q, row in ours.items()}
    yield from (*HEAD, "")
    yield f"| quantity | {' | '.join(TITLE)} | mean of symgen / prototype |"
    yield "|---" * (len(TITLE) + 2) + "|"
    for q, row in ours.items():
        cells = [
            f"{peer or '–'} / {first} / **{n}**"
            for (peer, first), n in zip(OTHERS[q], row, strict=True)
        ]
        yield f"| {q} | {' | '.join(cells)} | {mean(ratios[q]):.3f} |"
    yield ""
    aimed = [r for q in AIM for r in ratios[q]]
    yield (
        f"The mean ratio to the prototype over five quantities ({', '.join(AIM)}) and the four robots is "
        f"**{mean(aimed):.3f}** (target: at most 0.900)."
    )
    best = [n / peer for q in AIM for n, (peer, _) in zip(ours[q], OTHERS[q], strict=True) if peer]
    yield f"The mean ratio to the best other tool is **{mean(best):.3f}**."
    missed = [q for q in AIM if mean(ratios[q]) > 0.9]
    if missed:
        yield f"The individual ratio is above 0.900 for {' and '.join(missed)}."


HEAD: Final = """# Operations: counts of symgen and of other generators

`make figures` writes this page. The counts are additions, subtractions, multiplications, divisions, sines and cosines, with
the parameters of the robot file as constants. Negation is not counted.

Each cell contains the count of the best other tool, of the first prototype of symgen, and of **symgen now**. The best other
tool is Pinocchio 4.1 with casadi::SX or urdf2casadi 1.0, whichever has fewer operations.
`tests/algorithms/test_counts.py` prevents higher counts. The page on [ideas](ideas.md) lists the optimisations that were
tried.

""".splitlines()
