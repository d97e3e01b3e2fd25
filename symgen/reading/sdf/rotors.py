"""Rotors of joints in SDF files, in Drake's extension of the format: ``<drake:rotor_inertia>`` and
``<drake:gear_ratio>`` in ``<joint>``."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from symgen.reading.description import DriveElement
from symgen.reading.drives import INERTIA, RATIO, drake_number
from symgen.reading.sdf.scopes import Scope
from symgen.reading.sdf.values import numbers
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown


def drives(models: Sequence[Scope], joints: Collection[str]) -> Iterator[DriveElement]:
    """The drives of those of the `joints` that state the inertia of a rotor (kg m²) or a gear
    ratio. The ratio of a rotor is 1 where none is given, as in Drake. Raises RobotError."""
    for model in models:
        for node in model.node.children("joint"):
            name = model.prefix + node.text("name")
            inertia, ratio = map(partial(_number, node.called(f"joint '{shown(name)}'")), TAGS)
            if name in joints and (inertia is not None or ratio is not None):
                default = None if inertia is None else 1.0
                yield DriveElement(name, node.line, default if ratio is None else ratio, inertia)


TAGS = (INERTIA, RATIO)
"""The tags of Drake that are read."""


def _number(joint: XmlNode, tag: str) -> float | None:
    nodes = [child for child in joint if child.tag == tag]
    return drake_number(nodes, tag, lambda node: numbers(node, 1)[0])
