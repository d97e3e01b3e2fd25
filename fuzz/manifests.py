"""Generated folders that were changed afterwards."""

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from fuzz import byte_mutations
from fuzz.case import Case
from fuzz.child import run
from fuzz.draw import ODD_NAMES
from fuzz.nodes import written
from fuzz.robots import robot

OPTIONS: Final = (
    ("--lang", "c", "--quantity", "gravity"),
    ("--lang", "python", "--quantity", "mass_matrix"),
    ("--scalar", "float", "--trig", "inline", "--batch", "4", "--quantity", "gravity"),
    ("--parameters", "runtime", "--gravity", "runtime", "--quantity", "inverse_dynamics"),
    ("--friction", "runtime:viscous", "--quantity", "inverse_dynamics", "--glue", "cmake,cpp"),
)
ODD: Final[tuple[Any, ...]] = (
    *(0, -5, 1.5, 1e400, -0.0, 10**30, True, None, "", "x", [], {}, [[]], "half", "runtime"),
    *("\x9b31m", "../x", "/etc/passwd", "a" * 300, "\ud800", "\0", [1] * 50, {"a": {"b": 1}}),
)


@cache
def folder(which: int) -> dict[str, bytes]:
    """The files of a generated folder, by a robot and options of their own."""
    arguments = ("generate", "robot.urdf", "-o", "out", *OPTIONS[which % len(OPTIONS)])
    case = Case("manifest", arguments, {"robot.urdf": written(robot(Random(which)))})
    with tempfile.TemporaryDirectory() as place:
        after = run(case, Path(place)).after
    return {name: data for name, data in after.items() if data and name.startswith("out/")}


def changed(rng: Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """The folder with its manifest, or one of its files, damaged."""
    made = dict(files)
    name = "out/manifest.json"
    if name not in made or rng.random() < 0.15:
        name = rng.choice(list(made))
        made[name] = rng.choice((b"", made[name] + b"\n", made[name][:-20]))
        return made
    if rng.random() < 0.25:
        made[name] = byte_mutations.mutated(rng, made[name])
        return made
    data = json.loads(made[name])
    for _ in range(rng.choice((1, 1, 2))):
        _edit(rng, data)
    made[name] = json.dumps(data).encode()
    return made


def _edit(rng: Random, data: Any) -> None:
    """Change one value somewhere."""
    while isinstance(data, dict | list) and data:
        key = rng.choice(list(data) if isinstance(data, dict) else range(len(data)))
        inner = data[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.2:
            _edit_at(rng, data, key)
            return
        data = inner


def _edit_at(rng: Random, data: Any, key: Any) -> None:
    kind = rng.randrange(4)
    if kind == 0:
        del data[key]
    elif kind == 1 and isinstance(data, dict):
        data[rng.choice(ODD_NAMES)] = data.pop(key)
    elif kind == 2 and isinstance(data[key], int | float) and not isinstance(data[key], bool):
        data[key] = data[key] * rng.choice((-1, 2, 1000, 0.5, 1e200))
    else:
        data[key] = rng.choice(ODD)
