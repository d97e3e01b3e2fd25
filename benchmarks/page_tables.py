"""Measured tables in pages of the documentation, each between two comments with its name."""

import re
from pathlib import Path


def write_table(page: Path, name: str, table: str) -> None:
    """Replace the text between ``<!-- NAME -->`` and ``<!-- end NAME -->`` of a page by a table
    that ends with a newline. Raises ValueError for a page without these comments."""
    start, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
    place = re.compile(f"(?<={re.escape(start)}).*?(?={re.escape(end)})", re.DOTALL)
    text, count = place.subn(lambda _: table, page.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{page} has no single place for the table '{name}'")
    page.write_text(text, encoding="utf-8")
