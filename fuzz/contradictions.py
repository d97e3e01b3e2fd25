"""Commands with options that have no effect on what is requested, and options with two values.

The tables of this file repeat by hand what each option has an effect on, so that a wrong
declaration in symgen is found."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from fuzz.case import Case
from symgen.languages import LANGUAGES

QUANTITIES: Final = ("gravity", "mass_matrix", "inverse_dynamics", "regressor", "frame_pose:lower")
BY_LANGUAGE: Final[Mapping[str, tuple[str, tuple[str, ...], Sequence[str]]]] = {
    "--scalar": ("scalar", ("float", "double"), ("c", "cuda")),
    "--trig": ("trig", ("libm", "inline"), ("c", "cpp", "rust", "cuda", "casadi")),
    "--zeros": ("zeros", ("once", "always"), ("c", "cuda")),
    "--glue": ("glue", ("zephyr", "cmake,arduino"), ("c",)),
    "--target": ("target", ("cortex-m4f", "cortex-m7"), ("c",)),
    "--chunk": ("chunk", ("40", "70"), ("c", "cuda", "casadi", "jax", "torch")),
    "--module-version": (
        "module_version",
        ("2.0.0", "3.1.4"),
        ("c", "rust", "javascript", "casadi", "jax", "torch"),
    ),
    "--module-url": (
        "module_url",
        ("https://a.example/b", "https://c.example"),
        ("c", "rust", "javascript"),
    ),
}
"""Key in a job file, values (the first is no default) and languages of options."""
BY_QUANTITY: Final[Mapping[str, tuple[str, tuple[str, ...], Sequence[str]]]] = {
    "--friction": (
        "friction",
        ("runtime:viscous", "runtime:coulomb"),
        ("inverse_dynamics", "regressor"),
    ),
    "--external-wrench": ("external_wrench", ("lower", "upper"), ("inverse_dynamics",)),
    "--parameters": (
        "parameters",
        ("runtime", "runtime:lower"),
        ("gravity", "mass_matrix", "inverse_dynamics"),
    ),
}
"""The same by quantity."""
LISTS: Final = ("glue", "external_wrench")


def contradictory(rng: Random, robot: bytes) -> Case:
    """A command for the pendulum, with what its refusal must name; sound where nothing may be
    refused."""
    languages = rng.sample([*LANGUAGES], rng.choice((1, 1, 2, 3)))
    quantities = rng.sample(QUANTITIES, rng.choice((1, 1, 2)))
    words, data, refusals = list[str](), dict[str, object](), list[str]()
    for table, requested in ((BY_LANGUAGE, languages), (BY_QUANTITY, quantities)):
        for flag in rng.sample([*table], rng.choice((0, 1, 1, 2))):
            key, values, effective = table[flag]
            if not {*requested} & {*effective}:
                refusals.append(f"{flag}: this option has no effect on ")
            if rng.random() < 0.3:
                data[key] = _as_data(key, values[0])
            elif rng.random() < 0.2:
                words += [flag, values[0], flag, values[1]]
                refusals += [f"{flag}: two values are given, "] if values[0] != values[1] else []
            else:
                words += [flag, rng.choice(values)]
    files = {"pendulum.urdf": robot}
    named = [word for name in quantities for word in ("--quantity", name)]
    named += [word for name in languages for word in ("--lang", name)]
    if data:
        files["job.toml"] = _toml({"file": "pendulum.urdf", "out": "out", **data}).encode()
    file = "job.toml" if data else "pendulum.urdf"
    arguments = ("generate", file, "-o", "out", *named, *words)
    return Case("", arguments, files, sound=not refusals, refusals=tuple(refusals))


def _as_data(key: str, value: str) -> object:
    if key in LISTS:
        return value.split(",")
    return int(value) if key == "chunk" else value


def _toml(data: Mapping[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in data.items())
