"""Results of ``robot.check()``, ``robot.inspect()`` and ``robot.sampled_loop()``."""

import math
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

from symgen.errors import Notice, SourceLocation
from symgen.inspection.inspect_command import page_of
from symgen.inspection.robot_report import robot_report, warnings
from symgen.jobs.job import Job, RefusedInertia, notices_after_tracing
from symgen.mechanics.inertia_checks import InertiaVerdict, check_inertias
from symgen.mechanics.joint_listing import position_coordinates
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import RobotOptions
from symgen.robot.rotors import RotorEffects, rotor_effects
from symgen.robot.views import joints_of
from symgen.text import html, html_table

SYMBOLS_NOTE = "lengths or masses are symbols, so inertia is not checked"


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: `notices` about the robot and its file, and a verdict on the
    inertia of every body and link."""

    notices: tuple[Notice, ...]
    verdicts: tuple[InertiaVerdict, ...]
    rotors: RotorEffects | None = None
    """What its rotors do, where a file of actuators was given."""

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The notices of level warning."""
        return tuple(notice for notice in self.notices if notice.level == "warning")

    @property
    def sound(self) -> bool:
        """True if there is no warning."""
        return not self.warnings

    def __str__(self) -> str:
        verdicts = [f"{v.kind} {v.name}: {v.status}; {v.message}" for v in self.verdicts]
        return "\n".join([*map(str, self.notices), *verdicts, *self.rotor_lines])

    @property
    def rotor_lines(self) -> list[str]:
        """Sentences about rotors, one per line."""
        return [] if self.rotors is None else [*self.rotors.sentences()]

    def __repr__(self) -> str:
        return str(self) or "valid, no notes"

    def _repr_html_(self) -> str:
        notices = ((n.level, n.element, n.message, str(n.location)) for n in self.notices)
        verdicts = ((v.kind, v.name, v.status, v.message) for v in self.verdicts)
        return html_table("noticed", ("", "of", "what", "where"), notices) + html_table(
            "inertia", ("", "of", "pseudo-inertia", "remark"), verdicts
        )


def check_robot(job: Job, loaded: LoadedRobot, symbolic: bool) -> CheckResult:
    """Check a loaded robot. For a robot with symbols only the notices of reading are returned."""
    if symbolic:
        notice = Notice(SourceLocation(loaded.file, 1), "note", loaded.model.name, SYMBOLS_NOTE)
        return CheckResult((*loaded.notices, notice), ())
    verdicts = check_inertias(loaded.model)
    notices: tuple[Notice, ...] = ()
    rotors = None
    with suppress(RefusedInertia):  # which the verdicts tell
        notices = notices_after_tracing(job, loaded, job.module(loaded))
        if job[RobotOptions].actuators:
            rotors = rotor_effects(job, loaded.model)
    return CheckResult((*loaded.notices, *notices, *warnings(loaded, verdicts)), verdicts, rotors)


def checked_data(loaded: LoadedRobot, checked: CheckResult) -> dict[str, Any]:
    """The data of ``symgen check --json`` (documented in docs/formats.md)."""
    return {
        "robot": loaded.model.name,
        "dof": loaded.model.dof,
        "positions": [row.name for row in position_coordinates(loaded.model)],
        "velocities": list(loaded.model.joint_names),
        "sound": checked.sound,
        "joints": [
            asdict(joint) | {"follows": joint.follows or None} for joint in joints_of(loaded.model)
        ],
        "notices": [notice.data() for notice in checked.notices],
        "inertia": [_verdict(verdict) for verdict in checked.verdicts],
        "rotors": None if checked.rotors is None else checked.rotors.data(),
    }


def _verdict(verdict: InertiaVerdict) -> dict[str, Any]:
    return {
        "of": verdict.kind,
        "name": verdict.name,
        "pseudo_inertia": verdict.status,
        "eigenvalues": list(verdict.eigenvalues),
        "warning": verdict.warning,
        "message": verdict.message,
    }


@dataclass(frozen=True, repr=False)
class InspectionResult:
    """The bodies, frames and base parameters of a robot: `data` is that of ``symgen inspect
    --json``. Notebooks show the interactive page of ``symgen inspect --html``."""

    job: Job
    loaded: LoadedRobot
    data: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __repr__(self) -> str:
        return f"Inspection({self.data['robot']!r}: {', '.join(self.data)})"

    def show(self) -> None:
        """Print the output of ``symgen inspect``."""
        robot_report(self.data).print()

    def page(self) -> str:
        """Return the page of ``symgen inspect --html`` as text."""
        return page_of(self.job, self.loaded, self.data)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html(self.page())}" width="100%" height="600"></iframe>'


EIGENVALUE_ROUNDING: Final = 1e-7
"""How far above 1 an eigenvalue may be computed that is 1: positions that nothing draws back."""


@dataclass(frozen=True)
class GainLimit:
    """One entry of a gain: the largest stable value while all other gains are zero (infinite where
    there is no such bound), and the value examined or proposed."""

    gain: str
    entry: str
    largest: float
    value: float


@dataclass(frozen=True)
class SampledLoop:
    """The loop of a controller at a sample rate (Hz).

    `radius` is the largest absolute eigenvalue of a step at any of the configurations, with the
    values of `limits`, which are `proposed` or the user's. Damping may grow by `factor`, stiffness
    by its square, integral gains by its cube before the loop is unstable."""

    controller: str
    rate: float
    configurations: int
    limits: tuple[GainLimit, ...]
    radius: float
    factor: float
    proposed: bool

    @property
    def stable(self) -> bool:
        """Whether the loop is stable at all configurations."""
        return self.radius <= 1.0 + EIGENVALUE_ROUNDING

    def sentences(self) -> list[str]:
        """The result in words."""
        head = f"{self.controller} at {self.rate:g} Hz"
        if not self.limits:
            return [f"{head}: no gain is limited by the sample rate, because nothing is fed back."]
        whose = "proposed" if self.proposed else "given"
        verdict = "stable" if self.stable else "UNSTABLE"
        return [
            f"{head}, {self.configurations} configurations within the joint limits: the {whose} "
            f"gains are {verdict}, largest eigenvalue {self.radius:.6g}.",
            f"The loop is stable up to {self.factor:.3g} times their damping (stiffness times the "
            "square of that factor).",
        ]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A row of text for each entry of each gain."""
        return [
            (row.gain, row.entry, "" if math.isinf(row.largest) else f"{row.largest:.3g}",
             f"{row.value:.3g}")
            for row in self.limits
        ]  # fmt: skip

    @property
    def head(self) -> tuple[str, str, str, str]:
        """The titles of the columns of `rows`."""
        return "gain", "entry", "largest alone", "proposed" if self.proposed else "given"

    def data(self) -> dict[str, Any]:
        """The data of ``symgen check --controller --rate --json``."""
        return {
            "controller": self.controller,
            "rate": self.rate,
            "configurations": self.configurations,
            "stable": self.stable,
            "largest_eigenvalue": self.radius if self.limits else None,
            "factor": self.factor if self.limits else None,
            "proposed": self.proposed,
            "gains": [
                {
                    "gain": row.gain,
                    "entry": row.entry,
                    "largest_alone": None if math.isinf(row.largest) else row.largest,
                    "value": row.value,
                }
                for row in self.limits
            ],
        }

    def _repr_html_(self) -> str:
        return html_table(" ".join(self.sentences()), self.head, self.rows())
