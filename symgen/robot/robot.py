"""`symgen.Robot`: a robot from a file, from Python or from another library, from which code,
functions and reports are made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from symgen.errors import Notice, OptionError
from symgen.jobs import api
from symgen.jobs.job import Job
from symgen.jobs.jobfile import MODULE_OPTIONS
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.native.store import Compiled
from symgen.options import Choices, rows
from symgen.reading.assemble import LoadedRobot
from symgen.reading.denavit_hartenberg import DH, dh_builder
from symgen.reading.description import EARTH
from symgen.reading.description_changes import substitute, symbols
from symgen.reading.options import RobotOptions, SourceOptions
from symgen.reading.sources import RobotSource, describe, is_path
from symgen.tracing.function import Function
from symgen.tracing.options import FunctionOptions

if TYPE_CHECKING:
    from symgen.certified.certificate import Certificate
    from symgen.identification.gains.joint_stiffness import JointStiffness
    from symgen.robot.identification import Identification
    from symgen.robot.linearization import Linearized
    from symgen.robot.results import CheckResult, InspectionResult, JointView, LinkInertia
    from symgen.robot.sampled_loop import SampledLoop
    from symgen.robot.simulation import Controller, Simulation
    from symgen.symbolic.symbolic import Symbolic


OPTIONS_OF_MODEL: Final = frozenset(row.name for row in rows(RobotOptions, FunctionOptions))
"""Options that hold for all that is made of a robot, also for what they have no effect on."""


class Robot:
    """A robot, from which symgen computes and generates everything.

    >>> robot = symgen.Robot("arm.urdf")
    >>> robot.joints, robot.links, robot.check()
    >>> arm = robot.compile("mass_matrix", "inverse_dynamics")
    >>> arm.mass_matrix(q)

    `source` is the path of a URDF, xacro, MJCF, SDF, DH table or job file; the content of a URDF,
    SDF or MJCF file (text, bytes, an open file, a document of lxml, ElementTree, minidom or
    xacrodoc); a `symgen.Builder`, a ``pin.Model``, a pair of it and a list of
    ``pin.RigidConstraintModel``, which close loops, a ``yourdfpy.URDF``, a ``mujoco.MjModel`` or a
    ``mujoco.MjSpec``. `options` are those of the command
    line by their long names, such as ``base="floating"``, ``lock=(("finger", 0.0),)``,
    ``gravity="runtime"`` or ``friction="viscous"``. They apply to all methods, which accept
    further options; the options of a job file are the defaults. A robot is immutable:
    `with_options` and `subs` return a new one.

    Raises SymgenError with file and line if the source or an option is not valid. The file is
    read on first use."""

    def __init__(self, source: RobotSource, **options: Any) -> None:
        job, self._outputs = _job(source, options)
        self.job = replace(
            job, choices=replace(job.choices, given=job.choices.given - OPTIONS_OF_MODEL)
        )

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {self.dof} velocities: {', '.join(self.velocities[:12])})"

    # -- what it is --------------------------------------------------------------------------------

    @cached_property
    def loaded(self) -> LoadedRobot:
        """The robot as it was read, with its notices (see `symgen.load`)."""
        return self.job.load()

    @property
    def model(self) -> RigidBodyModel:
        """The tree of bodies from which all quantities are computed."""
        return self.loaded.model

    @property
    def name(self) -> str:
        """The name of the robot in its file."""
        return self.model.name

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about values that were assumed, ignored or repaired when the file was read."""
        return self.loaded.notices

    @property
    def dof(self) -> int:
        """The number n of velocities and of joint forces."""
        return self.model.dof

    @property
    def positions(self) -> tuple[str, ...]:
        """The names of the entries of q (nq); four for each quaternion."""
        return tuple(row.name for row in position_coordinates(self.model))

    @property
    def velocities(self) -> tuple[str, ...]:
        """The names of the entries of velocities, accelerations and joint forces."""
        return self.model.joint_names

    @property
    def gravity(self) -> tuple[float, ...]:
        """The acceleration of free fall in the axes of the root link (m/s²)."""
        return self.model.gravity

    @cached_property
    def joints(self) -> "tuple[JointView, ...]":
        """The joints that move, in the order of their coordinates."""
        from symgen.robot.results import joints_of

        return joints_of(self.model)

    @cached_property
    def links(self) -> "tuple[LinkInertia, ...]":
        """The links; fixed links come first."""
        from symgen.robot.results import links_of

        return links_of(self.model)

    @property
    def neutral(self) -> tuple[float, ...]:
        """q with all joints at 0 and all quaternions at 0, 0, 0, 1."""
        coupling = coupling_of(self.model)
        last = {four.stop - 1 for four in coupling.quaternions}
        return tuple(float(k in last) for k in range(coupling.positions))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The names of the SymPy symbols in lengths and masses."""
        source = self.job.given
        return () if source is None else symbols(describe(source))

    @cached_property
    def symbolic(self) -> "Symbolic":
        """Every quantity as SymPy expressions: ``robot.symbolic.mass_matrix()``, and
        ``robot.symbolic.cse("mass_matrix")`` with replacements."""
        from symgen.symbolic.symbolic import Symbolic

        return Symbolic(self.job)

    def check(self) -> "CheckResult":
        """Return the notices of reading and, for each body, whether its inertia is physically
        possible."""
        from symgen.robot.results import check_robot

        return check_robot(self.job, self.loaded, bool(self.symbols))

    def inspect(self) -> "InspectionResult":
        """Return the bodies, frames and base parameters as data and as an HTML page (as ``symgen
        inspect``)."""
        from symgen.inspection.robot_data import inspect
        from symgen.robot.results import InspectionResult

        return InspectionResult(self.job, self.loaded, inspect(self.job, self.loaded))

    def _repr_html_(self) -> str:
        from symgen.robot.results import robot_html

        return robot_html(self.model, self.joints)

    # -- another robot -----------------------------------------------------------------------------

    def with_options(self, **options: Any) -> "Robot":
        """Return this robot with other options. Raises OptionError."""
        other = Robot(self.job.changed(**options))
        other._outputs = self._outputs
        return other

    def subs(self, values: Mapping[Any, Any]) -> "Robot":
        """Return the robot with numbers in place of some symbols, given by symbol or by name.

        >>> robot.subs({"a2": 0.425, "m2": 8.4}).compile("mass_matrix")

        Raises OptionError for a symbol that the robot does not have."""
        source = self.job.file if self.job.given is None else self.job.given
        robot = describe(source, self.job[SourceOptions])
        choices = self.job.changed(xacro_args=(), model=None).choices
        other = Robot(replace(Job.of(substitute(robot, values)), choices=choices))
        other._outputs = self._outputs
        return other

    # -- what is made of it ------------------------------------------------------------------------

    def compile(self, *quantities: str | Sequence[str], **options: Any) -> Compiled:
        """Compile functions for `quantities` (see ``symgen list``) for this machine.

        Each function is an attribute of the result and takes and returns NumPy arrays (see
        `symgen.compile`)."""
        return api.compile(self, *quantities, **options)

    def controller(
        self, name: str, gains: Mapping[str, Any] | None = None, **more: Any
    ) -> "Controller":
        """Return a compiled controller or observer with its state, the same as in generated C.

        See docs/controllers.md. Gains are given in a mapping or by name.

        >>> observer = robot.controller("momentum_observer", gain=50.0)
        >>> tau_ext = observer.step(q=q, qd=qd, tau=tau, h=0.001)

        Raises OptionError for an unknown controller or gain, and for a missing gain."""
        from symgen.robot.simulation import Controller

        return Controller(self, name, {**(gains or {}), **more})

    def sampled_loop(
        self, controller: str, rate: float, gains: Mapping[str, Any] | None = None
    ) -> "SampledLoop":
        """Examine the stability of a controller at a sample rate (Hz), for given or proposed gains
        (see `symgen.robot.sampled_loop.sampled_loop`). Raises OptionError."""
        from symgen.robot.sampled_loop import sampled_loop

        return sampled_loop(self, controller, rate, gains)

    def trace(self, quantity: str, **options: Any) -> Function:
        """Return the cheapest program for a quantity with its operation counts (`symgen.trace`)."""
        return api.trace(self, quantity, **options)

    def certify(self, *quantities: str, **options: Any) -> "Mapping[str, Certificate]":
        """Return for each quantity the ranges of its results and bounds of their rounding errors
        that hold for all inputs within limits (see docs/certified.md).

        >>> robot.certify("inverse_dynamics", certify_limits={"acceleration": 10.0}, scalar="float")

        Raises OptionError for a missing limit, and for a quantity that has no bounds."""
        from symgen.languages.c.certified_code import certificates

        job = self.job.changed(quantities=quantities, certify=True, **options)
        return certificates(job.module(self.loaded))

    def generate(
        self,
        out: str | PathLike[str] | None = None,
        languages: Sequence[str] | None = None,
        progress: Callable[[str], None] | None = None,
        **options: Any,
    ) -> list[Path]:
        """Write a module in each language (C and Python by default) to the folder `out`.

        The robot of a job file uses ``out`` and ``languages`` of the job file if they are not
        given. `progress` is called with a description of each step (see `symgen.generate`).
        Returns the written paths. Raises SymgenError; in this case no file is written."""
        folder = self._outputs.get("out") if out is None else out
        if folder is None:
            raise OptionError("generate: give a folder, or a job file with the key out")
        chosen = languages if languages is not None else self._outputs.get("languages")
        return api.generate(self, folder, chosen, progress, **options)[2]

    def write_urdf(self, out: str | PathLike[str]) -> tuple[Notice, ...]:
        """Write the robot to a new URDF file (see ``symgen convert``).

        Returns notices of properties that a URDF cannot represent. Raises SymgenError, also if the
        robot has symbols."""
        from symgen.jobs.generating import convert

        source = self.job.file if self.job.given is None else self.job.given
        return convert(source, fspath(out), self.job[SourceOptions])

    def linearize(
        self,
        q: Sequence[float],
        qd: Sequence[float] | None = None,
        tau: Sequence[float] | None = None,
        **options: Any,
    ) -> "Linearized":
        """Linearize the dynamics about a state (see `symgen.linearize`)."""
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
        """Simulate the motion from a state with joint forces `tau`: none, constant, or a function
        of t, q and qd (see `symgen.robot.simulation.simulate`)."""
        from symgen.robot.simulation import simulate

        return simulate(self, duration, q, qd, tau, **options)

    def identify(self, log: Any, validation: Any = None, **options: Any) -> "Identification":
        """Estimate inertial parameters and friction from a log (as ``symgen identify``).

        Parameters
        ----------
        log
            A path, a data frame or a mapping of names to arrays (see `symgen.read_log`), with the
            columns t (s), q_JOINT, qd_JOINT (optional) and tau_JOINT in SI units. Several logs (a
            list, a folder or URL of Parquet files) give one estimate with an offset of each; with
            ``robots=["left", ...]``, a name for each, also with friction of each robot.
        validation
            Another log, whose forces are predicted.
        **options
            The options of ``symgen identify`` by their long names, such as ``friction="auto"``,
            ``full=True``, ``workers=2`` or ``torque_constant=(("elbow", 11.1),)``.

        Raises SymgenError if the log cannot be used, or does not excite the parameters.

        >>> found = robot.identify({"t": t, "q_joint1": q, "tau_joint1": tau})
        >>> found.parameters, found.friction, found.score(other_log)
        """
        from symgen.robot.identification import identify_robot

        return identify_robot(self.job, log, validation, **options)

    def excite(
        self, limits: Mapping[str, float] | None = None, friction: str = "", **options: Any
    ) -> dict[str, Any]:
        """Return a motion that excites all parameters (as ``symgen excite``): t (N, s), q_JOINT,
        qd_JOINT and qdd_JOINT by name.

        `limits` overrides limits of the robot's file, such as ``{"elbow.velocity": 1.5}``;
        `friction` names laws whose coefficients are excited too. Raises OptionError."""
        from symgen.robot.identification import excite_robot

        return excite_robot(self.job, limits, friction, **options)

    def gains(
        self, unloaded: Any, loaded: Any, mass: float, link: str | None = None, **options: Any
    ) -> dict[str, float]:
        """Return the torque constant of each joint (N m/A or N/A) from a log without and a log
        with a load of known `mass` (kg) on `link`, by default the last one (as ``symgen gains``).

        Raises SymgenError."""
        from symgen.robot.identification import gains_of_robot

        return gains_of_robot(self.job, unloaded, loaded, mass, link, **options)

    def stiffness(self, log: Any, torque: str = "motor", **options: Any) -> "JointStiffness":
        """Estimate stiffness and damping of elastic joints (as ``symgen stiffness``).

        `log` has the columns t, q_JOINT (links), theta_JOINT (motors after the gear) and
        tau_JOINT; `torque` tells whether these are ``motor`` torques or those of ``joint`` torque
        sensors, or whether the ``model`` of the links replaces them. The values have the names of
        the inputs of quantities of elastic joints, as in ``found.values["joint_stiffness"]``.

        Raises SymgenError."""
        from symgen.robot.identification import stiffness_of_robot

        return stiffness_of_robot(self.job, log, torque, **options)


def from_dh(
    rows: Sequence[DH | Mapping[str, Any]],
    convention: str,
    name: str = "robot",
    gravity: Sequence[float] = EARTH,
    **options: Any,
) -> Robot:
    """Return the robot of a table of Denavit-Hartenberg parameters. Raises OptionError for a row
    that is not valid.

    >>> a2, m2 = sympy.symbols("a2 m2")
    >>> symgen.from_dh([dict(d=0.4, alpha=pi / 2), dict(a=a2, mass=m2)], convention="standard")

    Parameters
    ----------
    rows
        One row per joint: a `symgen.DH` or a mapping with its fields.
    convention
        "standard" (frame i is on the axis of joint i + 1) or "modified" (frame i is on the axis of
        joint i; Craig, Khalil & Kleinfinger 1986).
    name
        The name of the robot. Its links link1, link2, ... have the frames of the table.
    gravity
        Gravitational acceleration (3,) in the axes of the base (m/s²).
    **options
        Options of `symgen.Robot`.
    """
    return Robot(dh_builder(rows, convention, name, gravity), **options)


def _job(source: RobotSource, options: Mapping[str, Any]) -> tuple[Job, Mapping[str, Any]]:
    """The job of a robot, and the keys ``out`` and ``languages`` of a job file. Options of a job
    file have lower priority than `options`."""
    if isinstance(source, Job):
        return source.changed(**options), {}
    if is_path(source) and Path(source).suffix.lower() == ".toml":
        from symgen.jobs.jobfile import job_in

        file, in_file = job_in(source)
        known = Choices.from_values(MODULE_OPTIONS, {}).flat()
        job = Job.of(file, **{**{k: x for k, x in in_file.items() if k in known}, **options})
        return job, {k: x for k, x in in_file.items() if k not in known}
    return Job.of(source, **options), {}
