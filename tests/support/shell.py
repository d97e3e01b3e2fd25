"""What tests of the command line share: refusals, data, documented keys."""

import json
import re

from tests.support.tools import ROOT, invoke, robot_file

PENDULUM = robot_file("pendulum")


def refusal(*arguments):
    """What the command line says, in one line, when it refuses."""
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    return done.stderr[:-1]


def data(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0 and done.stderr == ""
    assert invoke(*arguments).stdout == done.stdout
    return json.loads(done.stdout)


BY_NAME = {"quantities", "functions", "files", "formulations"}
"""Keys of objects from names to values."""


def keys(value, by_name=BY_NAME):
    """All keys with a fixed meaning in a JSON value, whose objects under the keys `by_name` have names
    for keys."""
    if isinstance(value, list):
        return set().union(*(keys(x, by_name) for x in value))
    if not isinstance(value, dict):
        return set()
    inner = [
        list(v.values()) if k in by_name and isinstance(v, dict) else v for k, v in value.items()
    ]
    return set(value) | keys(inner, by_name)


def documented(heading):
    """The keys of a section of docs/formats.md."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    rows = re.findall(r"^ *- (`\w+`(?:, `\w+`)*)(?=:|$)", section, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"\w+", row)}
