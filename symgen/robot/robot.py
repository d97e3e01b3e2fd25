"""`symgen.Robot`: a robot from a file, from Python or from another library, and all that can be
made of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from symgen import api
from symgen.errors import Notice, OptionError
from symgen.jobs.job import Job
from symgen.jobs.options import MODULE
from symgen.languages import DEFAULT
from symgen.mechanics.coupling import coupling_of, positions
from symgen.mechanics.model import Model
from symgen.native.compiled import Compiled
from symgen.options import Choices, rows
from symgen.reading.assemble import Loaded
from symgen.reading.denavit_hartenberg import DH, dh_builder
from symgen.reading.description import EARTH
from symgen.reading.options import RobotOptions, SourceOptions
from symgen.reading.sources import RobotSource, described, is_path
from symgen.reading.substitution import substituted, symbols
from symgen.robot.notebook import robot_html
from symgen.robot.views import JointView, LinkInertia, joints_of, links_of
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions

if TYPE_CHECKING:
    from symgen.robot.checked import Checked
    from symgen.robot.controller import Controller
    from symgen.robot.gain_limits import SampledLoop
    from symgen.robot.linearization import Linearized
    from symgen.robot.looked import Inspection
    from symgen.robot.simulation import Simulation
    from symgen.symbolic.symbolic import Symbolic


OF_MODEL: Final = frozenset(row.name for row in rows(RobotOptions, FunctionOptions))
"""Options that hold for all that is made of a robot, also for what they have no effect on."""


class Robot:
    """A robot, and everything that symgen makes of it.

    >>> robot = symgen.Robot("arm.urdf")
    >>> robot.joints, robot.links, robot.check()
    >>> arm = robot.compile("mass_matrix", "inverse_dynamics")
    >>> arm.mass_matrix(q)

    `source` is the path of a URDF, xacro, MJCF, SDF, DH table or job file; the content of a URDF,
    SDF or MJCF file (text, bytes, an open file, a document of lxml, ElementTree, minidom or
    xacrodoc); a `symgen.Builder`, a ``pin.Model``, a ``yourdfpy.URDF``, a ``mujoco.MjModel`` or a
    ``mujoco.MjSpec``. `options` are those of the command
    line by their long names, such as ``base="floating"``, ``lock=(("finger", 0.0),)``,
    ``gravity="runtime"`` or ``friction="viscous"``; they hold for all that is made of the robot,
    and each method takes more; those of a job file are its defaults. Nothing of a robot ever
    changes: `with_options` and `subs` give another.

    Raises SymgenError, one sentence with the place, for what cannot be used: the file when it is
    first needed."""

    def __init__(self, source: RobotSource, **options: Any) -> None:
        job, self._place = _job(source, options)
        self.job = replace(job, choices=replace(job.choices, given=job.choices.given - OF_MODEL))

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {self.dof} velocities: {', '.join(self.velocities[:12])})"

    # -- what it is --------------------------------------------------------------------------------

    @cached_property
    def loaded(self) -> Loaded:
        """The robot as it was read, with its notices (`symgen.load`)."""
        return self.job.load()

    @property
    def model(self) -> Model:
        """The tree of bodies that all is computed from."""
        return self.loaded.model

    @property
    def name(self) -> str:
        """The name that its file gives it."""
        return self.model.name

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices of what was guessed, left out or repaired in reading."""
        return self.loaded.notices

    @property
    def dof(self) -> int:
        """The number of velocities, which is that of joint forces."""
        return self.model.dof

    @property
    def positions(self) -> tuple[str, ...]:
        """The names of the entries of q; a joint with a quaternion has one more than velocities."""
        return tuple(row.name for row in positions(self.model))

    @property
    def velocities(self) -> tuple[str, ...]:
        """The names of the entries of velocities, accelerations and joint forces."""
        return self.model.joint_names

    @property
    def gravity(self) -> tuple[float, ...]:
        """The acceleration of free fall in the axes of the root link (m/s²)."""
        return self.model.gravity

    @cached_property
    def joints(self) -> tuple[JointView, ...]:
        """The joints that move, in the order of their coordinates."""
        return joints_of(self.model)

    @cached_property
    def links(self) -> tuple[LinkInertia, ...]:
        """The links, those that do not move first."""
        return links_of(self.model)

    @property
    def neutral(self) -> tuple[float, ...]:
        """q with all joints at 0 and all quaternions at 0, 0, 0, 1."""
        coupling = coupling_of(self.model)
        last = {four.stop - 1 for four in coupling.quaternions}
        return tuple(float(k in last) for k in range(coupling.positions))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The names of the SymPy symbols among its lengths and masses."""
        source = self.job.given
        return () if source is None else symbols(described(source))

    @cached_property
    def symbolic(self) -> "Symbolic":
        """Every quantity as SymPy expressions: ``robot.symbolic.mass_matrix()``, and
        ``robot.symbolic.cse("mass_matrix")`` with replacements."""
        from symgen.symbolic.symbolic import Symbolic

        return Symbolic(self.job)

    def check(self) -> "Checked":
        """The notices of reading, and for each body whether its inertia is one that matter can
        have."""
        from symgen.robot.checked import checked

        return checked(self.job, self.loaded, bool(self.symbols))

    def inspect(self) -> "Inspection":
        """Everything about its bodies, frames and base parameters, as data and as a page (that of
        ``symgen inspect``)."""
        from symgen.inspection.data import inspect
        from symgen.robot.looked import Inspection

        return Inspection(self.job, self.loaded, inspect(self.job, self.loaded))

    def _repr_html_(self) -> str:
        return robot_html(self.model, self.joints)

    # -- another robot -----------------------------------------------------------------------------

    def with_options(self, **options: Any) -> "Robot":
        """This robot with other options. Raises OptionError."""
        return self._like(Robot(self.job.changed(**options)))

    def _like(self, other: "Robot") -> "Robot":
        """Another robot, whose files go where those of this one do."""
        other._place = self._place
        return other

    def subs(self, values: Mapping[Any, Any]) -> "Robot":
        """The robot with numbers for some of its symbols, by symbol or by name.

        >>> robot.subs({"a2": 0.425, "m2": 8.4}).compile("mass_matrix")

        Raises OptionError for a symbol that it does not have."""
        source = self.job.file if self.job.given is None else self.job.given
        robot = described(source, self.job[SourceOptions])
        choices = self.job.changed(xacro_args=(), model=None).choices
        other = Job.of(substituted(robot, values))
        return self._like(Robot(replace(other, choices=choices)))

    # -- what is made of it ------------------------------------------------------------------------

    def compile(self, *quantities: str | Sequence[str], **options: Any) -> Compiled:
        """The functions for `quantities` (``symgen list`` shows them), compiled for this machine:
        each is an attribute that takes and gives NumPy arrays (see `symgen.compile`)."""
        return api.compile(self, *quantities, **options)

    def controller(
        self, name: str, gains: Mapping[str, Any] | None = None, **more: Any
    ) -> "Controller":
        """A controller or observer with its state, compiled: the twin of that in generated C (see
        docs/controllers.md). Gains are given in a mapping or by name.

        >>> observer = robot.controller("momentum_observer", gain=50.0)
        >>> tau_ext = observer.step(q=q, qd=qd, tau=tau, h=0.001)

        Raises OptionError for a name or a gain that there is not, and for one that is missing."""
        from symgen.robot.controller import Controller

        return Controller(self, name, {**(gains or {}), **more})

    def sampled_loop(
        self, controller: str, rate: float, gains: Mapping[str, Any] | None = None
    ) -> "SampledLoop":
        """The stability of a controller at a sample rate in Hz, for given or proposed gains (see
        `symgen.robot.sampled_loop.sampled_loop`). Raises OptionError."""
        from symgen.robot.sampled_loop import sampled_loop

        return sampled_loop(self, controller, rate, gains)

    def trace(self, quantity: str, **options: Any) -> Function:
        """The cheapest program for a quantity, with its operation counts (see `symgen.trace`)."""
        return api.trace(self, quantity, **options)

    def generate(
        self,
        out: str | PathLike[str] | None = None,
        languages: Sequence[str] | None = None,
        progress: Callable[[str], None] | None = None,
        **options: Any,
    ) -> list[Path]:
        """Write a module in each of the languages (C and Python) into the folder `out`; the paths
        written. Where the robot is that of a job file, its ``out`` and ``languages`` are taken for
        those that are not given. `progress` is told each step (see `symgen.generate`). Raises
        SymgenError, and then nothing was written."""
        folder = self._place.get("out") if out is None else out
        if folder is None:
            raise OptionError("generate: give a folder, or the robot as a job file that has out")
        chosen = languages if languages is not None else self._place.get("languages") or DEFAULT
        return api.generate(self, folder, chosen, progress, **options)[2]

    def write_urdf(self, out: str | PathLike[str]) -> tuple[Notice, ...]:
        """Write the whole robot as a URDF, a new file, whatever it was read from; what a URDF
        cannot say is in the notices (see ``symgen convert``). Raises SymgenError, for symbols
        too."""
        from symgen.jobs.convert import convert

        source = self.job.file if self.job.given is None else self.job.given
        return convert(source, fspath(out), self.job[SourceOptions])

    def linearize(
        self,
        q: Sequence[float],
        qd: Sequence[float] | None = None,
        tau: Sequence[float] | None = None,
        **options: Any,
    ) -> "Linearized":
        """The linear system near a state (see `symgen.linearize`)."""
        from symgen.robot.linearization import linearize

        return linearize(self, q, qd, tau, **options)

    def simulate(
        self,
        duration: float,
        q: Sequence[float] | None = None,
        qd: Sequence[float] | None = None,
        tau: Any = None,
        **options: Any,
    ) -> "Simulation":
        """The motion from a state under joint forces `tau`: none, constant ones, or a function of
        t, q and qd (see `symgen.robot.simulation.simulate`)."""
        from symgen.robot.simulation import simulate

        return simulate(self, duration, q, qd, tau, **options)


def from_dh(
    rows: Sequence[DH | Mapping[str, Any]],
    convention: str,
    name: str = "robot",
    gravity: Sequence[float] = EARTH,
    **options: Any,
) -> Robot:
    """The robot of a table of Denavit and Hartenberg's parameters, a row for each joint.

    >>> a2, m2 = sympy.symbols("a2 m2")
    >>> symgen.from_dh([dict(d=0.4, alpha=pi / 2), dict(a=a2, mass=m2)], convention="standard")

    A row is a `symgen.DH` or a mapping with its fields: `a`, `d` (m), `alpha`, `theta` (rad), where
    theta of a revolute joint and d of a prismatic one are offsets, `type`, mass and inertia of the
    link in its frame. `convention` is ``standard`` (frame i on the axis of joint i + 1) or
    ``modified`` (on that of joint i; Craig, Khalil & Kleinfinger). Lengths and masses may be SymPy
    symbols. Joints are joint1, joint2, ... where they have no names; links link1, link2, ... have
    the frames of the table. Raises OptionError for a row that is none."""
    return Robot(dh_builder(rows, convention, name, gravity), **options)


def _job(source: RobotSource, options: Mapping[str, Any]) -> tuple[Job, Mapping[str, Any]]:
    """The job of a robot, and where its files go; a job file has options of its own, which come
    after those given."""
    if isinstance(source, Job):
        return source.changed(**options), {}
    if is_path(source) and Path(source).suffix.lower() == ".toml":
        from symgen.jobs.jobfile import job_in

        file, in_file = job_in(source)
        known = Choices.of(MODULE, {}).flat()
        job = Job.of(file, **{**{k: x for k, x in in_file.items() if k in known}, **options})
        return job, {k: x for k, x in in_file.items() if k not in known}
    return Job.of(source, **options), {}
