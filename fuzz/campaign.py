"""A run of many inputs: worker processes, a clock, findings by kind."""

import multiprocessing
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz import child, families, follow, oracles
from fuzz.case import Case, Finding, Outcome
from fuzz.minimise import minimised


@dataclass(frozen=True)
class Plan:
    """Seed, numbers of the inputs, one family or all, the latest end (of time.time), and how often
    follow-ups are done relative to usual."""

    seed: int
    first: int
    inputs: int
    family: str | None = None
    end: float = float("inf")
    follow: float = 1.0


@dataclass(frozen=True)
class Seen:
    """What came of an input; None where time was over."""

    number: int
    family: str
    status: int | None
    followed: tuple[str, ...]
    findings: tuple[Finding, ...]
    cpu: float
    memory: int


def tried(plan: Plan, number: int) -> Seen | None:
    """Run an input and what is to follow it."""
    if time.time() > plan.end:
        return None
    case = families.case(plan.seed, number, plan.family)
    outcome, names, findings = examined(case, Random(f"follow {plan.seed} {number}"), plan.follow)
    return Seen(
        number,
        case.family,
        outcome.status,
        names,
        findings,
        outcome.cpu,
        outcome.memory,
    )


def examined(
    case: Case, rng: Random, share: float = 1.0
) -> tuple[Outcome, tuple[str, ...], tuple[Finding, ...]]:
    """A case run, the follow-ups that were done, and all that is wrong."""
    with tempfile.TemporaryDirectory(prefix="symgen-fuzz-") as place:
        folder = Path(place)
        outcome = child.run(case, folder)
        findings, names = list(oracles.judged(case, outcome)), list[str]()
        if not findings:
            for name, found in follow.followed(case, outcome, folder, rng, share):
                names.append(name)
                findings += found
    return outcome, tuple(names), tuple(findings)


def smaller(finding: Finding, seconds: float) -> Case:
    """The case of a finding, made small in about that time."""
    share = 1e9  # every follow-up, since one of them may be what failed

    def fails(case: Case) -> bool:
        needed = share if finding.kind.startswith(("verify", "not ", "a kill", "steps of")) else 0.0
        return any(f.kind == finding.kind for f in examined(case, Random(0), needed)[2])

    return minimised(finding.case, fails, seconds=seconds)


def _begin(niceness: int) -> None:
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    os.nice(niceness)
    child.prepare()


def _one(job: tuple[Plan, int]) -> Seen | None:
    return tried(*job)


def run(plan: Plan, workers: int, niceness: int = 0) -> Iterator[Seen]:
    """Every input that time allows, as they come."""
    numbers = range(plan.first, plan.first + plan.inputs)
    jobs = ((plan, number) for number in numbers)
    if workers == 1:
        _begin(niceness)
        yield from (seen for job in jobs if (seen := _one(job)) is not None)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, _begin, (niceness,), maxtasksperchild=2000) as pool:
        for seen in pool.imap_unordered(_one, jobs, chunksize=4):
            if seen is not None:
                yield seen


@dataclass
class Tally:
    """Counts of a campaign."""

    inputs: int = 0
    by_family: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, list[int]] = field(default_factory=dict)
    cpu: float = 0.0
    largest_memory: int = 0
    longest: float = 0.0

    def add(self, seen: Seen) -> list[Finding]:
        """Count an outcome; the findings that are the first of their kind."""
        self.inputs += 1
        self.by_family[seen.family] += 1
        self.accepted[seen.family] += seen.status == 0
        self.followed.update(seen.followed)
        self.cpu += seen.cpu
        self.largest_memory = max(self.largest_memory, seen.memory)
        self.longest = max(self.longest, seen.cpu)
        new = [finding for finding in seen.findings if finding.kind not in self.kinds]
        for finding in seen.findings:
            self.kinds.setdefault(finding.kind, []).append(seen.number)
        return new

    def figures(self) -> dict[str, object]:
        """For the summary."""
        return {
            "inputs": self.inputs,
            "families": {
                name: {"inputs": count, "accepted": self.accepted[name]}
                for name, count in sorted(self.by_family.items())
            },
            "followed": dict(sorted(self.followed.items())),
            "cpu_seconds_of_runs": round(self.cpu, 1),
            "longest_cpu_seconds": round(self.longest, 1),
            "largest_memory_mb": self.largest_memory >> 20,
            "kinds": {
                kind: {"times": len(numbers), "numbers": numbers[:10]}
                for kind, numbers in sorted(self.kinds.items())
            },
        }
