"""What is run and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

Snapshot = Mapping[str, bytes | None]
"""Everything below a folder by relative path, None for a folder."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with the machine while a command runs: a row of `faults.FAULTS` and when."""

    kind: str
    at: int


@dataclass(frozen=True)
class Case:
    """A command of symgen, the files in the folder that it runs in, and the machine's fault."""

    family: str
    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None
    sound: bool = False
    """Nothing is wrong with it, so it must be accepted."""
    refusals: tuple[str, ...] = ()
    """The possible beginnings of its refusal, where it must be refused."""

    @property
    def command(self) -> str:
        """The command's name."""
        return self.arguments[0] if self.arguments else ""

    def of(self, *arguments: str) -> "Case":
        """Another command in the same place, on a machine without fault."""
        return replace(self, arguments=arguments, fault=None, sound=False, refusals=())


@dataclass(frozen=True)
class Outcome:
    """What a run did: its exit status or the signal that ended it, what it said, what it took (CPU
    seconds, bytes beyond what was there before), the folder before and after."""

    status: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    cpu: float
    memory: int
    late: bool
    before: Snapshot
    after: Snapshot

    @property
    def said(self) -> str:
        """Standard error as text."""
        return self.stderr.decode("utf-8", "replace")


@dataclass(frozen=True)
class Finding:
    """A case that is not as it should be: the kind of trouble, and what was seen."""

    kind: str
    detail: str
    case: Case


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def lay(case: Case, folder: Path) -> None:
    """Write the files of a case into a folder."""
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
