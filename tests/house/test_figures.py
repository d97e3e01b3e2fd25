"""Every figure that a page shows is that of a stored result, and stored counts are what symgen counts
today."""

import re

import pytest

from tests.support.public_robots import example_robots
from tests.support.tools import ROOT, invoke

pytest.importorskip("pinocchio", reason="benchmarks read robots of example-robot-data")
pytest.importorskip("casadi", reason="benchmarks compare with CasADi: pip install '.[oracles]'")

from benchmarks.figures import counts, pages

DOCS = ROOT / "docs"
TEXTS = {path: path.read_text(encoding="utf-8") for path in pages.pages()}
STORED = counts.stored()
ROUNDING = re.compile(r"^\| (chain|tree) \|.*e-1\d")
"""Rows of rounding errors in docs/rotors.md, whose digits differ between machines."""


@pytest.mark.parametrize("part", counts.PARTS)
def test_stored_counts_are_those_of_today(part):
    if part in ("peers", "johannessen") and not example_robots():
        pytest.skip("example-robot-data is not installed: pip install '.[oracles]'")
    assert counts.PARTS[part]() == STORED[part], "run make figures"


def test_marked_figures_are_those_of_the_results():
    assert not [*pages.stale(TEXTS)]


def test_every_mark_is_closed_and_starts_no_line_of_prose():
    """A line that begins with a comment is HTML to Markdown, with all that follows in it."""
    for path, text in TEXTS.items():
        assert text.count("<!--=-->") == len(pages.MARKED.findall(text)), path
        alone = re.findall(r"^<!--=(?!-->)[^>]+-->(?!\n\n).*", text, re.MULTILINE)
        assert not alone, f"{path}: {alone}"


@pytest.mark.parametrize("name", pages.WHOLE_PAGES)
def test_pages_that_scripts_write_are_those_of_the_results(name):
    shown, written = ((DOCS / name).read_text(encoding="utf-8"), pages.WHOLE_PAGES[name]())
    pairs = zip(shown.splitlines(), written.splitlines(), strict=True)
    differing = [
        (a, b) for a, b in pairs if a != b and not (ROUNDING.match(a) and ROUNDING.match(b))
    ]
    assert not differing, "run make figures"


def test_pages_in_the_terminal_have_no_marks():
    printed = invoke("docs", "python").output
    assert "<!--=" not in printed and "\nhas 548 characters" in printed


def test_a_wrong_figure_is_seen():
    page = ROOT / "page.md"
    text = "It takes <!--=operations example/ur5 gravity-->23<!--=--> operations."
    assert [*pages.stale({page: text})] == [
        "page.md: operations example/ur5 gravity: '23'; run make figures"
    ]
    assert pages.rendered(text).count("-->22<!--") == 1
    assert not [*pages.stale({page: pages.rendered(text)})]


MEASURED = re.compile(
    r"(?<![\w.,])\d[\d.,]*(?: to [\d.,]+)? (?:(?:operations|times|fewer|ns|µs)\b|%)"
)
"""A count, a time or a share."""

CHECKED = ("README.md", "docs/index.md", "docs/proof.md", "docs/rotors.md", "docs/howto/")
"""Pages in which each figure is marked, but for those of `UNSTORED`."""

UNSTORED = {
    "docs/proof.md": {
        "244 µs",  # published
        "1.25 times",  # the tolerance of self-tests, by definition
        "99 %",
        "1 %",
        "10 %",
        "457 operations",  # best peer's, measured with the counts of benchmarks/operations.py
    },
    "docs/rotors.md": {"1 %"},
    "docs/howto/python.md": {"169 ns", "29 ns", "50 times", "200 times", "250 ns", "275 ns"},
}
"""Figures that no results file has; this list may only become shorter."""


def test_no_page_has_a_figure_that_nothing_ties_to_a_result():
    found = {}
    for path, text in TEXTS.items():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(CHECKED):
            prose = re.sub(r"^\|.*$", "", pages.unmarked(text), flags=re.MULTILINE)
            figures = set(MEASURED.findall(re.sub(r"\s+", " ", prose)))
            if figures - UNSTORED.get(name, set()):
                found[name] = figures - UNSTORED.get(name, set())
    assert not found, "mark each by a name of benchmarks/figures/values.py"
