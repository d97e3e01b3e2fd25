"""``python -m fuzz``: run inputs by seed and number, print and write what is wrong."""

import argparse
import os
import sys
import time
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy: threads take memory from every fork

from fuzz import campaign, child, families, report  # noqa: E402
from fuzz.campaign import Plan, Tally  # noqa: E402
from fuzz.case import Finding  # noqa: E402

OUT = Path("build/fuzz")


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=30.0, help="stop after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", type=int, help="one input, by its number, with what it says")
    parser.add_argument("--family", choices=sorted(families.FAMILIES))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--follow", type=float, default=1.0, help="follow-ups relative to usual")
    parser.add_argument("--small", type=float, default=30.0, help="s to make each finding small")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of findings")
    return parser.parse_args()


def main() -> int:
    """The exit status: 1 where something was found."""
    options = parsed()
    if options.only is not None:
        return only(options)
    begin, tally = time.time(), Tally()
    plan = Plan(
        options.seed,
        options.first,
        options.inputs,
        options.family,
        begin + 60 * options.minutes,
        options.follow,
    )
    first: list[tuple[Finding, int]] = []
    for seen in campaign.run(plan, options.workers, options.nice):
        for finding in tally.add(seen):
            first.append((finding, seen.number))
            where = report.write(options.out, finding, finding.case, again(options, seen.number))
            print(f"{seen.number}: {finding.kind}\n  {where}", flush=True)
        if tally.inputs % 1000 == 0:
            print(f"{tally.inputs} inputs, {time.time() - begin:.0f} s", flush=True)
    figures = tally.figures() | {"seconds": round(time.time() - begin, 1), "seed": options.seed}
    report.summary(options.out, figures)
    print(
        f"{tally.inputs} inputs in {time.time() - begin:.0f} s, {tally.accepted.total()} accepted, "
        f"{tally.followed['verify']} verified, {len(tally.kinds)} kinds of trouble"
    )
    made_small(options, first)
    return int(bool(tally.kinds))


def again(options: argparse.Namespace, number: int) -> str:
    """The options that make an input again."""
    family = f" --family {options.family}" if options.family else ""
    return f"--seed {options.seed} --only {number}{family}"


def made_small(options: argparse.Namespace, first: list[tuple[Finding, int]]) -> None:
    """Write the first finding of each kind again, made small."""
    if not first or not options.small:
        return
    child.prepare()
    for finding, number in first:
        small = campaign.smaller(finding, options.small)
        where = report.write(options.out, finding, small, again(options, number))
        print(f"{finding.kind}\n  {where}: {report.command(small)}"[:500], flush=True)


def only(options: argparse.Namespace) -> int:
    """One input again: what it is, what came of it, and its findings made small."""
    from random import Random

    child.prepare()
    case = families.case(options.seed, options.only, options.family)
    print(f"{case.family}: {report.command(case)}")
    rng = Random(f"follow {options.seed} {options.only}")
    outcome, followed, findings = campaign.examined(case, rng, options.follow)
    print(
        f"exit status {outcome.status}, {outcome.cpu:.2f} s, {outcome.memory >> 20} MB, {followed}"
    )
    print(outcome.stdout.decode("utf-8", "backslashreplace")[:2000], ascii(outcome.said[:2000]))
    for finding in findings:
        small = campaign.smaller(finding, options.small)
        where = report.write(options.out, finding, small, again(options, options.only))
        print(f"{finding.kind}\n  {where}\n  {report.command(small)}\n{finding.detail[:3000]}")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
