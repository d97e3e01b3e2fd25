"""The thresholds of the diagnostics of a log, in one value that tests and callers can override."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of the diagnostic fit."""

    effective_rows: float = 100.0
    """Independent rows that each channel counts for: residuals of real robots are systematic."""
    least_rate: float = 0.005
    """A log in which no joint moves faster (rad/s or m/s) is not diagnosed: its forces tell little
    about the robot."""
    floor: float = 0.01
    """The least residual of a channel (a part of its root mean square) that makes a difference."""
    prior_deviation: float = 0.4
    """The relative standard deviation of the bodies in the robot's file."""
    driving: float = 0.1
    """Friction with the wrong sign counts if it adds this part of a joint's work."""
    cost_of_driving: float = 50.0
    """The cost of a joint whose friction drives it."""
    least_gain: float = 30.0
    """The reduction of the cost from which a change counts as a cure."""
    outlier: float = 3.0
    """Rows whose residual is larger than so many root mean squares of the channel are left out."""
    poor: float = 0.25
    """A channel with a larger residual (a part of its root mean square) is not explained."""
    factor: float = 1.5
    """The least factor of one force that is reported."""
    common_factor: float = 1.6
    """The least factor of all forces that is reported."""
    correlation: float = 0.8
    """The correlation of measured and predicted forces from which their factor is meaningful."""
    load: float = 0.02
    """The least load that is reported, a part of the mass of the robot."""
    zero: float = 0.1
    """The least zero offset that is reported (rad)."""
    gravity: float = 1.25
    """The least factor of lengths that is reported."""
    tilt: float = 4.0
    """The least angle of the base that is reported (degrees)."""
    tilted: float = 0.12
    """The residual of a channel (a part of its root mean square) from which directions of gravity
    are tried, because they need a regressor of their own."""
    tie: float = 3.0
    """The difference of gains within which the simpler change is taken."""
    least_gain_of_poor: float = 100.0
    """The reduction of the cost from which a change counts as a cure if a channel is not
    explained."""
    most_changes: int = 3
    """Changes that are tried on top of each other."""
    unlike: float = 4.0
    """The mean square of the base parameters' deviations from the robot file, by those of the
    prior, from which the file is doubted."""
    small_robot: int = 8
    """Joints up to which every joint is tried."""
    saturation: float = 0.02
    """The part of a channel's range that counts as its end."""
    saturated_rows: float = 0.05
    """The least part of the rows at the ends of a saturated channel."""
    beyond: float = 0.8
    """The part of these rows whose prediction must be outside the range."""
    consistent: float = 0.9
    """The correlation of positions and integrated velocities from which they belong together."""
    inconsistent: float = 0.7
    """The correlation below which they do not."""
    slope: float = 0.06
    """The deviation of their slope from 1 that is reported."""
    travel: float = 0.02
    """The least range of a position (rad or m) from which it moves."""
    held: float = 0.1
    """The part of the rows in which a force may keep exactly one value while its joint moves."""

    def rows(self, channels: int) -> int:
        """The number of rows of the diagnostic fit."""
        return 400
