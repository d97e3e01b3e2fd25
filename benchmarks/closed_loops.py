"""The closed loops of docs/controllers/: ``python -m benchmarks.closed_loops`` simulates them and
writes their figures into the pages; with names of controllers, only theirs.

Each runs for 10 s over the step functions of generated C, compiled here, at 1 kHz with the gains of
its page. The robot is simulated by Pinocchio (articulated-body algorithm, a step of Runge and Kutta
for each sample), so that only the controller comes from symgen."""

import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import symgen
from benchmarks.generated_controller import GeneratedController

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = ROOT / "docs" / "controllers"
H: Final = 0.001
SECONDS: Final = 10.0
NEGLIGIBLE: Final = 1e-6
"""Smaller values depend on rounding."""
LEAD: Final = "Result of a simulation of 10 s with the generated C at 1 kHz:"
"""Beginning of the paragraph that this script writes into each page."""

Array = Any
START: Final = np.array([0.0, -1.2, 1.4, -0.6, 0.5, 0.0])
GAINS: Final[dict[str, dict[str, Any]]] = {
    "gravity_compensation": {"k_d": [5.0, 5.0, 5.0, 1.0, 0.5, 0.05], "limit": 150.0},
    "computed_torque": {"k_p": 400.0, "k_d": 40.0, "k_i": 1000.0, "limit": 150.0},
    "joint_impedance": {
        "k_p": [200.0, 200.0, 200.0, 50.0, 20.0, 2.0],
        "k_d": [30.0, 30.0, 30.0, 2.0, 0.5, 0.04],
        "limit": 150.0,
    },
    "momentum_observer": {"gain": 100.0},
    "cartesian_impedance": {
        "k_x": [400.0] * 3 + [4.0] * 3,
        "d_x": [40.0] * 3 + [0.05] * 3,
        "k_p": [1.0, 1.0, 1.0, 0.5, 0.2, 0.02],
        "k_d": [0.5, 0.5, 0.5, 0.2, 0.1, 0.01],
        "damping": 0.01,
        "limit": 150.0,
    },
    "adaptive_slotine_li": {
        "k_p": 10.0,
        "k_d": 5.0,
        "gamma": 5.0,
        "leak": 0.0,
        "beta_mean": 0.0,
        "beta_reach": 5.0,
        "limit": 50.0,
    },
    "recursive_least_squares": {"forget": 0.99},
    "elastic_feedback_linearization": {
        "k_p": 1e4,
        "k_d": 4e3,
        "k_a": 600.0,
        "k_j": 40.0,
        "limit": 100.0,
        "joint_stiffness": 100.0,
        "motor_inertia": 0.2,
    },
}
"""The gains of each page."""
LINK: Final = "flange"


class SimulatedRobot:
    """A robot that Pinocchio simulates, joints of one coordinate each."""

    def __init__(self, name: str, q: Array, qd: Array | None = None) -> None:
        import pinocchio

        self.pin = pinocchio
        self.model = pinocchio.buildModelFromUrdf(str(ROOT / "robots" / f"{name}.urdf"))
        self.data = self.model.createData()
        self.q, self.qd = np.array(q), np.zeros(len(q)) if qd is None else np.array(qd)

    def go(self, tau: Array) -> None:
        """Advance by one sample under the joint forces `tau`."""
        slopes: list[tuple[Array, Array]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            dq, dv = (share * H * x for x in slopes[-1]) if slopes else (0.0, 0.0)
            q, v = self.q + dq, self.qd + dv
            slopes.append((v, self.pin.aba(self.model, self.data, q, v, tau)))
        mean = [
            sum(w * s[k] for w, s in zip((1, 2, 2, 1), slopes, strict=True)) / 6 for k in (0, 1)
        ]
        self.q, self.qd = self.q + H * mean[0], self.qd + H * mean[1]


class SimulatedElasticRobot(SimulatedRobot):
    """The same with a motor of inertia B behind a spring K, D in each joint, and Pinocchio's
    accelerations of the links under the torques of the springs. `state` has q, q̇ and the
    deflections and their rates, a row each."""

    def __init__(
        self, name: str, state: Array, springs: tuple[Array, Array, Array], steps: int = 4
    ) -> None:
        super().__init__(name, state[0], state[1])
        self.state, self.springs, self.steps = np.array(state), springs, steps

    def slope(self, state: Array, tau: Array) -> Array:
        """The rate of the state under motor torques."""
        q, qd, delta, deltad = state
        stiffness, damping, inertia = self.springs
        spring = stiffness * delta + damping * deltad
        links = self.pin.aba(self.model, self.data, q, qd, spring)
        return np.array([qd, links, deltad, (tau - spring) / inertia - links])

    def go(self, tau: Array, h: float = H) -> None:
        """Advance by one sample."""
        h = h / self.steps
        for _ in range(self.steps):
            a = self.slope(self.state, tau)
            b = self.slope(self.state + h / 2 * a, tau)
            c = self.slope(self.state + h / 2 * b, tau)
            d = self.slope(self.state + h * c, tau)
            self.state = self.state + h / 6 * (a + 2 * b + 2 * c + d)
        self.q, self.qd = self.state[:2]

    def step(self, law: Any, wanted: Mapping[str, Array]) -> None:
        """One sample under a controller that follows the reference."""
        q, qd, delta, deltad = self.state
        self.go(law.step(q=q, qd=qd, delta=delta, deltad=deltad, **wanted))


def _times() -> Sequence[float]:
    return [k * H for k in range(round(SECONDS / H))]


def swing(t: float, n: int) -> dict[str, Array]:
    """Reference motion at time `t`: a sinusoid of all joints that starts at rest."""
    w = 2.0 + np.arange(n) * 0.4
    return {
        "q_ref": 0.3 * (1 - np.cos(w * t)),
        "qd_ref": 0.3 * w * np.sin(w * t),
        "qdd_ref": 0.3 * w * w * np.cos(w * t),
    }


def gravity_compensation(law: GeneratedController) -> str:
    """Start at 0.3 rad/s."""
    body = SimulatedRobot("ur5", START, np.full(6, 0.3))
    for _ in _times():
        body.go(law.step(q=body.q, qd=body.qd))
    return (
        "all joints start at 0.3 rad/s and come to rest; the largest velocity at the end is "
        f"{_text(body.qd)} rad/s"
    )


def computed_torque(law: GeneratedController) -> str:
    """Follow a sinusoid."""
    body, worst = SimulatedRobot("ur5", START), 0.0
    for t in _times():
        wanted = swing(t, 6)
        wanted["q_ref"] = wanted["q_ref"] + START
        worst = max(worst, np.abs(wanted["q_ref"] - body.q).max())
        body.go(law.step(q=body.q, qd=body.qd, h=H, **wanted))
    return f"all joints follow a sinusoid of 0.6 rad peak to peak; the largest error is {_text(worst)} rad"


def joint_impedance(law: GeneratedController) -> str:
    """Start away from the reference."""
    body = SimulatedRobot("ur5", START + 0.1)
    still = {"q_ref": START, "qd_ref": np.zeros(6), "qdd_ref": np.zeros(6)}
    for _ in _times():
        body.go(law.step(q=body.q, qd=body.qd, **still))
    return (
        "all joints start 0.1 rad away from the reference; the error at the end is "
        f"{_text(body.q - START)} rad"
    )


def momentum_observer(law: GeneratedController) -> str:
    """Apply an external torque at the first joint in the second half."""
    body, before, r = SimulatedRobot("ur5", START), 0.0, np.zeros(6)
    hold = GAINS["joint_impedance"]
    for t in _times():
        push = np.array([10.0 * (t >= SECONDS / 2), 0, 0, 0, 0, 0])
        held = body.pin.computeGeneralizedGravity(body.model, body.data, body.q)
        tau = held + np.array(hold["k_p"]) * (START - body.q) - np.array(hold["k_d"]) * body.qd
        body.go(tau + push)
        r = law.step(q=body.q, qd=body.qd, tau=tau, h=H)
        before = max(before, np.abs(r).max() * (t < SECONDS / 2))
    return (
        f"without an external force the largest residual is {_text(before)} N m. Then an external "
        "torque of 10 N m acts on the first joint; after 5 s the error of the residual is "
        f"{_text(r - push)} N m"
    )


def cartesian_impedance(law: GeneratedController) -> str:
    """Move 2 cm up."""
    body = SimulatedRobot("ur5", START)
    frame = body.model.getFrameId(LINK)
    body.pin.framesForwardKinematics(body.model, body.data, START)
    place = body.data.oMf[frame]
    quat = body.pin.Quaternion(place.rotation).coeffs()
    p_ref, fastest, far = place.translation + np.array([0.0, 0.0, 0.02]), 0.0, 0.0
    for _ in _times():
        body.go(law.step(q=body.q, qd=body.qd, q_ref=START, p_ref=p_ref, quat_ref=quat))
        fastest = max(fastest, np.abs(body.qd).max())
    body.pin.framesForwardKinematics(body.model, body.data, body.q)
    far = np.linalg.norm(body.data.oMf[frame].translation - p_ref)
    return (
        f"the reference is 2 cm above the flange; the position error at the end is {1e3 * far:.1g} mm, "
        f"and the largest joint velocity is {_text(fastest)} rad/s"
    )


def adaptive_slotine_li(law: GeneratedController) -> str:
    """Start from zero parameters."""
    body, errors = SimulatedRobot("pendulum", np.zeros(2)), []
    w = np.array([2.0, 3.0])
    for t in _times():
        wanted = {"q_ref": 1 - np.cos(w * t), "qd_ref": w * np.sin(w * t)}
        wanted["qdd_ref"] = w * w * np.cos(w * t)
        errors.append(np.abs(wanted["q_ref"] - body.q).max())
        body.go(law.step(q=body.q, qd=body.qd, h=H, **wanted))
    half = len(errors) // 2
    return f"the largest error is {_text(max(errors[:half]))} rad in the first 5 s and {_text(max(errors[half:]))} rad in the last 5 s"


def recursive_least_squares(law: GeneratedController) -> str:
    """Move for 5 s, then stand still for 5 s."""
    body, random = SimulatedRobot("pendulum", np.zeros(2)), np.random.default_rng(0)
    regressor = symgen.compile(ROOT / "robots" / "pendulum.urdf", "base_regressor").base_regressor
    states = random.uniform(-2, 2, (50, 3, 2))
    off = []
    for k, t in enumerate(_times()):
        moving = t < SECONDS / 2
        a = swing(t, 2)
        x = [2.0 * a[key] * (moving or key == "q_ref") for key in ("q_ref", "qd_ref", "qdd_ref")]
        if moving:
            rest = x[0]
        x[0] = x[0] if moving else rest
        tau = body.pin.rnea(body.model, body.data, *x) + random.normal(0.0, 0.05, 2)
        beta = law.step(q=x[0], qd=x[1], qdd=x[2], tau=tau)
        if k + 1 in (round(SECONDS / H / 2), round(SECONDS / H)):
            rows = [regressor(*s) @ beta - body.pin.rnea(body.model, body.data, *s) for s in states]
            off.append(np.abs(rows).max())
    return (
        "`forget` is 0.99 and the noise of the forces 0.05 N m; the largest prediction error over 50 "
        f"random states is {_text(off[0])} N m after 5 s of motion, and {_text(off[1])} N m after 5 more "
        "seconds at standstill"
    )


def elastic_swing(t: float) -> dict[str, Array]:
    """Reference motion at time `t` with all derivatives that elastic joints need."""
    w, names = np.array([2.0, 3.0]), ("q_ref", "qd_ref", "qdd_ref", "qddd_ref", "qdddd_ref")
    waves = [np.cos(w * t + k * np.pi / 2) for k in range(5)]
    return {
        name: 0.5 * ((k == 0) - w**k * x)
        for k, (name, x) in enumerate(zip(names, waves, strict=True))
    }


def elastic_start(offset: float, stiffness: Array) -> Array:
    """The state at time zero of links that are `offset` away from `elastic_swing`, with its
    derivatives: the springs are deflected as they must be."""
    body, start = SimulatedRobot("pendulum", np.zeros(2)), elastic_swing(0.0)
    q = start["q_ref"] + offset
    tau = body.pin.rnea(body.model, body.data, q, 0 * q, start["qdd_ref"])
    return np.array([q, 0 * q, tau / stiffness, 0 * q])


def elastic_feedback_linearization(law: GeneratedController) -> str:
    """Start away from the reference motion."""
    gains, pole, offset = GAINS["elastic_feedback_linearization"], 10.0, 0.2
    springs = (
        np.full(2, gains["joint_stiffness"]),
        np.zeros(2),
        np.full(2, gains["motor_inertia"]),
    )
    body = SimulatedElasticRobot("pendulum", elastic_start(offset, springs[0]), springs)
    apart, errors = [], []
    for t in _times():
        wanted, x = elastic_swing(t), pole * t
        errors.append(np.abs(wanted["q_ref"] - body.q).max())
        solution = offset * np.exp(-x) * (1 + x + x**2 / 2 + x**3 / 6)
        apart.append(np.abs(body.q - wanted["q_ref"] - solution).max())
        body.step(law, wanted)
    late = len(errors) // 2
    return (
        "the links start 0.2 rad away from a sinusoid of 1 rad peak to peak. The errors differ from the "
        f"solution of their differential equation by at most {_text(max(apart))} rad. The largest error of "
        f"the last 5 s is {_text(max(errors[late:]))} rad"
    )


def _text(x: Any) -> str:
    largest = np.abs(x).max()
    return f"{largest:.2g}" if largest > NEGLIGIBLE else f"less than {NEGLIGIBLE:g}"


LOOPS: Final[dict[str, tuple[str, Callable[[GeneratedController], str]]]] = {
    "gravity_compensation": ("ur5", gravity_compensation),
    "computed_torque": ("ur5", computed_torque),
    "joint_impedance": ("ur5", joint_impedance),
    "momentum_observer": ("ur5", momentum_observer),
    "cartesian_impedance": ("ur5", cartesian_impedance),
    "adaptive_slotine_li": ("pendulum", adaptive_slotine_li),
    "recursive_least_squares": ("pendulum", recursive_least_squares),
    "elastic_feedback_linearization": ("pendulum", elastic_feedback_linearization),
}
"""The robot and the loop of each page."""


def paragraph(name: str) -> str:
    """The paragraph of a page."""
    robot, loop = LOOPS[name]
    full = f"{name}:{LINK}" if name == "cartesian_impedance" else name
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "c"
        symgen.generate(ROOT / "robots" / f"{robot}.urdf", where, ["c"], controllers=(full,))
        law = GeneratedController(where, f"{robot}_{full.replace(':', '_')}")
        law.set_gains(**GAINS[name])
        law.reset()
        return f"{LEAD} {loop(law)}."


def main(names: Sequence[str]) -> None:
    """Writes the paragraphs into the pages."""
    for name in names or LOOPS:
        page = PAGES / f"{name}.md"
        text = re.sub(
            rf"^{LEAD}.*?(?=\n\n)",
            lambda _, name=name: textwrap.fill(paragraph(name), 125, break_on_hyphens=False),
            page.read_text(),
            flags=re.MULTILINE | re.DOTALL,
        )
        page.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
