"""What README shows is what symgen does."""

import re
from pathlib import Path

from benchmarks.quantities import inputs, page

README = Path("README.md").read_text(encoding="utf-8")


def test_the_function_shown_is_the_one_generated():
    shown = README.split("```c\n")[1].split("\n```")[0]
    assert shown in Path("generated/pendulum/pendulum_inverse_dynamics.c").read_text(
        encoding="ascii"
    )


def test_the_page_of_quantities_is_that_of_the_registry(update):
    file, text = Path("docs/quantities.md"), f"{page()}\n## Inputs\n\n{inputs()}\n"
    if update:
        file.write_text(text, encoding="utf-8", newline="\n")
    assert file.read_text(encoding="utf-8") == text


def bold(text):
    """Bold numbers of each row of the tables in a text."""
    return [
        re.findall(r"\*\*(\d+)\*\*", line)
        for line in text.splitlines()
        if line.startswith("| ") and "**" in line
    ]


def test_the_operations_shown_are_those_of_the_page_of_benchmarks():
    page_of_counts = bold(Path("docs/benchmarks/operations.md").read_text(encoding="utf-8"))
    shown = bold(README)
    assert len(shown) == len(page_of_counts) and shown == [row[:3] for row in page_of_counts]
