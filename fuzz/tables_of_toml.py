"""TOML files, of jobs, actuators and parameters: as tables of Python values, changed, written."""

import json
from random import Random
from typing import Any, Final

from fuzz import byte_mutations
from fuzz.draw import ODD_NAMES, ODD_NUMBERS, argument, name
from fuzz.nodes import Node
from fuzz.options import VALUES, Names, own

RAW: Final = (
    *("nan", "inf", "-inf", "true", "1979-05-27", "07:32:00", "[]", "{}", "0x10", "1_000", "''"),
    *(
        "[1, 'a']",
        "[[1]]",
        "[nan]",
        "{a = 1}",
        "1e400",
        "9" * 400,
        "-0.0",
        '"\\u0000"',
        '"\\u009b"',
    ),
    *('"a\\nb"', '"\\u001b[31m"', '"\\u202e"', "1e-400", "0", "-1", "[0.0, 0.0]", "[1, 2, 3, 4]"),
)
"""Values as they are written."""


class Raw(str):
    """A value that is written as it is."""


def written(data: dict[str, Any], rng: Random | None) -> bytes:
    """The text of a table; with a chance, its bytes changed."""
    text = "".join(f"{_key(key)} = {_value(value)}\n" for key, value in data.items())
    made = text.encode("utf-8", "surrogatepass")
    return byte_mutations.mutated(rng, made) if rng is not None and rng.random() < 0.15 else made


def _key(key: str) -> str:
    plain = key.isascii() and key.replace("_", "a").replace("-", "a").isalnum()
    return key if plain else json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def changed(rng: Random, data: dict[str, Any], odd: float = 0.6) -> dict[str, Any]:
    """A table with a value, a key or an entry changed, with the given chance."""
    if rng.random() > odd:
        return data
    for _ in range(rng.choice((1, 1, 2))):
        holder, key = _place(rng, data)
        kind = rng.randrange(5)
        if kind == 0:
            holder.pop(key, None)
        elif kind == 1:
            holder[name(rng, 0.8)] = holder.pop(key, 1)
        elif kind == 2:
            holder[key] = rng.choice((rng.choice(ODD_NAMES), rng.choice(ODD_NUMBERS)))
        else:
            holder[key] = Raw(rng.choice(RAW))
    return data


def _place(rng: Random, data: dict[str, Any]) -> tuple[dict[str, Any], str]:
    holders = [data, *(value for value in data.values() if isinstance(value, dict))]
    deeper = [v for h in holders[1:] for v in h.values() if isinstance(v, dict)]
    holder = rng.choice([*holders, *deeper])
    return holder, rng.choice(list(holder) or ["key"])


def job(rng: Random, names: Names, file: str = "robot.urdf") -> bytes:
    """A job file for a robot."""
    data: dict[str, Any] = {"file": file, "out": "out"}
    for option in rng.sample(own("generate"), rng.randint(0, 6)):
        key = str(option.name)
        if key != "out":
            data[key] = _job_value(rng, key, names)
    return written(changed(rng, data), rng)


def _job_value(rng: Random, key: str, names: Names) -> Any:
    value = VALUES[key](rng, names) if key in VALUES else argument(rng)
    if key in ("quantities", "languages", "thrusters"):
        return [value]
    if key in ("glue", "external_wrench"):
        return value.split(",")
    if key in ("lock", "formulations", "xacro_args"):
        left, _, right = value.rpartition("=")
        return {left: Raw(right) if key == "lock" and _is_number(right) else right}
    if key == "gravity" and "," in value:
        return [Raw(part) if _is_number(part) else part for part in value.split(",")]
    return (
        Raw(value)
        if key in ("chunk", "friction_width", "snap_angles") and _is_number(value)
        else value
    )


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and text == text.strip() and json.loads(text) is not None
    except ValueError:
        return False


def actuators(rng: Random, names: Names) -> bytes:
    """A file of actuators for a robot."""
    joints = {joint: _actuator(rng) for joint in names.joints if rng.random() < 0.7}
    links = {link: _fluid(rng) for link in names.links if rng.random() < 0.3}
    return written(changed(rng, {"joints": joints, "links": links}), rng)


def drives(rng: Random, root: Node) -> bytes:
    """A sound file of actuators for the joints that can have one."""
    driven = ("revolute", "continuous", "prismatic")
    joints = [joint for joint in root.every("joint") if joint.get("type") in driven]
    return written({"joints": {str(j.get("name")): _actuator(rng) for j in joints}}, None)


def _actuator(rng: Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if rng.random() < 0.7:
        made |= {"gear_ratio": rng.choice((100.0, -50, 1, 0.5)), "rotor_inertia": 2e-5}
    if made and rng.random() < 0.3:
        made["rotor_axis"] = [0, rng.choice((0, 1, 1e-3)), 1]
    if made and rng.random() < 0.2:
        made |= {"rotor_position": [0.1, 0, 0], "rotor_mass": 0.2, "rotor_transverse": 1e-5}
    if rng.random() < 0.5:
        made |= {"viscous": 0.5, "coulomb": rng.choice((0.2, 0)), "offset": -0.1}
    if rng.random() < 0.3:
        made |= {"stribeck": rng.choice((0.2, -0.1)), "stribeck_velocity": rng.choice((0.1, 0, 1))}
        made |= {"load": rng.choice((0.1, 1.5)), "presliding": 0.3}
        made |= rng.choice(({"presliding_distance": 0.01}, {"presliding_distance": -1}, {}))
    return made


def _fluid(rng: Random) -> dict[str, Any]:
    """The fluid around a link."""
    return {
        "density": 1000.0,
        "volume": rng.choice((0.0, 0.01, -1)),
        "added_mass": [rng.choice((1.0, 0.0))] * rng.choice((6, 21, 36, 5)),
        "linear_drag": [rng.choice((2.0, 0, -1))] * rng.choice((6, 36, 7)),
        "quadratic_drag": [3.0] * rng.choice((6, 36)),
        "current": [0.1, rng.choice((0, 1e300)), 0],
    }


def parameters(rng: Random, bodies: list[str]) -> dict[str, Any]:
    """A file of standard parameters."""
    keys = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    ten = {key: 1.0 if key in ("m", "Ixx", "Iyy", "Izz") else 0.0 for key in keys}
    return changed(rng, {"bodies": {body: dict(ten) for body in bodies if rng.random() < 0.8}})
