"""What README shows is what symgen does."""

import os
import re
import shutil
from pathlib import Path

import pytest

from benchmarks.quantities import inputs, page
from tests.support.pages import Missing, Page
from tests.support.tools import ROOT

README = Path("README.md").read_text(encoding="utf-8")


def test_the_function_shown_is_the_one_generated():
    shown = README.split("```c\nvoid")[1].split("\n```")[0]
    assert shown in Path("generated/pendulum/pendulum_gravity.c").read_text(encoding="ascii")


def test_the_page_of_quantities_is_that_of_the_registry(update):
    file, text = Path("docs/quantities.md"), f"{page()}\n## Inputs\n\n{inputs()}\n"
    if update:
        file.write_text(text, encoding="utf-8", newline="\n")
    assert file.read_text(encoding="utf-8") == text, (
        "run pytest --update tests/house/test_readme.py"
    )


def test_the_commands_and_programs_of_readme_run(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGEN_TEST_FLAGS", "-O0")
    monkeypatch.setenv("SYMGEN_CACHE", f"{os.environ['SYMGEN_CACHE']}-of-pages")
    shutil.copytree(ROOT / "robots", tmp_path / "robots")
    try:
        Page(tmp_path).run(README)
    except Missing as error:
        pytest.skip(f"README.md, {error}")


def test_the_first_screen_says_what_to_type_and_what_is_missing():
    """What it is, the commands, a robot of one's own, a call in C and Python, what is not done, and
    the licence stand before everything else."""
    first, second = README.split("\n## What the generated code looks like\n")
    wanted = (
        "make demo",
        "make test",
        "pip install .",
        "symgen generate",
        '#include "ur5.h"',
        "cc -O2",
        "symgen.compile",
        "What it does not do",
        "Licence",
    )
    places = [first.index(text) for text in wanted]
    assert places == sorted(places)
    assert len(first.splitlines()) < 90 and "not on a package index" in first
    assert "## Map" not in second


def linked(page):
    """The relative targets of links of a page, without anchors."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return {target.partition("#")[0] for target in found if not target.startswith("http")} - {""}


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "docs/index.md", "docs/install.md", "docs/tutorial.md"]
)
def test_links_lead_to_files(name):
    page = ROOT / name
    assert not [t for t in linked(page) if not (page.parent / t).exists()]
