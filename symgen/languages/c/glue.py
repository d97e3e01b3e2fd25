"""Files that let build systems take a C module as it is: a registry, each row the files of one and
their templates."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from symgen.languages.module import Module
from symgen.languages.release import Release
from symgen.render import render

CMAKE: Final = {"CMakeLists.txt": "CMakeLists.txt"}
GLUE: Final[dict[str, Mapping[str, str]]] = {
    "cmake": CMAKE,
    "zephyr": {
        "zephyr/module.yml": "module.yml",
        "zephyr/CMakeLists.txt": "zephyr.txt",
        "zephyr/Kconfig": "Kconfig",
    },
    "arduino": {"library.properties": "library.properties"},
    "pkgconfig": {"{name}.pc": "pkgconfig.pc"},
    "esp-idf": {**CMAKE, "idf_component.yml": "idf_component.yml"},
    "cpp": {"{name}.hpp": "module.hpp"},
}
"""By build system (or language): from the name of a file to that of its template."""


def glue_files(
    module: Module, headers: Sequence[str], sources: Sequence[str], context: Mapping[str, Any]
) -> dict[str, str]:
    """The files of a module's glue, given the names of its headers and of its sources but the
    self-test."""
    glue = context["c"].glue
    wanted = {name: template for row in glue for name, template in GLUE[row].items()}
    given = {**context, "headers": [*headers], "sources": [*sources]}
    given["release"] = module[Release]
    if "cpp" in glue:
        given["headers"].append(f"{module.name}.hpp")
    return {
        name.format(name=module.name): render(f"glue/{template}.jinja", **given)
        for name, template in wanted.items()
    }
