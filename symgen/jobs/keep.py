"""Changes of one key of a job file that leave its other lines as they are."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress

from symgen.options.kinds import quoted


def with_formulations(text: str, formulations: dict[str, str]) -> str | None:
    """The text of a job file with these formulations by quantity; None if that needs more than one
    line to change."""
    value = formulations_line(formulations)
    wanted = {**tomllib.loads(text), "formulations": formulations}
    for changed in _places(text, value):
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed
    return None


def formulations_line(formulations: dict[str, str]) -> str:
    """The line of a job file for these formulations."""
    pairs = ", ".join(
        f"{quoted(name)} = {quoted(formulation)}" for name, formulation in formulations.items()
    )
    return f"formulations = {{ {pairs} }}"


def _places(text: str, line: str) -> Iterator[str]:
    """The text with `line` instead of the line with its key, instead of the commented example, or
    before all other lines."""
    for start in ("formulations *=", "# formulations ="):
        yield re.sub(rf"^{start}.*$", lambda _: line, text, count=1, flags=re.MULTILINE)
    yield f"{line}\n{text}"
