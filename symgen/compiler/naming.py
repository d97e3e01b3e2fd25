"""Names for the values of a tape, as many as can be had: those of the algorithm first, then names
that say what the value is made of.

- q2_3 is q[1] + q[2] (joints count from 1), c2_3 and s2_3 its cosine and sine; theta7 is q[6] and a
  constant, ctheta7 and stheta7 its cosine and sine.
- M_1_5 is entry [1, 5] of the output M (counted from 0, as in the arrays).
- w2_xy is w2_x times w2_y, w2_xx the square of w2_x, c5_h4_z is c5 times h4_z, qd2_qd3 is qd[1]
  times qd[2].
- qd2_3 is qd[1] + qd[2]; k_f5_x is a constant times f5_x, and k2_f5_x another one.
- a2_x_v2 is a second value that the algorithm calls a2_x.
- M_1_5_p1 and M_1_5_p2 are parts of M_1_5 (see `symgen.compiler.passes`)."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from types import MappingProxyType
from typing import Final

from symgen.compiler.program import LEAVES, Index, Node, Output, Program

Name = tuple[str, bool]
"""A name and whether it is that of the negative."""

MAX_PRODUCT_NAME_LENGTH: Final = 12
"""Characters of a product's name at most."""

JOINT_POSITIONS: Final = "q"
"""The input whose sums have sines and cosines with names of their own."""


InputSum = tuple[str, tuple[int, ...]]
"""Entries of an input that a sum adds up: the array, and their numbers from 1."""


def assign_names(
    program: Program, order: Sequence[Index], uses: Mapping[Index, int]
) -> Mapping[Index, Name]:
    """A name for each node of `order` that one can be found for, each name once and none that an
    array has, or an entry of an input where a language unpacks it (qdd2 is qdd[1]); `uses` counts
    how often each is read."""
    first_choice = {**_input_sum_names(program), **program.names}
    known = {**program.fallback_names, **first_choice}
    preferred = {**program.fallback_names, **_output_entry_names(program), **first_choice}
    used_names = {name for name, _ in program.inputs} | {out.name for out in program.outputs}
    used_names |= {f"{name}{k + 1}" for name, shape in program.inputs for k in range(prod(shape))}
    assigned: dict[Index, Name] = {}
    for index in order:
        name, node = preferred.get(index), program.nodes[index]
        if name:
            name = _unused_name(name[0] + "{}", "_v{}", used_names), name[1]
        elif node.op == "mul":
            name = _product_name(program, node, known)
            if name is None and uses[index] > 1:
                name = _multiple_name(program, node, preferred, used_names)
        if name and name[0] not in used_names:
            used_names.add(name[0])
            assigned[index] = name
    return MappingProxyType(assigned)


def _input_sum_names(program: Program) -> dict[Index, Name]:
    """Sums of entries of an input; of joint positions also those with a constant, and the sines and
    cosines of both."""
    entries: dict[Index, InputSum] = {}
    shifted: dict[Index, tuple[int, ...]] = {}
    names: dict[Index, Name] = {}
    for index, (op, a, b) in enumerate(program.nodes):
        if op == "mul" or (op in ("add", "sub") and a not in entries and b not in entries):
            continue  # nearly all
        if op == "input":
            entries[index] = (a, (b + 1,))
        elif op == "add" and a in entries and b in entries and entries[a][0] == entries[b][0]:
            entries[index] = array, added = (
                entries[a][0],
                tuple(sorted(entries[a][1] + entries[b][1])),
            )
            names[index] = (array + _number_suffix(added), False)
        elif op in ("add", "sub") and (joints := _shifted_joints(program, index, entries)):
            shifted[index] = joints
            names[index] = ("theta" + _number_suffix(joints), False)
        elif op in ("cos", "sin") and entries.get(a, ("",))[0] == JOINT_POSITIONS:
            names[index] = (op[0] + _number_suffix(entries[a][1]), False)
        elif op in ("cos", "sin") and a in shifted:
            names[index] = (f"{op[0]}theta" + _number_suffix(shifted[a]), False)
    return names


def _shifted_joints(
    program: Program, index: Index, entries: Mapping[Index, InputSum]
) -> tuple[int, ...]:
    """The joints of a sum of their positions and a constant, none of another one."""
    node = program.nodes[index]
    for angle, other in ((node.a, node.b), (node.b, node.a)):
        if program.nodes[other].op == "const" and entries.get(angle, ("",))[0] == JOINT_POSITIONS:
            return entries[angle][1]
    return ()


def _number_suffix(joints: tuple[int, ...]) -> str:
    return "_".join(map(str, joints))


def _output_entry_names(program: Program) -> dict[Index, Name]:
    """The name of each node that is an entry of an output: that of the first such entry."""
    first: dict[Index, Name] = {}
    for out in program.outputs:
        for k, ref in enumerate(out.refs):
            if ref is not None and program.nodes[ref.node].op not in LEAVES:
                first.setdefault(ref.node, (_entry_name(out, k), ref.negative))
    return first


def _entry_name(out: Output, k: int) -> str:
    """The name of an entry, counted row-major."""
    places: list[int] = []
    for size in reversed(out.shape):
        k, place = divmod(k, size)
        places.insert(0, place)
    return "_".join((out.name, *map(str, places)))


def _product_name(program: Program, node: Node, known: Mapping[Index, Name]) -> Name | None:
    """The name of a product of two factors that have names."""
    a, b = _factor_name(program, node.a, known), _factor_name(program, node.b, known)
    if a is None or b is None:
        return None
    if a[0][0] not in "cs" and b[0][0] in "cs":  # sines and cosines first
        a, b = b, a
    (first, negative), (second, other) = a, b
    prefix, _, axis = first.rpartition("_")
    name = f"{first}_{second}"
    if prefix and axis in "xyz" and second[:-1] == f"{prefix}_":
        name = f"{first}{second[-1]}"
    return (name, negative != other) if len(name) <= MAX_PRODUCT_NAME_LENGTH else None


def _multiple_name(
    program: Program, node: Node, known: Mapping[Index, Name], used_names: AbstractSet[str]
) -> Name | None:
    """The name of a constant times what has a name: the first of these that is free."""
    constants = [k for k in (node.a, node.b) if program.nodes[k].op == "const"]
    other = node.b if node.a in constants else node.a
    factor = _factor_name(program, other, known) if constants else None
    if factor is None:
        return None
    return _unused_name(f"k{{}}_{factor[0]}", "{}", used_names), factor[1]


def _unused_name(pattern: str, number: str, used_names: AbstractSet[str]) -> str:
    """The first name of a pattern that is free: with nothing in its place, else numbered from 2."""
    name, k = pattern.format(""), 1
    while name in used_names:
        k += 1
        name = pattern.format(number.format(k))
    return name


def _factor_name(program: Program, index: Index, known: Mapping[Index, Name]) -> Name | None:
    node = program.nodes[index]
    return (f"{node.a}{node.b + 1}", False) if node.op == "input" else known.get(index)


def distinct_in_lower_case(program: Program, names: Mapping[Index, str]) -> dict[Index, str]:
    """Names for a language that ignores capitals: one that differs from an array or an earlier name
    only in capitals gets a number behind it."""
    used = {name.lower() for name, _ in program.inputs}
    used |= {out.name.lower() for out in program.outputs}
    distinct: dict[Index, str] = {}
    for index, name in names.items():
        suffix = _unused_name(name.lower() + "{}", "_v{}", used)[len(name) :]
        distinct[index] = name + suffix
        used.add(distinct[index].lower())
    return distinct
