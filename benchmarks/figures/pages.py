"""Marked figures of Markdown pages.

A page marks a figure by HTML comments, which no reader sees: ``<!--=NAME ARGUMENTS-->264<!--=-->``.
The text between the comments is that of `ALL_FIGURES[NAME]`; `make figures`
writes it again. A block, such as a table, stands on lines of its own between the comments."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from benchmarks import adjoints, growth, operations, rotors
from benchmarks.bench import report
from benchmarks.figures import large, real_logs
from benchmarks.figures.counts import ROOT, stored
from benchmarks.figures.values import FIGURES, results

MARKED: Final = re.compile(r"<!--=([^>\n]+?)-->(.*?)<!--=-->", re.DOTALL)


def _growth() -> str:
    curves = {q: {int(n): k for n, k in row.items()} for q, row in stored()["growth"].items()}
    return "\n".join(growth.page(curves, growth.stored())) + "\n"


ALL_FIGURES: Final[Mapping[str, Callable[..., str]]] = {
    **FIGURES,
    **large.FIGURES,
    **real_logs.FIGURES,
}
"""The functions of all marked figures by name."""

WHOLE_PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "benchmarks/README.md": lambda: report.page(results("results")),
    "benchmarks/operations.md": lambda: operations.text(stored()["peers"]),
    "benchmarks/adjoints.md": lambda: adjoints.text(stored()["adjoints"]),
    "benchmarks/growth.md": _growth,
    "rotors.md": lambda: "\n".join(rotors.lines(stored()["rotors"])) + "\n",
}
"""The pages that scripts write as a whole from stored results, by path below docs/."""


def pages() -> list[Path]:
    """The pages of the repository that may show figures."""
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]


def rendered(text: str) -> str:
    """The text of a page with every marked figure as the stored results give it. Raises KeyError for
    a name that is not in `ALL_FIGURES`."""
    return MARKED.sub(lambda found: f"<!--={found[1]}-->{_value(found)}<!--=-->", text)


def _value(found: re.Match[str]) -> str:
    name, *arguments = found[1].split()
    value = ALL_FIGURES[name](*arguments)
    return f"\n\n{value}\n\n" if "\n" in value else value


def stale(paths: Mapping[Path, str]) -> Iterator[str]:
    """A line for each marked figure that differs from the stored results, by page."""
    for path, text in paths.items():
        for found in MARKED.finditer(text):
            if found[2] != _value(found):
                shown = found[2].strip().partition("\n")[0]
                yield f"{path.name}: {found[1]}: {shown!r}; run make figures"


def unmarked(text: str) -> str:
    """The text of a page without its marked figures, code and comments: what a search for figures
    that nothing ties to a result has to read."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"<!--.*?-->", "", MARKED.sub("", text), flags=re.DOTALL)


def write() -> list[Path]:
    """Write every page whose marked figures have changed; those pages."""
    changed = []
    for path in pages():
        if path.exists():
            text = path.read_text(encoding="utf-8")
            new = rendered(text)
            if new != text:
                path.write_text(new, encoding="utf-8", newline="\n")
                changed.append(path)
    return changed
