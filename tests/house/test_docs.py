"""What the pages of the site show is what happens."""

import os
import re
import shutil
from pathlib import Path

import pytest

from symgen.cli.main import COMMANDS
from symgen.languages import LANGUAGES
from tests.support.pages import Missing, Page, blocks
from tests.support.tools import ROOT, generated

DOCS = ROOT / "docs"
RUN = ("console", "python")
PAGES = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if any(language in RUN for _, language, _ in blocks(page.read_text(encoding="utf-8")))
)
NEEDS = {
    "howto/fmu.md": "fmpy",
    "languages/casadi.md": "casadi",
    "languages/jax.md": "jax",
    "languages/torch.md": "torch",
}
"""Packages that the code of a page needs and symgen does not."""


FILES_OF_FMPY = "ignore:Exception ignored in. <finalize:pytest.PytestUnraisableExceptionWarning"
"""FMPy leaves a temporary folder to the end of the process."""


@pytest.mark.filterwarnings(FILES_OF_FMPY)
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], reason=f"{NEEDS[page]} is not installed")
    # What pages compile is not optimised, and not mistaken for what is.
    monkeypatch.setenv("SYMGEN_TEST_FLAGS", "-O0")
    monkeypatch.setenv("SYMGEN_CACHE", f"{os.environ['SYMGEN_CACHE']}-of-pages")
    shutil.copytree(ROOT / "robots", tmp_path / "robots")
    try:
        Page(tmp_path).run((DOCS / page).read_text(encoding="utf-8"))
    except Missing as error:
        pytest.skip(f"docs/{page}, {error}")


def test_every_environment_variable_of_symgen_is_documented():
    code = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "symgen").rglob("*.py"))
    pages = "".join(p.read_text(encoding="utf-8") for p in DOCS.rglob("*.md"))
    used = set(re.findall(r'"(SYMGEN_[A-Z_]+)"', code))
    assert used == {"SYMGEN_CACHE", "SYMGEN_VERIFY_OPERATIONS"}
    assert [name for name in sorted(used) if f"`{name}`" not in pages] == []


def test_the_function_of_the_first_page_is_the_one_generated():
    shown = (DOCS / "index.md").read_text(encoding="utf-8").split("```c\n")[1].split("\n```")[0]
    file = ROOT / "generated" / "pendulum" / "pendulum_gravity.c"
    assert shown in file.read_text(encoding="ascii")


SHOWN = re.compile(r"^\*\*[^*]+\*\*, `([^`]+)`\n\n```\w+\n(.*?)\n```", re.MULTILINE | re.DOTALL)


def test_the_lines_shown_of_every_language_are_those_generated():
    page = (DOCS / "languages" / "index.md").read_text(encoding="utf-8")
    shown = SHOWN.findall(page)
    _, folder = generated("ur5", languages=tuple(LANGUAGES), quantities=("inverse_dynamics",))
    assert len(shown) == len(LANGUAGES), (
        "docs/languages/index.md, The same lines in each language: shows the head and a step of "
        "each of " + ", ".join(LANGUAGES)
    )
    for file, lines in shown:
        text = "\n" + (folder / file).read_text(encoding="ascii")
        for part in lines.split("\n...\n"):
            _, found, text = text.partition(f"\n{part}\n")
            assert found, f"{file} has not {part}"


def test_every_page_is_in_the_table_of_contents():
    listed = {
        (folder / f"{line}.md").as_posix()
        for folder, file in ((Path(), "index.md"), (Path("reference"), "reference/cli.md"))
        for line in re.findall(r"^([\w/-]+)$", (DOCS / file).read_text("utf-8"), re.MULTILINE)
    }
    pages = {
        page.relative_to(DOCS).with_suffix(".md").as_posix()
        for kind in ("*.md", "*.ipynb")
        for page in DOCS.rglob(kind)
    }
    assert pages - listed == {"index.md"}, listed - pages


def test_every_language_is_in_the_table_of_languages():
    rows = (DOCS / "languages" / "index.md").read_text(encoding="utf-8")
    for name in LANGUAGES:
        page = DOCS / "languages" / f"{name}.md"
        row = f"| [{name}]({name}.md) |"
        assert page.exists(), f"docs/languages/{name}.md: write a page with a program of ten lines"
        assert row in rows, f"docs/languages/index.md: write a row that begins with {row}"


def test_the_runner_sees_what_differs(tmp_path: Path):
    page = Page(tmp_path)
    page.run("```console\n$ echo a; echo b; echo c\na\n...\n```\n")
    for text in (
        "```console\n$ echo a\nb\n```\n",
        "```console\n$ false\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
    ):
        with pytest.raises(AssertionError, match=r"line [15]"):
            page.run(text)


def test_what_is_not_installed_ends_a_page(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for command in (
        "symgen generate x.urdf --target cortex-m4f",
        "nvcc -c x.cu",
        "cd x && octave --eval 1",
        "c++ -I/nowhere/eigen3 x.cpp",
    ):
        with pytest.raises(Missing, match=r"line 1: .* is not installed"):
            Page(tmp_path).run(f"```console\n$ {command}\n```\n")


def test_every_command_has_a_page():
    pages = {path.stem for path in (DOCS / "reference" / "commands").glob("*.md")}
    index = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert pages == set(COMMANDS)
    assert all(
        f"[symgen {name}](commands/{name}.md) | {text} |" in index
        for name, text in COMMANDS.items()
    )
