"""What the Panda is to do: reach and follow a moving point, pick up an unknown payload, then lose a
part of it."""

import numpy as np

from examples.adaptive_mpc.estimator import ball
from examples.adaptive_mpc.inertia import Array, box
from examples.adaptive_mpc.mpc import Target

ROBOT, LINK = "robots/panda_arm.urdf", "flange"
HOME: Array = np.array([0.0, -0.4, 0.0, -2.1, 0.0, 1.9, 0.0])
PERIOD, DURATION = 0.01, 12.0
PICKED, CHANGED = 3.0, 8.0
"""When the payload comes and when it changes, s."""

HEAVY: Array = box(2.5, (0.03, -0.02, 0.09), (0.10, 0.12, 0.16))
LIGHT: Array = box(1.2, (-0.02, 0.03, 0.06), (0.08, 0.08, 0.10))
SCHEDULE = ((PICKED, HEAVY), (CHANGED, LIGHT))
EXPECTED: Array = ball(0.3, 0.05, 0.05)
"""The estimator's prior: some small thing on the flange."""

CENTRE: Array = np.array([0.5, 0.0, 0.45])
SIZE: Array = np.array([0.08, 0.20, 0.12])
RATE: Array = 2 * np.pi / np.array([4.0, 8.0, 8 / 3])
"""The point's path: m, rad/s by axis."""

PHASES = {
    "no payload": (1.0, PICKED),
    "2.5 kg": (PICKED, CHANGED),
    "1.2 kg": (CHANGED, DURATION),
    "2.5 kg, settled": (PICKED + 1, CHANGED),
    "1.2 kg, settled": (CHANGED + 1, DURATION),
}
"""Times over which errors are summed up; the first second is the reach, settled means after a
second."""


def target(times: Array) -> Target:
    """Position (m) and velocity (m/s) of the point at some times (s)."""
    angle = np.asarray(times)[..., None] * RATE
    return Target(CENTRE + SIZE * np.sin(angle), SIZE * RATE * np.cos(angle))
