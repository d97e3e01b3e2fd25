"""Operation counts that the documentation shows, stored in docs/benchmarks/counts.json.

Counts are deterministic: the same sources give the same numbers on every machine."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import symgen
from benchmarks import adjoints, growth
from benchmarks.operations import OTHERS
from benchmarks.rotors import GROWTH, forward_dynamics_counts
from symgen.algorithms.registry import LINK_QUANTITIES, QUANTITIES
from symgen.mechanics.model import RigidBodyModel
from symgen.proof.reference_values import SAME_ALGORITHM, source
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_robots import example_robots

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = ROOT / "docs" / "benchmarks" / "counts.json"
WEIGHTLESS: Final = (0.0, 0.0, 0.0)

ROBOTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "pendulum": ("robots/pendulum.urdf", ()),
    "ur5": ("robots/ur5.urdf", ()),
    "snake16": ("robots/snake16.urdf", ()),
    "humanoid25": ("robots/humanoid25.urdf", ()),
    "example/ur5": ("ur_description/urdf/ur5_robot.urdf", ()),
    "example/panda": (
        "panda_description/urdf/panda.urdf",
        ("panda_finger_joint1", "panda_finger_joint2"),
    ),
    "example/talos": ("talos_data/robots/talos_reduced.urdf", ()),
}
"""By key: the file and the joints that are locked at 0. Keys with ``example/`` are robots of the
package example-robot-data, the others are files of this repository."""

PEERS: Final = ("example/ur5", "example/panda", "example/talos", "snake16")
"""Robots of docs/benchmarks/operations.md, in the order of its columns."""

JOHANNESSEN: Final = ("pendulum", "example/ur5", "snake16")
"""Robots of the comparison with Johannessen (2019) in docs/proof.md."""

TERMS: Final = "mass_matrix+coriolis_matrix+gravity"
RATES: Final = "mass_matrix_rate+coriolis_matrix_rate+gravity_rate"
NEWTON_EULER: Final = (
    "mass_matrix+coriolis_matrix_newton_euler+gravity",
    "mass_matrix_rate+coriolis_matrix_newton_euler_rate+gravity_rate",
)
HUMANOID: Final[Mapping[str, str]] = {
    "terms": TERMS,
    "rates": f"{TERMS}+{RATES}",
    "newton_euler_terms": NEWTON_EULER[0],
    "newton_euler_rates": "+".join(NEWTON_EULER),
}
"""Functions of the comparison with Garofalo et al. (2013) in docs/proof.md."""


@cache
def model(key: str) -> RigidBodyModel:
    """The robot of a key of `ROBOTS`."""
    name, locked = ROBOTS[key]
    path = ROOT / name
    if key.startswith("example/"):
        path = next(p for p in example_robots() if p.as_posix().endswith(f"/{name}"))
    return load(path, lock=[(joint, 0.0) for joint in locked]).model


def operations(key: str, quantity: str, weightless: bool = False) -> int:
    """Additions, multiplications, divisions, sines and cosines of one function of a robot; the
    formulation with the fewest of them is counted."""
    robot = replace(model(key), gravity=WEIGHTLESS) if weightless else model(key)
    return trace(ParametricModel(robot), FunctionRequest.parse(quantity)).counts.total


def peer_counts() -> dict[str, dict[str, int]]:
    """By robot and quantity: the counts of docs/benchmarks/operations.md."""
    return {key: {q: operations(key, q) for q in OTHERS} for key in PEERS}


def johannessen_counts() -> dict[str, dict[str, int]]:
    """By robot and quantity: the counts of the comparison with Johannessen; `coriolis` is the bias
    force without gravity."""
    from benchmarks.published import JOHANNESSEN_OPERATIONS

    return {
        key: {
            q: operations(key, "bias" if q == "coriolis" else q, weightless=q == "coriolis")
            for q in JOHANNESSEN_OPERATIONS
        }
        for key in JOHANNESSEN
    }


def humanoid_counts() -> dict[str, int]:
    """By function of `HUMANOID`, and C and its rate alone."""
    functions = {name: f"{name}={quantities}" for name, quantities in HUMANOID.items()}
    alone = {name: name for name in ("coriolis_matrix", "coriolis_matrix_rate")}
    return {name: operations("humanoid25", text) for name, text in (functions | alone).items()}


def default_counts() -> dict[str, dict[str, int]]:
    """Counts of the module that `symgen generate robots/ur5.urdf` writes, without options:
    arithmetic operations, and sines and cosines."""
    found = {}
    for quantity in ("inverse_dynamics", "gravity", "bias", "mass_matrix"):
        counts = symgen.trace(ROOT / "robots/ur5.urdf", quantity).counts
        found[quantity] = {"total": counts.total, "trig": counts.trig}
    return found


def rotor_counts() -> list[dict[str, int]]:
    """Forward dynamics of chains with rotors, by the number of bodies (docs/rotors.md)."""
    return [{"bodies": n} | forward_dynamics_counts(n) for n in GROWTH]


def closed_form_lengths() -> dict[str, dict[str, int]]:
    """Characters of entry (1, 1) of the mass matrix in closed form, by robot: with masses as numbers
    and as symbols."""
    found = {}
    for name in ("ur5", "panda_arm"):
        entry = symgen.Robot(ROOT / f"robots/{name}.urdf").symbolic.entry
        kinds = ("numbers", "symbols")
        found[name] = {kind: len(str(entry("mass_matrix", 1, 1, masses=kind))) for kind in kinds}
    return found


def growth_counts() -> dict[str, dict[str, int]]:
    """Operations of chains of UR5 joints, by quantity and number of joints."""
    return {q: {str(n): k for n, k in row.items()} for q, row in growth.curves().items()}


def self_test_counts() -> dict[str, dict[str, int]]:
    """By robot: velocities, quantities (those of a link for the last link), and for how many of
    these the reference values of a self-test come from the same algorithm in many digits."""
    found = {}
    for key in ("pendulum", "ur5", "snake16", "humanoid25"):
        robot = ParametricModel(model(key))
        link = robot.model.bodies[-1].name
        quantities = [q for name, q in QUANTITIES.items() if name not in LINK_QUANTITIES]
        quantities += [q.of(link) for q in LINK_QUANTITIES.values()]
        same = sum(source(robot, q) == SAME_ALGORITHM for q in quantities)
        found[key] = {"n": robot.model.dof, "quantities": len(quantities), "same": same}
    return found


PARTS: Final[Mapping[str, Callable[[], Any]]] = {
    "peers": peer_counts,
    "johannessen": johannessen_counts,
    "humanoid": humanoid_counts,
    "default": default_counts,
    "rotors": rotor_counts,
    "closed_forms": closed_form_lengths,
    "growth": growth_counts,
    "adjoints": adjoints.own_counts,
    "self_tests": self_test_counts,
}
"""The parts of the file, each recounted by its function."""


def stored() -> dict[str, Any]:
    """The stored counts."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def recount() -> None:
    """Count everything again and store it."""
    counts = {name: count() for name, count in PARTS.items()}
    FILE.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
