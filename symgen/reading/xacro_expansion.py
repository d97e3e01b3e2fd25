"""Expansion of files with xacro by the library of ROS (the optional extra ``xacro``) in a separate
process (`symgen.reading.xacro_sandbox`), diagnostics of its errors, and xacro that is left in a
file that is read as a URDF."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final

from lxml import etree

from symgen.errors import Notice, OptionError, RobotError, SourceLocation
from symgen.reading import xacro_sandbox
from symgen.reading.joint_kinds import joint_nodes
from symgen.reading.options import SourceOptions
from symgen.reading.xacro_sandbox import GEOMETRY_ELEMENTS
from symgen.reading.xml_reader import EXPRESSION, XmlNode
from symgen.text import cited, hint, install, quoted, repeated, shown

STATEMENTS: Final = frozenset(
    {"include", "macro", "property", "arg", "if", "unless", "insert_block", "element",
     "attribute", "call"}
)  # fmt: skip
"""The elements of xacro itself; every other one calls a macro of that name."""


def is_xacro(node: XmlNode) -> bool:
    """Whether an element is one of xacro."""
    return "xacro" in node.namespace or node.tag.startswith("xacro:")


def xacro_nodes(root: XmlNode) -> Iterator[XmlNode]:
    """The elements of xacro in a file, those in looks left out."""
    if is_xacro(root):
        yield root
    for child in root:
        if child.tag not in GEOMETRY_ELEMENTS:
            yield from xacro_nodes(child)


def is_statement(node: XmlNode) -> bool:
    """Whether it is an element of xacro itself, not the call of a macro."""
    return node.tag.rpartition(":")[2] in STATEMENTS


def expressions_read(root: XmlNode) -> Iterator[tuple[XmlNode, str]]:
    """The elements that are read and have an expression of xacro in an attribute, with a phrase
    about the expression."""
    yield from _in_attributes(root)
    for part in (*root.children("link"), *joint_nodes(root)):
        for node in _with_all_below(part):
            yield from _in_attributes(node)


def _with_all_below(node: XmlNode) -> Iterator[XmlNode]:
    yield node
    for child in node:
        if child.tag not in GEOMETRY_ELEMENTS:
            yield from _with_all_below(child)


def _in_attributes(node: XmlNode) -> Iterator[tuple[XmlNode, str]]:
    for name, text in node.element.attrib.items():
        expression = EXPRESSION.search(str(text))
        if expression is not None:
            words = f"contains the unexpanded xacro expression {shown(expression[0], 60)}"
            yield node.with_label(f"<{shown(node.tag)}>"), f"{shown(str(name))} {words}"


def check_unexpanded_xacro(root: XmlNode) -> None:
    """Raises RobotError for unexpanded xacro that has an effect; other xacro gives notices."""
    calls = list[XmlNode]()
    for node in xacro_nodes(root):
        if is_statement(node) or node.element.getparent() is not root.element:
            raise node.with_label(f"<{shown(node.tag)}>").error(
                "the file contains unexpanded xacro elements; give the original file "
                "(FILE.xacro), which symgen expands"
            )
        calls.append(node)
    for node, phrase in expressions_read(root):
        raise node.error(f"{phrase}; give the original file (FILE.xacro), which symgen expands")
    if calls:
        names = ", ".join(f"<{shown(tag)}>" for tag in dict.fromkeys(node.tag for node in calls))
        calls[0].with_label(names).notice(
            "warning", "this xacro macro is not defined in the file; its content is missing"
        )
    for element in root.element.iter(
        *(f"{{*}}{tag}" for tag in (*GEOMETRY_ELEMENTS, "material", "mesh"))
    ):
        for node, phrase in _in_attributes(XmlNode(element, root.source, "<robot>")):
            node.notice("note", f"{phrase} and is ignored")
            return


MISSING: Final = f"expanding xacro needs xacrodoc; install it: {install('xacrodoc')}"
PROCESS_TIMEOUT: Final = 12 * xacro_sandbox.MAX_SECONDS
"""Seconds until a process that does not even compute is given up."""
ELEMENTS_WITHOUT_DYNAMICS: Final = ("visual", "collision", "gazebo", "param")
"""Elements that hold no dynamics but paths of this machine, which a digest must not depend on."""
SUFFIX: Final = ".xacro"


@dataclass(frozen=True)
class Expansion:
    """A file's expansion as the bytes of a URDF, a SHA-256 of it, and what was noticed.

    The digest is of the expanded elements without those that symgen never reads (UNREAD), comments
    and layout, so that it is the same on every machine."""

    text: bytes
    digest: str
    notices: tuple[Notice, ...] = ()
    idle: tuple[str, ...] = ()
    """Folders given for packages that none was found in."""


def is_named(path: str | os.PathLike[str]) -> bool:
    """Whether a file says by its name that it is to be expanded."""
    return Path(path).suffix.lower() == SUFFIX


def needs_expansion(path: str | os.PathLike[str], root: XmlNode) -> bool:
    """Whether a file is to be expanded: it says so by its name, or has elements of xacro other than
    calls of macros that nobody in it defines, or expressions in what is read."""
    if is_named(path):
        return True
    if root.tag.rpartition(":")[2] != "robot":
        return False
    return any(map(is_statement, xacro_nodes(root))) or any(True for _ in expressions_read(root))


def expand(path: str | os.PathLike[str], root: XmlNode, options: SourceOptions) -> Expansion:
    """Expand the file `path`, whose root element is `root`.

    ``$(find PACKAGE)`` is resolved as described in `symgen.reading.xacro_sandbox`. Raises
    RobotError, one line with the file, if the expansion fails."""
    duplicate = repeated(name for name, _ in options.xacro_args)
    if duplicate is not None:
        raise OptionError(
            f"--xacro-arg '{shown(duplicate)}': two values are given; keep one of them"
        )
    check_folders_exist(options.package_paths)
    answer = _expanded_in_process(Path(path), root, options)
    for name in answer["unnamed"]:
        raise OptionError(
            f"--xacro-arg {cited(name)}: no file declares or uses this argument; "
            f"{hint(name, answer['arguments'])}"
        )
    text = str(answer["text"]).encode()
    idle = [p for p, used in zip(options.package_paths, answer["used"], strict=True) if not used]
    return Expansion(text, _digest(text), tuple(_notices(root, answer)), tuple(idle))


def check_folders_exist(folders: Sequence[str]) -> None:
    """Refuse folders given that are none. Raises OptionError."""
    missing = next((p for p in folders if not os.path.isdir(p)), None)
    if missing is not None:
        raise OptionError(f"--package-path '{shown(missing)}': the folder does not exist")


def _notices(root: XmlNode, answer: dict[str, Any]) -> Iterator[Notice]:
    if answer["absent"]:
        text = (
            f"package {quoted(answer['absent'])} was not found, but only files without "
            "effect on the dynamics need it; give --package-path DIR to include it"
        )
        yield Notice(_place(root, f"$(find {answer['absent'][0]})"), "note", "xacro", text)
    if answer["unknown"]:
        names = [f"<{name}>" for name in dict.fromkeys(answer["unknown"])]
        text = "this macro is not defined in the file; its content is missing"
        place = _place(root, names[0][:-1])
        yield Notice(place, "warning", shown(", ".join(names)), text)


def _place(root: XmlNode, words: str) -> SourceLocation:
    """Where words stand in the file, its first line if they stand in an included one."""
    lines = root.source.lines
    return SourceLocation(
        root.source.file, next((n for n, x in enumerate(lines, 1) if words in x), 1)
    )


PROCESS_COMMAND: Final = (
    "import json, sys; request = json.load(sys.stdin); sys.path[:] = request['path']; "
    "from symgen.reading.xacro_sandbox import main; main(request)"
)
"""What the process that expands is told; isolated, it looks into no folder but those given."""


def _expanded_in_process(path: Path, root: XmlNode, options: SourceOptions) -> dict[str, Any]:
    """The answer of a process of its own, with bounds on time and memory."""
    if not find_spec("xacro"):
        raise _error(root, MISSING)
    request = {
        "file": os.fspath(path),
        "arguments": dict(options.xacro_args),
        "packages": [str(Path(p).absolute()) for p in options.package_paths],
        "lenient": not is_named(path),
        "seconds": xacro_sandbox.MAX_SECONDS,
        "path": [str(Path(entry).absolute()) for entry in sys.path],
    }
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", PROCESS_COMMAND],
            input=json.dumps(request).encode(),
            capture_output=True,
            check=False,
            timeout=PROCESS_TIMEOUT,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):  # no JSON: the system ended it
        raise _error(
            root,
            f"its expansion takes more than {xacro_sandbox.MAX_SECONDS} s of processor time or "
            f"{xacro_sandbox.MAX_MEBIBYTES} MiB of memory; simplify its ${{...}} expressions",
        ) from None
    if "text" not in answer:
        raise _expansion_error(root, answer)
    return answer


def _error(root: XmlNode, message: str, words: str = "") -> RobotError:
    place = _place(root, words) if words else SourceLocation(root.source.file, 1)
    return RobotError(place, "xacro", message)


def _expansion_error(root: XmlNode, answer: dict[str, Any]) -> RobotError:
    """The sentence on what is missing with the options that give it, or what the library says."""
    if "packages" in answer:
        names = answer["packages"]
        are = "packages {} are" if len(names) > 1 else "package {} is"
        return _error(
            root,
            f"{are.format(quoted(names))} not found in the folders around the file, in "
            "ROS_PACKAGE_PATH or in AMENT_PREFIX_PATH; give --package-path DIR, where "
            f"DIR or one of its subfolders contains {shown(names[0])}/package.xml",
            f"$(find {names[0]})" if names else "",
        )
    if "lacking" in answer:
        names, declared = answer["lacking"], answer["arguments"]
        late_name = next((name for name in names if declared.get(name)), None)
        if late_name is not None:
            value = shlex.quote(f"{shown(late_name)}={shown(declared[late_name], 60)}")
            return _error(
                root,
                f"argument '{shown(late_name)}' is used before <xacro:arg> declares its default "
                f"'{shown(declared[late_name], 60)}', which xacro does not allow; give --xacro-arg "
                f"{value}, or move the declaration before the use",
                f"$(arg {late_name})",
            )
        values = " ".join(f"--xacro-arg {shlex.quote(shown(name))}=VALUE" for name in names)
        subject = "arguments {} have" if len(names) > 1 else "argument {} has"
        return _error(
            root,
            f"{subject.format(quoted(names))} no value; give {values}{_declared(declared)}",
            f"$(arg {names[0]})",
        )
    inside = f" (in '{shown(answer['inside'])}')" if answer["inside"] else ""
    return _error(root, f"xacro cannot expand it: {shown(answer['error']).rstrip(':')}{inside}")


def _declared(arguments: dict[str, str]) -> str:
    """The arguments of a file that have defaults."""
    rows = [f"{shown(name, 60)} = {shown(value, 60)}" for name, value in arguments.items()]
    rest = [f"{len(rows) - MAX_LISTED_ARGUMENTS} more"] if len(rows) > MAX_LISTED_ARGUMENTS else []
    return (
        f" (the file has defaults for {', '.join([*rows[:MAX_LISTED_ARGUMENTS], *rest])})"
        if rows
        else ""
    )


MAX_LISTED_ARGUMENTS: Final = 20


def _digest(data: bytes) -> str:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        remove_blank_text=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return hashlib.sha256(data).hexdigest()  # to be refused when it is read
    etree.strip_elements(
        root, *(f"{{*}}{tag}" for tag in ELEMENTS_WITHOUT_DYNAMICS), with_tail=False
    )
    return hashlib.sha256(etree.tostring(root, method="c14n")).hexdigest()


MAX_FILES: Final = 200
"""The most files that are searched for calls."""
MAX_FILE_BYTES: Final = 2**20
"""Larger files are not searched."""
MAX_NAMED: Final = 4
"""The most files that are named."""


def check_is_robot(path: str | os.PathLike[str], root: XmlNode, expansion: XmlNode) -> None:
    """Raises RobotError for a file that defines macros and no robot."""
    macros = [node for node in root if is_xacro(node) and node.tag.endswith(":macro")]
    if not macros or expansion.children("link"):
        return
    names = [node.element.get("name") or "" for node in macros]
    callers = [shown(name) for name in _calling_files(Path(path), names)]
    if callers:
        advice = f"give a file that calls them, such as {quoted(callers[:MAX_NAMED])}"
    else:
        advice = "give a file that calls them"
    kind = "macro" if len(names) == 1 else "macros"
    raise (
        macros[0]
        .with_label("<robot>")
        .error(f"has no links and only defines the {kind} {quoted(names, 8)}; {advice}")
    )


def _calling_files(path: Path, names: list[str]) -> Iterator[str]:
    """The files in the folder of a file and in those beside it that call some macros, with their
    paths relative to that folder."""
    words = b"|".join(re.escape(name.encode()) for name in names)
    calls = re.compile(rb"<xacro:(?:%s)[\s/>]" % words)
    folder = path.resolve().parent
    folders = [folder]
    with suppress(OSError):
        folders += sorted(x for x in folder.parent.iterdir() if x.is_dir() and x != folder)
    files = (file for near in folders for file in sorted(near.glob(f"*{SUFFIX}")))
    for file in islice(files, MAX_FILES):
        with suppress(OSError):
            is_small = file.stat().st_size <= MAX_FILE_BYTES
            if is_small and file != path.resolve() and calls.search(file.read_bytes()):
                yield os.path.relpath(file, folder)
