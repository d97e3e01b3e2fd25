"""The manifest: what a folder of generated files is, as JSON, complete enough to verify it without
the URDF."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from symgen.languages import LANGUAGES
from symgen.languages.conventions import conventions
from symgen.languages.describe import descriptions
from symgen.languages.language import Language
from symgen.languages.module import Module, RobotOrigin
from symgen.mechanics.model import Body, Closure, Link
from symgen.mechanics.spatial import Triple

NAME: Final = "manifest.json"
FORMAT: Final = 2
OPTIONAL_MODEL_KEYS: Final = ("closures",)
"""The keys of a model that are written only if they are not empty."""
JOINT_KEYS: Final = ("index", "joint", "link", "type", "unit")
VELOCITY_KEYS: Final = ("index", "velocity", "link", "type", "unit")


@dataclass(frozen=True)
class ArgumentEntry:
    """An array of a function."""

    direction: str
    name: str
    shape: tuple[int, ...]
    unit: str


@dataclass(frozen=True)
class FunctionEntry:
    """A function: what it computes and how, what that costs, and its arguments in order."""

    quantities: tuple[str, ...]
    formulations: Mapping[str, str]
    operations: Mapping[str, int]
    arguments: tuple[ArgumentEntry, ...]


@dataclass(frozen=True)
class RuntimeInputs:
    """Inputs that come at run time, see `symgen.tracing.robot.ParametricModel`."""

    parameters: Mapping[str, tuple[float, ...]]
    gravity: bool
    wrenches: tuple[str, ...]
    friction: tuple[str, ...]
    friction_input: bool
    friction_width: float
    friction_compensation: str
    springs: bool
    springs_input: bool


RUNTIME_FIELDS: Final = {
    "gravity": "runtime_gravity",
    "wrenches": "wrenches",
    "friction": "friction",
    "friction_input": "runtime_friction",
    "friction_width": "friction_width",
    "friction_compensation": "friction_compensation",
    "springs": "springs",
    "springs_input": "runtime_springs",
}
"""The keys of ``runtime`` by name, with the fields of `ParametricModel` that they hold."""


@dataclass(frozen=True)
class ModelEntry:
    """A model as it is written; `symgen.mechanics.model.RigidBodyModel` takes only a sound one."""

    name: str
    bodies: tuple[Body, ...]
    base: tuple[Link, ...]
    gravity: Triple
    joint_names: tuple[str, ...]
    closures: tuple[Closure, ...]


@dataclass(frozen=True)
class Manifest:
    """The keys of a manifest of format 2, in the order that they are written in (documented in
    docs/formats.md)."""

    format: int
    generator: str
    robot: str
    prefix: str
    dof: int
    nq: int
    source: RobotOrigin
    options: Mapping[str, object]
    conventions: tuple[str, ...]
    joints: tuple[Mapping[str, object], ...]
    velocities: tuple[Mapping[str, object], ...]
    functions: Mapping[str, FunctionEntry]
    runtime: RuntimeInputs
    model: ModelEntry
    files: Mapping[str, str]


def is_inside(name: str) -> bool:
    """Whether a name of a generated file stays in the folder that it is taken from."""
    return all(part not in ("", ".", "..") and Path(part).name == part for part in name.split("/"))


def manifest(module: Module, files: Mapping[str, str | bytes]) -> str:
    """The manifest of a module and its files (format 2, documented in docs/formats.md)."""
    hashes = {name: _hash(x if isinstance(x, bytes) else x.encode()) for name, x in files.items()}
    return text(module, hashes)


def text(module: Module, hashes: Mapping[str, str]) -> str:
    """The text of a manifest from the files' hashes by name."""
    compared = {field.name for field in fields(module.robot.model) if field.compare}
    data = {
        "format": FORMAT,
        "generator": f"symgen {module.version}",
        "robot": module.robot.model.name,
        "prefix": module.name,
        "dof": module.dof,
        "nq": module.dimensions["nq"],
        "source": asdict(module.source),
        "options": module.options,
        "conventions": conventions(module),
        "joints": [dict(zip(JOINT_KEYS, row, strict=True)) for row in module.joint_rows()],
        "velocities": [
            dict(zip(VELOCITY_KEYS, row, strict=True)) for row in module.velocity_rows()
        ],
        "functions": _functions(module),
        "runtime": {
            "parameters": dict(module.robot.blocks),
            **{key: getattr(module.robot, name) for key, name in RUNTIME_FIELDS.items()},
        },
        "model": {
            key: value
            for key, value in asdict(module.robot.model).items()
            if key in compared and (value or key not in OPTIONAL_MODEL_KEYS)
        },
        "files": dict(hashes),
    }
    return json.dumps(data, indent=1) + "\n"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _functions(module: Module) -> dict[str, Any]:
    quantities = {f.name: [q.name for q in f.quantities] for f in module.functions}
    formulations = {
        f.name: {q.name: formulation.name for q, formulation in f.parts} for f in module.functions
    }
    counts = {f.name: f.counts.as_dict() for f in module.functions}
    return {
        d.name: {
            "quantities": quantities.get(d.name, []),
            "formulations": formulations.get(d.name, {}),
            "operations": counts.get(d.name, {}),
            "arguments": [
                {"direction": a.direction, "name": a.name, "shape": list(a.sizes), "unit": a.unit}
                for a in d.arguments
            ],
        }
        for d in descriptions(module)
    }


def languages_of(name: str, files: Collection[str]) -> list[Language]:
    """The languages that a module's files are in."""
    return [language for language in LANGUAGES.values() if language.main.format(name=name) in files]


def contained(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """The contents of the files of a folder that are there; what is no plain file is not."""
    paths = {name: folder / name for name in names}
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}


def changed_files(contents: Mapping[str, bytes], hashes: Mapping[str, str]) -> list[str]:
    """The files of a manifest that are missing or have another hash."""
    return [
        name for name, x in hashes.items() if name not in contents or _hash(contents[name]) != x
    ]
