"""A robot in notebooks: its joints as a table, its links as a picture of the tree."""

from collections.abc import Sequence
from typing import Final

from symgen.mechanics.listing import carrying_link, listed
from symgen.mechanics.model import Model
from symgen.robot.views import JointView
from symgen.text import html, html_table

COLUMN, ROW, WIDTH, HEIGHT = 170, 30, 130, 20
"""Sizes of the picture (pixels): from a link to the next, and of a link's box."""
LONGEST: Final = 18
"""Characters of a name in its box."""


def robot_html(model: Model, joints: Sequence[JointView]) -> str:
    """The table and the picture."""
    head = ("q", "joint", "type", "from", "to", "range", "unit")
    rows = ((_indices(j), j.name, _kind(j), j.parent, j.child, _range(j), j.unit) for j in joints)
    return html_table(f"{model.name}: {model.dof} velocities", head, rows) + tree_svg(model)


def _indices(joint: JointView) -> str:
    at = joint.positions
    return "" if not at else str(at[0]) if len(at) == 1 else f"{at[0]} to {at[-1]}"


def _kind(joint: JointView) -> str:
    return f"{joint.type}, follows {joint.follows}" if joint.follows else joint.type


def _range(joint: JointView) -> str:
    if joint.lower is None or joint.upper is None:
        return ""
    return f"{joint.lower:g} .. {joint.upper:g}"


def tree_svg(model: Model) -> str:
    """The links that joints move, from left to right, as SVG."""
    rows = [(carrying_link(model, j.bodies[0]), j.body.name, j.name) for j in listed(model)]
    places = _places(model.root, [(parent, child) for parent, child, _ in rows])
    lines = [_line(places[parent], places[child], name) for parent, child, name in rows]
    boxes = [_box(x, y, name) for name, (x, y) in places.items()]
    width = max(x for x, _ in places.values()) * COLUMN + WIDTH + 2
    height = max(y for _, y in places.values()) * ROW + HEIGHT + 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="10">' + "".join([*lines, *boxes]) + "</svg>"
    )


def _places(root: str, ties: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Column and row of each link: a column further than its parent, a row for each branch."""
    below: dict[str, list[str]] = {}
    for parent, child in ties:
        below.setdefault(parent, []).append(child)
    places, waiting, row = dict[str, tuple[int, int]](), [(root, 0, True)], -1
    while waiting:
        link, column, first = waiting.pop()
        row += 0 if first and places else 1
        places[link] = column, row
        children = below.get(link, [])
        waiting += [(child, column + 1, k == 0) for k, child in reversed([*enumerate(children)])]
    return places


def _line(start: tuple[int, int], end: tuple[int, int], name: str) -> str:
    x0, y0 = start[0] * COLUMN + WIDTH + 1, start[1] * ROW + HEIGHT // 2 + 1
    x1, y1 = end[0] * COLUMN + 1, end[1] * ROW + HEIGHT // 2 + 1
    middle = (x0 + x1) // 2
    path = f'<path d="M{x0} {y0}H{middle}V{y1}H{x1}" fill="none" stroke="#888"/>'
    return f"<g>{path}<title>{html(name)}</title></g>"


def _box(column: int, row: int, name: str) -> str:
    x, y = column * COLUMN + 1, row * ROW + 1
    short = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
    return (
        f'<g><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#eef" '
        f'stroke="#668"/><text x="{x + 6}" y="{y + 14}" fill="#000">{html(short)}</text>'
        f"<title>{html(name)}</title></g>"
    )
