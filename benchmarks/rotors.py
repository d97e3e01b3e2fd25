"""The page docs/rotors.md, which `make figures` writes: rotors in forward dynamics.

The experiment of Echeandia (2020, ch. 4): chains and trees of thin-walled cylinders with a geared
rotor at each joint."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from symgen.algorithms import geared
from symgen.algorithms.forward_dynamics import forward_dynamics, forward_dynamics_articulated
from symgen.compiler.passes import counts
from symgen.compiler.program import Program
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.model import Joint, Link, RigidBodyModel, Rotor
from symgen.mechanics.parameters import canonical_model
from symgen.mechanics.spatial import IDENTITY, Pose
from symgen.reading.bodies_from_joints import MovingJoint, bodies

Array = Any
SIZES = (5, 10, 15)
GROWTH = (5, 10, 20, 30, 40)
RADIUS, LENGTH, MASS = 0.05, 1.0, 1.0
ROTOR_MASS, RATIO = 0.5, 5.0
ACROSS = MASS * (LENGTH**2 / 12 + RADIUS**2 / 2) + MASS * (LENGTH / 2) ** 2
CYLINDER = (MASS, MASS * LENGTH / 2, 0.0, 0.0, MASS * RADIUS**2, 0.0, 0.0, ACROSS, 0.0, ACROSS)
SPIN = 1.0
"""Inertia of a rotor about every axis, kg m²: ratio² SPIN = 25."""

COS, SIN = math.cos(1.0), math.sin(1.0)
TURNED = ((1.0, 0.0, 0.0), (0.0, COS, -SIN), (0.0, SIN, COS))
"""For the counts: each joint's axis is turned by 1 rad about the link before."""

PUBLISHED: Final[dict[tuple[str, str, str, str], tuple[float, ...]]] = {
    ("reflected", "none", "chain", "rest"): (23.15, 39.18, 57.79),
    ("reflected", "none", "tree", "rest"): (28.19, 79.69, 179.47),
    ("reflected", "none", "chain", "moving"): (84.06, 179.53, 836.16),
    ("exact", "none", "chain", "rest"): (23.12, 39.14, 57.72),
    ("exact", "none", "tree", "rest"): (28.16, 79.64, 179.38),
    ("exact", "none", "chain", "moving"): (83.41, 171.97, 776.78),
    ("reflected", "exact", "chain", "rest"): (0.026, 0.037, 0.062),
    ("reflected", "exact", "tree", "rest"): (0.037, 0.070, 0.11),
    ("reflected", "exact", "chain", "moving"): (1.51, 23.47, 102.61),
}
"""By the two that are compared, robot and state; the columns are `SIZES`."""

NAMES = {"none": "ABA", "reflected": "MCRBA", "exact": "MABA"}
"""What Echeandia calls them."""

INTRODUCTION = """\
This page compares models of the rotors of geared motors: with a published experiment, and for your robot with `symgen check`.
`make figures` writes it.

## A published experiment

The experiment is that of Echeandia (Rigid-body dynamics algorithms for physically interactive robots, Notre Dame 2020, ch. 4). The
robots consist of thin-walled cylinders with rotors of 0.5 kg and a gear ratio of 5, without gravity. Joint i is at i rad and has a torque of
i N m. In the state `moving`, all velocities are pi/2 rad/s.

The thesis does not state all data, but they follow from its tables. The robots are Featherstone's autoTree(N, bf) of spatial_v2 with its
defaults: skew 0, so all axes are parallel, and tubes of 1 kg, 1 m and radius 1/20 m. bf = 1 is a chain, bf = 2 a tree. The rotor inertia is
J = 1 kg m², so n²J = 25 kg m². With these data, the first three rows below agree with the published ones in all digits.

The rows compare three algorithms:

- ABA, the articulated-body algorithm, ignores rotors.
- MCRBA adds the reflected inertia n²J to the diagonal of M.
- MABA models each rotor as a body of 0.5 kg with 1 kg m² about every axis. It is on the link that carries the joint, at the joint."""

FINDING = """\
**What the moving rows compare.** The published difference MCRBA - ABA of the moving chain is reproduced in all digits only if MCRBA omits
the term C q̇ of the links. With C q̇ in both models the differences are 83.455, 172.483, 799.138. The published difference MABA - MCRBA
(1.51, 23.47, 102.61) also has the size that results without C q̇ (1.767, 23.956, 92.490). With C q̇ in both models it is
0.658, 8.383, 27.337 rad/s². Only this difference is the error of the reflected inertia n²J. The last digits of the rows with MABA are not
reproduced, neither with exact rotors nor with the other rotor inertias that we tried (five shapes, four factors of torque)."""
OWN = """\
## The error of simplified rotor models for your robot

`symgen check ROBOT --actuators FILE` compares the rotor models for a robot with its rotors and limits. The models are exact rotors
(`--rotors exact`), the reflected inertia on the diagonal of M (`reflected`), and no rotors. The states are within the limits of positions,
velocities and joint forces.

```console
$ printf '[joints.%s]\\ngear_ratio = 101.0\\nrotor_inertia = 2.1e-5\\n' joint1 joint2 joint3 > drives.toml
$ symgen check robots/ur5.urdf --actuators drives.toml
...
ratio^2 inertia on the diagonal: torque off by ...
...
no rotors: torque off by ...
...
```

The torque error is the torque of the simplified model minus the torque of the exact one, for the accelerations of the exact robot under joint
forces within its limits. The acceleration error is the difference for the same joint forces. For each error the output states the joint, the
value, its ratio to the effort limit of the joint, and the state. It also states the fraction of the velocity limits up to which the error
of the reflected inertia is below 1 % of the effort limits.

The search takes the worst of 2,000 states, half of which have velocities and joint forces at their limits, and improves it coordinate by
coordinate. The result is a lower bound that is close to the largest error. The output lists the limits that the robot file does not contain."""
SHAPES = {"chain": 1, "tree": 2}
RATES = {"rest": 0.0, "moving": np.pi / 2}


def robot(n: int, branching: int, rotors: str, turned: bool = False) -> RigidBodyModel:
    """n tubes, each carrying `branching` others, with parallel axes unless `turned`."""
    drives: dict[str, dict[str, Any]] = {
        "exact": {"rotor": Rotor(RATIO, SPIN, mass=ROTOR_MASS, transverse=SPIN)},
        "reflected": {"armature": RATIO**2 * SPIN},
        "none": {},
    }
    onward = Pose(TURNED if turned else IDENTITY, (LENGTH, 0.0, 0.0))
    stands = [
        MovingJoint(
            Joint(f"joint{k}", "revolute", (0.0, 0.0, 1.0), **drives[rotors]),
            f"joint{(k - 1) // branching}" if k else None,
            onward if k else Pose(),
            Pose(),
            (Link(f"link{k}", Pose(), CYLINDER),),
        )
        for k in range(n)
    ]
    return RigidBodyModel(f"{rotors}{n}", bodies(stands), (Link("root"),), (0.0, 0.0, 0.0))


def at(model: RigidBodyModel, way: Any, rate: float) -> Array:
    """Accelerations where joint i (from 1) is at i rad and feels i N m."""
    built, one = canonical_model(model), [float(i) for i in range(1, model.dof + 1)]
    rates = built.coupling.body_rates([rate] * model.dof)
    return np.array([float(x) for x in way(built, built.coupling.body_positions(one), rates, one)])


def accelerations(n: int, shape: str, rotors: str, rate: float) -> Array:
    """Of one of the robots."""
    way = geared.forward_dynamics if rotors == "exact" else forward_dynamics
    return at(robot(n, SHAPES[shape], rotors), way, rate)


def differences(
    one: str, other: str, shape: str, speed: str, still: bool = False
) -> tuple[float, ...]:
    """The largest difference of two accelerations by size (rad/s²); with `still` the first is that
    at rest, without C q̇, for there is no gravity."""
    rates = (0.0 if still else RATES[speed], RATES[speed])
    return tuple(
        float(
            np.abs(
                accelerations(n, shape, one, rates[0]) - accelerations(n, shape, other, rates[1])
            ).max()
        )
        for n in SIZES
    )


def compared() -> Iterator[str]:
    """Published rows with ours beside them; where MCRBA is moved along a chain also without C q̇."""
    yield "| compared | robot | state | " + " | ".join(f"{n} bodies" for n in SIZES) + " |"
    yield "|---|---|---|" + "---|" * len(SIZES)
    for one, other in (("reflected", "none"), ("exact", "none"), ("reflected", "exact")):
        for shape in SHAPES:
            for speed in RATES:
                theirs = PUBLISHED.get((one, other, shape, speed))
                label = f"{_named(one, other)} | {shape} | {speed}"
                yield f"| {label} | {_cells(differences(one, other, shape, speed), theirs)} |"
                if (one, shape, speed) == ("reflected", "chain", "moving"):
                    without = differences(one, other, shape, speed, still=True)
                    yield f"| {label}, MCRBA without C q̇ | {_cells(without, theirs)} |"


def _named(one: str, other: str) -> str:
    """The two that are compared, in the order of the published tables."""
    pair = (other, one) if other == "exact" else (one, other)
    return " - ".join(NAMES[rotors] for rotors in pair)


def _cells(ours: Sequence[float], theirs: Sequence[float] | None) -> str:
    digits = [f"{x:.3f}" for x in ours]
    said = [f" ({y:g})" for y in theirs] if theirs else [""] * len(digits)
    return " | ".join(map("".join, zip(digits, said, strict=True)))


def agreement(n: int, branching: int, rate: float) -> float:
    """The articulated bodies against the rotors as bodies projected by G, relative to the largest
    acceleration."""
    model = robot(n, branching, "exact")
    mine, judge = at(model, geared.forward_dynamics, rate), at(model, forward_dynamics, rate)
    return float(np.abs(mine - judge).max() / np.abs(judge).max())


def operations(built: CanonicalModel, way: Any) -> int:
    """The operations of a forward dynamics."""
    program, n = Program(), built.dof
    q, qd, tau = (program.input(name, (n,)) for name in ("q", "qd", "tau"))
    values = way(built, built.coupling.body_positions(q), built.coupling.body_rates(qd), tau)
    program.output("qdd", (n,), values)
    return counts(program).total


def forward_dynamics_counts(n: int) -> dict[str, int]:
    """Operations of forward dynamics of a chain of `n` bodies whose axes are not parallel: by
    articulated bodies with rotors, by a factorisation of M with rotors, and by articulated bodies
    without rotors."""
    exact, none = (canonical_model(robot(n, 1, way, turned=True)) for way in ("exact", "none"))
    return {
        "articulated": operations(exact, geared.forward_dynamics),
        "factors": operations(exact, forward_dynamics),
        "plain": operations(none, forward_dynamics_articulated),
    }


def lines(growth: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """The page; `growth` has a row of `forward_dynamics_counts` for each number of bodies."""
    yield "# Rotors: errors of simplified models\n"
    yield f"{INTRODUCTION}\n"
    yield "Largest difference of the accelerations in rad/s², with the published value in brackets:\n"
    yield from compared()
    yield f"\n{FINDING}"
    yield (
        "\nThe next table compares the articulated-body algorithm with rotors and a model in which "
        "the rotors are separate bodies, projected\nby G. It shows the largest error relative to "
        "the largest acceleration.\n"
    )
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
        "\nThe last table counts the operations of forward dynamics for a chain in which each axis "
        "is rotated by 1 rad relative to the previous\nlink. The articulated-body algorithm is "
        "linear in the number of bodies, the factorisation of M is cubic.\n"
    )
    yield "| bodies | articulated, with rotors | per body | factorisation of M, with rotors | articulated, without rotors |"
    yield "|---|---|---|---|---|"
    for row in growth:
        n, mine = row["bodies"], row["articulated"]
        yield f"| {n} | {mine} | {mine / n:.0f} | {row['factors']} | {row['plain']} |"
    yield f"\n{OWN}"
