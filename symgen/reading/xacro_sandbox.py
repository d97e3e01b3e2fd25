"""The process that expands a xacro file, and its search for packages of ROS.

The expressions of a file are code of its author, so they run in a separate process with bounds on
time and memory, and what they print is discarded. Visual and collision elements are emptied before
anything is evaluated, so that nothing that only they need can be missing. A package that is not
found is replaced by a path that does not exist, which is an error only if a file in it is
opened."""

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Any, Final

from symgen.reading.xml_text import without_prolog

MAX_PACKAGE_DEPTH: Final = 3
"""Packages are this many folders below those that are looked into, or less."""
MAX_PARENT_FOLDERS: Final = 4
"""Folders above a file outside any repository that are searched with their subfolders."""
MAX_FOLDERS: Final = 10_000
"""More folders are not opened."""
IGNORED_FOLDERS: Final = frozenset({"build", "log", "node_modules"})
REPOSITORY_MARKS: Final = (".git", ".hg", ".svn")

_PACKAGE_NAME = re.compile(rb"<name>\s*([^<>\s]+)\s*</name>")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


@dataclass
class Packages:
    """The packages of ROS around a `file` and in the folders `given`, found without ROS.

    A package is a folder with a ``package.xml`` that names it (the old ``manifest.xml`` takes the
    name of the folder), or, if there is none, a folder of that name. The folders that the user
    gives and those below them are searched first; then the folders above the file, the nearest
    first, with those below them, up to the root of the repository; then ROS_PACKAGE_PATH, and
    ``share`` in AMENT_PREFIX_PATH."""

    file: Path
    given: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    named: dict[str, Path] = field(default_factory=dict)
    """Found so far, by the name that they state."""
    called: dict[str, Path] = field(default_factory=dict)
    """Folders seen so far, by what they are called."""
    opened: int = 0

    def __post_init__(self) -> None:
        self._unsearched = chain.from_iterable(starmap(self._searched, self._search_roots()))

    def find(self, name: str) -> Path | None:
        """The folder of a package, None where it is not found."""
        while name not in self.named:
            if next(self._unsearched, None) is None:
                prefixes = self.environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
                places = (Path(prefix) / "share" / name for prefix in prefixes if prefix)
                return next(filter(os.path.isdir, places), None) or self.called.get(name)
        return self.named[name]

    def _search_roots(self) -> Iterator[tuple[Path, int]]:
        for folder in self.given:
            yield folder.absolute(), MAX_PACKAGE_DEPTH
        above = list(self.file.resolve().parents)[:-1]  # not the root of the system
        inside = [any((folder / sign).exists() for sign in REPOSITORY_MARKS) for folder in above]
        if True in inside:
            yield from ((folder, MAX_PACKAGE_DEPTH) for folder in above[: inside.index(True) + 1])
        else:
            yield from ((folder, MAX_PACKAGE_DEPTH) for folder in above[:MAX_PARENT_FOLDERS])
            yield from ((folder, 0) for folder in above[MAX_PARENT_FOLDERS:])
        for path in self.environment.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
            if path:
                yield Path(path), MAX_PACKAGE_DEPTH + 2

    def _searched(self, top: Path, depth: int) -> Iterator[Path]:
        """A folder and those below it, level by level; not those inside a package."""
        level = [top]
        for levels in range(depth, -1, -1):
            below: list[Path] = []
            for folder in level:
                name = _name_of(folder)
                if name is not None:
                    self.named.setdefault(name, folder)
                self.called.setdefault(folder.name, folder)
                yield folder
                if name is None and levels:
                    below += self._folders(folder)
            level = below

    def _folders(self, folder: Path) -> list[Path]:
        self.opened += 1
        if self.opened > MAX_FOLDERS:
            return []
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir()]
        except OSError:
            return []
        return [
            folder / n for n in sorted(names) if not n.startswith(".") and n not in IGNORED_FOLDERS
        ]


def _name_of(folder: Path) -> str | None:
    """The name of the package that a folder is, None where it is none."""
    try:
        match = _PACKAGE_NAME.search(_COMMENT.sub(b"", (folder / "package.xml").read_bytes()))
    except OSError:
        return folder.name if (folder / "manifest.xml").is_file() else None
    return match[1].decode("utf-8", "replace") if match else folder.name


MAX_SECONDS: Final = 6
"""Seconds of computing that an expansion may take; the largest robots in use need less than two."""
MAX_MEBIBYTES: Final = 1024
GEOMETRY_ELEMENTS: Final = ("visual", "collision")
"""Elements that dynamics never look into."""
MISSING_PACKAGE: Final = "/package-not-found:"
"""The begin of the path of a package that is not found."""

_CLASS: Final = re.compile(r"<class '[^']*'>:?\s*")
_ARGUMENT: Final = re.compile(r"\$\(arg\s+([^)\s]+)\s*\)")
_ARGUMENT_CALL: Final = re.compile(r"""\barg\(\s*['"]([^'"]+)['"]\s*\)""")
"""An argument in an expression: ``${xacro.arg('NAME')}``."""
_FIND: Final = re.compile(r"\$\(find\s+([^)\s]+)\s*\)")


class MissingPackages(Exception):
    """Packages that are needed and not found."""


@dataclass
class ExpansionRecord:
    """The files, arguments and packages met while a file is expanded."""

    packages: Packages
    lenient: bool
    """Whether macros that nobody defines may be left over, as in a file that was expanded once."""
    arguments: dict[str, str] = field(default_factory=dict)
    """The arguments that files declare, with their defaults."""
    used: list[str] = field(default_factory=list)
    """Arguments that are used somewhere."""
    named: set[str] = field(default_factory=set)
    """Arguments that are declared or used somewhere, in what is only looked at too."""
    included: list[str] = field(default_factory=list)
    """Packages that files are included from."""
    found: list[Path] = field(default_factory=list)
    """Folders of packages that were asked for."""
    absent: list[str] = field(default_factory=list)
    """Packages that are not found."""
    unknown: list[str] = field(default_factory=list)
    """Macros that were left out because nobody defines them."""

    def find(self, name: str) -> str:
        """The path that ``$(find NAME)`` stands for."""
        folder = self.packages.find(name)
        if folder is None:
            self.absent += [name] if name not in self.absent else []
            return f"{MISSING_PACKAGE}{name}"
        self.found.append(folder)
        return folder.as_posix()

    def met(self, document: Any) -> None:
        """Remember what a file declares and uses, and empty its looks."""
        for node in document.getElementsByTagName("xacro:arg"):
            self.arguments.setdefault(node.getAttribute("name"), node.getAttribute("default"))
        for node in document.getElementsByTagName("xacro:include"):
            self.included += _FIND.findall(node.getAttribute("filename"))
        text = document.toxml()
        self.named |= {*self.arguments, *_ARGUMENT.findall(text), *_ARGUMENT_CALL.findall(text)}
        for tag in GEOMETRY_ELEMENTS:
            for node in document.getElementsByTagName(tag):
                for name in list(node.attributes.keys()):
                    node.removeAttribute(name)
                for child in list(node.childNodes):
                    node.removeChild(child)
        self.used += _ARGUMENT.findall(document.toxml())

    def lacking(self, first: str) -> list[str]:
        """The arguments without a value, of which `first` is one."""
        return list(dict.fromkeys([first, *(n for n in self.used if n not in self.arguments)]))


def expand_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """The expansion under ``text`` with what was ``absent`` and ``unknown``, whether each folder
    given was ``used``, the given arguments that no file has as ``unnamed``, and the ``arguments``
    that files declare; or what is missing,
    ``packages`` or ``lacking`` beside ``arguments``; or under ``error`` what the library says.

    Raises MemoryError."""
    file = Path(request["file"])
    record = ExpansionRecord(
        Packages(file, [Path(p) for p in request["packages"]]), request["lenient"]
    )
    try:
        import xacro

        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            _replace_hooks(xacro, record)
            document = xacro.process_file(request["file"], mappings=dict(request["arguments"]))
        text = str(document.toprettyxml(indent="  "))
        used = [any(f.is_relative_to(p) for f in record.found) for p in request["packages"]]
        return {
            "text": text,
            "absent": record.absent,
            "unknown": record.unknown,
            "used": used,
            "unnamed": [name for name in request["arguments"] if name not in record.named],
            "arguments": record.arguments,
        }
    except (
        Exception,
        SystemExit,
    ) as error:  # the library lets every kind through, those of expressions too
        if isinstance(getattr(error, "exc", error), MemoryError):  # as the library wraps it
            raise MemoryError from None
        return _failure(error, record, request)


def _failure(
    error: BaseException, record: ExpansionRecord, request: Mapping[str, Any]
) -> dict[str, Any]:
    import xacro

    inner = getattr(error, "exc", None)
    if record.absent and (MISSING_PACKAGE in str(error) or isinstance(error, MissingPackages)):
        names = dict.fromkeys([*record.absent, *record.included])
        needed = [n for n in names if "$" not in n and record.packages.find(n) is None]
        return {"packages": needed or record.absent}
    if type(inner).__name__ == "ArgException":
        declared = {n: d for n, d in record.arguments.items() if n not in request["arguments"]}
        lacking = [n for n in record.lacking(str(inner)) if n not in request["arguments"]]
        return {"lacking": lacking, "arguments": declared}
    sentence = _error_text(error) or "an error without a text"
    file = xacro.filestack[-1] if xacro.filestack else request["file"]
    return {"error": sentence, "inside": Path(file).name if file != request["file"] else ""}


def _error_text(error: BaseException) -> str:
    """What the library says, in one line, and once: it appends the error that it caught, whose
    text its own often is."""
    lines = [_CLASS.sub("", line).strip() for line in str(error).splitlines()]
    text = " ".join(line for line in lines[:2] if line)
    inner = " ".join(str(getattr(error, "exc", "") or "").split())
    before = text.removesuffix(inner).strip()
    repeated = inner and before and _letters(before) in _letters(inner)
    return before if repeated else text


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def _replace_hooks(xacro: Any, record: ExpansionRecord) -> None:
    """Let the library ask us for packages, files and macros."""
    from xacro import substitution_args

    parse, includes, call = xacro.parse, xacro.get_include_files, xacro.handle_macro_call

    def parsed(source: Any, filename: str | None = None) -> Any:
        document = parse(_with_valid_declaration(source, filename), filename)
        record.met(document)
        return document

    def included(specification: str, symbols: Any) -> Iterator[str]:
        if MISSING_PACKAGE in str(xacro.eval_text(specification, symbols)):
            raise MissingPackages
        yield from includes(specification, symbols)

    def called(node: Any, macros: Any, symbols: Any) -> Any:
        if record.lenient and _calls_unknown_macro(xacro, node, macros, symbols):
            record.unknown.append(node.tagName)
            xacro.replace_node(node, by=None)
            return True
        return call(node, macros, symbols)

    substitution_args._eval_find = record.find
    substitution_args._eval_dict["find"] = record.find
    xacro.parse, xacro.get_include_files, xacro.handle_macro_call = parsed, included, called


def _with_valid_declaration(source: Any, filename: str | None) -> Any:
    """The text of a file whose declaration the parser would refuse; else what was given."""
    if source is None and filename is not None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text, _, fault = without_prolog(Path(filename).read_text(encoding="utf-8-sig"))
            return text.lstrip() if fault else None
    return source


def _calls_unknown_macro(xacro: Any, node: Any, macros: Any, symbols: Any) -> bool:
    """Whether an element of the robot calls a macro that is not defined."""
    if not node.tagName.startswith("xacro:") or node.tagName == "xacro:call":
        return False
    if node.parentNode is not node.ownerDocument.documentElement:
        return False
    try:
        xacro.resolve_macro(node.tagName[6:], macros, symbols)
    except KeyError:
        return True
    return False


def main(request: Mapping[str, Any]) -> None:
    """Answer a request on standard output, which is closed then: nothing that is left of the
    library may follow."""
    with contextlib.suppress(ImportError):  # the bounds of this process, where the system has any
        import resource

        seconds = request["seconds"]
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEBIBYTES << 20, MAX_MEBIBYTES << 20))
    sys.stdout.write(json.dumps(expand_request(request)))
    sys.stdout.flush()
    os._exit(0)
