"""Names for the values of a tape, as many as can be had: those of the algorithm first, then names
that say what the value is made of.

- q2_3 is q[1] + q[2] (joints count from 1), c2_3 and s2_3 its cosine and sine; theta7 is q[6] and a
  constant, ctheta7 and stheta7 its cosine and sine.
- M_1_5 is entry [1, 5] of the output M (counted from 0, as in the arrays).
- w2_xy is w2_x times w2_y, w2_xx the square of w2_x, c5_h4_z is c5 times h4_z, qd2_qd3 is qd[1]
  times qd[2]."""

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Final

from symgen.compiler.program import LEAVES, Index, Output, Program

Name = tuple[str, bool]
"""A name and whether it is that of the negative."""

LONGEST: Final = 12
"""Characters of a product's name at most."""


def named(program: Program, order: Sequence[Index]) -> Mapping[Index, Name]:
    """A name for each node of `order` that one can be found for, each name once and none that an
    array has, or an entry of an input where a language unpacks it (qdd2 is qdd[1])."""
    basic = {**_angles(program), **program.names}
    wanted = {**_entries(program), **basic}
    taken = {name for name, _ in program.inputs} | {out.name for out in program.outputs}
    taken |= {f"{name}{k + 1}" for name, shape in program.inputs for k in range(prod(shape))}
    unique: dict[Index, Name] = {}
    for index in order:
        name = wanted.get(index) or _product(program, index, basic)
        if name and name[0] not in taken:
            taken.add(name[0])
            unique[index] = name
    return MappingProxyType(unique)


def _angles(program: Program) -> dict[Index, Name]:
    """Sums of joint positions, such with constants, and their sines and cosines."""
    joints: dict[Index, tuple[int, ...]] = {}
    shifted: dict[Index, tuple[int, ...]] = {}
    found: dict[Index, Name] = {}
    for index, node in enumerate(program.nodes):
        if node.op == "input" and node.a == "q":
            joints[index] = (node.b + 1,)
        elif node.op == "add" and node.a in joints and node.b in joints:
            joints[index] = tuple(sorted(joints[node.a] + joints[node.b]))
            found[index] = ("q" + _numbers(joints[index]), False)
        elif node.op in ("add", "sub") and (joint := _shifted(program, index, joints)):
            shifted[index] = joint
            found[index] = ("theta" + _numbers(joint), False)
        elif node.op in ("cos", "sin") and node.a in joints:
            found[index] = (node.op[0] + _numbers(joints[node.a]), False)
        elif node.op in ("cos", "sin") and node.a in shifted:
            found[index] = (f"{node.op[0]}theta" + _numbers(shifted[node.a]), False)
    return found


def _shifted(
    program: Program, index: Index, joints: Mapping[Index, tuple[int, ...]]
) -> tuple[int, ...]:
    """The joints of a sum of their positions and a constant, none of another one."""
    node = program.nodes[index]
    for angle, other in ((node.a, node.b), (node.b, node.a)):
        if angle in joints and program.nodes[other].op == "const":
            return joints[angle]
    return ()


def _numbers(joints: tuple[int, ...]) -> str:
    return "_".join(map(str, joints))


def _entries(program: Program) -> dict[Index, Name]:
    """By node the first entry of an output that it is."""
    found: dict[Index, Name] = {}
    for out in program.outputs:
        for k, ref in enumerate(out.refs):
            if ref is not None and program.nodes[ref.node].op not in LEAVES:
                found.setdefault(ref.node, (_entry(out, k), ref.negative))
    return found


def _entry(out: Output, k: int) -> str:
    """The name of an entry, counted row-major."""
    places: list[int] = []
    for size in reversed(out.shape):
        k, place = divmod(k, size)
        places.insert(0, place)
    return "_".join((out.name, *map(str, places)))


def _product(program: Program, index: Index, known: Mapping[Index, Name]) -> Name | None:
    """The name of a product of two factors that have names."""
    node = program.nodes[index]
    if node.op != "mul":
        return None
    a, b = _factor(program, node.a, known), _factor(program, node.b, known)
    if a is None or b is None:
        return None
    (first, minus), (second, other) = sorted((a, b), key=lambda name: name[0][0] not in "cs")
    stem, _, axis = first.rpartition("_")
    name = f"{first}_{second}"
    if stem and axis in "xyz" and second[:-1] == f"{stem}_":
        name = f"{first}{second[-1]}"
    return (name, minus != other) if len(name) <= LONGEST else None


def _factor(program: Program, index: Index, known: Mapping[Index, Name]) -> Name | None:
    node = program.nodes[index]
    return (f"{node.a}{node.b + 1}", False) if node.op == "input" else known.get(index)
