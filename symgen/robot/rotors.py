"""Effects of the rotors of a robot within its limits: all they do, beside gear_ratio² inertia on
the diagonal of M, beside nothing (the question of Echeandia, Rigid-body dynamics algorithms for
physically interactive robots, Notre Dame 2020, ch. 4).

A torque difference is what a model is off by at accelerations that the exact robot has under forces
within its limits; an acceleration difference is at the forces themselves. The worst states are
looked for among random ones, corners of the limits first, and then coordinate by coordinate from
the worst: a lower bound that is near the largest, the same on every machine but for rounding."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.jobs.job import Job
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import ZERO, AnyArray
from symgen.reading.options import RobotOptions
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

States = Mapping[str, Any]

RANDOM_STATES: Final = 2000
DEFAULT_HALF_RANGE: Final = np.pi
"""Half the range of a coordinate without limits (rad, m)."""
DEFAULT_SPEED: Final = 2.0
"""The speed of a joint without a limit (rad/s, m/s)."""
SEED, ROUNDS, TRIES = 0, 3, 17
GOOD_SHARE: Final = 0.01
"""As a part of the efforts: a model whose forces are off by less is called good here."""
UNITS: Final = {
    "torque": {"rad": "N m", "m": "N"},
    "acceleration": {"rad": "rad/s^2", "m": "m/s^2"},
}
SIMPLIFIED_MODELS: Final = ("reflected", "none")
"""The models that are compared with the exact one."""


@dataclass(frozen=True)
class Difference:
    """The largest difference that was found of one model from the exact one: at which joint, how
    large in its unit, what share of the joint's effort a torque is (None without a
    limit), and the state: positions, rates, and joint forces."""

    model: str
    of: str
    joint: str
    largest: float
    unit: str
    share: float | None
    q: tuple[float, ...]
    qd: tuple[float, ...]
    tau: tuple[float, ...]


@dataclass(frozen=True)
class RotorEffects:
    """The effects of leaving rotors out, or of reflecting them: the differences, up to which part
    of the speed limits the reflected model is good to `GOOD_SHARE` of the efforts, and which limits
    were missing and taken from elsewhere."""

    differences: tuple[Difference, ...]
    good_up_to: float | None
    assumed: tuple[str, ...]

    def sentences(self) -> Iterator[str]:
        """Sentences about the rotors, one per line."""
        names = {"reflected": "ratio^2 inertia on the diagonal", "none": "no rotors"}
        for d in self.differences:
            share = "" if d.share is None else f", {100 * d.share:.3g} % of its effort"
            yield f"{names[d.model]}: {d.of} off by {d.largest:.3g} {d.unit} at {d.joint}{share}"
            state = {"q": d.q, "qd": d.qd, "tau": d.tau}
            texts = (f"{k} = [{', '.join(f'{x:.3g}' for x in v)}]" for k, v in state.items())
            yield f"  at {', '.join(texts)}"
        if self.good_up_to is not None:
            part = f"up to {100 * self.good_up_to:.0f} % of the speed limits"
            reach = (
                part if self.good_up_to else "not even at rest, for all forces within the limits"
            )
            yield f"ratio^2 inertia is within {100 * GOOD_SHARE:g} % of the efforts {reach}"
        yield from self.assumed


def rotor_effects(job: Job, model: RigidBodyModel) -> RotorEffects | None:
    """The comparison for a robot whose rotors are modelled exactly; None if it has no rotors or has
    quaternions. Raises SymgenError."""
    coupling = coupling_of(model)
    if not any(body.spin for body in model.bodies) or coupling.quaternions:
        return None
    search = RotorSearch.of(job, model)
    worst = [
        search.worst(kind, of) for kind in SIMPLIFIED_MODELS for of in ("torque", "acceleration")
    ]
    return RotorEffects(tuple(worst), search.good_up_to(), search.assumed)


@dataclass(frozen=True)
class RotorSearch:
    """The programs of the three models, and the box of states: centre and half width of each
    input."""

    forward: Mapping[str, Program]
    inverse: Mapping[str, Program]
    middle: Mapping[str, AnyArray]
    half: Mapping[str, AnyArray]
    names: tuple[str, ...]
    units: tuple[str, ...]
    effort: AnyArray
    """NaN without a limit."""
    assumed: tuple[str, ...]

    @classmethod
    def of(cls, job: Job, model: RigidBodyModel) -> "RotorSearch":
        """The search for a job; the rotors are modelled in three ways."""
        unphysical = job[RobotOptions].allow_unphysical
        robots = {
            kind: ParametricModel(
                job.changed(rotors=kind).load().model, allow_unphysical=unphysical
            )
            for kind in ("exact", *SIMPLIFIED_MODELS)
        }
        forward, inverse = (
            {k: trace(robot, FunctionRequest.parse(name)).program for k, robot in robots.items()}
            for name in ("forward_dynamics", "inverse_dynamics")
        )
        names, limits = model.joint_names, model.limits
        own_limits = [limits[name] for name in names]
        ends = [
            (-DEFAULT_HALF_RANGE, DEFAULT_HALF_RANGE)
            if x.lower is None or x.upper is None
            else (x.lower, x.upper)
            for x in own_limits
        ]
        low, high = np.array(ends).T
        effort = np.array([x.effort or np.nan for x in own_limits])
        speed = np.array([x.velocity or DEFAULT_SPEED for x in own_limits])
        middle = {"q": (low + high) / 2, "qd": 0 * speed, "tau": 0 * speed}
        effort_or_zero = np.where(np.isnan(effort), 0.0, effort)
        half = {"q": (high - low) / 2, "qd": speed, "tau": effort_or_zero}
        lacks = {
            f"no speed limit, {DEFAULT_SPEED:g} used": [not x.velocity for x in own_limits],
            "no effort limit, force 0 used": list(np.isnan(effort)),
        }
        sentences = (
            f"{lacking}: {', '.join(n for n, yes in zip(names, which, strict=True) if yes)}"
            for lacking, which in lacks.items()
            if any(which)
        )
        units = tuple(row.unit.removesuffix("/s") for row in velocity_coordinates(model))
        return cls(forward, inverse, middle, half, tuple(names), units, effort, tuple(sentences))

    def differences(self, kind: str, of: str, x: States) -> AnyArray:
        """The error of a model (joints by states)."""
        with np.errstate(all="ignore"):
            true = _run(self.forward["exact"], x)
            if of == "acceleration":
                errors_of_model = _run(self.forward[kind], x) - true
            else:
                errors_of_model = _run(self.inverse[kind], {**x, "qdd": true}) - x["tau"]
        errors: AnyArray = np.nan_to_num(np.abs(errors_of_model), posinf=0.0)
        return errors

    def states(self, scale: float = 1.0) -> dict[str, AnyArray]:
        """Random states, rates and forces. Half of the rates and forces are at their limits. All
        rates are multiplied by `scale`."""
        random, n = np.random.default_rng(SEED), len(self.names)
        drawn = {k: random.uniform(-1, 1, (n, RANDOM_STATES)) for k in self.half}
        for name in ("qd", "tau"):
            corner = np.where(random.uniform(size=RANDOM_STATES) < 0.5, 1.0, 0.0)
            drawn[name] = corner * np.sign(drawn[name]) + (1 - corner) * drawn[name]
        drawn["qd"] = scale * drawn["qd"]
        return {k: self.middle[k][:, None] + self.half[k][:, None] * x for k, x in drawn.items()}

    def worst(self, kind: str, of: str) -> Difference:
        """The largest difference found."""
        x = self.states()
        errors_of_model = self.differences(kind, of, x)
        at = int(errors_of_model.max(axis=0).argmax())
        state = {k: rows[:, at].copy() for k, rows in x.items()}
        for name, k in [(name, k) for name in self.half for k in range(len(self.names))] * ROUNDS:
            tried = self.middle[name][k] + self.half[name][k] * np.linspace(-1, 1, TRIES)
            tried = np.append(tried, state[name][k])
            x = {key: np.repeat(v[:, None], len(tried), axis=1) for key, v in state.items()}
            x[name][k] = tried
            state[name][k] = tried[int(self.differences(kind, of, x).max(axis=0).argmax())]
        errors = self.differences(kind, of, {k: v[:, None] for k, v in state.items()})[:, 0]
        joint = int(errors.argmax())
        share = errors[joint] / self.effort[joint] if of == "torque" else np.nan
        rows = {k: tuple(float(f"{e:.4g}") for e in v) for k, v in state.items()}
        known_share = None if np.isnan(share) else float(share)
        unit = UNITS[of][self.units[joint]]
        return Difference(
            kind, of, self.names[joint], float(errors[joint]), unit, known_share, **rows
        )

    def good_up_to(self) -> float | None:
        """The largest fraction of the speed limits, in tenths, up to which no force of the
        reflected model differs by more than `GOOD_SHARE` of an effort; None without efforts."""
        if np.isnan(self.effort).all():
            return None
        good = 0.0
        for tenths in range(11):
            errors = self.differences("reflected", "torque", self.states(tenths / 10))
            if np.nanmax(errors.max(axis=1) / self.effort) > GOOD_SHARE:
                return good
            good = tenths / 10
        return good


def _run(program: Program, x: States) -> AnyArray:
    """The single output of a program (entries by states)."""
    (entries,) = evaluate(program, x).values()
    rows: Any = [0.0 if entry is ZERO else entry for entry in entries]
    return np.array([np.broadcast_to(row, x["q"].shape[1]) for row in rows])
