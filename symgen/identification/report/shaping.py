"""Outputs of ``symgen identify`` beyond numbers: a URDF with consistent bodies, and a payload."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final

import numpy as np

from symgen.advice import command
from symgen.identification.consistency.nearest_bodies import Bodies, BodiesError, bodies
from symgen.identification.consistency.payload_estimate import Payload, check_link, payload
from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.problem import standard_parameters
from symgen.identification.report.identification_report import PAGE, page
from symgen.identification.report.inertials import with_inertials
from symgen.identification.report.model_file import (
    BEGIN,
    DriveTables,
    drive_tables,
    model_file,
)
from symgen.identification.report.shape_report import (
    Shape,
    lines_of_bodies,
    lines_of_payload,
    payload_data,
    shape_data,
)
from symgen.identification.report.verdicts import (
    FILES,
    NOTHING,
    Verdict,
    no_bodies,
    of_bodies,
    of_payload,
    summary,
    verdicts,
)
from symgen.jobs.job import Job
from symgen.jobs.publish import Mark, OutputFile, edges
from symgen.languages import LANGUAGES
from symgen.languages.language import identifier
from symgen.mechanics.inertia_checks import INDEFINITE, check_inertias
from symgen.mechanics.joint_forces import FRICTION
from symgen.mechanics.parameters import lump_links
from symgen.options import typed
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import MODEL_FILE, RobotOptions, SourceOptions
from symgen.reading.sources import expanded_text
from symgen.text import shown

IMPLAUSIBLE: Final = (
    "the estimate is implausible (see the warnings); use --force to write it anyway"
)
NO_BODIES: Final = "no physically consistent bodies were found (see the warnings)"
EXACT: Final = 1e-9
"""How far the base parameters of the written file may be from those that it was written for."""


def shape(
    job: Job, loaded: LoadedRobot, estimate: Estimate, rows: int, progress: Callable[[str], None]
) -> Shape:
    """The robot's file with the consistent bodies of an estimate from `rows` equations, read again
    and checked. Raises BodiesError if there are no such bodies, and other SymgenErrors."""
    progress("computing consistent bodies")
    consistent = bodies(loaded.model, estimate, rows)
    data = expanded_text(job.file, job[SourceOptions])
    text = with_inertials(data, shown(job.file), consistent.links)
    reread = _read_again(job, text)
    lumped_model = lump_links(reread.model, [body.name for body in reread.model.moving])
    off = float(
        np.abs(estimate.mapping.base(standard_parameters(lumped_model)) - consistent.base).max(
            initial=0.0
        )
    )
    if off > EXACT * max(1.0, float(np.abs(consistent.base).max(initial=0.0))):
        raise BodiesError(
            f"error: --urdf: the base parameters of the file differ from those of its bodies by "
            f"{off:.2g}, and the file was not written; please report this fault"
        )
    _check_consistent(reread, consistent)
    return Shape(estimate, consistent, text, off)


def _read_again(job: Job, text: bytes) -> LoadedRobot:
    with tempfile.TemporaryDirectory(prefix="symgen-") as folder:
        file = Path(folder) / "identified.urdf"
        file.write_bytes(text)
        return job.changed(file=str(file), xacro_args=()).load()


def _check_consistent(reread: LoadedRobot, consistent: Bodies) -> None:
    bad = [
        v.name
        for v in check_inertias(reread.model)
        if v.status == INDEFINITE and v.kind == "link" and v.name in consistent.links
    ]
    if bad:
        raise BodiesError(
            f"error: --urdf: the inertia of link '{shown(bad[0])}' would be physically impossible, "
            "and the file was not written; please report this fault"
        )


MARK: Final = b"<!-- inertias by symgen identify -->"
"""The comment at the end of a file, by which the next run knows that it may replace it."""
OURS: Final = Mark(
    "symgen identify",
    lambda stream: edges(stream).replace(b"\0", b"").rstrip().endswith(MARK),  # UTF-16 too
)


def marked(text: bytes) -> bytes:
    """The text with MARK behind the root element, in its own encoding."""
    for order, begin in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        if text.startswith(begin):
            return text + f"{MARK.decode()}\n".encode(order)
    return text if MARK in text else text + (b"" if text.endswith(b"\n") else b"\n") + MARK + b"\n"


@dataclass(frozen=True)
class EstimateOutputs:
    """The outputs that the command was asked to make of an estimate, and once there is one, what
    came out."""

    job: Job
    loaded: LoadedRobot
    urdf: Path | None = None
    link: str | None = None
    force: bool = False
    actuators: Path | None = None
    html: Path | None = None
    page: bytes = b""
    folder: Path | None = None
    """The folder for the model file."""
    drives: DriveTables | None = None
    model: bytes | None = None
    """The model file."""
    shape: Shape | None = None
    no_bodies: bool = False
    """Whether no physically consistent bodies were found for the URDF."""
    payload: Payload | None = None
    verdicts: tuple[Verdict, ...] = ()

    def of(self, identified: Identified, progress: Callable[[str], None]) -> "EstimateOutputs":
        """The same with what comes out of an estimate, and what speaks against it. Raises
        SymgenError."""
        estimate, extended = identified.estimate, replace(self, verdicts=verdicts(identified))
        if self.link is not None:
            carried = payload(self.loaded.model, estimate, self.link)
            extended = replace(
                extended, payload=carried, verdicts=(*extended.verdicts, *of_payload(carried))
            )
        if self.urdf is not None and not extended.refused:
            extended = extended._with_bodies(identified, progress)
        if (self.actuators or self.folder) and identified.settings.torque:
            given, shaped = self.job[RobotOptions].drive_file, extended._written_shape
            tables = drive_tables(identified, given)
            fitted_again = shaped and drive_tables(identified, given, shaped.bodies.drives)
            extended = replace(extended, drives=fitted_again or tables)
            if self.folder is not None and not identified.settings.wrenches:
                text = model_file(identified, tables, self.job, self.loaded)
                extended = replace(extended, model=text)
        if self.html is not None:
            progress("drawing the report")
            warnings = tuple(verdict.text for verdict in extended.verdicts)
            html = page(identified, extended.summary, extended.refuted, warnings)
            extended = replace(extended, page=html.encode())
        return extended

    def _with_bodies(
        self, identified: Identified, progress: Callable[[str], None]
    ) -> "EstimateOutputs":
        """The outputs with the bodies of the estimate, or with a warning if it has none. Raises
        SymgenError."""
        system, estimate = identified.system, identified.estimate
        rows = sum(map(system.rows, system.channels))
        try:
            shaped = shape(self.job, self.loaded, estimate, rows, progress)
        except BodiesError as fault:
            warning = no_bodies(fault)
            return replace(self, no_bodies=True, verdicts=(*self.verdicts, warning))
        against = of_bodies(estimate.mapping, shaped.bodies)
        return replace(self, shape=shaped, verdicts=(*self.verdicts, *against))

    @property
    def refused(self) -> bool:
        """True if the URDF must not be written, because of the warnings."""
        return not self.force and self.refuted

    @property
    def _drives_refused(self) -> bool:
        """Whether the actuator file must not be written. Implausible masses do not concern it."""
        return not self.force and any(verdict.withholds == FILES for verdict in self.verdicts)

    @property
    def _written_shape(self) -> Shape | None:
        """The bodies that are written as a URDF, or None if none is written."""
        return None if self.refused else self.shape

    @property
    def _written_urdf(self) -> Path | None:
        """The path of the URDF, or None if none is written."""
        return None if self._written_shape is None else self.urdf

    @property
    def _written_drives(self) -> Path | None:
        """The path of the actuator file, or None if none is written."""
        return None if self.drives is None or self._drives_refused else self.actuators

    @property
    def refuted(self) -> bool:
        """True if there are warnings that withhold the URDF."""
        return any(verdict.withholds != NOTHING for verdict in self.verdicts)

    @property
    def summary(self) -> str:
        """One sentence: whether the estimate is usable."""
        return summary(self.verdicts)

    @property
    def lines(self) -> list[str]:
        """The lines of the report, for people."""
        shaped = lines_of_bodies(self.shape) if self.shape else []
        carried = lines_of_payload(self.payload) if self.payload else []
        return [*shaped, *carried, *self._commands()]

    def _commands(self) -> Iterator[str]:
        """The commands that generate code for the estimate: from its base parameters, and from the
        URDF with the actuator file."""
        drive_files = ("actuators", "estimate")
        given = typed(self.job.choices, RobotOptions, SourceOptions, leave=drive_files)
        if self.model is not None and self.folder is not None:
            words = ["--estimate", str(self.folder / MODEL_FILE), *given]
            yield self._command(self.job.file, words)
        if self._written_drives is None or self.drives is None:
            return
        urdf = self._written_urdf
        if urdf is None and self.model is not None:
            return
        if urdf is None:
            yield f"the command below uses the inertias of {shown(self.job.file)}"
        laws = [law for law in self.drives.laws if law in FRICTION]
        words = ["--actuators", str(self.actuators)]
        words += ["--friction", ",".join(laws)] if laws else []
        words += ["--springs"] if self.drives.springs else []
        yield self._command(str(urdf or self.job.file), [*words, *given])

    def _command(self, robot: str, words: list[str]) -> str:
        folder = f"build/{identifier(self.loaded.model.name, LANGUAGES.values())}"
        options = " ".join(shown(quote(word)) for word in words)
        generate = command("regenerate", robot=robot, folder=folder)
        return f"to generate code for the estimate: {generate} {options}"

    @property
    def data(self) -> dict[str, Any]:
        """The same for JSON; null for what was not asked for."""
        return {
            "shape": shape_data(self.shape) if self.shape else None,
            "payload": payload_data(self.payload) if self.payload else None,
            "warnings": [verdict.text for verdict in self.verdicts],
            "refused": self.refuted,
        }

    @property
    def files(self) -> dict[OutputFile, bytes]:
        """The requested files and their contents, without those that are withheld."""
        contents = dict[OutputFile, bytes]()
        if self.shape is not None and (urdf := self._written_urdf) is not None:
            contents[_target(urdf, self.job)] = marked(self.shape.text)
        if self._written_drives is not None and self.drives is not None:
            contents[_actuators(self._written_drives, self.job)] = self.drives.file()
        if self.html is not None:
            contents[OutputFile(self.html, PAGE, (self.job.file,))] = self.page
        return contents

    @property
    def withheld(self) -> dict[Path, str]:
        """The requested files that are not written, and the reasons."""
        reasons = dict[Path, str]()
        if self.urdf is not None and self._written_urdf is None:
            reasons[self.urdf] = NO_BODIES if self.no_bodies else IMPLAUSIBLE
        if self.actuators is not None and self._written_drives is None:
            reasons[self.actuators] = IMPLAUSIBLE
        return reasons


def _target(urdf: Path, job: Job) -> OutputFile:
    return OutputFile(urdf, OURS, (job.file,))


def _actuators(path: Path, job: Job) -> OutputFile:
    given = job[RobotOptions].drive_file
    return OutputFile(path, DRIVES, (job.file, *([given] if given else ())))


DRIVES: Final = Mark("symgen identify", lambda stream: edges(stream).startswith(BEGIN))


def estimate_outputs(
    job: Job,
    loaded: LoadedRobot,
    urdf: Path | None,
    link: str | None,
    force: bool = False,
    actuators: Path | None = None,
    html: Path | None = None,
    folder: Path | None = None,
) -> EstimateOutputs:
    """The outputs asked for. Raises OptionError early where it cannot be had."""
    if urdf is not None:
        _target(urdf, job).check()
    if actuators is not None:
        _actuators(actuators, job).check()
    if html is not None:
        OutputFile(html, PAGE, (job.file,)).check()
    if link is not None:
        check_link(loaded.model, link)
    return EstimateOutputs(job, loaded, urdf, link, force, actuators, html, folder=folder)
