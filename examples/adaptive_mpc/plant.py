"""The robot in simulation: true parameters that change while it runs, and sensors with noise."""

from dataclasses import dataclass, field

import numpy as np

from examples.adaptive_mpc.inertia import Array
from examples.adaptive_mpc.model import NOTHING, Arm


@dataclass(frozen=True)
class Noise:
    """Standard deviations of white sensor noise: rad, rad/s, N m."""

    position: float = 1e-5
    velocity: float = 5e-4
    torque: float = 0.05


@dataclass(frozen=True)
class Sample:
    """What the sensors say at one time: q (rad), q̇ (rad/s), and τ (N m), held from the sample
    before until now."""

    q: Array
    qd: Array
    torque: Array


@dataclass
class Plant:
    """The true arm. `schedule` lists (time, ten parameters) of the payloads that it is given."""

    arm: Arm
    q: Array
    schedule: tuple[tuple[float, Array], ...] = ()
    noise: Noise = Noise()
    seed: int = 0
    step: float = 1e-3
    time: float = 0.0
    qd: Array = field(init=False)

    def __post_init__(self) -> None:
        self.q = np.array(self.q, float)
        self.qd = np.zeros_like(self.q)
        self._random = np.random.default_rng(self.seed)

    @property
    def payload(self) -> Array:
        """The ten parameters that it carries now."""
        return next(
            (ten for since, ten in reversed(self.schedule) if since <= self.time + 1e-9), NOTHING
        )

    def run(self, torque: Array, duration: float) -> Sample:
        """Hold a torque for a time (s), in Runge-Kutta steps of about `step`, and read the
        sensors."""
        count = max(1, round(duration / self.step))
        for _ in range(count):
            self._advance(torque, duration / count)
        return self.sense(torque)

    def sense(self, torque: Array) -> Sample:
        """What the sensors say now."""

        def noisy(value: Array, size: float) -> Array:
            return value + size * self._random.standard_normal(value.shape)

        return Sample(
            noisy(self.q, self.noise.position),
            noisy(self.qd, self.noise.velocity),
            noisy(torque, self.noise.torque),
        )

    def _advance(self, torque: Array, h: float) -> None:
        payload = self.payload

        def rate(q: Array, qd: Array) -> Array:
            return self.arm.forward_dynamics(q, qd, torque, payload)

        v1, q, h2 = self.qd, self.q, h / 2
        a1 = rate(q, v1)
        v2 = v1 + h2 * a1
        a2 = rate(q + h2 * v1, v2)
        v3 = v1 + h2 * a2
        a3 = rate(q + h2 * v2, v3)
        v4 = v1 + h * a3
        a4 = rate(q + h * v3, v4)
        self.q = q + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        self.qd = v1 + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        self.time += h
