"""Measurements for docs/proof.md: ``python -m benchmarks.proof`` stores them in
docs/benchmarks/proof.json, from which `make figures` writes the tables of the page.

Errors are those of the algorithms on floats, which the compiled C equals bit for bit, or those of
the compiled C where a docstring says so."""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio as pin

import symgen
from benchmarks.call_times import call_times
from benchmarks.figures.counts import HUMANOID, WEIGHTLESS, model
from benchmarks.judge import Judge
from benchmarks.published import ECHEANDIA_SYMBOLIC, ECHEANDIA_VALIDITY, JOHANNESSEN_AGREEMENT
from symgen.algorithms import QUANTITIES
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model, lump_links
from symgen.reading.assemble import load
from tests.support.random_trees import STEP, anywhere, chain, tree, turning, unit

Array = Any
ROBOTS = Path(__file__).resolve().parent.parent / "robots"
FILE = ROBOTS.parent / "docs" / "benchmarks" / "proof.json"
PUBLIC = {"UR5": "example/ur5", "Panda": "example/panda", "Talos": "example/talos"}
"""Robots of the table of laws, by the key of `benchmarks.figures.counts.ROBOTS`."""


def numbers(entries: Sequence[Any], *shape: int) -> Array:
    return np.array([complex(x).real for x in entries]).reshape(shape or -1)


def run(
    quantity: str, robot: RigidBodyModel, *state: Array, regrouping: str = "minimal", which: int = 0
) -> Array:
    """An algorithm on floats; n x n and n x n x n outputs as such."""
    q = QUANTITIES[quantity]
    way = next(way for way in q.formulations if way.regrouping == regrouping)
    found = way.algorithm(canonical_model(robot, regrouping=regrouping), *(list(x) for x in state))
    found, shape = (found[which] if len(q.outputs) > 1 else found), q.outputs[which].shape
    return numbers(found, *([robot.dof] * len(shape) if set(shape) == {"n"} else [-1]))


def by_time(quantity: str, robot: RigidBodyModel, *flow: Array) -> Array:
    """d/dt by the complex step; `flow` has one derivative more than the quantity reads."""
    q = QUANTITIES[quantity]
    state = [(np.asarray(x) + 1j * STEP * y).tolist() for x, y in pairwise(flow)]
    return (
        np.array(
            [complex(x).imag for x in q.formulations[0].algorithm(canonical_model(robot), *state)]
        )
        / STEP
    )


def states(n: int, count: int, rows: int = 4) -> Array:
    """Random states: q, qd, ... each from -2 to 2."""
    return np.random.default_rng(0).uniform(-2, 2, (count, rows, n))


# -- Echeandia (2020) --------------------------------------------------------------------------------


def validity(robot: RigidBodyModel, count: int = 100) -> tuple[float, float, float, float]:
    """Largest |C qd - tau(RNEA, g = 0, qdd = 0)|, |M' - (C + C^T)|, |sum Gamma qd - C|, and the
    largest torque, N m."""
    robot, worst = replace(robot, gravity=WEIGHTLESS), np.zeros(4)
    for q, qd, *_ in states(robot.dof, count):
        c, tau = run("coriolis_matrix", robot, q, qd), run("inverse_dynamics", robot, q, qd, 0 * q)
        rate = by_time("mass_matrix", robot, q, qd).reshape(c.shape)
        gamma = run("christoffel_symbols_full", robot, q)
        errors = (c @ qd - tau, rate - c - c.T, gamma @ qd - c, tau)
        worst = np.maximum(worst, [np.abs(e).max() for e in errors])
    a, b, c, size = worst.tolist()
    return a, b, c, size


def validities() -> dict[str, tuple[float, ...]]:
    """`validity` of serial chains and of trees with branching factor 2, with axes, offsets and
    inertias of no special direction."""
    parents = {"chain": chain, "tree": lambda rng, k: k // 2}
    return {
        f"{kind}, {n} bodies": validity(tree(1, anywhere, unit, turning, parents[kind], (n,)))
        for kind in parents
        for n in ECHEANDIA_VALIDITY
    }


BRANCHING = {"chain": 1, "tree": 2}
TERMS_OF_C = ("coriolis_matrix", "christoffel_symbols_full", "christoffel_symbols")
FLAGS = {"-O2": ("-O2",), "-O3 -march=native": ("-O3", "-march=native", "-ffp-contract=fast")}
"""Flags of the C compiler for the times of one call."""


def generic_urdf(n: int, branching: int) -> str:
    """Revolute joints with axes, offsets and inertias of no special direction."""
    rng = np.random.default_rng(n)
    text = '<robot name="generic"><link name="base"/>'
    for k in range(n):
        parent = f"link{(k - 1) // branching}" if k else "base"
        place, turn, axis, centre = (" ".join(map(str, rng.uniform(-1, 1, 3))) for _ in range(4))
        text += (
            f'<link name="link{k}"><inertial><origin xyz="{centre}"/><mass value="1.5"/>'
            '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0.03" izz="0.5"/></inertial>'
            f'</link><joint name="joint{k}" type="revolute"><parent link="{parent}"/>'
            f'<child link="link{k}"/><origin xyz="{place}" rpy="{turn}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="9" velocity="9"/></joint>'
        )
    return text + "</robot>"


def times_of_c() -> dict[str, dict[str, list[float]]]:
    """By kind of tree and by flags: nanoseconds of one call of `TERMS_OF_C`, 20 bodies."""
    with TemporaryDirectory() as folder:
        file, found = Path(folder) / "generic.urdf", {}
        for kind, branching in BRANCHING.items():
            file.write_text(generic_urdf(20, branching), encoding="utf-8")
            found[kind] = {
                name: call_times(file, TERMS_OF_C, flags) for name, flags in FLAGS.items()
            }
    return found


def symbolic_times() -> dict[str, list[float]]:
    """By number of bodies: seconds of processor time from the file of a chain to the operations of
    M and of all Christoffel symbols."""
    with TemporaryDirectory() as folder:
        file, found = Path(folder) / "generic.urdf", {}
        for n in ECHEANDIA_SYMBOLIC:
            file.write_text(generic_urdf(n, 1), encoding="utf-8")
            found[str(n)] = [
                seconds(file, name) for name in ("mass_matrix", "christoffel_symbols_full")
            ]
    return found


def seconds(file: Path, quantity: str, repeats: int = 3) -> float:
    """Shortest time of the processor from a robot's file to the operations of a quantity, the cheapest of all
    formulations."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        symgen.trace(file, quantity)
        best = min(best, time.process_time() - start)
    return best


# -- Johannessen et al. (2019) -----------------------------------------------------------------------


def agreement(name: str, count: int = 1000) -> Iterator[float]:
    """Sums of absolute differences between the compiled C and Pinocchio over random states, in
    the order of `JOHANNESSEN_AGREEMENT`."""
    path = ROBOTS / f"{name}.urdf"
    judge = Judge(path, load(path).model)
    heavy = symgen.compile(path, "gravity", "inverse_dynamics", "mass_matrix", "forward_dynamics")
    light = symgen.compile(path, "bias", gravity=WEIGHTLESS)
    q, qd, qdd, tau = states(judge.model.nv, count).swapaxes(0, 1)
    yield total(heavy.gravity(q), lambda k: judge.gravity({"q": q[k]}))
    weight = judge.model.gravity.linear.copy()
    judge.model.gravity.linear = np.zeros(3)
    yield total(light.bias(q, qd), lambda k: judge.bias({"q": q[k], "qd": qd[k]}))
    judge.model.gravity.linear = weight
    forces = heavy.inverse_dynamics(q, qd, qdd)
    yield total(forces, lambda k: judge.inverse_dynamics({"q": q[k], "qd": qd[k], "qdd": qdd[k]}))
    yield total(heavy.mass_matrix(q), lambda k: judge.mass_matrix({"q": q[k]}))
    yield total(
        heavy.forward_dynamics(q, qd, tau), lambda k: accelerations(judge, q[k], qd[k], tau[k])
    )


def accelerations(judge: Judge, q: Array, qd: Array, tau: Array) -> Array:
    order = judge.coupling  # a permutation for robots without mimicking joints
    return order.T @ pin.aba(judge.model, judge.data, judge.place(q), order @ qd, order @ tau)


def total(found: Array, expected: Callable[[int], Array]) -> float:
    return float(sum(np.abs(x - expected(k)).sum() for k, x in enumerate(found)))


# -- Garofalo et al. (2013) --------------------------------------------------------------------------


def humanoid_times() -> dict[str, dict[str, float]]:
    """By flags and by function of `HUMANOID`: nanoseconds of one call."""
    wanted = [f"{name}={quantities}" for name, quantities in HUMANOID.items()]
    return {
        name: dict(
            zip(HUMANOID, call_times(ROBOTS / "humanoid25.urdf", wanted, flags), strict=True)
        )
        for name, flags in FLAGS.items()
    }


# -- laws ------------------------------------------------------------------------------------------


def laws(
    robot: RigidBodyModel, q: Array, qd: Array, qdd: Array, qddd: Array
) -> Iterator[tuple[str, Array, Array]]:
    """Each law as a name and its two sides."""
    c, g = run("coriolis_matrix", robot, q, qd), run("gravity", robot, q)
    tau, n = run("inverse_dynamics", robot, q, qd, qdd), robot.dof
    bodies = lump_links(robot, [body.name for body in robot.bodies])
    pi = numbers([x for body in bodies.bodies for x in body.links[0].parameters or (0.0,) * 10])
    yield "C q̇ + g = bias", c @ qd + g, run("bias", robot, q, qd)
    yield "M q̈ + C q̇ + g = τ", run("mass_matrix", robot, q) @ qdd + c @ qd + g, tau
    yield "C + Cᵀ = Ṁ", c + c.T, by_time("mass_matrix", robot, q, qd).reshape(n, n)
    yield "Σ Γ q̇ = C", run("christoffel_symbols_full", robot, q) @ qd, c
    yield "2 C = ∂τ/∂q̇ by the complex step", 2 * c, slope(robot, 1, q, qd, qdd)
    yield (
        "∂τ/∂q = complex step",
        run("inverse_dynamics_derivatives", robot, q, qd, qdd),
        slope(robot, 0, q, qd, qdd),
    )
    yield (
        "τ̇ = complex step",
        run("inverse_dynamics_rate", robot, q, qd, qdd, qddd),
        by_time("inverse_dynamics", robot, q, qd, qdd, qddd),
    )
    yield "forward ∘ inverse dynamics", run("forward_dynamics", robot, q, qd, tau), qdd
    yield "Y π = τ", run("regressor", bodies, q, qd, qdd, regrouping=WHOLE).reshape(n, -1) @ pi, tau
    beta = run("base_parameters", bodies, pi, regrouping=WHOLE)
    yield (
        "Y_b β = τ",
        run("base_regressor", bodies, q, qd, qdd, regrouping=WHOLE).reshape(n, -1) @ beta,
        tau,
    )


def slope(robot: RigidBodyModel, by: int, *at: Array) -> Array:
    """∂τ/∂q or ∂τ/∂q̇ by the complex step."""
    algorithm, arm, columns = (
        QUANTITIES["inverse_dynamics"].formulations[0].algorithm,
        canonical_model(robot),
        [],
    )
    for e in np.eye(robot.dof):
        state = [(x + 1j * STEP * e * (k == by)).tolist() for k, x in enumerate(at)]
        columns.append(np.array([complex(x).imag for x in algorithm(arm, *state)]) / STEP)
    return np.stack(columns, axis=1)


def worst_errors(count: int = 5) -> dict[str, dict[str, float]]:
    """By law and robot: the largest error over `count` states, relative to the largest entry (or
    to 1 where all entries are smaller)."""
    worst: dict[str, dict[str, float]] = {}
    for name in PUBLIC:
        robot = model(PUBLIC[name])
        for state in states(robot.dof, count):
            for law, a, b in laws(robot, *state):
                error = float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
                column = worst.setdefault(law, {})
                column[name] = max(column.get(name, 0.0), error)
    return worst


def here() -> dict[str, Any]:
    """The machine and the versions that the times belong to."""
    from benchmarks.bench.__main__ import machine

    found = machine(("pin", "numpy"))
    wanted = ("processor", "cores", "gcc", "python", "commit", "packages")
    return {name: found[name] for name in wanted} | {
        "date": time.strftime("%Y-%m-%d"),
        "load": round(os.getloadavg()[1], 1),
    }


PARTS: dict[str, Callable[[], Any]] = {
    "machine": here,
    "laws": worst_errors,
    "validity": validities,
    "times_of_c": times_of_c,
    "symbolic_times": symbolic_times,
    "agreement": lambda: {name: list(agreement(name)) for name in JOHANNESSEN_AGREEMENT},
    "humanoid_times": humanoid_times,
}
"""The parts of the results, each measured by its function."""


def main() -> None:
    """Measure everything and store it."""
    found = {name: part() for name, part in PARTS.items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
