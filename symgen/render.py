"""Files from templates. Templates lay out; what they print is computed and escaped by the
language's file."""

import os
import sys
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final

import jinja2
from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from symgen.text import escaped

TEMPLATE_FOLDERS: Final = tuple(
    folder / "templates"  # in a wheel, in a checkout
    for folder in (Path(__file__).resolve().parent, Path(__file__).resolve().parents[1])
)
CACHE_ERRORS: Final = (OSError, EOFError, ValueError, TypeError, UnpicklingError)
JINJA_SETTINGS: Final[dict[str, Any]] = {
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
    "autoescape": False,  # the output is source code, not HTML: escaping is each language's own
}


class CompiledTemplates(BytecodeCache):
    """Compiled templates, kept as Python keeps compiled modules: in a ``__pycache__`` beside them,
    by the same rules (``PYTHONDONTWRITEBYTECODE``, ``PYTHONPYCACHEPREFIX``), and not where that
    cannot be written. What is kept belongs to a text, a release of Jinja and its settings."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Loads what is kept of a template, if it is of this text."""
        with suppress(*CACHE_ERRORS), _cache_file(bucket.key).open("rb") as f:
            bucket.load_bytecode(f)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it; the file appears whole, whoever else writes it."""
        if sys.dont_write_bytecode:
            return
        path = _cache_file(bucket.key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
            try:
                with os.fdopen(handle, "wb") as f:
                    bucket.write_bytecode(f)
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The template's file."""
        return filename or name


def documentation() -> Path:
    """The folder of the pages of the documentation, in an installed package or in a checkout."""
    folders = [folder.with_name("docs") for folder in TEMPLATE_FOLDERS]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _cache_file(template: str) -> Path:
    """Where a compiled template is kept."""
    settings = zlib.crc32(repr(JINJA_SETTINGS).encode())
    release = "".join(filter(str.isalnum, f"jinja{jinja2.__version__}"))
    return Path(cache_from_source(template, optimization=f"{release}s{settings:x}"))


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDERS),
        undefined=StrictUndefined,
        bytecode_cache=CompiledTemplates(),
        **JINJA_SETTINGS,
    )


def asset(name: str) -> str:
    """The text of a file in templates/ that is no template. Raises FileNotFoundError."""
    path = next((folder / name for folder in TEMPLATE_FOLDERS if (folder / name).is_file()), None)
    if path is None:
        raise FileNotFoundError(name)
    return path.read_text(encoding="utf-8")


def render(template: str, **context: Any) -> str:
    """The text of a template, given as ``LANGUAGE/NAME`` in templates/.

    A page (``html``) is without characters that cannot be seen."""
    text = _environment().get_template(template).render(**context)
    return escaped(text) if template.startswith("html/") else text
