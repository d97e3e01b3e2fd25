"""Whether the files of a run are whole: each kind of file ends as it should and reads back, a
manifest lists what is there, and what was there before and is not symgen's is as it was."""

import hashlib
import io
import json
import tomllib
import zipfile
from collections.abc import Callable
from typing import Final

from lxml import etree

from fuzz.case import Outcome


def _json(data: bytes) -> None:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    json.loads(data.decode("ascii"), parse_constant=refuse)


def _png(data: bytes) -> None:
    if not data.startswith(b"\x89PNG") or b"IEND" not in data[-12:]:
        raise ValueError("is cut")


def _html(data: bytes) -> None:
    text = data.decode()
    if not text.rstrip().endswith("</html>"):
        raise ValueError("is cut")
    bad = next((c for c in text if not c.isprintable() and c not in "\n\t"), None)
    if bad is not None:
        raise ValueError(f"has a raw {bad!a}")


def _csv(data: bytes) -> None:
    if len({line.count(b",") for line in data.splitlines()}) != 1 or not data.endswith(b"\n"):
        raise ValueError("is cut")


def _zip(data: bytes) -> None:
    if zipfile.ZipFile(io.BytesIO(data)).testzip() is not None:
        raise ValueError("is damaged")


def _c(data: bytes) -> None:
    if not data.endswith(b"\n") or b"inf.0" in data:
        raise ValueError("is cut or has inf as a number")


READ: Final[dict[str, Callable[[bytes], object]]] = {
    ".json": _json,
    ".png": _png,
    ".html": _html,
    ".csv": _csv,
    ".whl": _zip,
    ".c": _c,
    ".h": _c,
    ".py": lambda data: compile(data, "generated", "exec"),
    ".toml": lambda data: tomllib.loads(data.decode()),
    ".urdf": etree.fromstring,
}
"""How to read a file that was made, by its end; raises where it is not whole."""


def trouble(outcome: Outcome) -> str | None:
    """What is wrong with the files that a run has made, None if nothing is."""
    made = {
        name: data
        for name, data in outcome.after.items()
        if data is not None and outcome.before.get(name) != data
    }
    for name, data in made.items():
        read = READ.get("." + name.rpartition(".")[2])
        try:
            if read is not None:
                read(data)
        except (ValueError, SyntaxError, zipfile.BadZipFile, etree.XMLSyntaxError) as error:
            return f"{name.rpartition('.')[2]} file '{name}' {error}"
    return _listed(outcome, made)


def _listed(outcome: Outcome, made: dict[str, bytes]) -> str | None:
    for name, data in made.items():
        folder, _, file = name.rpartition("/")
        if file != "manifest.json":
            continue
        for listed, digest in json.loads(data)["files"].items():
            found = outcome.after.get(f"{folder}/{listed}" if folder else listed)
            if found is None or hashlib.sha256(found).hexdigest() != digest:
                return f"'{listed}' is not as the manifest says"
    return None
