"""What ``robot.check()`` says."""

from dataclasses import dataclass

from symgen.errors import Notice, Place
from symgen.inspection.report import warnings
from symgen.jobs.job import Job
from symgen.mechanics.consistency import Verdict, judge
from symgen.reading.assemble import Loaded
from symgen.text import html_table

UNKNOWN = "lengths or masses are symbols, so nothing is said of inertia"


@dataclass(frozen=True)
class Checked:
    """The judgement of a robot: `notices` of its file and of what follows from it, and a verdict
    for every body and link."""

    notices: tuple[Notice, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The notices that matter most."""
        return tuple(notice for notice in self.notices if notice.level == "warning")

    @property
    def sound(self) -> bool:
        """Whether nothing was warned of."""
        return not self.warnings

    def __str__(self) -> str:
        verdicts = [f"{v.kind} {v.name}: {v.status}; {v.message}" for v in self.verdicts]
        return "\n".join([*map(str, self.notices), *verdicts])

    def __repr__(self) -> str:
        return str(self) or "sound, nothing noticed"

    def _repr_html_(self) -> str:
        notices = ((n.level, n.element, n.message, str(n.place)) for n in self.notices)
        verdicts = ((v.kind, v.name, v.status, v.message) for v in self.verdicts)
        return html_table("noticed", ("", "of", "what", "where"), notices) + html_table(
            "inertia", ("", "of", "pseudo-inertia", "remark"), verdicts
        )


def checked(job: Job, loaded: Loaded, symbolic: bool) -> Checked:
    """What there is to say of a loaded robot; of one with symbols only what was read."""
    if symbolic:
        notice = Notice(Place(loaded.file, 1), "note", loaded.model.name, UNKNOWN)
        return Checked((*loaded.notices, notice), ())
    verdicts = judge(loaded.model)
    more = job.saving(loaded, job.module(loaded))
    return Checked((*loaded.notices, *more, *warnings(loaded, verdicts)), verdicts)
