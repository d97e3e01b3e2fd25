"""``python -m examples.ocp.run [PLOT.png]``: a Panda from point to point by DDP, iLQR and IPOPT,
and by Crocoddyl where it is installed."""

import sys
from collections.abc import Callable

from examples.ocp import crocoddyl_reference, ddp, ipopt
from examples.ocp.ddp import Log
from examples.ocp.problem import PANDA

SOLVERS: dict[str, Callable[[], Log]] = {
    "DDP, exact Hessians": lambda: ddp.solve(PANDA),
    "iLQR": lambda: ddp.solve(PANDA, second=False),
    "IPOPT on --lang casadi": lambda: ipopt.solve(PANDA),
    "Crocoddyl": lambda: crocoddyl_reference.solve(PANDA),
}
COLOURS, MARKS = ("#0072B2", "#D55E00", "#009E73"), "o^s"


def draw(found: dict[str, Log], path: str) -> None:
    """Gradients by iteration."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    shown = [(name, log) for name, log in found.items() if name != "Crocoddyl"]
    for (name, log), colour, mark in zip(shown, COLOURS, MARKS, strict=False):
        ax.semilogy(log.gradient, f"{mark}-", color=colour, label=name, ms=4)
    ax.set(xlabel="iteration", ylabel="largest entry of the gradient")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    """Solves, prints a table, draws."""
    found = {}
    for name, solve in SOLVERS.items():
        try:
            found[name] = log = solve()
        except ImportError as missing:
            print(f"{name}: skipped, {missing.name} is not installed")
            continue
        row = f"cost {log.cost[-1]:.9f}, {log.iterations} iterations, {log.seconds:.3f} s"
        print(f"{name}: {row}")
    print("gradients of DDP:", " ".join(f"{g:.0e}" for g in found["DDP, exact Hessians"].gradient))
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])


if __name__ == "__main__":
    main()
