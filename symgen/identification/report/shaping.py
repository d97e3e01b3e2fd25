"""Outputs of ``symgen identify`` beyond numbers: a URDF with consistent bodies, and a payload."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Final

import numpy as np

from symgen.identification.consistency.nearest_bodies import (
    BodiesError,
    ConsistentBodies,
    changed_bodies,
    nearest_consistent_bodies,
)
from symgen.identification.consistency.payload_estimate import Payload, estimate_payload
from symgen.identification.estimation.run import Identified
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.problem import standard_parameters
from symgen.identification.report.identification_report import PAGE_MARK, page
from symgen.identification.report.model_file import (
    FIRST_LINE,
    DriveTables,
    drive_tables,
    model_file,
)
from symgen.identification.report.urdf_inertials import with_inertials
from symgen.identification.report.verdicts import (
    FILES,
    URDF,
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
from symgen.numbers.scalar import Numbers
from symgen.options import typed
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import MODEL_FILE, RobotOptions, SourceOptions
from symgen.reading.sources import expanded_text
from symgen.text import command, shown


@dataclass(frozen=True)
class IdentifiedUrdf:
    """Bodies with the text of their URDF and how far the base parameters of that text, read again,
    are off."""

    estimate: Estimate
    bodies: ConsistentBodies
    text: bytes
    off: float


MIN_MASS_CHANGE: Final = 1e-3
"""A smaller change of a mass (kg) is not reported."""


def lines_of_bodies(shape: IdentifiedUrdf) -> list[str]:
    """The bodies of a URDF, a line each."""
    bodies = shape.bodies
    lines = [
        f"the URDF has new, physically consistent inertias of "
        f"{', '.join(shown(name) for name in bodies.links)}; the residual of the log is "
        f"{100 * bodies.loss:.2g} % larger with them than with the estimate"
    ]
    rows = changed_bodies(shape.estimate.mapping, bodies.standard)
    for name, mass, centre in rows:
        if abs(mass) >= MIN_MASS_CHANGE:
            place = (
                "" if centre is None else f"; the added mass has its centre at {_triple(centre)} m"
            )
            line = f"the mass of body {shown(name)} differs from the prior by {mass:+.2g} kg{place}"
            lines.append(line)
    return lines


def _triple(values: Numbers) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in values) + ")"


def lines_of_payload(carried: Payload) -> list[str]:
    """A payload, a line each."""
    known = np.isfinite(carried.mass_error)
    mass = f"{carried.mass:.5g} ± {carried.mass_error:.2g} kg" if known else "not identifiable"
    lines = [
        f"payload of link {shown(carried.link)} if all other parameters are those of the prior: "
        f"mass {mass}"
    ]
    if np.isfinite(carried.centre_errors).all():
        lines[0] += (
            f", centre of mass {_triple(carried.centre)} ± {_triple(carried.centre_errors)} m in "
            "the link frame"
        )
    verdict = "agree" if carried.agrees_with_prior else "do NOT agree"
    lines.append(
        f"the other parameters {verdict} with the prior: chi² = {carried.chi_squared:.4g} for "
        f"{carried.freedom} degrees of freedom"
    )
    return lines


def shape_data(shape: IdentifiedUrdf) -> dict[str, Any]:
    """The bodies of a URDF, for JSON."""
    bodies = shape.bodies
    return {
        "links": {name: ten.tolist() for name, ten in bodies.links.items()},
        "base_parameters": dict(
            zip(shape.estimate.mapping.names, bodies.base.tolist(), strict=True)
        ),
        "loss": bodies.loss,
        "read_again": shape.off,
        "differences": [
            {"body": name, "mass": mass, "centre": None if centre is None else centre.tolist()}
            for name, mass, centre in changed_bodies(shape.estimate.mapping, bodies.standard)
        ],
    }


def payload_data(carried: Payload) -> dict[str, Any]:
    """A payload, for JSON."""
    arrays = {key: x.tolist() for key, x in vars(carried).items() if isinstance(x, np.ndarray)}
    return {**vars(carried), "mass": carried.mass, "mass_error": carried.mass_error, **arrays}


IMPLAUSIBLE: Final = (
    "the estimate is implausible (see the warnings); use --force to write it anyway"
)
NO_BODIES: Final = "no physically consistent bodies were found (see the warnings)"
MAX_READING_ERROR: Final = 1e-9
"""How far the base parameters of the written file may be from those that it was written for."""


def identified_urdf(
    job: Job, loaded: LoadedRobot, estimate: Estimate, rows: int, progress: Callable[[str], None]
) -> IdentifiedUrdf:
    """The robot's file with the consistent bodies of an estimate from `rows` equations, read again
    and checked. Raises BodiesError if there are no such bodies, and other SymgenErrors."""
    progress("computing consistent bodies")
    consistent = nearest_consistent_bodies(loaded.model, estimate, rows)
    data = expanded_text(job.file, job[SourceOptions])
    text = with_inertials(data, shown(job.file), consistent.links)
    reread = _read_again(job, text)
    lumped_model = lump_links(reread.model, [body.name for body in reread.model.moving])
    off = float(
        np.abs(estimate.mapping.base(standard_parameters(lumped_model)) - consistent.base).max(
            initial=0.0
        )
    )
    if off > MAX_READING_ERROR * max(1.0, float(np.abs(consistent.base).max(initial=0.0))):
        raise BodiesError(
            f"error: --urdf: the base parameters of the file differ from those of its bodies by "
            f"{off:.2g}, and the file was not written; please report this fault"
        )
    _check_consistent(reread, consistent)
    return IdentifiedUrdf(estimate, consistent, text, off)


def _read_again(job: Job, text: bytes) -> LoadedRobot:
    with tempfile.TemporaryDirectory(prefix="symgen-") as folder:
        file = Path(folder) / "identified.urdf"
        file.write_bytes(text)
        return job.changed(file=str(file), xacro_args=()).load()


def _check_consistent(reread: LoadedRobot, consistent: ConsistentBodies) -> None:
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


END_COMMENT: Final = b"<!-- inertias by symgen identify -->"
"""The comment at the end of a file, by which the next run knows that it may replace it."""
URDF_MARK: Final = Mark(
    "symgen identify",
    lambda stream: edges(stream).replace(b"\0", b"").rstrip().endswith(END_COMMENT),  # UTF-16 too
)


def with_end_comment(text: bytes) -> bytes:
    """The text with `END_COMMENT` behind the root element, in its own encoding."""
    for order, begin in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        if text.startswith(begin):
            return text + f"{END_COMMENT.decode()}\n".encode(order)
    return (
        text
        if END_COMMENT in text
        else text + (b"" if text.endswith(b"\n") else b"\n") + END_COMMENT + b"\n"
    )


DRIVES_MARK: Final = Mark("symgen identify", lambda stream: edges(stream).startswith(FIRST_LINE))


@dataclass(frozen=True)
class OutputRequest:
    """The outputs that are to be made of an estimate: the paths of a URDF, an actuator file and a
    page, the `folder` of a model file, the link of a `payload`; with `force`, files are written
    even if the estimate is implausible."""

    urdf: Path | None = None
    actuators: Path | None = None
    html: Path | None = None
    folder: Path | None = None
    payload: str | None = None
    force: bool = False

    def targets(self, job: Job) -> dict[Path, OutputFile]:
        """The files, with the marks by which they may be replaced. Raises OptionError where
        something else stands there."""
        given = job[RobotOptions].drive_file
        inputs = (job.file,), (job.file, *([given] if given else ())), (job.file,)
        paths, marks = (self.urdf, self.actuators, self.html), (URDF_MARK, DRIVES_MARK, PAGE_MARK)
        rows = zip(paths, marks, inputs, strict=True)
        files = {path: OutputFile(path, mark, of) for path, mark, of in rows if path is not None}
        for file in files.values():
            file.check()
        return files


@dataclass(frozen=True)
class EstimateOutputs:
    """What came out of an estimate: the verdicts against it, the files and their contents, those
    that are withheld with the reason, lines for people, data for JSON, and the model file."""

    verdicts: tuple[Verdict, ...]
    files: dict[OutputFile, bytes]
    withheld: dict[Path, str]
    lines: list[str]
    data: dict[str, Any]
    model: bytes | None
    robots: "dict[str, EstimateOutputs]"
    """Those of each of several robots, if there is a folder for their model files."""

    @property
    def refuted(self) -> bool:
        """True if there are warnings that withhold the URDF."""
        return is_refuted(self.verdicts)

    @property
    def summary(self) -> str:
        """One sentence: whether the estimate is usable."""
        return summary(self.verdicts)


def is_refuted(against: Sequence[Verdict], least: int = URDF) -> bool:
    """True if there are warnings that withhold as much as `least`."""
    return any(verdict.withholds >= least for verdict in against)


@dataclass
class OutputMaker:
    """Makes the outputs of an estimate one after the other; warnings are added `against` it."""

    request: OutputRequest
    job: Job
    loaded: LoadedRobot
    identified: Identified
    progress: Callable[[str], None]
    against: list[Verdict]
    withheld: dict[Path, str]

    def bodies(self, path: Path) -> IdentifiedUrdf | None:
        """The bodies of the URDF at `path`, which is withheld if there are none or if there are
        warnings. Raises SymgenError."""
        system, shaped = self.identified.system, None
        if self.request.force or not is_refuted(self.against):
            rows = sum(map(system.rows, system.channels))
            try:
                shaped = identified_urdf(
                    self.job, self.loaded, self.identified.estimate, rows, self.progress
                )
                self.against += of_bodies(self.identified.estimate.mapping, shaped.bodies)
            except BodiesError as fault:
                self.against.append(no_bodies(fault))
                self.withheld[path] = NO_BODIES
                return None
        if not self.request.force and is_refuted(self.against):
            self.withheld[path] = IMPLAUSIBLE
        return shaped

    def commands(self, model: bytes | None, drives: DriveTables | None) -> Iterator[str]:
        """The commands that generate code for the estimate: from its base parameters, and from the
        URDF with the actuator file."""
        asked, drive_files = self.request, ("actuators", "estimate")
        given = typed(self.job.choices, RobotOptions, SourceOptions, leave=drive_files)
        if model is not None and asked.folder is not None:
            words = ["--estimate", str(asked.folder / MODEL_FILE), *given]
            yield self._command(self.job.file, words)
        if drives is None or asked.actuators is None or asked.actuators in self.withheld:
            return
        urdf = None if asked.urdf in self.withheld else asked.urdf
        if urdf is None and model is not None:
            return
        if urdf is None:
            yield f"the command below uses the inertias of {shown(self.job.file)}"
        laws = [law for law in drives.laws if law in FRICTION]
        words = ["--actuators", str(asked.actuators)]
        words += ["--friction", ",".join(laws)] if laws else []
        words += ["--springs"] if drives.springs else []
        yield self._command(str(urdf or self.job.file), [*words, *given])

    def _command(self, robot: str, words: list[str]) -> str:
        folder = f"build/{identifier(self.loaded.model.name, LANGUAGES.values())}"
        options = " ".join(shown(quote(word)) for word in words)
        generate = command("regenerate", robot=robot, folder=folder)
        return f"to generate code for the estimate: {generate} {options}"


def estimate_outputs(
    request: OutputRequest,
    job: Job,
    loaded: LoadedRobot,
    identified: Identified,
    progress: Callable[[str], None],
) -> EstimateOutputs:
    """The outputs asked for, and what speaks against the estimate. Raises SymgenError."""
    estimate, targets = identified.estimate, request.targets(job)
    against, withheld = [*verdicts(identified)], dict[Path, str]()
    maker = OutputMaker(request, job, loaded, identified, progress, against, withheld)
    contents = dict[Path, bytes]()
    carried = None
    if request.payload is not None:
        carried = estimate_payload(loaded.model, estimate, request.payload)
        against += of_payload(carried)
    shaped = None if request.urdf is None else maker.bodies(request.urdf)
    written = shaped if request.urdf not in withheld else None
    if written is not None and request.urdf is not None:
        contents[request.urdf] = with_end_comment(written.text)
    drives, model = None, None
    if (request.actuators or request.folder) and identified.settings.torque:
        given = job[RobotOptions].drive_file
        drives = drive_tables(identified, given)
        if request.folder is not None and not identified.settings.wrenches:
            model = model_file(identified, drives, job, loaded)
        if written is not None:
            drives = drive_tables(identified, given, written.bodies.drives)
    if request.actuators is not None:
        if drives is None or (not request.force and is_refuted(against, FILES)):
            withheld[request.actuators] = IMPLAUSIBLE
        else:
            contents[request.actuators] = drives.file()
    if request.html is not None:
        progress("drawing the report")
        warnings = tuple(verdict.text for verdict in against)
        html = page(identified, summary(against), is_refuted(against), warnings)
        contents[request.html] = html.encode()
    lines = lines_of_bodies(shaped) if shaped else []
    lines += lines_of_payload(carried) if carried else []
    return EstimateOutputs(
        tuple(against),
        {targets[path]: content for path, content in contents.items()},
        withheld,
        [*lines, *maker.commands(model, drives)],
        {
            "shape": shape_data(shaped) if shaped else None,
            "payload": payload_data(carried) if carried else None,
            "warnings": [verdict.text for verdict in against],
            "refused": is_refuted(against),
        },
        model,
        {
            name: estimate_outputs(OutputRequest(folder=folder / name), job, loaded, one, progress)
            for folder in ([request.folder] if request.folder else [])
            for name, one in identified.robots.items()
        },
    )
