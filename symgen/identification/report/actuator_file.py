"""A file of actuators that ``generate`` takes, with what was identified of the drives.

It contains viscous and Coulomb friction, offsets, springs and armatures. Terms beyond these are
replaced by those of them that come nearest over the log, by least squares with the base parameters
held."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.identification.estimation.run import Identified
from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, Joints
from symgen.identification.model.terms import SPRINGS
from symgen.numbers.types import Numbers
from symgen.options.kinds import quoted
from symgen.reading import toml_reader
from symgen.text import shown

BEGIN: Final = b"# drives by symgen identify\n"
"""The first line, by which the next run knows that it may replace the file."""
WRITTEN: Final = ("viscous", "coulomb", "offset", "armature", "stiffness", "preload")
"""The terms that a file of actuators has."""
POSITIVE: Final = ("viscous", "coulomb", "armature")


@dataclass(frozen=True)
class ActuatorFile:
    """The file's text, and what is to be said of it."""

    text: bytes
    remarks: tuple[str, ...]
    kinds: tuple[str, ...]
    """The kinds of friction in it."""
    springs: bool
    width: float = 0.0
    """The width of Coulomb friction for ``--friction-width``; 0 if the joints have several."""


def actuator_file(identified: Identified, given: str | None) -> ActuatorFile:
    """The file of an estimate; what the file `given` says beside it stays. Raises RobotError."""
    drives, remarks = identified.equations.drives, list[str]()
    tables: dict[str, dict[str, Any]] = {}
    rest: Mapping[str, Any] = {}
    if given is not None:
        data = toml_reader.read(given, "a TOML file of actuators")[0].data
        tables = {name: {**table} for name, table in data.get("joints", {}).items()}
        rest = {name: table for name, table in data.items() if name != "joints"}
    columns = drives.columns if drives else ()
    for k, value in _values(identified, remarks).items():
        assert drives is not None
        row = tables.setdefault(drives.joints.names[columns[k].joint], {})
        row[columns[k].term] = _bounded(columns[k].term, value, drives, k, remarks)
    for name, term in _zeros(drives):
        tables.setdefault(name, {})[term] = 0.0
    for row in tables.values():
        _with_reference(row)
    if drives is not None:
        _gather(tables, drives.joints)
    terms = {column.term for column in columns}
    kinds = tuple(name for name in WRITTEN[:3] if name in terms)
    text = BEGIN + "".join(_lines(tables, rest)).encode()
    return ActuatorFile(text, tuple(remarks), kinds, "stiffness" in terms, _width(columns))


def _width(columns: Sequence[DriveColumn]) -> float:
    """The width of Coulomb friction at all joints; 0 if there are several."""
    widths = {column.speed for column in columns if column.term == "coulomb"}
    return widths.pop() if len(widths) == 1 else 0.0


def _zeros(drives: DriveUnknowns | None) -> Iterator[tuple[str, str]]:
    """The joints and terms of friction and springs that the estimate has at other joints and is
    without here: what the robot's file says of them must not count beside it."""
    if drives is None:
        return
    present = {(column.joint, column.term) for column in drives.columns}
    known = {term for _, term in present}
    known |= {*SPRINGS} if known & {*SPRINGS} else set()
    terms = [term for term in WRITTEN if term != "armature" and term in known]
    for joint, name in enumerate(drives.joints.names):
        yield from ((name, term) for term in terms if (joint, term) not in present)


def _values(identified: Identified, remarks: list[str]) -> dict[int, float]:
    """The coefficients of the columns that are written, by number."""
    drives, values = identified.equations.drives, identified.estimate.values
    if drives is None:
        return {}
    b = len(identified.estimate.mapping)
    written = [k for k, column in enumerate(drives.columns) if column.term in WRITTEN]
    if len(written) == len(drives.columns):
        values = values[b:]
    else:
        values = np.zeros(len(drives.columns))
        values[written] = held(
            identified.system, identified.estimate.base, [b + k for k in written], identified
        )
        terms = dict.fromkeys(
            column.term for column in drives.columns if column.term not in WRITTEN
        )
        remarks.append(
            f"--actuators-out does not write the friction terms {', '.join(terms)}; the other "
            "terms were fitted again without them, so this file predicts worse than the estimate"
        )
    widths = {drives.columns[k].speed for k in written if drives.columns[k].term == "coulomb"}
    if len(widths) > 1:
        listed = ", ".join(f"{x:.3g}" for x in sorted(widths))
        remarks.append(
            f"the smoothing widths of Coulomb friction differ between the joints ({listed}); "
            "choose one for --friction-width"
        )
    return {k: float(values[k]) for k in written}


def held(
    system: TriangularSystem, base: Numbers, columns: Sequence[int], identified: Identified
) -> Numbers:
    """The least squares for some columns with the base parameters held, the others 0."""
    rows, right = [], []
    for j in system.channels:
        weighted = system.spread(j) / identified.estimate.channels[j].deviation
        rows.append(weighted[:, list(columns)])
        right.append(weighted[:, -1] - weighted[:, : len(base)] @ base)
    solved = np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)[0]
    return np.asarray(solved, np.float64)


def _bounded(term: str, value: float, drives: DriveUnknowns, k: int, remarks: list[str]) -> float:
    if term in POSITIVE and value < 0:
        remarks.append(
            f"the estimate of {shown(drives.names[k])} is {value:.3g}, but it cannot be negative; "
            "0 is written"
        )
        return 0.0
    return value


def _gather(tables: dict[str, dict[str, Any]], joints: Joints) -> None:
    """Make of the tables of the coordinates of a joint with several the table of the joint, which
    has a number for each of its velocities; 0 for one that the estimate is without."""
    owners = dict(zip(joints.names, joints.owners, strict=False))
    wide = {name: owner for name, owner in owners.items() if owner[2] > 1}
    estimated = {name: tables.pop(name, {}) for name in wide}
    terms = {(wide[name][0], term) for name, table in estimated.items() for term in table}
    for joint, term in sorted(terms):
        numbers = {
            k: estimated[name].get(term, 0.0) for name, (of, k, _) in wide.items() if of == joint
        }
        tables.setdefault(joint, {})[term] = [numbers[k] for k in sorted(numbers)]


def _with_reference(row: dict[str, Any]) -> None:
    """The preload of a spring as its reference."""
    preload = row.pop("preload", None)
    if preload is not None and row.get("stiffness"):
        row["reference"] = preload / row["stiffness"]


def _lines(tables: Mapping[str, Mapping[str, Any]], rest: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, entries in sorted({"joints": tables, **rest}.items()):
        for key, table in entries.items():
            lines.append(f"\n[{name}.{quoted(key)}]\n")
            lines += [f"{field} = {_number(value)}\n" for field, value in table.items()]
    return lines


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_number, value))}]"
    return repr(value)
