"""Rotors in forward dynamics: tables in Markdown, ``python -m benchmarks.rotors > docs/rotors.md``.

The experiment of Echeandia (2020, ch. 4): chains and trees of thin-walled cylinders with a geared
rotor at each joint."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from symgen.algorithms import geared
from symgen.algorithms.forward_dynamics import forward_dynamics, forward_dynamics_articulated
from symgen.compiler.passes import counts
from symgen.compiler.program import Program
from symgen.mechanics.model import Joint, Link, Model, Pose, Rotor
from symgen.mechanics.parameters import system
from symgen.mechanics.system import System
from symgen.reading.unfold import Stand, bodies

Array = Any
SIZES = (5, 10, 15)
GROWTH = (5, 10, 20, 30, 40)
RADIUS, LENGTH, MASS = 0.05, 1.0, 1.0
ROTOR_MASS, RATIO = 0.5, 5.0
ACROSS = MASS * (LENGTH**2 / 12 + RADIUS**2 / 2) + MASS * (LENGTH / 2) ** 2
CYLINDER = (MASS, MASS * LENGTH / 2, 0.0, 0.0, MASS * RADIUS**2, 0.0, 0.0, ACROSS, 0.0, ACROSS)
SPIN = ROTOR_MASS * (LENGTH**2 / 12 + RADIUS**2 / 2)
"""As that of a cylinder like the links, of half the mass, about an axis across it."""

COS, SIN = math.cos(1.0), math.sin(1.0)
TURNED = ((1.0, 0.0, 0.0), (0.0, COS, -SIN), (0.0, SIN, COS))
"""Each joint's axis is turned by 1 rad about the link before."""

PUBLISHED = {
    ("chain", "rest", "none"): (23.12, 39.14, 57.72),
    ("chain", "rest", "reflected"): (0.026, 0.037, 0.062),
    ("tree", "rest", "none"): (28.16, 79.64, 179.38),
    ("tree", "rest", "reflected"): (0.037, 0.070, 0.11),
    ("chain", "moving", "none"): (83.41, 171.97, 776.78),
    ("chain", "moving", "reflected"): (1.51, 23.47, 102.61),
}
INTRODUCTION = """\
Written by `python -m benchmarks.rotors`. The experiment of Echeandia (Rigid-body dynamics algorithms for
physically interactive robots, Notre Dame 2020, ch. 4): thin-walled cylinders of 1 kg and 1 m, rotors of 0.5 kg, gear
ratio 5, no gravity, joint i at i rad under i N m; `moving`: all rates pi/2 rad/s. Radii, inertia of rotors and axes are
not published: here the cylinders have a radius of 0.05 m, rotors 0.0423 kg m² about their axis (as a cylinder of half
the mass turned end over end), and each axis is turned by 1 rad about the link before. Compare the picture, not the
digits. Trees: each body carries two."""
SHAPES = {"chain": 1, "tree": 2}
RATES = {"rest": 0.0, "moving": np.pi / 2}


def robot(n: int, branching: int, rotors: str) -> Model:
    """n cylinders, each carrying `branching` others; the mass of the rotors stays whatever becomes
    of their spin."""
    still = Rotor(RATIO, 0.0, mass=ROTOR_MASS, transverse=SPIN / 2)
    drives = {
        "exact": {"rotor": replace(still, inertia=SPIN)},
        "reflected": {"rotor": still, "armature": RATIO**2 * SPIN},
        "none": {"rotor": still},
    }
    stands = [
        Stand(
            Joint(f"joint{k}", "revolute", (0.0, 0.0, 1.0), **drives[rotors]),
            f"joint{(k - 1) // branching}" if k else None,
            Pose(TURNED, (LENGTH, 0.0, 0.0)) if k else Pose(),
            Pose(),
            (Link(f"link{k}", Pose(), CYLINDER),),
        )
        for k in range(n)
    ]
    return Model(f"{rotors}{n}", bodies(stands), (Link("root"),), (0.0, 0.0, 0.0))


def at(model: Model, way: Any, rate: float) -> Array:
    """Accelerations where joint i (from 1) is at i rad and feels i N m."""
    built, one = system(model), [float(i) for i in range(1, model.dof + 1)]
    rates = built.coupling.rates([rate] * model.dof)
    return np.array([float(x) for x in way(built, built.coupling.places(one), rates, one)])


def differences(shape: str, speed: str, other: str) -> list[float]:
    """The largest difference of accelerations between exact rotors and others, by size (rad/s²)."""
    return [
        float(
            np.abs(exact - at(robot(n, SHAPES[shape], other), forward_dynamics, RATES[speed])).max()
        )
        for n in SIZES
        for exact in (at(robot(n, SHAPES[shape], "exact"), geared.forward_dynamics, RATES[speed]),)
    ]


def agreement(n: int, branching: int, rate: float) -> float:
    """The articulated bodies against the rotors as bodies projected by G, relative to the largest
    acceleration."""
    model = robot(n, branching, "exact")
    mine, judge = at(model, geared.forward_dynamics, rate), at(model, forward_dynamics, rate)
    return float(np.abs(mine - judge).max() / np.abs(judge).max())


def operations(built: System, way: Any) -> int:
    """The operations of a forward dynamics."""
    program, n = Program(), built.dof
    q, qd, tau = (program.input(name, (n,)) for name in ("q", "qd", "tau"))
    values = way(built, built.coupling.places(q), built.coupling.rates(qd), tau)
    program.output("qdd", (n,), values)
    return counts(program).total


def lines() -> Iterator[str]:
    """The page."""
    yield "# Rotors\n"
    yield f"{INTRODUCTION}\n"
    yield (
        "Largest difference of the accelerations, rad/s², between exact rotors and others; "
        "published in brackets:\n"
    )
    yield "| robot | state | exact and | " + " | ".join(f"{n} bodies" for n in SIZES) + " |"
    yield "|---|---|---|" + "---|" * len(SIZES)
    for shape in SHAPES:
        for speed in RATES:
            for other, label in (("none", "no spin"), ("reflected", "reflected n²J")):
                theirs = PUBLISHED.get((shape, speed, other), (None,) * len(SIZES))
                cells = zip(differences(shape, speed, other), theirs, strict=True)
                texts = [f"{x:.3g}" + (f" ({y:g})" if y else "") for x, y in cells]
                yield f"| {shape} | {speed} | {label} | " + " | ".join(texts) + " |"
    yield (
        "\nArticulated bodies with rotors against rotors as bodies of their own projected by "
        "G, largest error by the"
    )
    yield "largest acceleration:\n"
    yield "| robot | state | " + " | ".join(f"{n} bodies" for n in SIZES) + " |"
    yield "|---|---|" + "---|" * len(SIZES)
    for shape, branching in SHAPES.items():
        for speed, rate in RATES.items():
            yield (
                f"| {shape} | {speed} | "
                + " | ".join(f"{agreement(n, branching, rate):.0e}" for n in SIZES)
                + " |"
            )
    yield (
        "\nOperations of forward dynamics of the chain: linear in the bodies, where factors of "
        "M are cubic:\n"
    )
    yield "| bodies | articulated, rotors | a body | M in factors, rotors | articulated, no spin |"
    yield "|---|---|---|---|---|"
    for n in GROWTH:
        exact, none = system(robot(n, 1, "exact")), system(robot(n, 1, "none"))
        mine = operations(exact, geared.forward_dynamics)
        factors, plain = (
            operations(exact, forward_dynamics),
            operations(none, forward_dynamics_articulated),
        )
        yield f"| {n} | {mine} | {mine / n:.0f} | {factors} | {plain} |"


if __name__ == "__main__":
    print("\n".join(lines()))
