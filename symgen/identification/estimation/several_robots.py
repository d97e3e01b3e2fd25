"""One of several robots of one type: the bodies that all have in common, and its own friction."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from symgen.identification.estimation.log_groups import LogFit
from symgen.identification.estimation.own_columns import OwnColumns
from symgen.identification.estimation.robust_errors import inflation
from symgen.identification.estimation.triangular_factors import triangle
from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.estimate import Channel, Estimate, Solution
from symgen.numbers.types import Numbers


def friction_ratios(common: Estimate, drives: DriveUnknowns | None, own: OwnColumns) -> Numbers:
    """The friction of a robot at each channel (c) by the mean of all robots, by least squares over
    its motion; NaN where there is none."""
    narrow, values = own.only(drives.columns if drives else ()), own.values(drives, common.values)
    ratios = np.full(len(common.channels), np.nan)
    for channel, columns in narrow.columns.items():
        mean = narrow.products[channel] @ common.values[[*columns]]
        if size := float(mean @ common.values[[*columns]]):
            ratios[channel] = mean @ values[[*columns]] / size
    return ratios


def of_robot(
    common: Estimate,
    drives: DriveUnknowns | None,
    own: OwnColumns,
    system: TriangularSystem,
    logs: Sequence[LogFit],
) -> Estimate:
    """The estimate of a robot from that of all robots, whose friction is the mean. `logs` are those
    of the robot, and its offsets are their mean. Standard errors contain those of the bodies; the
    variance of own residuals is raised by that of correlated ones (`inflation`)."""
    rows = np.array([log.rows for log in logs])
    residual, measured = (
        np.sqrt(rows @ np.square([getattr(log, name) for log in logs]) / rows.sum()).tolist()
        for name in ("residual", "measured")
    )
    channels = tuple(
        Channel(c.name, c.unit, int(rows.sum()), c.deviation, whole, left)
        for c, whole, left in zip(common.channels, measured, residual, strict=True)
    )
    deviations = tuple(channel.deviation for channel in common.channels)
    spread = inflation(system, Solution(common.values, common.factor, deviations))
    variances = {j: spread * deviation**2 for j, deviation in enumerate(deviations)}
    covariance = own.only(drives.columns if drives else ()).covariance(common.covariance, variances)
    values = own.values(drives, common.values)
    if drives is not None:
        first, offsets = len(common.mapping), np.array([log.offsets for log in logs])
        for k, column in enumerate(drives.columns, first):
            channel = int(np.argmax(np.abs(drives.joints.rates[column.joint])))
            if column.law == "offset":
                values[k] = rows @ offsets[:, channel] / rows.sum()
    return replace(
        common,
        values=values,
        factor=triangle(np.linalg.inv(np.linalg.cholesky(covariance))),
        channels=channels,
        robust=None,
        bias=None,
        shape_errors=None,
    )
