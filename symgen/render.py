"""Files from templates. Templates lay out; what they print is computed and escaped by the
language's file."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from symgen.text import escaped


@cache
def _environment() -> Environment:
    here = Path(__file__).resolve().parent
    folders = [here / "templates", here.parent / "templates"]  # in a wheel, in a checkout
    return Environment(  # the output is source code, not HTML: escaping is each language's own
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, **context: Any) -> str:
    """The text of a template, given as ``LANGUAGE/NAME`` in templates/.

    A page (``html``) is without characters that cannot be seen."""
    text = _environment().get_template(template).render(**context)
    return escaped(text) if template.startswith("html/") else text
