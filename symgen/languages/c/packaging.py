"""The files of `GLUE` for a module."""

from collections.abc import Mapping, Sequence
from typing import Any

from symgen.languages.c.glue import EACH, GLUE
from symgen.languages.c.ros2 import ros2_context
from symgen.languages.module import Module
from symgen.languages.release import Release
from symgen.render import render


def glue_files(
    module: Module, headers: Sequence[str], sources: Sequence[str], shared: Mapping[str, Any]
) -> dict[str, str]:
    """The files of a module's glue, given the names of its headers and of its sources but the
    self-test.

    Raises OptionError for a module that a build system cannot have."""
    glue = shared["c"].glue
    wanted = {name: template for row in glue for name, template in GLUE[row].items()}
    variables = {**shared, "headers": [*headers], "sources": [*sources], "plugins": []}
    variables |= {"release": module[Release], "made": wanted}
    variables["headers"] += [name.format(name=module.name) for name in wanted if _is_header(name)]
    if any(EACH in name for name in wanted):
        variables |= ros2_context(module, shared)
    return {
        name.format(name=module.name, **target): render(
            f"glue/{template}.jinja", **variables, **target
        )
        for name, template in wanted.items()
        for target in _each(name, variables)
    }


def _is_header(name: str) -> bool:
    """Whether a file of the module's own folder is one that its users include."""
    return "/" not in name and name.endswith((".h", ".hpp"))


def _each(name: str, context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The targets that a file is written for: the module, or each plugin."""
    if EACH not in name:
        return [{}]
    return [{"plugin": one["name"], "one": one} for one in context["plugins"]]
