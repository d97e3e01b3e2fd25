"""The picture of docs/controllers.md: ``python -m benchmarks.controllers FILE.png`` simulates the
closed loops and draws them."""

import sys
from pathlib import Path

import numpy as np

from symgen.algorithms.controllers import CONTROLLERS
from symgen.proof.closed_loop import PUSH, TIME, Record, loop_of, record
from symgen.reading.assemble import load
from symgen.tracing.robot import Robot
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

ROBOT = Path(__file__).resolve().parents[1] / "robots" / "panda_arm.urdf"


def simulated(name: str, samples: int, **gains: float) -> Record:
    """The closed loop of a controller, some of its gains changed."""
    robot = Robot(load(ROBOT).model)
    loop = loop_of(robot, CONTROLLERS[name], trace(robot, Wanted.parse(name)), float)
    changed = {k: [value] * len(loop.gains[k]) for k, value in gains.items()}
    loop.gains = {**loop.gains, **changed}
    return record(robot, loop, samples=samples)


def errors(found: Record) -> np.ndarray:
    """Of positions, the largest at each sample."""
    off = np.array(found.measured["q_ref"]) - np.array(found.measured["q"])
    return np.abs(off).max(axis=1)


def main(out: str) -> None:
    """Draws the picture."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 6.5), layout="constrained")
    seen = simulated("momentum_observer", 60)
    t = np.arange(60) * TIME
    axes[0, 0].plot(t, np.array(seen.wanted["tau_ext"]))
    axes[0, 0].step(t, PUSH * (np.arange(60) >= 30), "k--", where="post")
    axes[0, 0].set(title="momentum_observer: told and true", ylabel="N m")
    followed = simulated("computed_torque", 400)
    axes[0, 1].plot(np.arange(400) * TIME, np.array(followed.measured["q_ref"])[:, :3], "k--")
    axes[0, 1].plot(np.arange(400) * TIME, np.array(followed.measured["q"])[:, :3])
    axes[0, 1].set(title="computed_torque: three joints, wanted dashed", ylabel="rad")
    for speed in (0.0, 0.02):
        label = f"gamma {speed:g}"
        found = errors(simulated("adaptive_slotine_li", 750, gamma=speed))
        axes[1, 0].semilogy(np.arange(750) * TIME, found + 1e-6, label=label)
    axes[1, 0].set(title="adaptive_slotine_li: largest error, from beta = 0", ylabel="rad")
    axes[1, 0].legend()
    soft = simulated("joint_impedance", 400)
    axes[1, 1].plot(np.arange(400) * TIME, np.array(soft.wanted["u_impedance"]))
    axes[1, 1].set(title="joint_impedance: forces", ylabel="N m")
    for ax in axes.flat:
        ax.set_xlabel("s")
        ax.grid(alpha=0.3)
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
