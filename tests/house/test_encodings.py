"""Text is read and written as UTF-8 on every system; Windows' own default is another encoding."""

import ast

import pytest

from tests.support.house_files import FILES, nodes

TEXT_METHODS = ("read_text", "write_text")
OF_CLICK = ("super()", "formatter")
"""Objects of click that format the text of a help."""
PROCESSES = ("run", "Popen", "check_output")


def without_encoding(call: ast.Call) -> bool:
    """True for a call that reads or writes text in the system's default encoding."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if "encoding" in keywords or not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in TEXT_METHODS:
        return ast.unparse(call.func.value) not in OF_CLICK
    text = keywords.get("text") or keywords.get("universal_newlines")
    return call.func.attr in PROCESSES and text is not None


@pytest.mark.parametrize("name", FILES)
def test_text_has_an_encoding(name):
    calls = [node for node in nodes(name) if isinstance(node, ast.Call)]
    found = [call.lineno for call in calls if without_encoding(call)]
    assert not found, f"symgen/{name}: give encoding= in lines {found}"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("path.read_text()", True),
        ("path.write_text(x, errors='replace')", True),
        ("subprocess.run(x, text=True)", True),
        ("path.read_text(encoding='utf-8')", False),
        ("subprocess.run(x, encoding='utf-8')", False),
        ("subprocess.run(x, capture_output=True)", False),
    ],
)
def test_the_test_finds_what_it_looks_for(code, found):
    assert without_encoding(ast.parse(code, mode="eval").body) == found
