"""A key of a job file set, and nothing else of the file changed."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress

from symgen.options.kinds import quoted


def with_formulations(text: str, formulations: dict[str, str]) -> str | None:
    """A job file's text with these formulations by quantity; None where that cannot be done by a
    line."""
    value = formulations_line(formulations)
    wanted = {**tomllib.loads(text), "formulations": formulations}
    for changed in _places(text, value):
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed
    return None


def formulations_line(formulations: dict[str, str]) -> str:
    """The line of a job file that says so."""
    pairs = ", ".join(
        f"{quoted(name)} = {quoted(formulation)}" for name, formulation in formulations.items()
    )
    return f"formulations = {{ {pairs} }}"


def _places(text: str, line: str) -> Iterator[str]:
    """The text with a line in place of the one that has its key, of the one that has it switched
    off, or before all others."""
    for start in ("formulations *=", "# formulations ="):
        yield re.sub(rf"^{start}.*$", lambda _: line, text, count=1, flags=re.MULTILINE)
    yield f"{line}\n{text}"
