"""The names of what is computed of links: ``R_tool0``, the same whatever else is generated.

An output of a link is called as its quantity calls it, with the link's name behind, in which what
is neither an ASCII letter nor a digit is ``_``. Where two would be called the same (links ``arm.1``
and ``arm-1``, or J_w of link ``x`` and J of link ``w_x``), or as another array is, the first in
the order of registry and file keeps the name, the others get ``_2``, ``_3`` and so on. So no two
outputs of a robot share a name, and a name depends on its file and --root and --tip alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from symgen.algorithms.registry import INPUTS, LINK_QUANTITIES, QUANTITIES, Array, Quantity
from symgen.mechanics.model import RigidBodyModel

Names = dict[tuple[str, str, str], str]
"""The name of an output by quantity, output and link."""


def of_model(model: RigidBodyModel, quantities: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """The quantities, those of links with outputs that no other of the robot shares a name with.

    A link that the robot does not have is left to the algorithm to refuse."""
    if not any(q.link for q in quantities):
        return tuple(quantities)
    names = _names(model)
    return tuple(_renamed(q, names) for q in quantities)


def _renamed(quantity: Quantity, names: Names) -> Quantity:
    if not quantity.link:
        return quantity
    stem = quantity.name.partition(":")[0]
    outputs = tuple(
        _called(out, names.get((stem, plain.name, quantity.link)))
        for out, plain in zip(quantity.outputs, LINK_QUANTITIES[stem].outputs, strict=True)
    )
    return replace(quantity, outputs=outputs)


def _called(out: Array, name: str | None) -> Array:
    return out if name is None else replace(out, name=name)


def _names(model: RigidBodyModel) -> Names:
    moving = (body.links for body in model.bodies)
    links = tuple(link.name for links in (model.base, *moving) for link in links)
    return _of_links(links, tuple(QUANTITIES))


@lru_cache(maxsize=8)
def _of_links(links: tuple[str, ...], known: tuple[str, ...]) -> Names:
    """The names for links, once for all functions of a robot and as long as the same quantities are
    known."""
    wished = {
        (stem, plain.name, link): out.name
        for stem, quantity in LINK_QUANTITIES.items()
        for link in links
        for plain, out in zip(quantity.outputs, quantity.of(link).outputs, strict=True)
    }
    taken = {*INPUTS, *(out.name for q in map(QUANTITIES.__getitem__, known) for out in q.outputs)}
    reserved, names = taken | {*wished.values()}, Names()
    for key, name in wished.items():
        names[key] = _free(name, taken, reserved)
        taken.add(names[key])
    return names


def _free(name: str, taken: set[str], reserved: set[str]) -> str:
    """The name, or with the first number behind that makes it one which nobody has or wishes."""
    if name not in taken:
        return name
    k = 2
    while f"{name}_{k}" in taken or f"{name}_{k}" in reserved:
        k += 1
    return f"{name}_{k}"
