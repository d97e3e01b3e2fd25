"""Notes on a log that is read: what was left out, repaired or looks odd, with the cure."""

from collections.abc import Iterator

from symgen.identification.recording import Reading
from symgen.text import quoted, shown

FEW = 0.9
"""A log of which a smaller part can be used gets a warning."""


def notes(reading: Reading) -> tuple[str, ...]:
    """A sentence each, those that matter most first."""
    file = shown(reading.log.file)
    missing = [*_missing(reading)]
    texts = (*_warnings(reading), *(text for often, text in missing if often), *_still(reading))
    few = (text for often, text in missing if not often)
    warnings = tuple(f"{file}: warning: {text}" for text in texts)
    return warnings + tuple(f"{file}: note: {text}" for text in (*_notes(reading), *few))


def _warnings(reading: Reading) -> Iterator[str]:
    survey = reading.survey
    rows = _rows(reading)
    if reading.plan.samples < FEW * (rows - _ends(reading)):
        part = reading.plan.samples / rows
        yield f"only {100 * part:.3g} % of {rows} rows can be used ({_why(reading)})"
    for column, count, ceiling, floor in zip(
        reading.layout.measured, survey.stuck, survey.ceilings, survey.floors, strict=True
    ):
        if count:
            ends = [f"{x:.4g}" for x in (ceiling, floor) if abs(x) < float("inf")]
            yield (
                f"'{shown(column.name)}' is saturated: {count} rows stay at {' or '.join(ends)} "
                f"{column.unit}; they are left out for it, and a slower motion or a wider range "
                "of the sensor gives them back"
            )


def _missing(reading: Reading) -> Iterator[tuple[bool, str]]:
    """Measured channels without a number in some rows, and whether these are many."""
    usable = reading.survey.usable
    for column, count in zip(reading.layout.measured, reading.survey.missing.tolist(), strict=True):
        if count:
            yield (
                count > (1 - FEW) * usable,
                f"'{shown(column.name)}' has no finite number in {count} of {usable} rows; they "
                "are left out for it",
            )


def _still(reading: Reading) -> Iterator[str]:
    constant = reading.survey.constant[: len(reading.layout.q)]
    for column, never, low in zip(reading.layout.q, constant, reading.survey.low, strict=False):
        if never:
            yield (
                f"'{shown(column.name)}' is {low:.4g} in every row: the joint stands still, or its "
                "encoder is dead; hold it with --lock JOINT=VALUE, or name another column"
            )


def _notes(reading: Reading) -> Iterator[str]:
    clock = reading.survey.clock
    if clock.coarse:
        yield (
            f"time stamps have a resolution of {clock.resolution:.4g} s, coarser than the rows; "
            f"rows are taken as even, {1 / clock.step:.6g} a second (--rate says another)"
        )
    if clock.polled:
        yield (
            "time stamps are those of a recorder that polls: by positions and velocities rows are "
            f"{clock.step:.6g} s apart, or a multiple of it; that is taken as their time (--rate "
            "says another)"
        )
    for name, count in reading.survey.turned.items():
        yield (
            f"'{shown(name)}' jumps by a turn {count} time{'s' * (count > 1)}, as angles do that "
            "are kept within one; it is taken as continuous"
        )
    inside = _rows(reading) - _ends(reading)
    if FEW * inside <= reading.plan.samples < inside:
        yield f"{reading.plan.samples} of {_rows(reading)} rows are used ({_why(reading)})"
    names, read = reading.log.names, {*reading.layout.names}
    unused = [name for name in names if name not in read]
    if unused:
        yield f"{len(unused)} of {len(names)} columns are not used: {quoted(unused)}"


def _ends(reading: Reading) -> int:
    """Rows that a log without gaps loses at its ends."""
    plan = reading.plan
    return 2 * plan.half + plan.interval + bool(plan.interval)


def _rows(reading: Reading) -> int:
    """All rows, those that are torn too."""
    return reading.survey.rows + len(getattr(reading.log, "torn", ()))


def _why(reading: Reading) -> str:
    """Why rows are not used, by reason."""
    survey, log = reading.survey, reading.log
    reasons = [
        f"{count} {why}, the first at {log.place(survey.places[why])}"
        for why, count in survey.left_out.items()
    ]
    torn = getattr(log, "torn", {})
    if torn:
        line, why = min(torn.items())
        reasons.append(f"{len(torn)} have {why}, the first in line {line}")
    lost = survey.usable - reading.plan.samples
    if lost:
        stretches = len(survey.stretches)
        ends = f"{lost} at the ends of {stretches} stretch{'es' * (stretches > 1)}"
        longest = f", the longest gap {survey.gaps[0]:.4g} s" if survey.gaps else ""
        reasons.append(ends + " go to derivatives and intervals" + longest)
    return "; ".join(reasons) or quoted([])
