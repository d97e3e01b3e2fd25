"""Verification of a generated folder: its files are unchanged, and each language computes the right
results."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from symgen.jobs.manifest import contained, digest_of, written
from symgen.jobs.manifest_reader import read
from symgen.languages.language import Language
from symgen.languages.verification import Check, VerificationTarget
from symgen.native.compiler import workspace
from symgen.native.isolated import ProcessEnded, isolated
from symgen.tracing.singular import MASSLESS, moves_inertia


def verify(
    folder: Path,
    progress: Callable[[str], None] = lambda step: None,
    run_changed: bool = False,
    against: str | None = None,
    robot_file: Path | None = None,
) -> Iterator[Check]:
    """Verify a generated folder; yields the checks one by one. Raises SymgenError for a folder that
    was not generated.

    With `against`, a library of `symgen.jobs.second_reader.READERS`, the robot is also compared
    with `robot_file`, from which the folder was generated, as that library reads it. Raises
    OptionError where that cannot be done.

    The folder's code is compiled and run. If a file was changed, nothing is run unless
    `run_changed`. The code that is run is a copy of the bytes whose digests were compared; no other
    file of the folder is read.
    """
    module, hashes = read(folder)
    if against is not None:
        from symgen.jobs.second_reader import check_against

        progress(f"comparing with {against}")
        yield from check_against(module, against, robot_file)
    progress("files")
    contents = contained(folder, hashes)
    if not module.robot.blocks and not moves_inertia(module.robot.model):
        yield Check("the robot has mass", True, f"{MASSLESS}: all forces are 0")
    bad = [name for name, digest in hashes.items() if digest_of(contents.get(name)) != digest]
    after = "" if run_changed else "; nothing was run (use --run-changed to run it anyway)"
    detail = f"changed or missing: {', '.join(bad)}{after}" if bad else f"files: {len(hashes)}"
    yield Check("the files are unchanged (SHA-256)", not bad, detail)
    if bad and not run_changed:
        return
    with workspace() as copy, workspace() as scratch:
        for name, content in contents.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        target = VerificationTarget(copy, module, hashes)
        yield from _proven(target, written(module.name, hashes), progress, scratch)


def _proven(
    target: VerificationTarget,
    languages: Sequence[Language],
    progress: Callable[[str], None],
    scratch: Path,
) -> Iterator[Check]:
    """The checks of each language, in a child process, because the folder's code may crash or not
    terminate."""
    remaining = [*languages]
    while remaining:
        step = "loads"
        try:
            for message in isolated(partial(_prove, target, tuple(remaining)), scratch):
                if isinstance(message, Check):
                    yield message
                elif message is None:
                    remaining.pop(0)
                else:
                    step = message
                    progress(step)
        except ProcessEnded as error:
            yield Check(f"{remaining.pop(0).name}: {step}", False, str(error))


def _prove(
    target: VerificationTarget,
    languages: Sequence[Language],
    say: Callable[[Check | str | None], None],
) -> None:
    """Call `say` with each step, each check, and None at the end of each language."""
    for language in languages:
        checked = False
        for check in language.checks(target, say):
            checked = True
            say(check)
        if not checked:
            missing = "there are none, so nothing is verified"
            say(Check(f"{language.name}: has checks", False, missing))
        say(None)
