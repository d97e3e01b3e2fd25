"""Files that let build systems take a C module as it is: a registry, each row the files of one and
their templates. `packaging` writes them."""

from collections.abc import Mapping
from typing import Final

CMAKE: Final = {"CMakeLists.txt": "CMakeLists.txt"}
ROS2: Final = "{name}_controllers"
EACH: Final = "{plugin}"
"""In the name of a file that there is one of for each plugin."""

GLUE: Final[dict[str, Mapping[str, str]]] = {
    "cmake": CMAKE,
    "zephyr": {
        "zephyr/module.yml": "module.yml",
        "zephyr/CMakeLists.txt": "zephyr.txt",
        "zephyr/Kconfig": "Kconfig",
    },
    "arduino": {"library.properties": "library.properties", "library.json": "library.json"},
    "pkgconfig": {"{name}.pc": "pkgconfig.pc"},
    "esp-idf": {**CMAKE, "idf_component.yml": "idf_component.yml"},
    "ros2": {
        f"{ROS2}/package.xml": "ros2/package.xml",
        f"{ROS2}/CMakeLists.txt": "ros2/CMakeLists.txt",
        f"{ROS2}/{ROS2}.xml": "ros2/plugins.xml",
        f"{ROS2}/README.md": "ros2/README.md",
        f"{ROS2}/config/controllers.yaml": "ros2/controllers.yaml",
        f"{ROS2}/launch/{ROS2}.launch.py": "ros2/launch.py",
        f"{ROS2}/include/{ROS2}/{EACH}.hpp": "ros2/controller.hpp",
        f"{ROS2}/src/{EACH}.cpp": "ros2/controller.cpp",
        f"{ROS2}/src/{EACH}_parameters.yaml": "ros2/parameters.yaml",
    },
    "cpp": {"{name}.hpp": "module.hpp"},
}
"""The files of each build system (or language): the template of each by its name."""
