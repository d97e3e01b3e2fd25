"""``python -m benchmarks.notes [FOLDER]...``: lines of warnings and notes that public robots' files
get, and what they are about.

Without arguments the URDFs of example-robot-data and icub-models; of folders given their MJCFs and
URDFs. Prints by set the files read and refused, median and mean of the lines, the files warned of
odd units, and the kinds of lines from the most frequent on."""

import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.oracle_mjcf import files
from symgen.errors import Notice, SymgenError, summarized
from symgen.jobs.job import Job
from symgen.reading.plausibility import UNITS_SUMMARY
from symgen.robot.results import check_robot
from tests.support.public_robots import ICUB, PACKAGE, robots

KINDS: Final = 12


def sets(given: Sequence[str]) -> Iterator[tuple[str, list[Path]]]:
    """What is counted together, by its name."""
    for folder in given:
        yield folder, [*files([folder]), *sorted(Path(folder).rglob("*.urdf"))]
    if not given:
        for package in (PACKAGE, ICUB):
            yield package, robots(package)


def notices(path: Path) -> list[Notice] | None:
    """What there is to say of a file, None where it is refused."""
    job = Job.of(path)
    try:
        return [*check_robot(job, job.load(), symbolic=False).notices]
    except SymgenError:
        return None


def kind(notice: Notice) -> str:
    """What a line says, without the names and numbers in it."""
    plain = re.sub(r"'[^']*'|[-+]?[0-9][0-9.e+-]*", "#", notice.message)
    return f"{notice.level}: {plain[:90]}"


def main(given: Sequence[str]) -> None:
    """Count and print."""
    for name, paths in sets(given):
        told = [notices(path) for path in paths]
        read = [summarized(found) for found in told if found is not None]
        counts = [len(found) for found in read] or [0]
        odd = sum(any(n.summary == UNITS_SUMMARY for n in found or ()) for found in told)
        print(
            f"{name}: {len(read)} read, {len(told) - len(read)} refused; lines a file: median "
            f"{statistics.median(counts):g}, mean {statistics.mean(counts):.2f}; {odd} warned of units"
        )
        for text, count in Counter(kind(n) for found in read for n in found).most_common(KINDS):
            print(f"  {count:4} {text}")


if __name__ == "__main__":
    main(sys.argv[1:])
