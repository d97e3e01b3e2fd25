"""The page docs/quantities.md: ``python -m benchmarks.quantities`` prints it; `make generate`
writes it."""

from collections.abc import Iterable, Iterator

from symgen.algorithms import INPUTS, LINK_QUANTITIES, QUANTITIES, Array, Quantity
from symgen.proof.laws import LAWS

HEAD = """# Quantities

Written by `make generate` from the registry; a test keeps it in step. `--quantity NAME` computes one, `--quantity all`
every one of the first table, `--quantity f=A+B` several in one function. Arrays are row-major. Sizes: n joints,
n2 = n (n + 1) / 2, ten = 10 n, b base parameters, y and y_b ten and b with the
columns of friction and springs, y_v ten with those of springs. The judge is the
independent law that `symgen verify` and the self-test hold the quantity against ([proof](proof.md)).
"""


OF_LINKS = """
`--quantity frame_pose:tool0` is that of link tool0; its outputs bear the link's name too, as in `R_tool0`, in which what
is neither an ASCII letter nor a digit is `_`. Where two outputs of a robot would be called the same (links `arm.1` and
`arm-1`; `J_w` of link `x` and `J` of link `w_x`), or as another array of this page, the first in the order of this page
and of the file keeps the name and the others have `_2`, `_3`, ... behind: names do not depend on what else is generated.
"""


def page() -> str:
    """The whole page."""
    tables = (
        ("## Of the robot\n", QUANTITIES.values()),
        (f"## Of a link or fixed frame\n{OF_LINKS}", LINK_QUANTITIES.values()),
    )
    return HEAD + "".join(f"\n{title}\n" + "\n".join(_rows(rows)) + "\n" for title, rows in tables)


def _rows(quantities: Iterable[Quantity]) -> Iterator[str]:
    yield "| name and formula | inputs | outputs | formulations; judge |"
    yield "|---|---|---|---|"
    for q in quantities:
        name = f"`{q.name}:LINK`" if q.name in LINK_QUANTITIES else f"`{q.name}`"
        outputs = "<br>".join(_described(out) for out in q.outputs)
        ways = ", ".join(dict.fromkeys(way.name.partition("/")[0] for way in q.formulations))
        named = f"{name}<br>{_cell(q.formula)}"
        cells = named, ", ".join(q.inputs), outputs, f"{ways};<br>{LAWS[q.name].judge}"
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
