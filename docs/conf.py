"""The site: ``make docs`` builds it into build/site."""

import re
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from symgen import __version__  # noqa: E402

project = "symgen"
author = "the symgen developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the tests run them; pages show what is in the files
nb_merge_streams = True
nitpicky = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
python_use_unqualified_type_names = True

smartquotes = False

html_theme = "furo"
html_title = f"symgen {version}"
html_static_path = ["static"]
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True


# -- what lies outside the pages ------------------------------------------------------------------

LINK = re.compile(r"\[([^\]]*)\]\((\.\./[\w./-]*)\)")


def _outside(app: object, page: str, source: list[str]) -> None:
    """A link to a file of the repository brings it along, for the site is read without the
    repository; one to a folder becomes its name."""
    folder = (ROOT / "docs" / page).parent

    def named(link: re.Match[str]) -> str:
        text, target = link[1], (folder / link[2]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return link[0]
        if target.is_file():
            return f"{{download}}`{text.strip('`')} <{link[2]}>`"
        path = target.relative_to(ROOT).as_posix()
        return f"`{path}`" if text.strip("`/") == path else f"{text} (`{path}`)"

    source[0] = LINK.sub(named, source[0])


def _as_written(app: object, context: object, lines: list[str]) -> None:
    """What a command's help sets as it stands is set so here; no star in it is markup."""
    kept = [line.replace("*", r"\*") for line in lines]
    lines.clear()
    for block, run in groupby(kept, lambda line: line.startswith("| ")):
        if block:
            lines += [
                ".. code-block:: text",
                "",
                *(f"   {line[2:]}".replace(r"\*", "*") for line in run),
                "",
            ]
        else:
            lines += run


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _outside)  # type: ignore[attr-defined]
    app.connect("sphinx-click-process-description", _as_written)  # type: ignore[attr-defined]
