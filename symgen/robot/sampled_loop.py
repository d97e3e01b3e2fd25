"""The gains that a controller can have at a sample rate on a robot.

Near a configuration at rest the loop of a controller is M δq̈ = -K δq - D δq̇ - L ∫δq, where forces
are held for a sample time h: δq⁺ = δq + h δq̇ + h²/2 δq̈ and δq̇⁺ = δq̇ + h δq̈. It is stable where
the largest eigenvalue of that step is at most 1 in absolute value (Åström & Wittenmark,
Computer-Controlled Systems, 1997, ch. 3). Damping along a direction b alone is stable up to 2 / (h
bᵀ M⁻¹ b). Gravity, springs and friction of the robot are not in the linear loop."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from symgen.algorithms import LINK_QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS, unknown_controller
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.numbers.scalar import Numbers
from symgen.robot.simulation import check_ranges
from symgen.text import html_table, shown

if TYPE_CHECKING:
    from symgen.robot.robot import Robot


CONFIGURATIONS: Final = 64
"""Random configurations within the joint limits at which a loop is examined."""
RATES: Final = (1e-3, 1e9)
"""The sample rates (Hz) that are examined."""
LARGEST_GAIN: Final = 1e100
"""Gains above this overflow in products."""
PROPOSED_DAMPING_SHARE: Final = 0.25
"""The damping that a proposal starts from, as a part of what is stable for each entry alone."""
MARGIN: Final = 2.0
"""The factor by which all damping of a proposal may grow before the loop is unstable."""
FACTOR_RANGE: Final = (1e-6, 1e6)
"""The factors of gains that are examined."""
HALVINGS: Final = 60
TASK_DIRECTIONS: Final = ("x", "y", "z", "about x", "about y", "about z")
BANDWIDTH_POWERS: Final = {"k_d": 1, "d_x": 1, "k_p": 2, "k_x": 2, "k_i": 3}
"""By which power of a common factor of the bandwidth each gain grows."""

EIGENVALUE_ROUNDING: Final = 1e-7
"""How far above 1 an eigenvalue may be computed that is 1: positions that nothing draws back."""


@dataclass(frozen=True)
class GainLimit:
    """One entry of a gain: the largest stable value while all other gains are zero (infinite where
    there is no such bound), and the value examined or proposed."""

    gain: str
    entry: str
    largest_alone: float
    value: float


@dataclass(frozen=True)
class SampledLoop:
    """The loop of a controller at a sample rate (Hz).

    `radius` is the largest absolute eigenvalue of a step at any of the configurations, with the
    values of `limits`, which are `proposed` or the user's. Damping may grow by `factor`, stiffness
    by its square, integral gains by its cube before the loop is unstable."""

    controller: str
    rate: float
    configurations: int
    limits: tuple[GainLimit, ...]
    radius: float
    factor: float
    proposed: bool

    @property
    def stable(self) -> bool:
        """Whether the loop is stable at all configurations."""
        return self.radius <= 1.0 + EIGENVALUE_ROUNDING

    def sentences(self) -> list[str]:
        """The result in words."""
        head = f"{self.controller} at {self.rate:g} Hz"
        if not self.limits:
            return [f"{head}: no gain is limited by the sample rate, because nothing is fed back."]
        whose = "proposed" if self.proposed else "given"
        verdict = "stable" if self.stable else "UNSTABLE"
        return [
            f"{head}, {self.configurations} configurations within the joint limits: the {whose} "
            f"gains are {verdict}, largest eigenvalue {self.radius:.6g}.",
            f"The loop is stable up to {self.factor:.3g} times their damping (stiffness times the "
            "square of that factor).",
        ]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A row of text for each entry of each gain."""
        return [
            (
                row.gain,
                row.entry,
                "" if math.isinf(row.largest_alone) else f"{row.largest_alone:.3g}",
                f"{row.value:.3g}",
            )
            for row in self.limits
        ]

    @property
    def head(self) -> tuple[str, str, str, str]:
        """The titles of the columns of `rows`."""
        return "gain", "entry", "largest alone", "proposed" if self.proposed else "given"

    def data(self) -> dict[str, Any]:
        """The data of ``symgen check --controller --rate --json``."""
        return {
            "controller": self.controller,
            "rate": self.rate,
            "configurations": self.configurations,
            "stable": self.stable,
            "largest_eigenvalue": self.radius if self.limits else None,
            "factor": self.factor if self.limits else None,
            "proposed": self.proposed,
            "gains": [
                asdict(row)
                | {"largest_alone": None if math.isinf(row.largest_alone) else row.largest_alone}
                for row in self.limits
            ],
        }

    def _repr_html_(self) -> str:
        return html_table(" ".join(self.sentences()), self.head, self.rows())


@dataclass(frozen=True)
class LoopConfiguration:
    """A configuration of the robot: M, its inverse, and J of the controlled link (6 x n)."""

    mass: Numbers
    inverse: Numbers
    jacobian: Numbers


Gains = Mapping[str, Numbers]
Loop = Callable[[LoopConfiguration, Gains], tuple[Numbers, ...]]


def _cartesian_impedance(at: LoopConfiguration, gains: Gains) -> tuple[Numbers, ...]:
    j, right = at.jacobian, at.jacobian @ at.inverse
    inertia = np.linalg.pinv(right @ j.T + float(gains["damping"][0]) ** 2 * np.eye(6))
    null_space = np.eye(len(at.mass)) - j.T @ inertia @ right
    task_and_posture = (("k_x", "k_p"), ("d_x", "k_d"))
    return tuple(j.T @ (gains[x][:, None] * j) + null_space * gains[y] for x, y in task_and_posture)


FEEDBACK_MATRICES: Final[dict[str, Loop]] = {
    "gravity_compensation": lambda at, gains: (0 * at.mass, np.diag(gains["k_d"])),
    "computed_torque": lambda at, gains: tuple(at.mass * gains[k] for k in ("k_p", "k_d", "k_i")),
    "joint_impedance": lambda at, gains: (np.diag(gains["k_p"]), np.diag(gains["k_d"])),
    "cartesian_impedance": _cartesian_impedance,
    "adaptive_slotine_li": lambda at, gains: (
        np.diag(gains["k_d"] * gains["k_p"]),
        np.diag(gains["k_d"]) + at.mass * gains["k_p"],
    ),
}
"""K, D and, with an integral, L of each controller that drives a robot. The adaptive one has the
true parameters: k_d s + M k_p ė with s = k_p e + ė."""


def sampled_loop(
    robot: "Robot",
    controller: str,
    rate: float,
    gains: Mapping[str, Any] | None = None,
    configurations: int = CONFIGURATIONS,
) -> SampledLoop:
    """Examine the stability of a controller (``NAME`` or ``NAME:LINK``) at a sample rate (Hz).

    `gains` are the gains to examine, each one number or one per entry. Without them, gains are
    proposed that are stable with a margin of 2 at all random `configurations` within the joint
    limits. The loop of ``adaptive_slotine_li`` does not include the adaptation. Raises OptionError,
    also where generation does."""
    name, _, link = controller.partition(":")
    if name not in CONTROLLERS:
        raise unknown_controller(name)
    if not RATES[0] <= rate <= RATES[1]:
        raise OptionError(f"--rate {rate:g}: give a positive sample rate in Hz, such as 1000")
    if link and name not in LINK_QUANTITIES:
        raise OptionError(f"{name} has no link; remove :{shown(link)}")
    if name in LINK_QUANTITIES and not link:
        raise OptionError(f"{name} needs a link; name one, as in {name}:LINK")
    if CONTROLLERS[name].is_elastic:
        raise OptionError(
            f"{name}: the stability at a sample rate is not examined for joints with springs; "
            "simulate the loop with elastic_step"
        )
    robot.trace(controller)  # refuses what no controller can be generated for
    if name not in FEEDBACK_MATRICES:
        return SampledLoop(controller, rate, 0, (), 0.0, math.inf, gains is None)
    samples = _configurations(robot, link, configurations, controller)
    shaping, of_task = {*BANDWIDTH_POWERS, "damping"}, {"k_x": 6, "d_x": 6, "damping": 1}
    loop_gains = [gain for gain in CONTROLLERS[name].gains if gain in shaping]
    sizes, h = {gain: of_task.get(gain, robot.dof) for gain in loop_gains}, 1.0 / rate
    alone = _largest_alone(name, samples, h)
    given = _given(name, gains, sizes) if gains else _proposal(name, alone, h, sizes)
    step = _Step(FEEDBACK_MATRICES[name], samples, h)
    factor = step.largest_factor(name, given)
    if not gains and factor < MARGIN:
        given = _scaled(name, given, factor / MARGIN)
        factor = step.largest_factor(name, given)
    limits = tuple(
        GainLimit(gain, entry, largest, float(value))
        for gain, values in given.items()
        for entry, largest, value in zip(
            _entries(robot, gain, len(values)),
            alone.get(gain, np.full(len(values), np.inf)),
            values,
            strict=True,
        )
    )
    return SampledLoop(
        controller, rate, len(samples), limits, step.radius(given), factor, not gains
    )


@dataclass(frozen=True)
class _Step:
    """One sample of the loop at all configurations."""

    loop: Loop
    configurations: Sequence[LoopConfiguration]
    h: float

    def radius(self, gains: Gains) -> float:
        """The largest absolute eigenvalue."""
        return max(self._radius(place, gains) for place in self.configurations)

    def _radius(self, place: LoopConfiguration, gains: Gains) -> float:
        h, feedback = self.h, [place.inverse @ x for x in self.loop(place, gains)]
        one = np.eye(len(place.mass))
        stiffness, damping = feedback[:2]
        rows = [
            [one - h * h / 2 * stiffness, h * one - h * h / 2 * damping],
            [-h * stiffness, one - h * damping],
        ]
        if len(feedback) > 2:
            integral = feedback[2]  # of the integral that has this sample's error already
            rows[0][0] = rows[0][0] - h**3 / 2 * integral
            rows[1][0] = rows[1][0] - h**2 * integral
            rows = [[*rows[0], -h * h / 2 * integral], [*rows[1], -h * integral]]
            rows.append([h * one, 0 * one, one])
        step = np.block(rows)
        if not np.isfinite(step).all():
            return math.inf
        return float(np.abs(np.linalg.eigvals(step)).max())

    def largest_factor(self, name: str, gains: Gains) -> float:
        """The largest factor of the bandwidth that is stable, by bisection."""
        low, high = FACTOR_RANGE

        def stable(factor: float) -> bool:
            return self.radius(_scaled(name, gains, factor)) <= 1.0 + EIGENVALUE_ROUNDING

        if stable(high):
            return math.inf
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if stable(middle) else (low, middle)
        return low


def _scaled(name: str, gains: Gains, factor: float) -> dict[str, Numbers]:
    """The gains for a bandwidth that is `factor` times as large."""
    powers = BANDWIDTH_POWERS | ({"k_p": 1} if name == "adaptive_slotine_li" else {})
    return {gain: values * factor ** powers.get(gain, 0) for gain, values in gains.items()}


def _entries(robot: "Robot", gain: str, size: int) -> Sequence[str]:
    if gain in ("k_x", "d_x"):
        return TASK_DIRECTIONS
    return robot.velocities if size == robot.dof and gain != "damping" else ("",)


def _configurations(
    robot: "Robot", link: str, count: int, controller: str
) -> list[LoopConfiguration]:
    """Random configurations within the joint limits. Raises OptionError."""
    mass = robot.trace("mass_matrix")
    extra = set(mass.inputs) - {"q"}
    if extra:
        raise OptionError(
            f"{controller}: {', '.join(sorted(extra))} would be inputs; do not make "
            "parameters runtime inputs"
        )
    jacobian = robot.trace(f"frame_jacobian_aligned:{link}") if link else None
    random, n, found = np.random.default_rng(0), robot.dof, []
    low, high = _limits(robot)
    for _ in range(count):
        q = np.array(coupling_of(robot.model).closing_positions(random.uniform(low, high).tolist()))
        for four in coupling_of(robot.model).quaternions:
            q[four] = random.normal(size=4)
            q[four] /= np.linalg.norm(q[four])
        outputs: list[Any] = [
            [0.0] * (6 * n) if function is None else next(iter(function.run(q=q.tolist()).values()))
            for function in (mass, jacobian)
        ]
        m, j = (np.array([float(x) for x in values]) for values in outputs)
        m, j = m.reshape(n, n), j.reshape(6, n)
        try:
            np.linalg.cholesky(m)
            found.append(LoopConfiguration(m, np.linalg.inv(m), j))
        except np.linalg.LinAlgError:
            raise OptionError(
                f"{controller}: the mass matrix is not positive definite, so that no gain is "
                "stable; see the notes on inertia of symgen check"
            ) from None
    return found


def _limits(robot: "Robot") -> tuple[Numbers, Numbers]:
    """The position limits. Without limits in the file, half a turn or one metre to either side."""
    known = {joint.name: (joint.lower, joint.upper) for joint in robot.joints}
    rows = []
    for row in position_coordinates(robot.model):
        largest = math.pi if row.unit == "rad" else 1.0
        low, high = known.get(row.name, (None, None))
        rows.append((-largest if low is None else low, largest if high is None else high))
    low, high = np.array(rows, dtype=float).T
    return np.maximum(low, -2 * math.pi), np.minimum(high, 2 * math.pi)


def _largest_alone(name: str, samples: Sequence[LoopConfiguration], h: float) -> dict[str, Numbers]:
    """The largest stable damping of each entry while all other gains are 0, at the worst
    configuration."""
    joints = np.min([2 / (h * np.diag(place.inverse)) for place in samples], axis=0)
    if name == "computed_torque":
        return {"k_d": np.full(len(joints), 2 / h)}
    alone = {"k_d": joints}
    if name == "cartesian_impedance":
        apparent = [np.diag(x.jacobian @ x.inverse @ x.jacobian.T) for x in samples]
        with np.errstate(divide="ignore"):
            alone["d_x"] = np.min([2 / (h * np.maximum(row, 0.0)) for row in apparent], axis=0)
    return alone


def _proposal(
    name: str, alone: Mapping[str, Numbers], h: float, sizes: Mapping[str, int]
) -> dict[str, Numbers]:
    """Damping as a part of what each entry alone can have, and stiffness for a damping ratio of 1
    with the smallest inertia that the entry meets, which is largest · h/2."""
    found = {gain: np.zeros(size) for gain, size in sizes.items()}
    if "damping" in found:
        found["damping"] = np.array(CONTROLLERS[name].gains["damping"])
    for damping, stiffness in (("k_d", "k_p"), ("d_x", "k_x")):
        if damping not in alone:
            continue
        largest = np.where(np.isfinite(alone[damping]), alone[damping], 0.0)
        found[damping] = PROPOSED_DAMPING_SHARE * largest
        if stiffness in sizes:
            inertia = np.maximum(largest * h / 2, np.finfo(float).tiny)
            found[stiffness] = found[damping] ** 2 / (4 * inertia)
    if name == "computed_torque":
        bandwidth = PROPOSED_DAMPING_SHARE / h
        found = {"k_p": found["k_p"] * 0 + bandwidth**2, "k_d": found["k_d"] * 0 + 2 * bandwidth,
                 "k_i": found["k_i"]}  # fmt: skip
    if name == "adaptive_slotine_li":
        found["k_p"] = np.full(sizes["k_p"], PROPOSED_DAMPING_SHARE / h)
    return found


def _given(name: str, gains: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Numbers]:
    """The gains of the user; gains that are not named are 0. Raises OptionError."""
    found = {gain: np.zeros(size) for gain, size in sizes.items()}
    for gain, value in gains.items():
        if gain not in CONTROLLERS[name].gains:
            known = ", ".join(CONTROLLERS[name].gains)
            raise OptionError(f"{name} has no gain {gain}; it has {known}")
        values = np.array(value, dtype=float).ravel()
        check_ranges(name, {gain: values})
        if (np.abs(values) > LARGEST_GAIN).any():
            raise OptionError(f"{name}: {gain} is above {LARGEST_GAIN:g}; give a smaller one")
        if gain in sizes:
            if len(values) not in (1, sizes[gain]):
                raise OptionError(f"{gain}: give {sizes[gain]} numbers or one, not {len(values)}")
            found[gain] = np.array(np.broadcast_to(values, (sizes[gain],)))
    return found
