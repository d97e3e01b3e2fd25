"""``python -m benchmarks.loop_energy`` moves each robot with closed loops for 10 s without friction
and writes how well its energy is kept into docs/benchmarks/closed-loops.md.

Gravity is on. A spring on each coordinate and the constant force that carries the weight at the
start keep the robot away from dead points; both have an energy too. The compiled forward dynamics
are integrated by SciPy's method of Dormand and Prince of order 8, so that what is lost is lost by
the equations. The base of Cassie is fixed."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.integrate import solve_ivp

import symgen
from benchmarks.page_tables import write_table
from symgen.mechanics.coupling import coupling_of
from symgen.numbers.scalar import plain

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "benchmarks" / "closed-loops.md"
SECONDS: Final = 10.0
TOLERANCE: Final = 1e-8
RATE: Final = 8.0
"""Angular frequency of each spring with the inertia at its coordinate at the start (rad/s)."""
SPEEDS: Final[Mapping[str, float]] = {"Cassie": 0.2}
"""Initial velocities, in rad/s or in m/s times ten; of other robots 1."""
CLOSINGS: Final = 3
"""Newton steps from the last positions of joints whose positions have no closed form."""
STARTS: Final[Mapping[str, tuple[float, ...]]] = {
    "excavator": (0.0, 0.4, -1.2, 0.0),
    "five_bar": (-0.3, 0.2),
    "delta": (0.3, 0.2, 0.4),
    "four-bar": (0.0, 0.3, 0.0),
    "Cassie": (*[0.0] * 7, 2.163, *[0.0] * 7, 2.163, 0.0, 0.0),
}
"""Positions at the start; of other robots 0."""


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion: the largest kinetic energy (J), the largest change of the whole energy by it, the
    largest change of a coordinate (rad or m), and the number of accelerations computed."""

    kinetic: float
    lost: float
    moved: float
    calls: int


def sources() -> dict[str, Callable[[], symgen.Robot]]:
    """The robots with closed loops: of robots/, of the tests, and Cassie."""
    from tests.algorithms.test_cassie import LOOPS, SNAP
    from tests.algorithms.test_cassie import file as cassie
    from tests.support.loops import engine, four_bar

    names = ("five_bar", "excavator", "ankle", "palletiser", "three_rrr", "stewart")
    files = {name: ROOT / "robots" / f"{name}.urdf" for name in names}
    files["delta"] = ROOT / "robots" / "delta.toml"
    made: dict[str, Callable[[], symgen.Robot]] = {
        name: partial(symgen.Robot, file) for name, file in files.items()
    }
    made |= {"four-bar": lambda: symgen.Robot(four_bar())}
    made |= {"slider-crank": lambda: symgen.Robot(engine())}
    return made | {
        "Cassie": lambda: symgen.Robot(cassie(), base="fixed", loop=LOOPS, snap_angles=SNAP)
    }


def motion(
    robot: symgen.Robot,
    start: tuple[float, ...] = (),
    speed: float = 1.0,
    seconds: float = SECONDS,
) -> Motion:
    """The motion of a robot from a start."""
    coupling, n = coupling_of(robot.model), robot.dof
    held = [place for _, place in coupling.newton_positions]
    own = [k for k in range(len(robot.positions)) if k not in held]
    made = robot.compile("forward_dynamics", *(("loop_closure",) if held else ()))
    names = ("kinetic_energy", "potential_energy", "mass_matrix", "gravity")
    mass_terms = {name: robot.trace(name) for name in names}

    def value(name: str, **state: Any) -> Any:
        (out,) = mass_terms[name].run(**{k: x.tolist() for k, x in state.items()}).values()
        return np.array([plain(x) for x in out])

    last = np.array(coupling.closing_positions([*start] or [0.0] * len(robot.positions)))
    middle = last[own].copy()
    stiffness = RATE**2 * value("mass_matrix", q=last)[:: n + 1]
    weight = value("gravity", q=last)

    def closed(y: Any) -> Any:
        last[own] = y
        for _ in range(CLOSINGS if held else 0):
            last[:] = made.loop_closure(last)[0]
        return last

    def change(_: float, state: Any) -> Any:
        q, qd = closed(state[:n]), state[n:]
        tau = weight - stiffness * (state[:n] - middle)
        return np.concatenate([qd, made.forward_dynamics(q, qd, tau)])

    def energies(state: Any) -> tuple[float, float]:
        q, away = closed(state[:n]), state[:n] - middle
        kinetic = float(value("kinetic_energy", q=q, qd=state[n:])[0])
        springs = float(stiffness @ away**2) / 2 - float(weight @ away)
        return kinetic, kinetic + float(value("potential_energy", q=q)[0]) + springs

    units = np.array([0.1 if unit == "m" else 1.0 for unit in _units(robot)])
    qd = speed * units * np.random.default_rng(0).choice([-1.0, 1.0], n)
    given = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-11}
    times = np.linspace(0.0, seconds, int(10 * seconds) + 1)
    found = solve_ivp(change, (0.0, seconds), np.concatenate([middle, qd]), t_eval=times, **given)
    if not found.success:
        raise RuntimeError(found.message)
    kinetic, whole = np.array([energies(state) for state in found.y.T]).T
    lost = np.abs(whole - whole[0]).max() / kinetic.max()
    moved = np.abs(found.y[:n] - middle[:, None]).max()
    return Motion(float(kinetic.max()), float(lost), float(moved), int(found.nfev))


def _units(robot: symgen.Robot) -> list[str]:
    """The unit of each coordinate."""
    return [row.unit for _, joint in robot.model.leading for row in joint.type.velocities]


HEAD: Final = """## Energy

`python -m benchmarks.loop_energy` writes this table. Each robot moves for 10 s without friction, under gravity, from velocities of 1 rad/s
or 0.1 m/s (a fifth for Cassie), with a spring on each coordinate. The compiled forward dynamics are integrated by a method of order 8 (`DOP853` of SciPy,
tolerance 1e-11). The last column is the largest change of the whole energy, divided by the largest kinetic energy. The base of Cassie is
fixed, and its held positions are those after three steps of `loop_closure` from the last ones.

| robot | coordinates | largest kinetic energy, J | largest motion, rad or m | evaluations | energy lost |
|---|---:|---:|---:|---:|---:|
"""
TABLE: Final = "energy"


def main() -> int:
    """Write the table; the exit status is 1 if energy is not kept."""
    lines, bad = [], 0
    for name, make in sources().items():
        robot = make()
        found = motion(robot, STARTS.get(name, ()), SPEEDS.get(name, 1.0))
        cells = (name, robot.dof, f"{found.kinetic:.3g}", f"{found.moved:.2f}", f"{found.calls:,}")
        lines.append(f"| {' | '.join(map(str, cells))} | {found.lost:.0e} |\n")
        print(lines[-1], end="", flush=True)
        bad += found.lost > TOLERANCE
    write_table(PAGE, TABLE, HEAD + "".join(lines))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
