"""The manifest: what a folder of generated files is, as JSON, complete enough to verify it without
the URDF."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from symgen.errors import OptionError
from symgen.jobs.options import MODULE
from symgen.languages import LANGUAGES
from symgen.languages.conventions import conventions
from symgen.languages.describe import descriptions
from symgen.languages.language import Language
from symgen.languages.module import Module, Source
from symgen.mechanics.model import Body, Follow, Joint, Limits, Link, Model, Pose, Rotor
from symgen.options import Choices
from symgen.tracing.function import Function
from symgen.tracing.robot import Robot
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

NAME: Final = "manifest.json"
FORMAT: Final = 2
JOINT_KEYS: Final = ("index", "joint", "link", "type", "unit")
VELOCITY_KEYS: Final = ("index", "velocity", "link", "type", "unit")


def is_inside(name: str) -> bool:
    """Whether a name of a generated file stays in the folder that it is taken from."""
    return all(part not in ("", ".", "..") and Path(part).name == part for part in name.split("/"))


def manifest(module: Module, files: Mapping[str, str | bytes]) -> str:
    """The manifest of a module and its files (format 2, documented in docs/formats.md)."""
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
            "parameters": {k: list(v) for k, v in module.robot.blocks.items()},
            "gravity": module.robot.runtime_gravity,
            "wrenches": list(module.robot.wrenches),
            "friction": list(module.robot.friction),
            "friction_input": module.robot.runtime_friction,
            "friction_width": module.robot.friction_width,
        },
        "model": {
            key: value
            for key, value in asdict(module.robot.model).items()
            if not key.startswith("_")
        },
        "files": {
            name: _hash(x if isinstance(x, bytes) else x.encode()) for name, x in files.items()
        },
    }
    return json.dumps(data, indent=1) + "\n"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _functions(module: Module) -> dict[str, Any]:
    quantities = {f.name: [q.name for q in f.quantities] for f in module.functions}
    formulations = {f.name: {q.name: way.name for q, way in f.parts} for f in module.functions}
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


def read(folder: Path) -> tuple[Module, dict[str, str]]:
    """The module that a folder's manifest describes, traced anew, and the hashes of its files.

    Raises OptionError where there is no manifest of this version.
    """
    path = folder / NAME
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise OptionError(
                f"{str(path)!r} is of format {data['format']}, not {FORMAT}; generate it anew"
            )
        module, hashes = _module(data), dict(data["files"])
        if not hashes or not all(map(is_inside, hashes)) or _stray(module, data):
            raise OptionError(f"{str(path)!r} does not fit the files it lists; generate them anew")
        return module, hashes
    except OSError as error:
        raise OptionError(
            f"cannot read {str(path)!r}: {error.strerror or error}; give a generated folder"
        ) from error
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise OptionError(f"{str(path)!r} is not a manifest of symgen; generate it anew") from error


def _stray(module: Module, data: dict[str, Any]) -> bool:
    """Whether the manifest says something else of the functions than its own model."""
    said = json.loads(json.dumps(_functions(module)))
    named = re.fullmatch(r"[a-z][a-z0-9_]*", module.name, re.ASCII)
    known = written(module.name, data["files"])
    return not named or not known or bool(data["functions"] != said) or module.dof != data["dof"]


def written(name: str, files: Collection[str]) -> list[Language]:
    """The languages that a module's files are in."""
    return [each for each in LANGUAGES.values() if each.main.format(name=name) in files]


def _frozen(value: Any) -> Any:
    """A value of JSON with tuples in place of lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def changed(folder: Path, hashes: Mapping[str, str]) -> list[str]:
    """The files that are missing or not as they were generated."""
    return [name for name, digest in hashes.items() if _digest(folder / name) != digest]


def _digest(path: Path) -> str | None:
    return _hash(path.read_bytes()) if path.is_file() else None


def _module(data: dict[str, Any]) -> Module:
    robot = Robot(
        _model(data["model"]),
        tuple(data["runtime"]["parameters"]),
        bool(data["runtime"]["gravity"]),
        tuple(data["runtime"]["wrenches"]),
        tuple(data["runtime"]["friction"]),
        bool(data["runtime"]["friction_input"]),
        float(data["runtime"]["friction_width"]),
    )
    rows = {name: f for name, f in data["functions"].items() if f["quantities"]}
    functions = tuple(_function(robot, name, row) for name, row in rows.items())
    source = Source(**data["source"])
    return Module(
        data["prefix"],
        robot,
        functions,
        source,
        Choices.of(MODULE, {name: _frozen(value) for name, value in data["options"].items()}),
    )


def _function(robot: Robot, name: str, row: dict[str, Any]) -> Function:
    return trace(robot, Wanted.parse(f"{name}={'+'.join(row['quantities'])}"), row["formulations"])


def _model(data: dict[str, Any]) -> Model:
    bodies = tuple(_body(b) for b in data["bodies"])
    x, y, z = data["gravity"]
    return Model(data["name"], bodies, tuple(map(_link, data["base"])), (x, y, z))


def _body(data: dict[str, Any]) -> Body:
    joint = data["joint"]
    x, y, z = joint["axis"]
    return Body(
        Joint(
            joint["name"],
            joint["kind"],
            (x, y, z),
            Limits(**joint["limits"]),
            joint["damping"],
            joint["friction"],
            joint["offset"],
            _rotor(joint["rotor"]),
            joint["armature"],
        ),
        data["parent"],
        _pose(data["pose"]),
        tuple(map(_link, data["links"])),
        data["follows"] and Follow(**data["follows"]),
        data["free"],
        data["planar"],
        data["spin"],
    )


def _rotor(data: dict[str, Any] | None) -> Rotor | None:
    if data is None:
        return None
    vectors = {key: data[key] and tuple(data[key]) for key in ("axis", "position")}
    return Rotor(**{**data, **vectors})


def _link(data: dict[str, Any]) -> Link:
    ten = data["parameters"]
    return Link(data["name"], _pose(data["pose"]), None if ten is None else tuple(ten))


def _pose(data: dict[str, Any]) -> Pose:
    a, b, c = (tuple(row) for row in data["rotation"])
    x, y, z = data["position"]
    return Pose((a, b, c), (x, y, z))
