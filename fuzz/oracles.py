"""What must hold of every run, whatever the input: each oracle says what is wrong, or nothing."""

import json
import re
import signal
from collections.abc import Callable, Iterator
from typing import Any, Final

from fuzz.case import Case, Finding, Outcome
from fuzz.child import CPU, MEMORY
from fuzz.whole import trouble
from symgen.errors import MAX_PRINTED_ERRORS

Oracle = Callable[[Case, Outcome], str | None]
ORACLES: Final[dict[str, Oracle]] = {}
LONGEST: Final = 4200
"""Characters of a line on standard error: a sentence, with the paths and names of the input cut."""


def oracle(check: Oracle) -> Oracle:
    """Registers an oracle under its name in words."""
    ORACLES[check.__name__.strip("_").replace("_", " ")] = check
    return check


def judged(case: Case, outcome: Outcome) -> Iterator[Finding]:
    """What is wrong with a run; after the first oracle that says what ended it nothing else is
    asked."""
    for name, check in ORACLES.items():
        detail = check(case, outcome)
        if detail is not None:
            yield Finding(f"{name}: {shape(detail)}", detail, case)
            return


def shape(detail: str) -> str:
    """A detail without the names and numbers of the input, to tell kinds apart."""
    line = detail.splitlines()[0] if detail else ""
    line = re.sub(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"", "'...'", line)
    return re.sub(r"[-+]?\d[\w.+-]*", "N", line)[:160]


def planned(case: Case) -> set[str]:
    """The faults of the machine that end a run themselves."""
    return {case.fault.kind} if case.fault is not None else set()


@oracle
def hang(case: Case, outcome: Outcome) -> str | None:
    if outcome.late:
        return f"{case.command} took more than {CPU} s"
    return None


@oracle
def memory(case: Case, outcome: Outcome) -> str | None:
    if outcome.memory > MEMORY or re.search("MemoryError|out of memory", outcome.said):
        return f"{case.command} takes more than {MEMORY >> 20} MB"
    return None


@oracle
def killed(case: Case, outcome: Outcome) -> str | None:
    if outcome.signal is None or planned(case) & {"killed at rename", "terminated at rename"}:
        return None
    return f"ended by {signal.Signals(outcome.signal).name}"


@oracle
def traceback(case: Case, outcome: Outcome) -> str | None:
    said = outcome.said + outcome.stdout.decode("utf-8", "replace")
    if "Traceback (most recent call last)" not in said and "Exception ignored" not in said:
        return None
    frames = re.findall(r'File "[^"]*/(symgen/[^"]+)", line \d+, in (\S+)', said)
    last = [line for line in said.splitlines() if re.match(r"[A-Za-z_][\w.]*(:|$)", line)]
    error = last[-1].partition(":")[0] if last else "?"
    return f"{error} in {'.'.join(frames[-1]) if frames else '?'}\n{said[-1500:]}"


@oracle
def warning_of_python(case: Case, outcome: Outcome) -> str | None:
    found = re.search(r"^(\S+):\d+: (\w*Warning: .*)$", outcome.said, re.MULTILINE)
    return f"{found[2]} from {found[1].rpartition('/')[2]}" if found else None


@oracle
def status(case: Case, outcome: Outcome) -> str | None:
    allowed = {0, 2} | ({1} if case.command in ("verify", "evidence") else set())
    if (
        case.command == "identify"
        and "was not written because the estimate is implausible" in outcome.said
    ):
        allowed |= {1}
    if case.command == "check" and "UNSTABLE" in outcome.stdout.decode("utf-8", "replace"):
        allowed |= {1}
    if case.command == "check" and {"--json", "--controller"} <= set(case.arguments):
        allowed |= {1}
    if "full stdout" in planned(case) or "closed stdout" in planned(case):
        allowed |= {1}
    if outcome.status in allowed or outcome.status is None:
        return None
    return f"exit status {outcome.status}\n{outcome.said[-500:]}"


@oracle
def refusal(case: Case, outcome: Outcome) -> str | None:
    """One sentence, or one for each fault of a robot's file, or click's usage and one sentence; and
    nothing on standard output."""
    if outcome.status != 2:
        return None
    lines = outcome.said.splitlines()
    if lines and lines[0].startswith("Usage: "):
        good = sum(line.startswith("Error: ") for line in lines) == 1 and len(lines) <= 12
    else:
        errors = [line for line in lines if re.search(r"(^|: )error: ", line)]
        others = [
            line for line in lines if not re.search(r": (error|note|warning): |^error: ", line)
        ]
        placed = all(re.search(r":\d+: error: ", line) for line in errors)
        several = placed and 1 < len(errors) <= 1 + MAX_PRINTED_ERRORS
        good = (len(errors) == 1 or several) and not others
    if not good:
        return f"{len(lines)} lines for a refusal of {case.command}\n{outcome.said[:1500]}"
    if not outcome.stdout or _errors_as_json(case, outcome):
        return None
    return f"refused but said {outcome.stdout[:200]!r}"


def _errors_as_json(case: Case, outcome: Outcome) -> bool:
    """Whether what stands on stdout is what commands with --json print of a refusal."""
    if "--json" not in case.arguments:
        return False
    try:
        found = strict(outcome.stdout.decode())
    except ValueError:
        return False
    return isinstance(found, dict) and [*found] == ["errors"]


@oracle
def raw_characters(case: Case, outcome: Outcome) -> str | None:
    for name, stream in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        try:
            text = stream.decode("utf-8")
        except UnicodeDecodeError:
            return f"{name} is not UTF-8"
        bad = next((c for c in text if not c.isprintable() and c != "\n"), None)
        if bad is not None:
            return f"{name} of {case.command} has a raw {bad!a}"
    return None


@oracle
def long_line(case: Case, outcome: Outcome) -> str | None:
    longest = max(map(len, outcome.said.splitlines()), default=0)
    return f"a line of {longest} characters on stderr" if longest > LONGEST else None


@oracle
def json_of_stdout(case: Case, outcome: Outcome) -> str | None:
    if "--json" not in case.arguments or outcome.status != 0 or not outcome.stdout:
        return None
    if "--help" in case.arguments:
        return None  # the help is text
    try:
        strict(outcome.stdout.decode())
    except ValueError as error:
        return f"{case.command} --json prints no JSON: {error}"
    return None


def strict(text: str) -> Any:
    """JSON without infinities and NaN. Raises ValueError."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@oracle
def torn_files(case: Case, outcome: Outcome) -> str | None:
    """Outputs appear whole or not at all; what was there stays, but for what was asked to be
    replaced."""
    if "killed at rename" in planned(case):
        return None  # the next run must heal it, see follow.py
    staged = [name for name in outcome.after if ".symgen-" in name]
    if staged:
        return f"left behind '{staged[0]}'"
    if outcome.status != 0 and not planned(case) & {"full stdout", "closed stdout"}:
        return _changed(case, outcome)
    return trouble(outcome)


@oracle
def overwritten(case: Case, outcome: Outcome) -> str | None:
    """A file that no manifest lists is the user's, and stays as it was; a job file gets what
    ``--tune`` has chosen, as its help says."""
    own = {name.rpartition("/")[0] for name in outcome.before if name.endswith("manifest.json")}
    kept = case.arguments[1:2] if "--tune" in case.arguments else ()
    for name, data in outcome.before.items():
        if name.rpartition("/")[0] in own or name in kept:
            continue
        if outcome.after.get(name, b"gone") != data:
            return f"{case.command} has changed '{name}', a file of the user"
    return None


def _changed(case: Case, outcome: Outcome) -> str | None:
    if outcome.before == outcome.after or outcome.signal is not None:
        return None
    names = {n for n, _ in set(outcome.before.items()) ^ set(outcome.after.items())}
    return f"{case.command} was refused but changed '{min(names)}'"


@oracle
def sound_refused(case: Case, outcome: Outcome) -> str | None:
    if case.sound and outcome.status != 0:
        return f"a sound input is refused: {outcome.said[:500]}"
    return None


@oracle
def contradiction_accepted(case: Case, outcome: Outcome) -> str | None:
    """A contradiction is refused, and the refusal names an option that is part of it."""
    if not case.refusals or planned(case):
        return None
    if outcome.status != 2:
        return f"accepted in spite of {case.refusals[0]}"
    if any(f"error: {begin}" in outcome.said for begin in case.refusals):
        return None
    return f"refused for another reason: {outcome.said[:500]}"
