"""The pictures of docs/controllers/: ``python -m benchmarks.controllers docs/controllers`` closes
the loops of a Panda and draws them; with names of controllers, only theirs.

The robot is its own forward dynamics, in steps of a quarter of a millisecond; the controllers are
the compiled ones with their state (`Robot.controller`), at 1 kHz."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import symgen
from benchmarks.closed_loops import (
    GAINS,
    SimulatedElasticRobot,
    elastic_start,
    elastic_swing,
)
from symgen.numbers.scalar import AnyArray

ROOT = Path(__file__).resolve().parents[1]
ROBOT = symgen.Robot(ROOT / "robots" / "panda_arm.urdf")
LINK, H, SUBSTEPS = "link7", 0.001, 4
START = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.8])
LIMIT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
FORCE = np.array([10.0, 0.0, 0.0])
"""The push, N, at the origin of the link, in root axes."""
LOAD = 1.0
"""A payload, kg, a ball of 4 cm, 10 cm before the link's origin."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito, which are distinguishable with any colour vision."""
STYLES = ("-", "--", "-.", ":")


@cache
def plant() -> Any:
    """Functions of the simulated robot; the parameters of its last link are inputs."""
    link = f"frame_pose:{LINK}"
    return ROBOT.compile("step:euler", link, external_wrench=(LINK,), parameters=f"runtime:{LINK}")


@cache
def model() -> Any:
    """Further functions of the robot of the file."""
    every = ("inverse_dynamics", "base_regressor", "base_parameters", "bias")
    return ROBOT.compile(*every, f"frame_jacobian_aligned:{LINK}", f"frame_pose:{LINK}")


def carried(mass: float) -> AnyArray:
    """The parameters of the last link with a ball of that mass."""
    c, ball = 0.1, 0.4 * mass * 0.04**2
    across = mass * c * c + ball
    own = np.array(plant().PARAMETERS[LINK])
    ball_s = np.array([mass, 0, 0, mass * c, across, 0, 0, across, 0, ball])
    return plant().regroup(own + ball_s)


def pushed(q: AnyArray) -> AnyArray:
    """The joint forces of the push."""
    return model().frame_jacobian_aligned_link7(q)[:3].T @ FORCE


def place(q: AnyArray) -> AnyArray:
    """Position of the link."""
    return model().frame_pose_link7(q)[1]


@dataclass
class Run:
    """A simulation: the state of the robot and a row of stored values per millisecond."""

    q: AnyArray = field(default_factory=START.copy)
    qd: AnyArray = field(default_factory=lambda: np.zeros(7))
    load: float = 0.0
    rows: dict[str, list[Any]] = field(default_factory=dict)

    def go(
        self, seconds: float, forces: Callable[["Run", float], AnyArray], push: Sequence[float] = ()
    ) -> "Run":
        """Simulate with the joint forces of `forces(run, t)` and a push in the interval `push`."""
        par = carried(self.load)
        for k in range(round(seconds / H)):
            t = k * H
            tau = np.clip(forces(self, t), -LIMIT, LIMIT)
            on = bool(push) and push[0] <= t < push[1]
            self.keep(t=t, q=self.q, qd=self.qd, tau=tau, place=place(self.q), on=on)
            for _ in range(SUBSTEPS):
                turn = np.reshape(plant().frame_pose_link7(self.q)[0], (3, 3))
                wrench = np.concatenate([turn.T @ FORCE * on, np.zeros(3)])
                at = (self.q, self.qd, tau, [H / SUBSTEPS], wrench, par)
                self.q, self.qd = plant().step_euler(*at)
        return self

    def keep(self, **values: Any) -> None:
        """Puts values into the row of this millisecond."""
        for name, value in values.items():
            self.rows.setdefault(name, []).append(np.array(value))

    def path(self, name: str) -> AnyArray:
        """Stored values of that name, one row per millisecond."""
        return np.array(self.rows[name])


def swing(t: float, size: float = 0.3) -> dict[str, AnyArray]:
    """Reference motion at time `t`: a sinusoid of all joints that starts at rest."""
    w = 2.0 + 0.4 * np.arange(7)
    return {
        "q_ref": START + size * (1 - np.cos(w * t)) / 2,
        "qd_ref": size * w * np.sin(w * t) / 2,
        "qdd_ref": size * w * w * np.cos(w * t) / 2,
    }


STILL = {"q_ref": START, "qd_ref": np.zeros(7), "qdd_ref": np.zeros(7)}


def following(
    controller: Any, wanted: Callable[[float], dict[str, AnyArray]] = swing, **more: Any
) -> Callable[[Run, float], AnyArray]:
    """The forces of a controller that follows a motion; keeps the largest error of a joint."""

    def forces(run: Run, t: float) -> AnyArray:
        now = wanted(t)
        run.keep(error=np.abs(now["q_ref"] - run.q).max())
        return controller.step(q=run.q, qd=run.qd, **now, **more)

    return forces


# -- pictures --------------------------------------------------------------------------------------


def lines(ax: Any, t: AnyArray, rows: AnyArray, names: Sequence[str], start: int = 0) -> None:
    """A line for each column."""
    for k, name in enumerate(names):
        style = STYLES[(start + k) % len(STYLES)]
        ax.plot(t, rows[:, k], style, color=COLOURS[start + k], label=name, lw=1.6)


def gravity_compensation(ax: Any) -> None:
    """Start at 0.3 rad/s with and without the controller."""
    held = ROBOT.controller("gravity_compensation", k_d=4.0, limit=LIMIT)
    on = Run(qd=np.full(7, 0.3)).go(1.5, lambda run, t: held.step(q=run.q, qd=run.qd))
    off = Run(qd=np.full(7, 0.3)).go(0.5, lambda run, t: np.zeros(7))
    lines(ax, on.path("t"), on.path("q")[:, [1, 3]], ["joint 2, controlled", "joint 4, controlled"])
    lines(
        ax, off.path("t"), off.path("q")[:, [1, 3]], ["joint 2, no forces", "joint 4, no forces"], 2
    )
    ax.set(ylabel="joint position, rad", ylim=(-3, 0.5))


def computed_torque(ax: Any) -> None:
    """Follow a sinusoid with and without an unmodelled payload."""
    for k, (load, k_i) in enumerate(((0.0, 0.0), (LOAD, 0.0), (LOAD, 4000.0))):
        law = ROBOT.controller("computed_torque", k_p=400.0, k_d=40.0, k_i=k_i, limit=LIMIT)
        run = Run(load=load).go(3.0, following(law, h=H))
        carries = f"unmodelled {load:g} kg payload" if load else "exact model"
        label = f"{carries}, k_i = {k_i:g}/s³"
        ax.semilogy(
            run.path("t"), run.path("error") + 1e-7, STYLES[k], color=COLOURS[k], label=label
        )
    ax.set(ylabel="largest joint error, rad")


def joint_impedance(ax: Any) -> None:
    """Push the link; compare with the static deflection."""
    k_p = np.array([200.0, 200.0, 200.0, 200.0, 40.0, 40.0, 40.0])
    law = ROBOT.controller("joint_impedance", k_p=k_p, k_d=0.3 * k_p, limit=LIMIT)
    run = Run().go(3.0, following(law, lambda t: STILL), (0.3, 1.8))
    shown = [0, 1, 3]
    names = [f"joint {k + 1}" for k in shown]
    lines(ax, run.path("t"), 1e3 * (run.path("q") - START)[:, shown], names)
    for k, joint in enumerate(shown):
        bent = [
            1e3 * (pushed(q) / k_p)[joint] * on
            for q, on in zip(run.path("q"), run.path("on"), strict=True)
        ]
        label = f"{names[k]}, static deflection" if any(bent) else None
        ax.plot(run.path("t"), bent, color=COLOURS[k], lw=0.8, alpha=0.7, label=label)
    ax.set(ylabel="deflection, mrad")


def momentum_observer(ax: Any) -> None:
    """Estimate a push of 10 N."""
    law = ROBOT.controller("computed_torque", k_p=100.0, k_d=20.0, k_i=0.0, limit=LIMIT)
    observer = ROBOT.controller("momentum_observer", gain=100.0)
    follow = following(law, h=H)

    def forces(run: Run, t: float) -> AnyArray:
        tau = np.clip(follow(run, t), -LIMIT, LIMIT)
        r = observer.step(q=run.q, qd=run.qd, tau=tau, h=H)
        j = model().frame_jacobian_aligned_link7(run.q)
        run.keep(force=np.linalg.lstsq(j.T, r, rcond=None)[0][:3])
        return tau

    run = Run().go(0.5, forces, (0.2, 0.4))
    lines(ax, 1e3 * run.path("t"), run.path("force"), ["x", "y", "z"])
    ax.step(
        1e3 * run.path("t"),
        FORCE[0] * run.path("on"),
        color="black",
        lw=0.8,
        where="post",
        label="true x",
    )
    ax.axvspan(200, 250, color="#F0E442", alpha=0.35, label="50 ms")
    ax.set(ylabel="force at the link, N", xlabel="time, ms")


def cartesian_impedance(ax: Any) -> None:
    """Push the link; compare with the static deflection."""
    gains = {"k_x": [500.0] * 3 + [30.0] * 3, "d_x": [60.0] * 3 + [3.0] * 3}
    more = {"k_p": 10.0, "k_d": 3.0, "damping": 0.02, "limit": LIMIT}
    law = ROBOT.controller(f"cartesian_impedance:{LINK}", {**gains, **more})
    aim = {"q_ref": START, "p_ref": place(START), "quat_ref": quaternion(START)}
    run = Run().go(2.5, lambda run, t: law.step(q=run.q, qd=run.qd, **aim), (0.3, 1.5))
    lines(ax, run.path("t"), 1e3 * (run.path("place") - place(START)), ["x", "y", "z"])
    ax.step(
        run.path("t"),
        1e3 * FORCE[0] * run.path("on") / 500,
        color="black",
        lw=0.8,
        label="x, static deflection",
    )
    ax.set(ylabel="deflection, mm")


def quaternion(q: AnyArray) -> AnyArray:
    """x, y, z, w of the link."""
    name = f"frame_quaternion_xyzw:{LINK}"
    return next(iter(ROBOT.compile(name).functions.values()))(q)


def adaptive_slotine_li(ax: Any) -> None:
    """Carry an unmodelled payload with and without adaptation."""
    own = ROBOT.compile("mass_matrix", parameters="runtime").PARAMETERS
    beta = model().base_parameters(np.concatenate([*map(np.array, own.values())]))
    gains = {"k_p": 20.0, "k_d": [20.0] * 4 + [4.0] * 3, "leak": 0.0, "limit": LIMIT}
    for k, gamma in enumerate((0.0, 0.5)):
        bounds = {"beta_mean": beta, "beta_reach": 5.0}
        law = ROBOT.controller("adaptive_slotine_li", {**gains, **bounds, "gamma": gamma})
        run = Run(load=LOAD).go(12.0, following(law, h=H))
        label = f"gamma = {gamma:g}" if gamma else "gamma = 0, no adaptation"
        ax.semilogy(
            run.path("t"),
            run.path("error") + 1e-6,
            STYLES[k],
            color=COLOURS[k],
            label=label,
            lw=1.2,
        )
    ax.set(ylabel="largest joint error, rad")


def recursive_least_squares(ax: Any) -> None:
    """Estimate the parameters from zero; the measured forces are noisy."""
    random = np.random.default_rng(1)
    follow = ROBOT.controller("computed_torque", k_p=400.0, k_d=40.0, k_i=0.0, limit=LIMIT)
    found = ROBOT.controller("recursive_least_squares", forget=1.0)
    far = lambda t: swing(t, 1.0)  # noqa: E731
    run, drive = Run(), following(follow, far, h=H)
    missed = []
    for _ in range(1000):
        run.go(0.01, lambda r, t: drive(r, len(r.rows.get("t", [])) * H))
        tau, before = run.rows["tau"][-1], run.rows["qd"][-1]
        qdd = (run.qd - before) / H
        noisy = tau + random.normal(0, 0.1, 7)
        beta = found.state["beta_hat"]
        at = (run.rows["q"][-1], before, qdd)
        missed.append(np.abs(model().base_regressor(*at) @ beta - tau).max())
        found.step(q=at[0], qd=before, qdd=qdd, tau=noisy)
    ax.semilogy(0.01 * np.arange(1000), missed, color=COLOURS[0], label="largest joint error")
    ax.axhline(0.1, color=COLOURS[1], ls="--", label="noise of the forces (1 σ)")
    ax.set(ylabel="prediction error, N m")


def elastic_feedback_linearization(ax: Any) -> None:
    """Follow a sinusoid with motors behind springs, which Pinocchio simulates: a pendulum, with the
    model's springs, with others, and with a controller of rigid joints."""
    gains = GAINS["elastic_feedback_linearization"]
    pendulum = symgen.Robot(ROOT / "robots" / "pendulum.urdf")
    soft = pendulum.controller("elastic_feedback_linearization", gains)
    stiff = pendulum.controller("computed_torque", k_p=100.0, k_d=20.0, k_i=0.0, limit=100.0)
    k, b = gains["joint_stiffness"], gains["motor_inertia"]

    def rigid(body: SimulatedElasticRobot, wanted: dict[str, AnyArray]) -> AnyArray:
        known = {name: wanted[name] for name in ("q_ref", "qd_ref", "qdd_ref")}
        e, de = known["q_ref"] - body.q, known["qd_ref"] - body.qd
        of_motors = b * (known["qdd_ref"] + 20.0 * de + 100.0 * e)
        return stiff.step(q=body.q, qd=body.qd, h=H, **known) + of_motors

    cases = {
        "springs as in the model": (k, 0.0, None),
        "springs 20 % softer": (0.8 * k, 0.0, None),
        "springs with damping of 1 N m s/rad": (k, 1.0, None),
        "computed torque, as if joints were rigid": (k, 0.0, rigid),
    }
    for number, (label, (stiffness, damping, law)) in enumerate(cases.items()):
        springs = np.full(2, stiffness), np.full(2, damping), np.full(2, b)
        body = SimulatedElasticRobot("pendulum", elastic_start(0.2, springs[0]), springs)
        times, errors = H * np.arange(3000), []
        for t in times:
            wanted = elastic_swing(t)
            errors.append(np.abs(wanted["q_ref"] - body.q).max())
            if law is None:
                body.step(soft, wanted)
            else:
                body.go(law(body, wanted))
        style = {"color": COLOURS[number], "lw": 1.6}
        ax.semilogy(times, np.minimum(errors, 3.0), STYLES[number], label=label, **style)
    ax.set(ylabel="largest joint error, rad", ylim=(1e-4, 3.0))


PICTURES = {
    f.__name__: f
    for f in (
        *(gravity_compensation, computed_torque, joint_impedance, momentum_observer),
        *(cartesian_impedance, adaptive_slotine_li, recursive_least_squares),
        elastic_feedback_linearization,
    )
}


def main(folder: Path, names: Sequence[str]) -> None:
    """Draws the pictures."""
    import matplotlib.pyplot as plt

    for name in names or PICTURES:
        figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        ax.set_xlabel("time, s")
        PICTURES[name](ax)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
        figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
