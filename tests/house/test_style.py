"""Pages and help texts are plain English, as far as a machine can tell (docs/style.toml)."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.support.style import (
    banned,
    faults,
    fragments,
    help_texts,
    lengths,
    pages,
    prose,
    remaining,
    rules,
    sentences,
)

PAGES = pages()
REWRITTEN = sorted(PAGES.keys() - remaining().keys())


def shown(findings):
    return "\n".join(map(str, findings))


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten_pages_have_no_fault(name):
    found = faults(PAGES[name].read_text(encoding="utf-8"))
    assert not found, shown(found)


def test_pages_to_rewrite_only_become_better():
    assert remaining().keys() <= PAGES.keys()
    counts = {name: len(faults(PAGES[name].read_text(encoding="utf-8"))) for name in remaining()}
    worse = {name: (remaining()[name], n) for name, n in counts.items() if n > remaining()[name]}
    assert not worse, "faults allowed and found; docs/style.toml has the phrases and what to write"
    done = [name for name, n in counts.items() if not n]
    assert not done, "take these pages out of the list in docs/style.toml"


def test_help_texts_only_become_better():
    found = [
        (where, fault)
        for where, (text, is_command) in help_texts().items()
        for fault in banned(text) + fragments(text, is_command)
    ]
    assert len(found) <= rules()["help"]["remaining"], shown(f"{w}: {f}" for w, f in found)


@pytest.mark.skipif(find_spec("proselint") is None, reason="proselint is not installed")
@pytest.mark.parametrize("name", REWRITTEN)
def test_proselint_finds_no_fault(name, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(prose(PAGES[name].read_text(encoding="utf-8")), encoding="utf-8")
    words = [sys.executable, "-m", "proselint", "check", "-o", "json", page]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    files = json.loads(done.stdout)["result"]
    found = [x for file in files.values() for x in file.get("diagnostics", [])]
    off = tuple(rules()["proselint"]["off"])
    assert not [x for x in found if not x["check_path"].startswith(off)], done.stderr


TERMS = re.findall(
    r"^## ([^\n]*)\n\n(.+?)(?=\n\n## |\Z)",
    PAGES["docs/glossary.md"].read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def test_the_glossary_defines_each_term_once_in_alphabetical_order():
    names = [name.lower() for name, _ in TERMS]
    assert len(names) > 60 and names == sorted(set(names))
    assert all(text.strip().endswith(".") for _, text in TERMS)


def test_links_to_the_glossary_lead_to_a_term():
    anchors = {re.sub(r"[^a-z0-9-]", "", name.lower().replace(" ", "-")) for name, _ in TERMS}
    linked = {
        (name, anchor)
        for name, page in PAGES.items()
        for anchor in re.findall(r"\bglossary\.md#([\w-]+)\)", page.read_text(encoding="utf-8"))
    }
    assert not [(name, anchor) for name, anchor in linked if anchor not in anchors]


def test_the_checks_see_what_they_are_for():
    assert banned("What is left out is said so.") and not banned("A warning names it.")
    assert [*sentences("One two. Three, e.g. four.\n\n- Five")] == [
        "One two.",
        "Three, eg four.",
        "- Five",
    ]
    long, mean = lengths("word " * 50 + ".")
    assert long and mean > rules()["limits"]["mean"]
    text = prose("# Title\n\nIt is `said`.\n\n```sh\nroom\n```\n\n| room | x |\n<!-- beside -->")
    assert not banned(text) and "Title." in text
    assert fragments("Of the load.", False) and not fragments("Folder for the files.", False)
    assert fragments("The folder.", True) and not fragments("Writes the folder.", True)
