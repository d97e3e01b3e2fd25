"""The code of a page of documentation, run from top to bottom in a folder of the page's own.

What a reader would do with a block is done with it: the lines after ``$`` of ``console`` are
commands and what follows them is what they print (``...`` stands for any text, and blanks at the
ends of lines do not count); ``python`` runs, all blocks of a page together, and a block of ``text``
right after it is what it prints; a block whose first line is a comment with the name of a file is
that file. Other blocks are only shown. Where a command needs a compiler or the like that is not
installed, or a folder of the system that is not there, the page ends with it (`Missing`)."""

import contextlib
import importlib
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from symgen.cli.main import main
from symgen.languages.c.options import TARGETS
from tests.support.tools import ROOT

FILE = re.compile(r"\s*(?:/\*|//|#|%|--|;|!|<!--)\s*([\w.-]+\.\w+)\s*(?:\*/|-->)?\s*\n")
PATIENCE = 300
"""Seconds after which a command has failed."""
TOOLS = (
    "cc",
    "c++",
    "rustc",
    "cargo",
    "cmake",
    "node",
    "npm",
    "nvcc",
    "octave",
    "octave-cli",
    "mkoctfile",
    "arm-none-eabi-gcc",
    "qemu-system-arm",
)


class Missing(Exception):
    """What the rest of a page needs and this machine has not."""


def missing(command: str) -> str:
    """The tool or folder of the system that a command needs and that is not there, or nothing."""
    words = re.findall(r"[^\s=;&|()]+", command)
    needed = [word for word in words if word in TOOLS]
    targets = re.findall(r"--target[= ](\S+)", command)
    needed += [TARGETS[name].compiler for name in targets if name in TARGETS]
    tools = [word for word in needed if word and shutil.which(word) is None]
    folders = [word.removeprefix("-I") for word in words if word.startswith("-I/")]
    return next((x for x in (*tools, *(f for f in folders if not Path(f).exists()))), "")


@dataclass
class Page:
    """A page that is read: its folder, the names its Python has made, and what that has printed."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""

    def run(self, text: str) -> None:
        """Every block, in order."""
        for line, language, code in blocks(text):
            try:
                self.block(language, code)
            except AssertionError as error:
                raise AssertionError(f"line {line}, {language}: {error}") from None
            except Missing as error:
                raise Missing(f"line {line}: {error} is not installed") from None

    def block(self, language: str, code: str) -> None:
        """One block."""
        if named := FILE.match(code):
            (self.folder / named[1]).write_text(code, encoding="utf-8")
        elif language == "console":
            for command, wanted in commands(code):
                if what := missing(command):
                    raise Missing(what)
                same(self.shell(command), wanted, command)
        elif language == "python" and (
            "jax" in code or "torch" in code
        ):  # whose threads no later fork of ours outlives
            (self.folder / "block.py").write_text(code, encoding="utf-8")
            self.printed = self.shell("python block.py")
        elif language == "python":
            importlib.invalidate_caches()  # a command before may just have made a module
            self.forget()
            sys.path.insert(0, str(self.folder))
            try:
                with (
                    contextlib.redirect_stdout(io.StringIO()) as out,
                    contextlib.chdir(self.folder),
                ):
                    exec(compile(code, "page", "exec"), self.names)
            finally:
                sys.path.remove(str(self.folder))
            self.printed = out.getvalue()
        elif language == "text" and self.printed:
            same(self.printed, code, "what Python prints")
            self.printed = ""

    def forget(self) -> None:
        """Drop what other pages have loaded under a name that stands in this one's folder."""
        own = {path.name.split(".")[0] for path in self.folder.iterdir()}
        for name, module in [*sys.modules.items()]:
            place = getattr(module, "__file__", None)
            if name in own and place and not Path(place).is_relative_to(self.folder):
                del sys.modules[name]

    def shell(self, command: str) -> str:
        """What a command prints. It must succeed."""
        command = OPTIMISED.sub("-O0", command)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        plain = {"PATH": path, "COLUMNS": "100", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        if OURS.fullmatch(command.strip()):
            status, printed = forked(shlex.split(command), self.folder, plain)
        else:
            done = subprocess.run(
                ["bash", "-ec", command],
                cwd=self.folder,
                env=os.environ | plain,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=PATIENCE,
            )
            status, printed = done.returncode, done.stdout
        assert status == 0, f"{command}\n{printed}"
        return printed


OPTIMISED = re.compile(r"(?<!\S)-O[23](?!\S)")
"""What compilers are told on pages, and here not: it takes longer than what a page shows of the
result."""
OURS = re.compile(r"symgen [^|&;<>$*?()`\n]*")
"""Commands of symgen alone, of which a shell makes nothing else."""


def forked(words: Sequence[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Exit status and output of a command of symgen, in a process that has loaded what this one
    has: dozens of starts of Python would cost more than what they compute."""
    main.get_command(click.Context(main), words[1])  # once for all of this process
    sys.stdout.flush()
    sys.stderr.flush()
    said = folder / ".said"
    child = os.fork()
    if not child:
        _run(words, folder, environment, said)
    _, status = os.waitpid(child, 0)
    printed = said.read_text(encoding="utf-8")
    said.unlink()
    return os.waitstatus_to_exitcode(status), printed


def _run(words: Sequence[str], folder: Path, environment: dict[str, str], said: Path) -> None:
    """The process of the command; never returns."""
    status = 1
    try:
        signal.alarm(PATIENCE)
        os.chdir(folder)
        os.environ.update(environment)
        to = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(to, number)
        raw = (io.FileIO(number, "w", closefd=False) for number in (1, 2))
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.BufferedWriter(x), "utf-8", line_buffering=True) for x in raw
        )
        sys.argv = [*words]
        from symgen.__main__ import run

        run()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(ValueError):
                stream.flush()
        os._exit(status)


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, language and code of each block, in order."""
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for block in found:
        yield text.count("\n", 0, block.start()) + 1, block[1], block[2]


def commands(code: str) -> Iterator[tuple[str, str]]:
    """Each command of a console (lines that end in a backslash go on), and what it prints."""
    parts = re.split(r"^\$ ", code, flags=re.MULTILINE)
    assert not parts[0].strip(), "output before the first command"
    for part in parts[1:]:
        command, _, wanted = re.sub(r"\\\n\s*", " ", part, count=part.count("\\\n")).partition("\n")
        yield command, wanted


def same(printed: str, wanted: str, what: str) -> None:
    """Whether a text is what a page shows of it."""
    if not wanted.strip():
        return
    pattern = r"(?:.*\n)*?".join(
        ".*?".join(map(re.escape, piece.split("...")))
        for piece in re.split(r"^ *\.\.\.\n", _plain(wanted), flags=re.MULTILINE)
    )
    assert re.fullmatch(pattern, _plain(printed)), f"{what}\n-- shown\n{wanted}\n-- is\n{printed}"


def _plain(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n") + "\n"
