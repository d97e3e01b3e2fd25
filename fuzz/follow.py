"""What is asked of a share of the runs beyond the oracles: further runs whose outcome must fit."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from fuzz.case import Case, Finding, Outcome, snapshot
from fuzz.child import run
from fuzz.oracles import judged, shape
from fuzz.robots import ROOT

FollowUp = Callable[[Case, Outcome, Path], Iterator[Finding]]
MOST: Final = 400_000
"""Bytes of generated C that are compiled."""
TIMED: Final = ("build", "verify")
"""Commands whose output depends on the machine: what its compiler makes, how long a check took."""


@dataclass(frozen=True)
class Row:
    """A follow-up: for which outcomes, how often, and what it does."""

    fits: Callable[[Case, Outcome], bool]
    share: float
    follow: FollowUp


FOLLOW_UPS: Final[dict[str, Row]] = {}


def follow_up(
    fits: Callable[[Case, Outcome], bool], share: float
) -> Callable[[FollowUp], FollowUp]:
    """Registers a follow-up under its function's name."""

    def register(follow: FollowUp) -> FollowUp:
        FOLLOW_UPS[follow.__name__] = Row(fits, share, follow)
        return follow

    return register


def followed(
    case: Case, outcome: Outcome, folder: Path, rng: Random, share: float = 1.0
) -> Iterator[tuple[str, list[Finding]]]:
    """The follow-ups that were drawn, each with what it found; `share` scales how often."""
    for name, row in FOLLOW_UPS.items():
        if row.fits(case, outcome) and rng.random() < row.share * share:
            yield name, list(row.follow(case, outcome, folder))


def _generated(case: Case, outcome: Outcome) -> bool:
    size = sum(len(x) for name, x in outcome.after.items() if x and name.endswith(".c"))
    return case.command == "generate" and outcome.status == 0 and size < MOST and case.fault is None


def made_in(outcome: Outcome) -> list[str]:
    """The folders that have got a manifest."""
    name = "manifest.json"
    made = [n for n in outcome.after if n.endswith(name) and n not in outcome.before]
    return [file.removesuffix(name).rstrip("/") or "." for file in made]


@follow_up(lambda case, outcome: _generated(case, outcome) and case.family == "proved", 1.0)
def prove(case: Case, outcome: Outcome, folder: Path) -> Iterator[Finding]:
    """What is made to be proved is proved."""
    yield from verify(case, outcome, folder)


@follow_up(lambda case, outcome: _generated(case, outcome) and case.family != "proved", 0.25)
def verify(case: Case, outcome: Outcome, folder: Path) -> Iterator[Finding]:
    """What was accepted is proved."""
    for made in made_in(outcome):
        proof = replace(case.of("verify", "--", made), files={}, environment={})
        found = run(proof, folder)
        yield from (replace(finding, case=case) for finding in judged(proof, found))
        if found.status not in (0, None):
            said = found.stdout.decode("utf-8", "replace") + found.said
            failed = [line for line in said.splitlines() if "FAILED" in line or "rror" in line]
            missing = re.search(r"^ not run\b", said, re.MULTILINE)  # a tool or package
            if missing and found.status == 1 and "FAILED" not in said:
                continue
            first = (failed or [said])[0]
            yield Finding(f"verify fails: {_check(first)}", "\n".join(failed)[:2000], case)


def _check(line: str) -> str:
    """The check that failed, without the function that it was about."""
    what = line.replace("FAILED", "").strip(" │|")
    return " ".join(what.partition(": ")[2].split()[:5]) or what[:60]


def _has_controller(case: Case) -> bool:
    """Whether a case names a controller; minimising removes arguments."""
    return case.family == "controller" and "--controller" in case.arguments[:-1]


@follow_up(lambda case, outcome: _generated(case, outcome) and _has_controller(case), 1.0)
def steps(case: Case, outcome: Outcome, folder: Path) -> Iterator[Finding]:
    """The steps of a generated controller keep their promises on random gains and inputs."""
    name = case.arguments[case.arguments.index("--controller") + 1]
    for made in made_in(outcome):
        where = str((folder / made).resolve())
        done = subprocess.run(
            [sys.executable, "-m", "fuzz.controller_steps", where, name, "0"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode:
            said = done.stdout or done.stderr or f"exit status {done.returncode}"
            line = said.strip().splitlines()[-1]
            yield Finding(f"steps of a controller: {shape(line)}", said[-1500:], case)


@follow_up(lambda case, outcome: case.fault is None and case.command not in TIMED, 0.004)
def real_process(case: Case, outcome: Outcome, folder: Path) -> Iterator[Finding]:
    """A process of its own, with another hash seed and another folder, says and writes the same."""
    with tempfile.TemporaryDirectory(prefix="symgen-fuzz-") as place:
        for name, content in case.files.items():
            (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / name).write_bytes(content)
        environment = {**os.environ, **case.environment, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "symgen", *case.arguments],
            cwd=place,
            env={**environment, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=300,
        )
        after = snapshot(Path(place))
    pairs = {
        "status": (done.returncode, outcome.status),
        "stdout": (done.stdout, outcome.stdout),
        "stderr": (done.stderr, outcome.stderr),
        "files": (after, dict(outcome.after)),
    }
    for what, (real, forked) in pairs.items():
        if real != forked:
            detail = (
                f"{what} of {case.command} differs between runs\n{real!r:.700}\n{forked!r:.700}"
            )
            yield Finding(f"not the same twice: {what} of {case.command}", detail, case)
            return


@follow_up(_generated, 0.1)
def again(case: Case, outcome: Outcome, folder: Path) -> Iterator[Finding]:
    """The same command replaces its own files by the same bytes."""
    second = run(replace(case, files={}), folder)
    if second.status != 0:
        yield Finding(f"not again: {shape(second.said)}", second.said[:1000], case)
    elif dict(second.after) != dict(outcome.after):
        other = sorted(set(second.after) ^ set(outcome.after))
        yield Finding("not again: other files", f"{other[:5] or 'other contents'}", case)


def _was_killed(case: Case, outcome: Outcome) -> bool:
    return case.fault is not None and outcome.signal is not None


@follow_up(_was_killed, 1.0)
def after_a_kill(case: Case, outcome: Outcome, folder: Path) -> Iterator[Finding]:
    """The next run heals what a kill has left, a while later: all is as if it had not been. (init
    replaces no file, so it refuses the one that it had written whole before it was killed.)"""
    again = replace(case, fault=None)
    for left in folder.rglob(".symgen-*"):
        os.utime(left, (0, 0))  # young ones may be those of a run that goes on beside
    healed = run(replace(again, files={}), folder)
    with tempfile.TemporaryDirectory(prefix="symgen-fuzz-") as place:
        undisturbed = run(again, Path(place))
    same = dict(healed.after) == dict(undisturbed.after)
    if healed.status != undisturbed.status and not (same and case.command == "init"):
        detail = f"exit status {healed.status}\n{healed.said[:800]}"
        yield Finding(f"a kill is not healed: {case.command}: exit status", detail, case)
    elif not same:
        other = set(healed.after) ^ set(undisturbed.after)
        detail = f"files differ: {sorted(other)[:5] or 'contents'}"
        yield Finding(f"a kill is not healed: {case.command}: files", detail, case)
