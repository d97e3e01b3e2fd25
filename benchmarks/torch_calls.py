"""``python -m benchmarks.torch_calls``: functions and gradients of a batch in PyTorch, beside those
of adam-robotics in the same process. It needs torch and adam-robotics; the table goes into
docs/languages/torch.md."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import symgen
from benchmarks.page_tables import write_table

PAGE: Final = Path("docs/languages/torch.md")
ROBOT: Final = "robots/panda_arm.urdf"
STATES: Final = 4096
CALLS: Final = 5
THREADS: Final = 2


def milliseconds(call: Callable[[], Any], calls: int = CALLS) -> float:
    """The least time of a call."""
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def times(function: Callable[..., Any], *inputs: Any) -> tuple[float, float]:
    """Milliseconds of a function, and of its gradient in the first input."""
    import torch

    q, *others = inputs
    forward = milliseconds(lambda: function(q, *others))
    moved = q.clone().requires_grad_()
    result = function(moved, *others)
    weights = torch.ones_like(result)
    return forward, milliseconds(
        lambda: torch.autograd.grad(result, moved, weights, retain_graph=True)
    )


def table(folder: Path) -> str:
    """The rows of the table."""
    import torch
    from adam.pytorch import KinDynComputationsBatch

    names = ("mass_matrix", "inverse_dynamics")
    symgen.generate(ROBOT, folder, languages=("torch",), quantities=names)
    sys.path.insert(0, str(folder))
    import panda_arm_torch as robot

    torch.set_num_threads(THREADS)
    torch.set_default_dtype(torch.float64)
    joints = list(robot.JOINT_NAMES)
    adam = KinDynComputationsBatch(ROBOT, joints, torch.device("cpu"), torch.float64)
    q, qd, qdd = (torch.randn(STATES, robot.NV) for _ in range(3))
    base = torch.eye(4).repeat(STATES, 1, 1)
    still = torch.zeros(STATES, 6)
    rows = (
        (
            "mass matrix",
            times(robot.mass_matrix, q),
            times(lambda q: adam.mass_matrix(base, q)[:, 6:, 6:], q),
        ),
        (
            "inverse dynamics",
            times(robot.inverse_dynamics, q, qd, qdd),
            times(
                lambda q: (
                    adam.mass_matrix(base, q)[:, 6:, 6:] @ qdd[..., None]
                    + adam.bias_force(base, q, still, qd)[:, 6:, None]
                ),
                q,
            ),
        ),
    )
    torch.testing.assert_close(robot.mass_matrix(q), adam.mass_matrix(base, q)[:, 6:, 6:])
    head = "| | symgen | symgen, gradient | adam | adam, gradient | ratio | ratio, gradient |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|"]
    for name, ours, theirs in rows:
        ratios = [f"{b / a:.0f}" for a, b in zip(ours, theirs, strict=True)]
        cells = [f"{x:.2f}" for x in (*ours, *theirs)] + ratios
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = table(Path(folder))
    write_table(PAGE, "torch", rows)
    print(rows)


if __name__ == "__main__":
    main()
