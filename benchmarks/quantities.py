"""The page docs/quantities.md: ``python -m benchmarks.quantities`` prints it; `make generate`
writes it."""

from collections.abc import Iterable, Iterator

from symgen.algorithms import INPUTS, LINK_QUANTITIES, QUANTITIES, Array, Quantity
from symgen.proof.laws import LAWS

HEAD = """# Quantities: reference of all functions that symgen generates

`make generate` writes this page from the registry, and a test compares it. `--quantity NAME` selects a quantity,
`--quantity all` every quantity of the first table, and `--quantity f=A+B` computes several in one function. Arrays are
row-major; symbols and frames are defined in [notation](notation.md).

The sizes in brackets are:

| size | meaning |
|---|---|
| n, nq | velocities and positions of the robot |
| n_twice, n2 | 2 n and n (n + 1) / 2 |
| ten | 10 n, the inertial parameters of all bodies |
| b | base parameters |
| y, y_b | ten and b plus the columns of friction and springs |
| y_v | ten plus the columns of springs |
| y_b2 | y_b (y_b + 1) / 2 |
| joints | the moving joints, including those that follow others |

The last column lists the formulations, from which symgen chooses one, and the independent reference with which
`symgen verify` and the self-test compare the quantity ([verification](proof.md)).
"""


OF_LINKS = """
A quantity of a link or joint has its name after a colon, as in `--quantity frame_pose:tool0`. Its outputs end in that name, as
in `R_tool0`; characters other than ASCII letters and digits are replaced by `_`.

Two outputs of a robot may get the same name (links `arm.1` and `arm-1`; `J_w` of link `x` and `J` of link `w_x`), or the name of
another array of this page. The first one, in the order of this page and of the robot file, then keeps the name, and the others
end in `_2`, `_3`, and so on. Names do not depend on which other quantities are generated.
"""


def page() -> str:
    """The whole page."""
    tables = (
        ("## Quantities of the robot\n", QUANTITIES.values()),
        (f"## Quantities of a link, fixed frame or joint\n{OF_LINKS}", LINK_QUANTITIES.values()),
    )
    return HEAD + "".join(f"\n{title}\n" + "\n".join(_rows(rows)) + "\n" for title, rows in tables)


def _rows(quantities: Iterable[Quantity]) -> Iterator[str]:
    yield "| name and formula | inputs | outputs | formulations; reference |"
    yield "|---|---|---|---|"
    for q in quantities:
        subject = f":{q.subject.upper()}" if q.name in LINK_QUANTITIES else ""
        name = f"`{q.name}{subject}`"
        outputs = "<br>".join(_described(out) for out in q.outputs)
        ways = ", ".join(dict.fromkeys(way.name.partition("/")[0] for way in q.formulations))
        formula = q.formula.replace("|", r"\|")
        named = f"{name}<br>{formula}"
        cells = named, ", ".join(q.inputs), outputs, f"{ways};<br>{LAWS[q.name].reference}"
        yield f"| {' | '.join(cells)} |"


def _described(out: Array) -> str:
    return _cell(f"`{out.name}` [{' x '.join(map(str, out.shape))}] {out.meaning} ({out.unit})")


def _cell(text: str) -> str:
    return text.replace("|", "or")


def inputs() -> str:
    """The inputs, a line each."""
    return "\n".join(f"- `{a.name}` {a.meaning} ({_cell(a.unit)})" for a in INPUTS.values())


if __name__ == "__main__":
    print(f"{page()}\n## Inputs\n\n{inputs()}")
