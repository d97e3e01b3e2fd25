"""Sources that a robot can be read from: a file, its content in memory, or an object in Python.

Objects are a `RobotDescription`, an object that has one (`symgen.reading.builder.Builder`), and
models of other libraries. These are recognised by the package of their class; each has a
converter."""

import hashlib
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeGuard, runtime_checkable

from symgen.errors import OptionError
from symgen.reading import formats
from symgen.reading.description import RobotDescription
from symgen.reading.documents import RobotText, text_in_memory
from symgen.reading.expansion import needs_expansion
from symgen.reading.options import NO_SOURCE_OPTIONS, SourceOptions
from symgen.reading.sizes import check_joint_elements
from symgen.reading.xml_reader import parsed
from symgen.text import reason, shown


@runtime_checkable
class Described(Protocol):
    """Whatever can say what robot it is."""

    def description(self) -> RobotDescription:
        """The robot as readers give it."""


RobotSource: TypeAlias = "str | os.PathLike[str] | RobotDescription | Described | Any"
"""A path; the content of a file (text or bytes of XML, an open file, an XML document of another
library, see `symgen.reading.documents`); a description, a builder, or a model of another library
(`CONVERTERS`)."""

CONVERTERS: Final[dict[str, str]] = {
    "pinocchio": "symgen.reading.from_pinocchio",
    "yourdfpy": "symgen.reading.from_yourdfpy",
    "mujoco": "symgen.reading.from_mujoco",
}
"""The modules whose ``description`` reads objects of other libraries, by the package of the
object's class."""


def describe(source: RobotSource, options: SourceOptions = NO_SOURCE_OPTIONS) -> RobotDescription:
    """The robot in a source of any kind. Raises SymgenError where it is not one valid robot,
    TypeError for an object of a kind that is not known."""
    if is_path(source):
        return formats.read(source, options)
    if options.xacro_args:
        raise OptionError("--xacro-arg: only a file with xacro has arguments; remove the option")
    content = snapshot(source)
    if isinstance(content, RobotText):
        robot = _of_text(content, options)
    else:
        formats.check_single_model("a robot in Python", options)
        robot = _of_object(content)
    return formats.without_packages(robot, options.package_paths)


def is_path(source: RobotSource) -> "TypeGuard[str | os.PathLike[str]]":
    """Whether the source is the path of a file, not a text of XML or an object."""
    if isinstance(source, str):
        return not source.lstrip("\ufeff \t\r\n").startswith("<")
    return isinstance(source, os.PathLike)


def snapshot(source: RobotSource) -> RobotSource:
    """The content of a file in memory as a `RobotText`, which never changes; any other source as it
    is. Raises OptionError for an open file that cannot be read."""
    if is_path(source):
        return source
    try:
        content = text_in_memory(source)
    except (OSError, ValueError) as error:
        raise OptionError(f"the open file cannot be read: {reason(error)}") from None
    return source if content is None else content


def name_of(source: RobotSource) -> str:
    """The name of a source in messages and manifests: its path, or the robot's name."""
    if is_path(source):
        return os.fspath(source)
    content = snapshot(source)
    return content.name if isinstance(content, RobotText) else f"{_of_object(source).name} (Python)"


def _of_text(content: RobotText, options: SourceOptions) -> RobotDescription:
    root = parsed(content.data, shown(content.name))
    check_joint_elements(root)
    path = content.folder / Path(content.name).name
    if needs_expansion(path, root):
        raise OptionError(
            f"{content.name}: contains xacro; save it as a .xacro file and give its path"
        )
    return formats.read_element(root, path, hashlib.sha256(content.data).hexdigest(), options)


def _of_object(source: Any) -> RobotDescription:
    if isinstance(source, RobotDescription):
        return source
    converter = _converter(type(source))
    if converter is not None:
        return converter(source)
    if isinstance(source, Described):
        return source.description()
    kind = shown(type(source).__qualname__)
    raise TypeError(
        "a robot must be the path of a file, XML (text, bytes, an open file or a "
        "document), a symgen.Builder, a symgen.Robot, or a model of "
        f"{' or '.join(CONVERTERS)}, not {kind}"
    )


def _converter(kind: type) -> Callable[[Any], RobotDescription] | None:
    packages = (cls.__module__.partition(".")[0] for cls in kind.__mro__)
    module = next((CONVERTERS[name] for name in packages if name in CONVERTERS), None)
    return None if module is None else import_module(module).description
