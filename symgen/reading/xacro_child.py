"""The process that expands a xacro file: its expressions are code of the file's author, so they run
apart, with bounds on time and memory, and what they print is lost."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

SECONDS: Final = 6
"""Of computing; the largest robots in use need less than two."""
MEBIBYTES: Final = 1024


def answer(request: Mapping[str, Any]) -> dict[str, str]:
    """The expansion under ``text``, or under ``error`` the first line of what the library says.

    Raises MemoryError."""
    try:
        return {"text": _expanded(request["file"], request["arguments"])}
    except (
        Exception,
        SystemExit,
    ) as error:  # the library lets every kind through, those of expressions too
        if isinstance(getattr(error, "exc", error), MemoryError):  # as the library wraps it
            raise MemoryError from None
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return {"error": lines[0] if lines else type(error).__name__}


def _expanded(file: str, arguments: dict[str, str]) -> str:
    import xacro
    from xacrodoc import packages

    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        packages.reset()
        packages.walk_up_from(file)
        document = xacro.process_file(file, mappings=arguments)
    return str(document.toprettyxml(indent="  "))


def bound() -> None:
    """Set the bounds of this process, where the system knows any."""
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEBIBYTES << 20, MEBIBYTES << 20))


def main(request: Mapping[str, Any]) -> None:
    """Answer a request on standard output, which is closed then: nothing that is left of the
    library may follow."""
    bound()
    sys.stdout.write(json.dumps(answer(request)))
    sys.stdout.flush()
    os._exit(0)
