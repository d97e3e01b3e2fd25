"""The files of `GLUE` for a module."""

from collections.abc import Mapping, Sequence
from typing import Any

from symgen.languages.c.glue import EACH, GLUE
from symgen.languages.c.ros2 import ros2_context
from symgen.languages.module import Module
from symgen.languages.release import Release
from symgen.render import render


def glue_files(
    module: Module, headers: Sequence[str], sources: Sequence[str], context: Mapping[str, Any]
) -> dict[str, str]:
    """The files of a module's glue, given the names of its headers and of its sources but the
    self-test.

    Raises OptionError for a module that a build system cannot have."""
    glue = context["c"].glue
    wanted = {name: template for row in glue for name, template in GLUE[row].items()}
    given = {**context, "headers": [*headers], "sources": [*sources], "plugins": []}
    given |= {"release": module[Release], "made": wanted}
    if "cpp" in glue:
        given["headers"].append(f"{module.name}.hpp")
    if "ros2" in glue:
        given |= ros2_context(module, context)
    return {
        name.format(name=module.name, **one): render(f"glue/{template}.jinja", **given, **one)
        for name, template in wanted.items()
        for one in _each(name, given)
    }


def _each(name: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a file is written for: the module, or each plugin."""
    if EACH not in name:
        return [{}]
    return [{"plugin": one["name"], "one": one} for one in given["plugins"]]
