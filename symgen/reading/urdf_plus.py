"""Couplings of URDF+ (Chignoli et al., URDF+: an enhanced URDF for robots with kinematic loops,
arXiv 2411.19753): ``<coupling>`` with a ``<ratio>`` ties the joints between two links and their
nearest common ancestor, and joints with ``independent="false"`` follow the others.

With q the coordinates of joints on the way from that ancestor to a link,

    ratio Σ q (to the predecessor) = Σ q (to the successor)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.reading.description import JointElement, Mimic
from symgen.reading.joints import FIXED, has_one_coordinate
from symgen.reading.tree import joint_above
from symgen.reading.xml_reader import XmlNode
from symgen.text import quoted, shown

COUPLING: Final = "coupling"
SINGULAR: Final = 1e-9
"""A pivot below this part of the largest entry of its equation determines no joint."""


@dataclass(frozen=True)
class CouplingEquation:
    """Σ factor q = 0 over joints by name, and the element that says so."""

    node: XmlNode
    factors: Mapping[str, float]


Laws = Mapping[str, tuple[int, Mapping[str, float]]]
"""By dependent joint the line of its coupling, and the factors of other joints in its
coordinate."""


def with_couplings(
    root: XmlNode, joints: Sequence[JointElement], dependent: set[str]
) -> tuple[JointElement, ...]:
    """The joints, of which those in `dependent` follow the others by the couplings of a file.

    A coupling that determines no dependent joint has no effect, which a warning says. Raises
    RobotError for a coupling that is no equation of joints with one coordinate."""
    by_name = {joint.name: joint for joint in joints}
    equations = [_equation(node, joints, by_name) for node in root.children(COUPLING)]
    free = {name for name in dependent if name in by_name and by_name[name].mimics is None}
    solved, unused = _solved(equations, free)
    if unused:
        names = quoted(node.element.get("name") or "" for node in unused)
        verb = "determines" if len(unused) == 1 else "determine"
        unused[0].called("<coupling>").notice(
            "warning",
            f'{names} {verb} no joint with independent="false", so that the coupled '
            "joints move freely",
        )
    return tuple(_following(joint, solved) for joint in joints)


def dependent_joints(nodes: Sequence[XmlNode]) -> set[str]:
    """The names of joints with ``independent="false"``."""
    return {
        node.element.get("name") or ""
        for node in nodes
        if (node.element.get("independent") or "").strip().lower() in ("false", "0")
    }


def _following(joint: JointElement, solved: Laws) -> JointElement:
    if joint.name not in solved:
        return joint
    line, factors = solved[joint.name]
    (first, by), *also = factors.items()
    return replace(joint, mimics=Mimic(line, first, by, 0.0, tuple(also)))


def _equation(
    node: XmlNode, joints: Sequence[JointElement], by_name: Mapping[str, JointElement]
) -> CouplingEquation:
    """The equation of a coupling. Raises RobotError."""
    coupling = node.called(f"coupling '{shown(node.element.get('name') or '')}'")
    above = joint_above(joints)
    ends = [_end(coupling, tag) for tag in ("predecessor", "successor")]
    for link in ends:
        if link not in above and all(joint.parent != link for joint in joints):
            raise coupling.error(f"link '{shown(link)}' does not exist; correct its name")
    ratio = coupling.only("ratio")
    if ratio is None:
        raise coupling.error('has no <ratio>; add <ratio value="..."/>')
    to_predecessor, to_successor = ([*_path(above, link)][::-1] for link in ends)
    shared = set(to_predecessor) & set(to_successor)
    factors: dict[str, float] = {}
    sides = (to_predecessor, ratio.called(coupling.label).number("value")), (to_successor, -1.0)
    for path, factor in sides:
        for name in (name for name in path if name not in shared):
            kind = by_name[name].kind
            if kind != FIXED and not has_one_coordinate(kind):
                raise coupling.error(
                    f"joint '{shown(name)}' on its path is {kind}, with several "
                    "coordinates; only joints with one coordinate can be coupled"
                )
            if kind != FIXED:
                factors[name] = factors.get(name, 0.0) + factor
    return CouplingEquation(coupling, {name: x for name, x in factors.items() if x})


def _end(coupling: XmlNode, tag: str) -> str:
    node = coupling.only(tag)
    if node is None:
        raise coupling.error(f'has no <{tag}>; add <{tag} link="..."/>')
    return node.called(coupling.label).text("link")


def _path(above: Mapping[str, JointElement], link: str) -> Iterator[str]:
    """The joints from a link to the root; of a file whose joints form a cycle, each once."""
    visited = set[str]()
    while link in above and link not in visited:
        visited.add(link)
        yield above[link].name
        link = above[link].parent


def _solved(
    equations: Sequence[CouplingEquation], dependent: set[str]
) -> tuple[Laws, list[XmlNode]]:
    """The laws of dependent joints by Gaussian elimination, and the couplings that determine no
    joint."""
    rows = [(equation.node, dict(equation.factors)) for equation in equations]
    pivots: dict[str, tuple[XmlNode, dict[str, float]]] = {}
    unused: list[XmlNode] = []
    for node, row in rows:
        size = max(map(abs, row.values()), default=0.0)
        for name, (_, other) in pivots.items():
            _eliminate(row, name, other)
        sizes = {name: abs(x) for name, x in row.items() if name in dependent}
        pivot = max(sizes, key=lambda name: sizes[name], default="")
        if not pivot or sizes[pivot] <= SINGULAR * size or len(row) < 2:
            unused.append(node)
            continue
        scale = row[pivot]
        row = {name: x / scale for name, x in row.items()}
        for _, other in pivots.values():
            _eliminate(other, pivot, row)
        pivots[pivot] = node, row
    solved = {
        pivot: (node.line, {name: -x + 0.0 for name, x in row.items() if name != pivot})
        for pivot, (node, row) in pivots.items()
    }
    return {name: law for name, law in solved.items() if law[1]}, unused


def _eliminate(row: dict[str, float], pivot: str, equation: Mapping[str, float]) -> None:
    """Subtract an equation, whose factor of `pivot` is 1, so that the row has none of that."""
    by = row.get(pivot, 0.0)
    for name, x in equation.items() if by else ():
        row[name] = row.get(name, 0.0) - by * x
        if name == pivot or not row[name]:
            del row[name]
