"""A robot as plain data, for researchers: ``symgen inspect --json`` prints it whole."""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import sympy

from symgen import output
from symgen.algorithms import LINK_QUANTITIES
from symgen.compiler.program import Output
from symgen.errors import OptionError
from symgen.inspection.command_reports import operations
from symgen.inspection.rendering import Data
from symgen.jobs.job import Job, RefusedInertia
from symgen.languages.module import Module
from symgen.mechanics.base_parameters import BaseParameters, base_parameters, latex_name
from symgen.mechanics.canonical_frames import CanonicalFrame, canonical_frames
from symgen.mechanics.inertia import homogeneous_transform
from symgen.mechanics.inertia_checks import check_inertias
from symgen.mechanics.joint_listing import (
    ListedJoint,
    ListedLoop,
    carrying_link,
    gruebler_mobility,
    listed_joints,
    listed_loops,
    listed_motors,
    position_coordinates,
)
from symgen.mechanics.model import PARAMETER_NAMES, Body, RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model, inertial_parameters, lump_links
from symgen.mechanics.spatial import Pose, Vector
from symgen.numbers.scalar import plain
from symgen.reading.assemble import LoadedRobot
from symgen.symbolic.closed_form import Relation, grouping_relations
from symgen.symbolic.symbolic import Symbolic
from symgen.symbolic.symbolic_tape import as_fraction
from symgen.symbolic.symbolic_trace import SYMBOL_KINDS, SymbolChoice, meanings
from symgen.symbolic.symbols import Meaning, as_latex, as_text
from symgen.text import cited, shown
from symgen.tracing.request import find_quantity


def inspect(job: Job, loaded: LoadedRobot) -> Data:
    """Everything about the robot of a job, as data for JSON (documented in docs/formats.md). Raises
    SymgenError."""
    robot = job.robot(loaded)
    model = lump_links(loaded.model, [body.name for body in loaded.model.moving])
    status = {v.name: v.status for v in check_inertias(loaded.model) if v.kind == "body"}
    gravity = Vector(1.0, 1.0, 1.0) if robot.runtime_gravity else None
    world: dict[int, Pose] = {0: Pose()}
    for i in model.outward:
        world[i] = world[model.body(i).parent] @ model.body(i).pose
    counts: Data = {}
    with suppress(RefusedInertia):  # which `pseudo_inertia` of the bodies shows
        counts = operations(job.module(loaded)).data["quantities"]
    return {
        "robot": model.name,
        "dof": model.dof,
        "positions": [row.name for row in position_coordinates(model)],
        "velocities": list(model.joint_names),
        "base": "root link" if model.base else "world",
        "gravity": "runtime" if robot.runtime_gravity else list(model.gravity),
        "bodies": [_body(model, row, world, status[row.body.name]) for row in listed_joints(model)],
        "closed_loops": [_loop(model, row) for row in listed_loops(model)],
        "gruebler_dof": gruebler_mobility(model),
        "rotors": _rotors(model),
        "motors": [
            {"name": row.name, "positions": list(row.positions), "velocities": list(row.velocities)}
            for row in listed_motors(model)
        ],
        "canonical_frames": _canonical(model),
        "base_parameters": _base(base_parameters(model, gravity)),
        "operations": counts,
    }


def _body(
    model: RigidBodyModel, joint: ListedJoint, world: Mapping[int, Pose], status: str
) -> Data:
    body, i = joint.body, joint.bodies[-1]
    ten = body.links[0].parameters or (0.0,) * 10
    parts = body.freedom.turn, body.freedom.slide
    screw = [plain(part) * x for part in parts for x in body.axis]  # angular, linear
    return {
        "index": i,
        "name": body.name,
        "parent": carrying_link(model, i),
        "joint": joint.name,
        "type": joint.kind,
        "unit": joint.unit,
        "positions": list(joint.positions),
        "velocities": list(joint.velocities),
        "follows": _follows(joint),
        "fixed_links": [link.name for link in body.links[1:]],
        "placement": homogeneous_transform(model.body(joint.bodies[0]).pose).tolist(),
        "transform_from_base": homogeneous_transform(world[i]).tolist(),
        "screw": screw if len(joint.bodies) == 1 else None,
        "mass": ten[0],
        "center_of_mass": [h / ten[0] for h in ten[1:4]] if ten[0] else None,
        "parameters": dict(zip(PARAMETER_NAMES, ten, strict=True)),
        "spatial_inertia": spatial_inertia(ten).tolist(),
        "pseudo_inertia": status,
    }


def _loop(model: RigidBodyModel, row: ListedLoop) -> Data:
    ends = row.closure.bodies
    return {
        "name": row.closure.name,
        "type": row.closure.joint,
        "links": [model.body(i).name if i else model.root for i in ends],
        "determines": list(row.dependent),
        "from": list(row.others),
        "branch": row.closure.branch,
        "equations": row.equations,
        "gaps": list(row.gaps),
    }


def _follows(joint: ListedJoint) -> Data | None:
    follow = joint.body.follows
    if follow is None:
        return None
    pairs = zip(joint.leaders, follow.terms, strict=True)
    rows: list[Data] = [{"joint": name, "factor": by} for name, (_, by) in pairs]
    if not rows:
        return {"joints": [], "loop": joint.follows}
    return (rows[0] if len(rows) == 1 else {"joints": rows}) | {"offset": follow.offset}


def _rotors(model: RigidBodyModel) -> list[Data]:
    """The rotors that turn, each a body of the model too; of one that turns with several joints
    lists of these and of ratios."""
    rotors = []
    for i, body in enumerate(model.bodies, 1):
        if body.spin:
            terms = body.follows.terms if body.follows else ((i, 1.0),)
            names, ratios = [model.body(k).joint.name for k, _ in terms], [by for _, by in terms]
            single = len(terms) == 1
            row: Data = {"index": i, "name": body.name, "parent": carrying_link(model, i)}
            row |= {
                "turns_with": names[0] if single else names,
                "ratio": ratios[0] if single else ratios,
            }
            rotors.append(row | {"inertia": body.spin})
    return rotors


def spatial_inertia(ten: Sequence[float]) -> npt.NDArray[np.float64]:
    """The 6 x 6 spatial inertia (angular first) of ten parameters about the same origin."""
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = ten
    cross = np.array([[0.0, -hz, hy], [hz, 0.0, -hx], [-hy, hx, 0.0]])
    tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    return np.block([[tensor, cross], [cross.T, m * np.eye(3)]])


def _canonical(model: RigidBodyModel) -> list[Data]:
    """The canonical frames and regrouped parameters of all bodies but rotors and those whose axes
    go with them, which have their link's frame."""
    layout = canonical_model(model, regrouping=WHOLE)
    rows = zip(model.bodies, canonical_frames(model), layout.bodies, strict=True)
    return [
        _frame(body, frame, inertial_parameters(system_body.inertia))
        for body, frame, system_body in rows
        if not body.in_body_axes and not body.joint.type.is_rotor
    ]


def _frame(body: Body, frame: CanonicalFrame, ten: Sequence[float]) -> Data:
    """The constants of Rot_z(gamma) Trans_z(b) Trans_x(d) Rot_x(alpha) Rot_y(beta) Rot_z(q +
    theta0) Trans_z(r), where the frame is on the body, and the ten of the body in it."""
    start = frame.to_axis
    angles = {
        "gamma": start.gamma,
        "alpha": start.alpha,
        "beta": start.beta,
        "theta0": frame.theta0,
    }
    lengths = {"b": start.b, "d": start.d, "r": frame.r}
    return {
        "body": body.name,
        **{name: math.atan2(plain(angle.s0), plain(angle.c0)) for name, angle in angles.items()},
        **{name: plain(x) for name, x in lengths.items()},
        "pose": homogeneous_transform(frame.pose).tolist(),
        "parameters": {name: x + 0.0 for name, x in zip(PARAMETER_NAMES, ten, strict=True)},
    }


def _base(base: BaseParameters) -> Data:
    return {
        "count": len(base),
        "smallest_kept": base.independent.smallest_kept,
        "largest_dropped": base.independent.largest_dropped,
        "groupings": dict(zip(base.columns, base.groupings, strict=True)),
        "links": dict(zip(base.columns, base.links, strict=True)),
        "parameters": base.reasons,
    }


def sparsity(module: Module) -> dict[str, npt.NDArray[np.bool_]]:
    """Which entries of each output are not structurally zero, by output name."""
    shapes = {out.name: out for f in module.functions for out in f.program.outputs}
    return {
        name: np.array([ref is not None for ref in out.refs]).reshape(out.shape)
        for name, out in shapes.items()
    }


# -- closed forms ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WantedEntry:
    """The request ``QUANTITY[:OUTPUT][:I,J]``. `indices` start at 1; None stands for all
    entries."""

    quantity: str
    output: str | None
    indices: tuple[int, ...] | None

    @classmethod
    def parse(cls, text: str, model: RigidBodyModel) -> "WantedEntry":
        """The quantity, one of its outputs and indices; a quantity of a link has its link's name
        behind. Raises OptionError."""
        name, behind = _quantity(text, model)
        pieces = behind.split(":") if behind else []
        indices = None
        if behind is not None and pieces and re.fullmatch(NUMBERS, pieces[-1]):
            indices = tuple(int(k) for k in pieces.pop().split(","))
        if len(pieces) > 1 or (behind is not None and not all(pieces)) or behind == "":
            raise OptionError(f"--entry {cited(text)}: {GIVE}")
        return cls(name, pieces[0] if pieces else None, indices)


NUMBERS: Final = r"-?\d+(,-?\d+)*"
GIVE: Final = "give QUANTITY, QUANTITY:I,J or QUANTITY:OUTPUT:I,J, as in mass_matrix:1,1"


def _quantity(text: str, model: RigidBodyModel) -> tuple[str, str | None]:
    """The name of the quantity and the text after it, None if there is none. Raises OptionError."""
    name, colon, behind = text.partition(":")
    if name not in LINK_QUANTITIES or not colon:
        find_quantity(name)
        return name, behind if colon else None
    links = [link.name for body in model.bodies for link in body.links]
    names = [*links, *(link.name for link in model.base)]
    if LINK_QUANTITIES[name].subject == "joint":
        names = [joint.name for _, joint in model.joints]
    fitting = [link for link in names if behind == link or behind.startswith(f"{link}:")]
    if not fitting:
        return f"{name}:{behind.partition(':')[0]}", behind.partition(":")[2] or None
    link = max(fitting, key=len)
    return f"{name}:{link}", behind[len(link) + 1 :] if behind != link else None


@dataclass(frozen=True)
class OutputExpressions:
    """Closed forms: the expressions of an output or one of its entries, and the symbols in them."""

    wanted: WantedEntry
    out: Output
    unit: str
    expression: Any
    meanings: dict[str, Meaning]

    def text(self) -> str:
        """An expression, or a line for each entry of an array with its indices."""
        if self.wanted.indices is not None:
            return as_text(self.expression)
        name, entries = shown(self.out.name), sympy.flatten(self.expression)
        places = [",".join(str(k + 1) for k in at) for at in np.ndindex(self.out.shape)]
        return "\n".join(
            f"{name}[{at}] = {as_text(x)}" for at, x in zip(places, entries, strict=True)
        )

    def latex(self) -> str:
        """The entries in LaTeX, an array as a matrix."""
        return as_latex(self.expression)

    def data(self) -> dict[str, Any]:
        """The entries as plain data (documented in docs/formats.md)."""
        single = self.wanted.indices is not None
        expressions = [self.expression] if single else sympy.flatten(self.expression)
        entries = np.array([as_text(x) for x in expressions], object)
        return {
            "quantity": self.wanted.quantity,
            "output": self.out.name,
            "shape": list(self.out.shape),
            "unit": self.unit,
            "indices": list(self.wanted.indices) if self.wanted.indices else None,
            "entries": entries[0] if single else entries.reshape(self.out.shape).tolist(),
            "latex": self.latex(),
            "symbols": {
                name: {"meaning": row.meaning, "unit": row.unit, "value": row.value}
                for name, row in self.meanings.items()
            },
        }

    def legend(self) -> list[str]:
        """A line for each symbol that is not a coordinate: its meaning and its value."""
        rows = {name: row for name, row in self.meanings.items() if row.value is not None}
        return [
            f"{name}: {shown(row.meaning)}; {row.value:.6g} {row.unit}"
            for name, row in rows.items()
        ]


def closed_form_of(job: Job, text: str, symbolic: str | None) -> OutputExpressions:
    """The entry that `text` asks for in closed form, with symbols for the kinds in `symbolic`.
    Raises SymgenError."""
    kinds = symbolic.split(",") if symbolic else []
    unknown = [kind for kind in kinds if kind not in SYMBOL_KINDS]
    if unknown:
        raise OptionError(f"--symbolic {cited(unknown[0])}: use {' or '.join(SYMBOL_KINDS)}")
    robot = Symbolic(job)
    wanted = WantedEntry.parse(text, robot.model)
    options = dict.fromkeys(kinds, "symbols")
    out, unit = robot.output(wanted.quantity, wanted.output, **options)
    at = wanted.indices or ()
    fits = all(1 <= k <= n for k, n in zip(at, out.shape, strict=False))
    if wanted.indices is not None and not (fits and len(at) == len(out.shape)):
        sizes = " x ".join(map(str, out.shape))
        raise OptionError(
            f"--entry {cited(text)}: {wanted.quantity} has {sizes} entries, counted from 1"
        )
    if wanted.indices is None:
        entries = robot.quantity(wanted.quantity, output=out.name, **options)
    else:
        entries = robot.entry(wanted.quantity, *wanted.indices, output=out.name, **options)
    meanings = robot.meanings(wanted.quantity, **options)
    used = {str(s) for s in entries.free_symbols}
    return OutputExpressions(
        wanted, out, unit, entries, {name: row for name, row in meanings.items() if name in used}
    )


def entry_command(
    job: Job, text: str, symbolic: str | None, latex: bool, as_json: bool
) -> tuple[str, list[str]]:
    """The printed text of an entry, and the legend of its symbols. Raises SymgenError."""
    entry = closed_form_of(job, text, symbolic)
    if as_json:
        return output.as_json(entry.data()), []
    return (entry.latex() if latex else entry.text()), entry.legend()


def grouping_command(job: Job, symbolic: str, latex: bool, as_json: bool) -> str:
    """The grouping relations of a robot, a line each, as LaTeX or as data. Raises SymgenError."""
    if symbolic not in ("lengths", "masses,lengths", "lengths,masses"):
        raise OptionError(f"--symbolic {cited(symbolic)}: for --groupings use lengths")
    robot, setting = job.robot(job.load()), SymbolChoice(masses=True, lengths=True)
    lines = grouping_relations(robot, setting, as_fraction)
    if as_json:
        return output.as_json(_data(lines, meanings(robot, setting)))
    if latex:
        rows = [rf"{latex_name(row.name)} &= {sympy.latex(row.expression)} \\" for row in lines]
        return "\n".join([r"\begin{align*}", *rows, r"\end{align*}"])
    return "\n".join(f"{row.name} = {row.expression}" for row in lines)


def _data(relations: tuple[Relation, ...], known: Any) -> dict[str, Any]:
    used = {str(s) for row in relations for s in row.expression.free_symbols}
    return {
        "groupings": {row.name: str(row.expression) for row in relations},
        "links": {row.name: row.link for row in relations},
        "symbols": {
            name: {"meaning": row.meaning, "unit": row.unit, "value": row.value}
            for name, row in known.items()
            if name in used
        },
    }
