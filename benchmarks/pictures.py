"""Pictures of the documentation as files: whole or not at all, the same bytes for the same figures,
and with a white ground, which dark pages need."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl


def save(figure: Any, path: Path) -> None:
    """Write a figure as its name's end says (svg, pdf or png)."""
    stream, kind = io.BytesIO(), path.suffix[1:]
    said = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(stream, format=kind, dpi=110, metadata=said)
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(stream.getvalue())
    beside.replace(path)
