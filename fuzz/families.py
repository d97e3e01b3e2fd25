"""Kinds of inputs: each makes a case from random numbers alone; a registry with weights."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from fuzz import (
    byte_mutations,
    contradictions,
    loops,
    manifests,
    tables,
    tables_of_toml,
    xacros,
    xml_mutations,
)
from fuzz.case import Case, Fault
from fuzz.draw import argument
from fuzz.faults import FAULTS
from fuzz.nodes import Node, written
from fuzz.options import OUT, Names, controlling, drawn, fitting
from fuzz.robots import robot, stored
from symgen.algorithms import LINK_QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS

COMMANDS: Final = {
    "generate": 40,
    "check": 26,
    "inspect": 14,
    "ops": 8,
    "dump": 6,
    "init": 4,
    "build": 1,
}
WITHOUT_NOTES: Final = 3
"""Joints up to which every quantity is cheap."""


@dataclass(frozen=True)
class Family:
    """How to make its cases, and how often relative to others."""

    weight: int
    make: Callable[[Random], Case]


FAMILIES: Final[dict[str, Family]] = {}


def family(weight: int) -> Callable[[Callable[[Random], Case]], Callable[[Random], Case]]:
    """Registers a family under its function's name."""

    def register(make: Callable[[Random], Case]) -> Callable[[Random], Case]:
        FAMILIES[make.__name__] = Family(weight, make)
        return make

    return register


def case(seed: int, number: int, family: str | None = None) -> Case:
    """The case of a number under a seed, of a family or of one by weight."""
    rng = Random(f"symgen {seed} {number} {family or ''}")
    weights = [row.weight for row in FAMILIES.values()]
    name = family or rng.choices(list(FAMILIES), weights)[0]
    return replace(FAMILIES[name].make(rng), family=name)


def _command(
    rng: Random, names: Names, file: str, most: int = 2, odd: float = 0.04
) -> tuple[str, ...]:
    command = rng.choices(list(COMMANDS), list(COMMANDS.values()))[0]
    options = list(drawn(rng, command, names, most, odd))
    if command in ("generate", "ops") and not {"--quantity"} & set(options) and rng.random() < 0.4:
        options += ["--quantity", rng.choice(("gravity", "mass_matrix", "bias"))]
    return (command, file, *options)


def _tree(rng: Random) -> Node | bytes:
    return stored(rng) if rng.random() < 0.3 else robot(rng, rng.choice((0.0, 0.0, 0.3)))


@family(4)
def sound(rng: Random) -> Case:
    """A robot with nothing wrong, under default options: it must be accepted."""
    command = rng.choice((("check",), ("generate", "-o", "out"), ("ops",), ("inspect",)))
    files = {"robot.urdf": written(robot(rng))}
    return Case("", (command[0], "robot.urdf", *command[1:]), files, sound=True)


@family(1)
def proved(rng: Random) -> Case:
    """A sound small robot under options that fit each other; always proved."""
    root = robot(rng, most=2)
    names = Names.of(root)
    files = {"robot.urdf": written(root)}
    arguments = ["generate", "robot.urdf", "-o", "out", *fitting(rng, names)]
    if rng.random() < 0.25:
        files["actuators.toml"] = tables_of_toml.drives(rng, root)
        arguments += [
            "--actuators",
            "actuators.toml",
            "--rotors",
            rng.choice(("exact", "reflected")),
        ]
    return Case("", tuple(arguments), files)


@family(34)
def urdf(rng: Random) -> Case:
    """A robot's tree with changes."""
    root = _tree(rng)
    if isinstance(root, bytes):
        data = byte_mutations.mutated(rng, root)
        return Case("", _command(rng, Names(), "robot.urdf"), {"robot.urdf": data})
    made = xml_mutations.mutated(rng, root)
    return Case("", _command(rng, Names.of(made), "robot.urdf"), {"robot.urdf": written(made)})


@family(8)
def urdf_bytes(rng: Random) -> Case:
    """A robot's file with changes of its bytes."""
    root = _tree(rng)
    data = root if isinstance(root, bytes) else written(root)
    names = Names() if isinstance(root, bytes) else Names.of(root)
    files = {"robot.urdf": byte_mutations.mutated(rng, data)}
    return Case("", _command(rng, names, "robot.urdf"), files)


@family(14)
def options(rng: Random) -> Case:
    """A sound robot under many options."""
    root = robot(rng, rng.choice((0.0, 0.2)))
    names = Names.of(root)
    files = {"robot.urdf": written(root)}
    arguments = _command(rng, names, "robot.urdf", 7, 0.1)
    if "actuators.toml" in arguments:
        files["actuators.toml"] = tables_of_toml.actuators(rng, names)
    if rng.random() < 0.05:
        place = rng.randrange(len(arguments) + 1)
        arguments = (*arguments[:place], argument(rng), *arguments[place:])
    return Case("", arguments, files, _environment(rng))


@family(5)
def contradictory(rng: Random) -> Case:
    """Options that have no effect on what is requested, or two values."""
    return contradictions.contradictory(rng, written(_robot_of("pendulum")))


def _environment(rng: Random) -> dict[str, str]:
    if rng.random() < 0.85:
        return {}
    return rng.choice(
        (
            {"CC": rng.choice(("", "nothing", "gcc -m64", "gcc -O1", "'", "clang"))},
            {"COLUMNS": rng.choice(("0", "1", "20", "100000", "x"))},
            {"LC_ALL": "C", "NO_COLOR": "1"},
            {"TMPDIR": "nowhere"},
        )
    )


@family(6)
def xacro(rng: Random) -> Case:
    """A xacro file."""
    root = robot(rng)
    made = xacros.xacro(rng, xml_mutations.mutated(rng, root) if rng.random() < 0.3 else root)
    data = written(made)
    data = byte_mutations.mutated(rng, data) if rng.random() < 0.1 else data
    files = {"robot.urdf.xacro": data}
    if rng.random() < 0.5:
        files["part.xacro"] = written(xacros.xacro(rng, robot(rng)))
    return Case("", _command(rng, Names.of(root), "robot.urdf.xacro"), files)


@family(6)
def closed_loop(rng: Random) -> Case:
    """A robot with a closed loop, in a format that has loops or by the option."""
    made = loops.mechanism(rng)
    file = rng.choice(("robot.urdf", "robot.urdf", *loops.WRITERS))
    if file in loops.WRITERS:
        data, closing = loops.WRITERS[file](rng, made), list[str]()
    else:
        element = not made.length and rng.random() < 0.5
        data = loops.urdf(rng, made, element)
        closing = [] if element else ["--loop", loops.option(rng, made)]
    if rng.random() < 0.15:
        closing += ["--independent", rng.choice(made.joints)]
    if rng.random() < 0.15:
        closing += ["--loop", loops.polynomial(rng, made)]
    names = Names(made.joints, made.links)
    command = rng.choice(("check", "generate", "generate", "generate", "inspect", "ops"))
    more = {"generate": ["-o", "out"], "ops": ["--quantity", "all"]}.get(command, [])
    if command == "generate":
        every = rng.random() < 0.1 and len(made.parts) <= WITHOUT_NOTES + 1
        more += ["--quantity", "all"] if every else [*fitting(rng, names)]
    data = byte_mutations.mutated(rng, data) if rng.random() < 0.1 else data
    return Case("", (command, file, *closing, *more), {file: data})


@family(10)
def job(rng: Random) -> Case:
    """A job file, and options on the command line beside it."""
    root = robot(rng)
    names = Names.of(root)
    files = {"robot.urdf": written(root), "job.toml": tables_of_toml.job(rng, names)}
    if b"actuators" in files["job.toml"]:
        files["actuators.toml"] = tables_of_toml.actuators(rng, names)
    arguments = _command(rng, names, "job.toml", 1)
    if arguments[0] == "generate" and rng.random() < 0.7:
        arguments = ("generate", "job.toml")
    return Case("", arguments, files)


@family(7)
def actuators(rng: Random) -> Case:
    """A file of actuators."""
    root = robot(rng)
    names = Names.of(root)
    files = {"robot.urdf": written(root), "actuators.toml": tables_of_toml.actuators(rng, names)}
    arguments = (*_command(rng, names, "robot.urdf", 1), "--actuators", "actuators.toml")
    return Case("", arguments, files)


@family(9)
def log(rng: Random) -> Case:
    """A log to be identified from, and parameters known beforehand."""
    name, columns = tables.log(rng)
    tree = written(_robot_of(name))
    suffix, data = tables.damaged(rng, columns)
    names = Names.of(_robot_of(name))
    found = list(drawn(rng, "identify", names, 3, 0.04))
    if rng.random() < 0.9:
        found = _without(found, ("-o", "--out"))  # pictures take longest
    files = {"robot.urdf": tree, f"log{suffix}": data}
    bodies = tables_of_toml.parameters(rng, list(names.links[1:]))
    if "prior.json" in found:
        files["prior.json"] = json.dumps(bodies, default=str).encode("utf-8", "replace")
    if "prior.toml" in found:
        files["prior.toml"] = tables_of_toml.written(bodies, rng)
    return Case("", ("identify", "robot.urdf", f"log{suffix}", *found), files)


def _robot_of(name: str) -> Node:
    from fuzz.nodes import read
    from fuzz.robots import ROOT

    return read((ROOT / "robots" / f"{name}.urdf").read_bytes())


def _without(arguments: list[str], options: tuple[str, ...]) -> list[str]:
    places = {k for k, word in enumerate(arguments) if word in options}
    return [word for k, word in enumerate(arguments) if k not in places and k - 1 not in places]


@family(2)
def excite(rng: Random) -> Case:
    """A motion to be found."""
    root = robot(rng)
    if rng.random() < 0.4:
        root = xml_mutations.mutated(rng, root)
    arguments = ("excite", "robot.urdf", *drawn(rng, "excite", Names.of(root), 4, 0.04))
    return Case("", arguments, {"robot.urdf": written(root)})


@family(4)
def manifest(rng: Random) -> Case:
    """A generated folder that was damaged, to be verified or generated into again."""
    which = rng.randrange(12)
    files = manifests.changed(rng, manifests.folder(which))
    arguments: tuple[str, ...] = ("verify", "out")
    if (kind := rng.random()) > 0.8:  # without programs, which take minutes
        return Case("", ("evidence", "out", "-o", "evidence"), files, {"PATH": "/nowhere"})
    if kind < 0.1:
        arguments = ("generate", "robot.urdf", "-o", "out")
        files["robot.urdf"] = written(robot(Random(which)))
    return Case("", arguments, files)


@family(1)
def controller(rng: Random) -> Case:
    """A controller of a small robot: its steps are run afterwards, or its gains are examined."""
    root = robot(rng, most=2)
    names = Names.of(root)
    name = rng.choice(list(CONTROLLERS))
    link = f":{rng.choice(names.links[1:] or names.links)}" if name in LINK_QUANTITIES else ""
    files = {"robot.urdf": written(root)}
    if rng.random() < 0.3:
        rate = rng.choice(("1000", "100", "1e6", "0", "-1", "nan", "1e-300"))
        arguments = ["check", "robot.urdf", "--controller", name + link, "--rate", rate]
        for gain in rng.sample(list(CONTROLLERS[name].gains), rng.randrange(3) % 2):
            value = rng.choice(("1", "0", "-1", "nan", "1e300", "1e-300", "", "1,2,3", "x"))
            arguments += ["--gain", f"{gain}={value}"]
        return Case("", tuple(arguments), files)
    arguments = ["generate", "robot.urdf", "-o", "out", "--lang", "c", "--quantity", "gravity"]
    arguments += ["--controller", name + link, *controlling(rng)]
    return Case("", tuple(arguments), files)


@family(3)
def machine(rng: Random) -> Case:
    """A machine that fails while something is written."""
    files = {"robot.urdf": written(_robot_of("pendulum") if rng.random() < 0.5 else robot(rng))}
    command = rng.choice(("generate", "generate", "generate", "inspect", "excite", "init"))
    arguments = {
        "generate": ("generate", "robot.urdf", "-o", "out", "--quantity", "gravity"),
        "inspect": ("inspect", "robot.urdf", "--html", "page.html"),
        "excite": ("excite", "robot.urdf", "-o", OUT["excite"], "--budget", "2", "--rate", "50"),
        "init": ("init", "robot.urdf", "-o", OUT["init"]),
    }[command]
    kind = rng.choice(list(FAULTS))
    at = rng.choice((0, 10, 500, 3000, 6000)) if kind == "small disk" else rng.randrange(14)
    return Case("", arguments, files, fault=Fault(kind, at))
