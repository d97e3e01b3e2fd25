"""Files of an estimate that ``generate``, ``predict`` and the Python interface read.

An actuator file has the laws of joint forces that were identified, with their shape parameters, and
the torque constants of the log. A model file is an actuator file with base parameters, their
definitions and the residuals beside them (`symgen.reading.assemble`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from symgen import __version__
from symgen.errors import SymgenError
from symgen.identification.estimation.run import Identified
from symgen.identification.model.drive_columns import DriveColumn, Joints
from symgen.identification.model.estimate import Channel
from symgen.jobs.job import Job
from symgen.mechanics.base_parameters import base_parameters
from symgen.mechanics.joint_forces import SPRINGS
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.parameters import lump_links
from symgen.numbers.scalar import Numbers
from symgen.options.kinds import quoted
from symgen.reading import checked_values
from symgen.reading.assemble import LoadedRobot

FIRST_LINE: Final = b"# drives by symgen identify\n"
"""The first line, by which the next run knows that it may replace the file."""
GENERATOR: Final[Mapping[str, Any]] = {"generator": f"symgen {__version__}"}
ROTOR: Final = ".rotor"
"""The end of the name of a motor of several joints, whose table is under `motors`."""

Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class DriveTables:
    """The tables of an actuator file: `joints` and `motors` by name, and the laws in them."""

    joints: Tables
    motors: Tables
    laws: tuple[str, ...]

    @property
    def springs(self) -> bool:
        """Whether joints have springs."""
        return "stiffness" in self.laws

    def file(self, about: Mapping[str, Any] = GENERATOR) -> bytes:
        """The file; its table `estimate` is `about`. With this table coefficients can have any
        sign."""
        head = _table("estimate", about)
        rows = _lines({"joints": self.joints, "motors": self.motors})
        return FIRST_LINE + "".join([head, *rows]).encode()


def drive_tables(
    identified: Identified, given: str | None, values: Numbers | None = None
) -> DriveTables:
    """The tables of an estimate, or with other coefficients `values` (f); entries of the file
    `given` about other things stay. Raises RobotError."""
    drives, first = identified.equations.drives, len(identified.estimate.mapping)
    data = checked_values.read_toml(given, "a TOML file of actuators")[0].data if given else {}
    joints, motors = ({k: {**row} for k, row in data.get(x, {}).items()} for x in TABLES)
    columns = drives.columns if drives else ()
    values = identified.estimate.values[first:] if values is None else values
    rows: Tables = {}
    if drives is not None:
        for name, law in _laws_of_other_joints(drives.joints, columns):
            rows.setdefault(name, {})[law] = 0.0
    for column, value in zip(columns, values.tolist(), strict=True):
        assert drives is not None
        row = rows.setdefault(drives.joints.names[column.joint], {})
        row |= {column.law: value, **dict(column.shape)}
    for name, row in rows.items():
        _with_reference(row)
        of_motor = name.endswith(ROTOR)
        if of_motor and "armature" in row:
            row["rotor_inertia"] = row.pop("armature")
        (motors if of_motor else joints).setdefault(name.removesuffix(ROTOR), {}).update(row)
    if drives is not None:
        _joined_coordinates(joints, drives.joints)
    for name, constant in identified.settings.torque_constant:
        row = joints.setdefault(name, {})
        row["torque_constant"] = constant / row.get("gear_ratio", 1.0)
    laws = tuple(dict.fromkeys(column.law for column in columns))
    return DriveTables(joints, motors, laws)


TABLES: Final = ("joints", "motors")


def _laws_of_other_joints(
    joints: Joints, columns: Sequence[DriveColumn]
) -> Iterator[tuple[str, str]]:
    """The joints and laws that the estimate has at other joints and not here: a coefficient of the
    robot's file must not count."""
    present = {(column.joint, column.law) for column in columns}
    known = {column.law for column in columns}
    known |= {*SPRINGS} if known & {*SPRINGS} else set()
    laws = [law for law in LAWS_OF_ROBOT_FILES if law in known]
    for joint, name in enumerate(joints.names):
        yield from ((name, law) for law in laws if (joint, law) not in present)


LAWS_OF_ROBOT_FILES: Final = ("viscous", "coulomb", "offset", *SPRINGS)
"""The laws that robot files can state too."""


def _joined_coordinates(tables: Tables, joints: Joints) -> None:
    """Make one table of the tables of the coordinates of a joint with several: a list of numbers
    for each law, 0 for a coordinate without it."""
    owners = dict(zip(joints.names, joints.owners, strict=False))
    wide = {name: owner for name, owner in owners.items() if owner[2] > 1}
    estimated = {name: tables.pop(name, {}) for name in wide}
    keys = {(wide[name][0], key) for name, table in estimated.items() for key in table}
    for joint, key in sorted(keys):
        numbers = {
            k: estimated[name].get(key, 0.0) for name, (of, k, _) in wide.items() if of == joint
        }
        tables.setdefault(joint, {})[key] = [numbers[k] for k in sorted(numbers)]


def _with_reference(row: dict[str, Any]) -> None:
    """The preload of a spring as its reference."""
    preload = row.pop("preload", None)
    if preload is not None and row.get("stiffness"):
        row["reference"] = preload / row["stiffness"]


# -- the model file --------------------------------------------------------------------------------


class ModelFileError(SymgenError):
    """A model file that cannot be written."""


def model_file(identified: Identified, tables: DriveTables, job: Job, loaded: LoadedRobot) -> bytes:
    """The model file of an estimate: the base parameters are those of the robot with the rotors of
    `tables`. Raises SymgenError."""
    with TemporaryDirectory(prefix="symgen-") as folder:
        path = Path(folder) / "drives.toml"
        path.write_bytes(tables.file())
        model = job.changed(actuators=str(path), estimate=None).load().model
    base = base_parameters(lump_links(model, [body.name for body in model.moving]))
    known = _known_base_parameters(identified, model)
    missing = [name for name in base.columns if name not in known]
    if missing:
        raise ModelFileError(
            f"error: the base parameter {missing[0]} of the model file was not estimated; please "
            "report this fault"
        )
    about: dict[str, Any] = {
        **GENERATOR,
        "format": 1,
        "robot": model.name,
        "robot_sha256": loaded.sha256,
        "log": Path(identified.dataset.log.file).name,
    }
    content: Tables = {
        "base_parameters": {name: known[name] for name in base.columns},
        "groupings": dict(zip(base.columns, base.groupings, strict=True)),
    }
    channels = {channel.name: _channel(channel) for channel in identified.estimate.channels}
    head = "".join(_table(name, row) for name, row in content.items())
    return tables.file(about) + (head + "".join(_lines({"channels": channels}))).encode()


def _known_base_parameters(identified: Identified, model: RigidBodyModel) -> dict[str, float]:
    """The values of base parameters by name, those of estimated rotors among them."""
    estimate, drives = identified.estimate, identified.equations.drives
    known = dict(zip(estimate.mapping.names, estimate.base.tolist(), strict=True))
    if drives is None:
        return known
    values = zip(drives.columns, estimate.values[len(known) :].tolist(), strict=True)
    rotors = {drives.joints.names[c.joint]: x for c, x in values if c.law == "armature"}
    for i, body in enumerate(model.bodies, 1):
        if not body.joint.type.is_rotor or body.follows is None:
            continue
        leader = model.body(body.follows.terms[0][0]).velocity
        value = rotors.get(body.velocity, rotors.get(leader))
        if value is not None:
            known.setdefault(f"JR_{i}", value)
    return known


def _channel(channel: Channel) -> dict[str, Any]:
    row = {"unit": channel.unit, "rms": channel.measured_rms, "residual": channel.residual_rms}
    after = channel.validation_residual_rms, channel.validation_measured_rms
    if after[0] is not None and after[1] is not None:
        row |= {"validation_rms": after[1], "validation_residual": after[0]}
    return row


# -- TOML ------------------------------------------------------------------------------------------


def _lines(sections: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    return [
        _table(f"{name}.{quoted(key)}", table)
        for name, entries in sorted(sections.items())
        for key, table in entries.items()
    ]


def _table(header: str, entries: Mapping[str, Any]) -> str:
    rows = (f"{quoted_key(key)} = {_value(value)}\n" for key, value in entries.items())
    return f"\n[{header}]\n{''.join(rows)}"


def quoted_key(key: str) -> str:
    """A key of TOML, in quotes where it is not a bare one."""
    return key if key.replace("_", "").isalnum() and key.isascii() else quoted(key)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return quoted(value) if isinstance(value, str) else repr(value)
