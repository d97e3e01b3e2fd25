"""Every host check on every sample: ``python -m firmware.gauntlet`` (`make gauntlet`).

Then faults are put into a module, one at a time, and each must be caught by a check that the honest
module passes; and each check must see the fault that is its control, since one that never complains
proves nothing. A tool that is not installed is named and left out, and so is a fault that only it
would catch. The exit status is 1 for a complaint, a fault that nothing caught, or a check that does
not see its own."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from firmware.checks import CHECKS, Check
from firmware.faults import FAULTS, FAULTY, Fault
from firmware.modules import GAUNTLET, Written
from firmware.tools import Refused, missing


def complaint(check: Check, made: Written) -> str:
    """What a check says of a module, nothing if it passes."""
    with tempfile.TemporaryDirectory(prefix="symgen-gauntlet-") as scratch:
        try:
            check.judge(made, Path(scratch))
        except Refused as refusal:
            return str(refusal)
    return ""


def catchers(fault: Fault, made: Written, checks: Sequence[Check], all_of_them: bool) -> list[str]:
    """The checks that complain of a module with a fault, or the first of them."""
    found = []
    with fault.put_into(made) as broken:
        for check in checks:
            if complaint(check, broken):
                found.append(check.name)
                if not all_of_them:
                    break
    return found


def blind(check: Check, made: Written) -> bool:
    """Whether a check does not see the fault that it must."""
    fault = next(fault for fault in FAULTS if fault.name == check.control)
    with fault.put_into(made) as broken:
        return not complaint(check, broken)


def verdicts(checks: Sequence[Check], folder: Path) -> Iterator[tuple[str, Check, str]]:
    """Sample, check and complaint, for all of them."""
    for k, sample in enumerate(GAUNTLET):
        made = sample.written(folder / str(k))
        yield from ((made.title, check, complaint(check, made)) for check in checks)


def main() -> int:
    """Run everything; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help="name every check that catches a fault, not the first"
    )
    parser.add_argument("--faults", action="store_true", help="only the faults")
    given = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    checks = [check for check in CHECKS if not missing(check.tools)]
    for tool in sorted({tool for check in CHECKS for tool in missing(check.tools)}):
        console.print(f"skipped: {tool} is not installed")
    with tempfile.TemporaryDirectory(prefix="symgen-gauntlet-") as scratch:
        bad = 0 if given.faults else _samples(console, checks, Path(scratch))
        bad += _faults(console, checks, Path(scratch) / "faulty", given.all)
    return 1 if bad else 0


def _samples(console: Console, checks: Sequence[Check], folder: Path) -> int:
    found = list(verdicts(checks, folder))
    console.print(_grid(found), end="\n\n")
    complaints = [(title, check, text) for title, check, text in found if text]
    for title, check, text in complaints:
        console.print(f"{title}, {check.name}: {text[:3000]}", markup=False, soft_wrap=True)
    console.print(
        f"{len(found) - len(complaints)} of {len(found)} checks passed, {len(GAUNTLET)} modules\n"
    )
    return len(complaints)


def _grid(found: Sequence[tuple[str, Check, str]]) -> Table:
    """Checks downwards; how many modules pass."""
    shown = Table("check", "passed", box=None)
    for check in dict.fromkeys(check for _, check, _ in found):
        texts = [text for _, c, text in found if c is check]
        shown.add_row(check.name, f"{sum(not text for text in texts)} of {len(texts)}")
    return shown


def _faults(console: Console, checks: Sequence[Check], folder: Path, all_of_them: bool) -> int:
    made = FAULTY.written(folder)
    shown = Table("fault", "caught by", box=None)
    complaints = {check: complaint(check, made) for check in checks}
    checks = [check for check, text in complaints.items() if not text]
    for check, text in complaints.items():
        if text:
            console.print(
                f"without a fault, {check.name}: {text[:3000]}", markup=False, soft_wrap=True
            )
    missed = 0
    for fault in FAULTS:
        found = catchers(fault, made, checks, all_of_them)
        missed += not found
        shown.add_row(fault.name, ", ".join(found) or "NOTHING")
    console.print(shown, end="\n\n")
    console.print(f"{len(FAULTS) - missed} of {len(FAULTS)} faults caught")
    unseeing = [check for check in checks if blind(check, made)]
    for check in unseeing:
        console.print(f"{check.name} does not see: {check.control}", markup=False)
    console.print(f"{len(checks) - len(unseeing)} of {len(checks)} checks see the fault they must")
    return missed + len(complaints) - len(checks) + len(unseeing)


if __name__ == "__main__":
    sys.exit(main())
