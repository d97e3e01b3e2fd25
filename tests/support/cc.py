#!/usr/bin/env -S python3 -IS
"""A C compiler that compiles nothing twice: gcc, with its results kept by the digest of its inputs.

What it reads are the files among its arguments and all headers in their folders and those of -I.
Only runs that end well, say nothing and write one file are kept."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

COMPILER = os.environ.get("SYMGEN_TEST_CC", "gcc")
STORE = Path(__file__).resolve().parents[2] / "build" / "tests" / "compiled"
OTHER = re.compile(r"-(E|S|M\w*|v|###|-.*|fstack-usage|save.*|g.*)?")
"""Arguments of runs that do something else than to compile and link."""


def digest_of(arguments: list[str]) -> str:
    """A digest of the arguments and of all that they lead to."""
    digest, folders = hashlib.sha256(), {Path()}
    for argument in arguments:
        path = Path(argument.removeprefix("-I"))
        if argument.startswith("-I"):
            folders.add(path)
        elif path.is_file():
            folders.add(path.parent)
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        else:
            digest.update(argument.encode() + b"\0")
    headers = [f for folder in folders for f in folder.glob("*.h*") if f.is_file()]
    for content in sorted(file.name.encode() + b"\0" + file.read_bytes() for file in headers):
        digest.update(content)
    return digest.hexdigest()[:32]


def main(arguments: list[str]) -> int:
    """The exit status of the compiler."""
    if arguments.count("-o") != 1 or any(map(OTHER.fullmatch, arguments)):
        os.execvp(COMPILER, [COMPILER, *arguments])
    place = arguments.index("-o")
    out, rest = Path(arguments[place + 1]), arguments[:place] + arguments[place + 2 :]
    STORE.mkdir(parents=True, exist_ok=True)
    kept = STORE / digest_of([COMPILER, *rest])
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            return compiled(arguments, out, kept)
    shutil.copy2(kept, out)
    return 0


def compiled(arguments: list[str], out: Path, kept: Path) -> int:
    """Run the compiler and keep what it makes."""
    done = subprocess.run([COMPILER, *arguments], capture_output=True, check=False)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    if not (done.returncode or done.stdout or done.stderr) and out.is_file():
        shutil.copy2(out, kept.with_suffix(".new"))
        kept.with_suffix(".new").replace(kept)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
