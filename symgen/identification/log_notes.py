"""Notes on a log that is read: what was left out, repaired or looks odd, with the cure."""

from collections.abc import Iterator

from symgen.identification.recording import Reading
from symgen.identification.rows import rows_in_words
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
        yield f"only {100 * part:.3g} % of the {rows} rows are usable ({_why(reading)})"
    for column, count, ceiling, floor in zip(
        reading.layout.measured, survey.stuck, survey.ceilings, survey.floors, strict=True
    ):
        if count:
            ends = [f"{x:.4g}" for x in (ceiling, floor) if abs(x) < float("inf")]
            yield (
                f"'{shown(column.name)}' is saturated: {count} rows stay at {' or '.join(ends)} "
                f"{column.unit} and are not used for this column; use a slower motion or a "
                "wider range of the sensor"
            )


def _missing(reading: Reading) -> Iterator[tuple[bool, str]]:
    """Measured channels without a number in some rows, and whether these are many."""
    usable = reading.survey.usable
    for column, count in zip(reading.layout.measured, reading.survey.missing.tolist(), strict=True):
        if count:
            yield (
                count > (1 - FEW) * usable,
                f"'{shown(column.name)}' has no finite number in {count} of {usable} rows; they "
                "are not used for this column",
            )


def _still(reading: Reading) -> Iterator[str]:
    constant = reading.survey.constant[: len(reading.layout.q)]
    for column, never, low in zip(reading.layout.q, constant, reading.survey.low, strict=False):
        if never:
            yield (
                f"'{shown(column.name)}' is {low:.4g} in every row: the joint does not "
                "move, or its encoder is defective; lock it with --lock JOINT=VALUE, or choose "
                "another column"
            )


def _notes(reading: Reading) -> Iterator[str]:
    clock = reading.survey.clock
    if clock.coarse:
        yield (
            f"the resolution of the time stamps ({clock.resolution:.4g} s) is coarser than the "
            f"sample interval; a constant rate of {1 / clock.step:.6g} Hz is used instead (use "
            "--rate to set it)"
        )
    if clock.polled:
        yield (
            "the time stamps are those of a recorder that polls; positions and velocities show "
            f"that the rows are multiples of {clock.step:.6g} s apart, and the times are corrected "
            "accordingly (use --rate to set the rate)"
        )
    for name, count in reading.survey.turned.items():
        yield (
            f"'{shown(name)}' jumps by a full turn {count} time{'s' * (count > 1)}; the angle is "
            "unwrapped"
        )
    inside = _rows(reading) - _ends(reading)
    if FEW * inside <= reading.plan.samples < inside:
        yield f"{reading.plan.samples} of the {_rows(reading)} rows are used ({_why(reading)})"
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
        f"{rows_in_words(count, why)}, the first at {log.place(survey.places[why])}"
        for why, count in survey.left_out.items()
    ]
    torn = getattr(log, "torn", {})
    if torn:
        line, why = min(torn.items())
        reasons.append(f"{rows_in_words(len(torn), f'with {why}')}, the first in line {line}")
    lost = survey.usable - reading.plan.samples
    if lost:
        stretches = len(survey.stretches)
        ends = f"at the ends of {stretches} segment{'s' * (stretches > 1)}, which derivatives and "
        longest = f"; the longest gap is {survey.gaps[0]:.4g} s" if survey.gaps else ""
        reasons.append(f"{rows_in_words(lost, ends)}intervals need{longest}")
    return "; ".join(reasons) or quoted([])
