"""``python -m benchmarks.optimal_control``: an optimal control problem of a UR5 by IPOPT, with the
graph and with the external function of the CasADi package. It needs casadi and a C compiler; the
table goes into docs/languages/casadi.md."""

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import symgen
from benchmarks.page_tables import write_table
from symgen.numbers.scalar import Numbers

PAGE: Final = Path("docs/languages/casadi.md")
ROBOT: Final = "robots/ur5.urdf"
QUANTITIES: Final = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hessian",
)
STEPS: Final = 20
STEP: Final = 0.05
"""Seconds."""
LIMIT: Final = 150.0
"""N m."""
START: Final = (0.0, -1.2, 1.0, 0.0, 0.5, 0.0)
END: Final = (1.0, -0.6, 0.4, 0.5, -0.5, 0.3)
ROUNDS: Final = 5


@dataclass(frozen=True)
class Solution:
    """Joint positions (6 x 21), the number of iterations, and the seconds that they took."""

    q: Numbers
    iterations: int
    seconds: float


def solve(acceleration: Any) -> Solution:
    """The motion with the least torques; `acceleration` is a casadi.Function of q, q̇ and τ."""
    import casadi as ca

    start, end, rest = ca.DM(START), ca.DM(END), ca.DM.zeros(6)
    opti = ca.Opti()
    q, qd, tau = (opti.variable(6, STEPS + extra) for extra in (1, 1, 0))
    for k in range(STEPS):
        opti.subject_to(
            qd[:, k + 1] == qd[:, k] + STEP * acceleration(q[:, k], qd[:, k], tau[:, k])
        )
        opti.subject_to(q[:, k + 1] == q[:, k] + STEP * qd[:, k + 1])
    ends = ca.vertcat(q[:, 0], qd[:, 0], q[:, STEPS], qd[:, STEPS])
    opti.subject_to(ends == ca.vertcat(start, rest, end, rest))
    opti.subject_to(opti.bounded(-LIMIT, ca.vec(tau), LIMIT))
    opti.set_initial(q, start + (end - start) @ ca.linspace(0, 1, STEPS + 1).T)
    opti.minimize(STEP * (1e-3 * ca.sumsqr(tau) + 0.1 * ca.sumsqr(qd)))
    opti.solver("ipopt", {"print_time": False}, {"sb": "yes", "print_level": 0})
    begin = time.perf_counter()
    found = opti.solve()
    seconds = time.perf_counter() - begin
    return Solution(found.value(q), found.stats()["iter_count"], seconds)


def table(folder: Path) -> str:
    """The rows of the table."""
    symgen.generate(ROBOT, folder, languages=("casadi",), quantities=QUANTITIES)
    subprocess.run([sys.executable, "-m", "ur5_casadi.build"], check=True, cwd=folder)
    sys.path.insert(0, str(folder))
    import ur5_casadi as robot

    kinds = {"graph": robot.graph, "external function": robot.external}
    solutions = {
        kind: min((solve(make("forward_dynamics")) for _ in range(ROUNDS)), key=lambda x: x.seconds)
        for kind, make in kinds.items()
    }
    first, second = solutions.values()
    error = abs(first.q - second.q).max()
    if not error < 1e-6:
        raise SystemExit(f"the solutions differ by {error} rad")
    lines = ["| | iterations | seconds | relative to the graph |", "|---|---:|---:|---:|"]
    for kind, x in solutions.items():
        ratio = x.seconds / first.seconds
        lines.append(f"| {kind} | {x.iterations} | {x.seconds:.3f} | {ratio:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = table(Path(folder))
    write_table(PAGE, "optimal control", rows)
    print(rows)


if __name__ == "__main__":
    main()
