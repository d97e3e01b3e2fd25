"""Published tables with our figures beside them, in Markdown: ``python -m benchmarks.proof`` (see
docs/proof.md).

Errors are of the algorithms on floats, which the compiled C equals bit for bit, or of the compiled
C where it says so."""

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
from benchmarks.judge import Judge
from symgen.algorithms import QUANTITIES
from symgen.mechanics.model import Model
from symgen.mechanics.parameters import WHOLE, lumped, system
from symgen.native.compiled import Compiled
from symgen.reading.assemble import load
from symgen.tracing.robot import RuntimeModel
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted
from tests.support.public_robots import example_robots
from tests.support.random_trees import STEP, anywhere, chain, tree, turning, unit

Array = Any
ROBOTS = Path(__file__).resolve().parent.parent / "robots"
PUBLIC = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", ()),
    "Panda": ("panda_description/urdf/panda.urdf", ("panda_finger_joint1", "panda_finger_joint2")),
    "Talos": ("talos_data/robots/talos_reduced.urdf", ()),
}
WEIGHTLESS = (0.0, 0.0, 0.0)


def public(name: str) -> Model:
    """A robot of example-robot-data."""
    file, fingers = PUBLIC[name]
    path = next(p for p in example_robots() if p.as_posix().endswith(f"/{file}"))
    return load(path, lock=[(joint, 0.0) for joint in fingers]).model


def numbers(entries: Sequence[Any], *shape: int) -> Array:
    return np.array([complex(x).real for x in entries]).reshape(shape or -1)


def run(
    quantity: str, robot: Model, *state: Array, regrouping: str = "minimal", which: int = 0
) -> Array:
    """An algorithm on floats; n x n and n x n x n outputs as such."""
    q = QUANTITIES[quantity]
    way = next(way for way in q.formulations if way.regrouping == regrouping)
    found = way.algorithm(system(robot, regrouping=regrouping), *(list(x) for x in state))
    found, shape = (found[which] if len(q.outputs) > 1 else found), q.outputs[which].shape
    return numbers(found, *([robot.dof] * len(shape) if set(shape) == {"n"} else [-1]))


def by_time(quantity: str, robot: Model, *flow: Array) -> Array:
    """d/dt by the complex step; `flow` has one derivative more than the quantity reads."""
    q = QUANTITIES[quantity]
    state = [(np.asarray(x) + 1j * STEP * y).tolist() for x, y in pairwise(flow)]
    return (
        np.array([complex(x).imag for x in q.formulations[0].algorithm(system(robot), *state)])
        / STEP
    )


def states(n: int, count: int, rows: int = 4) -> Array:
    """Random states: q, qd, ... each from -2 to 2."""
    return np.random.default_rng(0).uniform(-2, 2, (count, rows, n))


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    print(f"\n### {title}\n")
    print("| " + " | ".join(head) + " |\n|---" + "|---:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(f"{x:.1e}" if isinstance(x, float) else str(x) for x in row) + " |")


# -- Echeandia's validity --------------------------------------------------------------------------

PUBLISHED_VALIDITY = {
    5: ("5.7e-14", "3.6e-15", "1.1e-13"),
    10: ("7.3e-12", "5.7e-14", "7.3e-12"),
    15: ("2.9e-11", "2.3e-13", "1.0e-12"),
}


def validity(robot: Model, count: int = 100) -> tuple[float, float, float, float]:
    """Largest |C qd - tau(RNEA, g = 0, qdd = 0)|, |M' - (C + C^T)|, |sum Gamma qd - C|; largest
    torque beside it."""
    robot, worst = replace(robot, gravity=WEIGHTLESS), np.zeros(4)
    for q, qd, *_ in states(robot.dof, count):
        c, tau = run("coriolis_matrix", robot, q, qd), run("inverse_dynamics", robot, q, qd, 0 * q)
        rate = by_time("mass_matrix", robot, q, qd).reshape(c.shape)
        gamma = run("christoffel_symbols_full", robot, q)
        errors = (c @ qd - tau, rate - c - c.T, gamma @ qd - c, tau)
        worst = np.maximum(worst, [np.abs(e).max() for e in errors])
    a, b, c, size = worst.tolist()
    return a, b, c, size


def echeandia() -> None:
    """Serial chains and trees of branching factor 2 with generic axes, offsets and inertias."""
    rows = []
    for kind, parents in (("chain", chain), ("tree", lambda rng, k: k // 2)):
        for n in (5, 10, 15):
            ours = validity(tree(1, anywhere, unit, turning, parents, (n,)))
            theirs = PUBLISHED_VALIDITY[n] if kind == "chain" else ("", "", "")
            both = [
                f"{x:.1e} / {y}" if y else f"{x:.1e}" for x, y in zip(ours, theirs, strict=False)
            ]
            rows.append([f"{kind}, {n} bodies", *both, f"{ours[3]:.0f} N m"])
    head = ["ours / published", "C q̇ − τ", "Ṁ − (C + Cᵀ)", "Σ Γ q̇ − C", "largest torque"]
    table("Validity of C, Ṁ and Γ (Echeandia 2020)", head, rows)


# -- Echeandia's times ------------------------------------------------------------------------------

PUBLISHED_TIMES = {"chain": (18, 122), "tree": (10, 33)}
"""Table 3.2: µs of C and Γ in C++, 20 bodies, a chain and a tree of branching factor 2."""

PUBLISHED_SYMBOLIC = {5: (0.06, 0.25), 10: (0.18, 1.11), 15: (0.36, 2.13)}
"""Table 3.3: seconds of symbolic M and Γ in MATLAB."""

BRANCHING = {"chain": 1, "tree": 2}
TERMS_OF_C = ("coriolis_matrix", "christoffel_symbols_full", "christoffel_symbols")


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


def echeandia_times() -> None:
    """Tables 3.2 and 3.3 beside ours: compiled C, and how long it takes to make it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "generic.urdf"
        rows = []
        for kind, branching in BRANCHING.items():
            file.write_text(generic_urdf(20, branching), encoding="utf-8")
            code = symgen.compile(file, *TERMS_OF_C)
            q, qd, *_ = states(20, 200).swapaxes(0, 1)
            given = {name: (q, qd) if name == "coriolis_matrix" else (q,) for name in TERMS_OF_C}
            times = [nanoseconds(code, name, x) / 1000 for name, x in given.items()]
            theirs = (*PUBLISHED_TIMES[kind], None)
            cells = [
                f"{x:.1f}" + (f" / {y}" if y else "") for x, y in zip(times, theirs, strict=True)
            ]
            rows.append([f"{kind}, 20 bodies", *cells])
        head = ["µs, ours / published (C++)", "C", "Γ, all n³", "Γ, packed"]
        table("Times of C and Γ (Echeandia 2020, table 3.2)", head, rows)
        rows = []
        for n, theirs in PUBLISHED_SYMBOLIC.items():
            file.write_text(generic_urdf(n, 1), encoding="utf-8")
            ours = [seconds(file, name) for name in ("mass_matrix", "christoffel_symbols_full")]
            cells = [f"{x:.2f} / {y:.2f}" for x, y in zip(ours, theirs, strict=True)]
            rows.append([f"chain, {n} bodies", *cells])
        head = ["s of processor, ours / published (MATLAB)", "M", "Γ"]
        table("Symbolic run time (Echeandia 2020, table 3.3)", head, rows)


def seconds(file: Path, quantity: str, repeats: int = 3) -> float:
    """Shortest time of the processor from a robot's file to the operations of a quantity, the cheapest of all
    formulations."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        symgen.trace(file, quantity)
        best = min(best, time.process_time() - start)
    return best


# -- Johannessen's agreement -----------------------------------------------------------------------

AGREEMENT = ("gravity", "coriolis", "inverse_dynamics", "mass_matrix", "forward_dynamics")
PUBLISHED_AGREEMENT = {
    "pendulum": ("1.3e-12", "1.2e-12", "", "6.5e-13", ""),
    "ur5": ("4.4e-12", "1.0e-11", "4.4e-7", "1.4e-12", "7.9e-7"),
    "iiwa7": ("2.9e-12", "3.8e-12", "", "2.1e-12", ""),
    "snake16": ("2.5e-12", "2.2e-10", "", "6.5e-11", ""),
}


def agreement(name: str, count: int = 1000) -> Iterator[float]:
    """Sums of absolute differences between the compiled C and Pinocchio over random states, by
    AGREEMENT."""
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


def johannessen() -> None:
    rows = []
    for name, theirs in PUBLISHED_AGREEMENT.items():
        pairs = zip(agreement(name), theirs, strict=True)
        rows.append([name, *(f"{x:.1e} / {y}" if y else f"{x:.1e}" for x, y in pairs)])
    head = [
        "ours to Pinocchio / published",
        "g",
        "C q̇",
        "inverse dynamics",
        "M",
        "forward dynamics",
    ]
    table("Sums of absolute differences over 1000 random states (Johannessen 2019)", head, rows)


# -- Johannessen's operation counts ----------------------------------------------------------------

COUNTED = {
    "gravity": ("gravity", (18, 199, 224)),
    "C q̇": ("bias", (79, 648, 572)),
    "inverse dynamics": ("inverse_dynamics", (110, 696, 710)),
    "M": ("mass_matrix", (34, 872, 1217)),
    "forward dynamics": ("forward_dynamics", (132, 1948, 2272)),
    "∂g": ("gravity_gradient", (29, 881, 2347)),
    "∂ inverse dynamics": ("inverse_dynamics_derivatives", (234, 4731, 16159)),
    "∂M": ("mass_matrix_gradient", (44, 4095, 11635)),
    "∂ forward dynamics": ("forward_dynamics_derivatives", (378, 13517, 40901)),
    "d/dt g": ("gravity_rate", (32, 491, 687)),
    "d/dt inverse dynamics": ("inverse_dynamics_rate", (219, 1807, 2029)),
    "d/dt M": ("mass_matrix_rate", (48, 2909, 11635)),
    "forward dynamics along a change": ("forward_dynamics_jvp", (290, 5828, 7218)),
}
"""By name: our quantity, and the published operations for pendulum, UR5, snake (the better of their
two for FD)."""


def counts() -> None:
    robots = [
        load(ROBOTS / "pendulum.urdf").model,
        public("UR5"),
        load(ROBOTS / "snake16.urdf").model,
    ]
    rows = []
    for name, (quantity, theirs) in COUNTED.items():
        light = [replace(robot, gravity=WEIGHTLESS) if name == "C q̇" else robot for robot in robots]
        wanted = Wanted(quantity, (QUANTITIES[quantity],))
        ours = [trace(RuntimeModel(robot), wanted).counts.total for robot in light]
        rows.append([name, *(f"**{x}** / {y}" for x, y in zip(ours, theirs, strict=True))])
    table(
        "Operations, ours / published (Johannessen 2019)",
        ["", "pendulum", "UR5", "snake, 16 joints"],
        rows,
    )


# -- all matrices and their rates for a humanoid ---------------------------------------------------

TERMS = "mass_matrix+coriolis_matrix+gravity"
RATES = "mass_matrix_rate+coriolis_matrix_rate+gravity_rate"


def nanoseconds(code: Compiled, name: str, inputs: Sequence[Array], repeats: int = 15) -> float:
    """Shortest time for a state, of a batch in C, into the same arrays each time: new ones of some
    hundred kilobytes come from the system page by page, which takes longer than filling them."""
    best, call = float("inf"), getattr(code, name)
    made = call(*inputs)
    for _ in range(repeats):
        start = time.perf_counter()
        call(*inputs, out=made)
        best = min(best, time.perf_counter() - start)
    return best / len(inputs[0]) * 1e9


def humanoid() -> None:
    path = ROBOTS / "humanoid25.urdf"
    texts = f"terms={TERMS}", f"rates={TERMS}+{RATES}"
    code = symgen.compile(path, *texts)
    q, qd, qdd, _ = states(25, 200).swapaxes(0, 1)
    times = nanoseconds(code, "terms", (q, qd)), nanoseconds(code, "rates", (q, qd, qdd))
    operations = [symgen.trace(path, t).counts.total for t in texts]
    rows = [
        [what, n, f"{t / 1000:.2f} µs"]
        for what, n, t in zip(("M, C, g", "with Ṁ, Ċ, ġ"), operations, times, strict=True)
    ]
    rows.append(
        [
            "ratio to twice the former",
            f"{operations[1] / operations[0] / 2:.2f}",
            f"{times[1] / times[0] / 2:.2f}",
        ]
    )
    rows.append(["published (25 joints, 2.8 GHz): M, C, g; ratio", "", "244 µs; 0.71"])
    table(
        "A humanoid of 25 joints: all matrices and their rates",
        ["one C function", "operations", "time"],
        rows,
    )


# -- laws ------------------------------------------------------------------------------------------


def laws(
    robot: Model, q: Array, qd: Array, qdd: Array, qddd: Array
) -> Iterator[tuple[str, Array, Array]]:
    """Each law as a name and its two sides."""
    c, g = run("coriolis_matrix", robot, q, qd), run("gravity", robot, q)
    tau, n = run("inverse_dynamics", robot, q, qd, qdd), robot.dof
    bodies = lumped(robot, [body.name for body in robot.bodies])
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


def slope(robot: Model, by: int, *at: Array) -> Array:
    """∂τ/∂q or ∂τ/∂q̇ by the complex step."""
    algorithm, arm, columns = (
        QUANTITIES["inverse_dynamics"].formulations[0].algorithm,
        system(robot),
        [],
    )
    for e in np.eye(robot.dof):
        state = [(x + 1j * STEP * e * (k == by)).tolist() for k, x in enumerate(at)]
        columns.append(np.array([complex(x).imag for x in algorithm(arm, *state)]) / STEP)
    return np.stack(columns, axis=1)


def worst_errors(count: int = 5) -> None:
    columns: list[dict[str, float]] = []
    for name in PUBLIC:
        robot, worst = public(name), {}
        for state in states(robot.dof, count):
            for law, a, b in laws(robot, *state):
                error = float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
                worst[law] = max(worst.get(law, 0.0), error)
        columns.append(worst)
    rows = [[law, *(column[law] for column in columns)] for law in columns[0]]
    table("Worst errors of the laws, relative to the largest entry", ["law", *PUBLIC], rows)


def main() -> None:
    """Print every table."""
    for part in (echeandia, echeandia_times, johannessen, counts, humanoid, worst_errors):
        part()


if __name__ == "__main__":
    main()
