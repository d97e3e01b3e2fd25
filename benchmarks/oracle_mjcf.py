"""MJCF files against MuJoCo: ``python -m benchmarks.oracle_mjcf [FILE or FOLDER]...``, `make
oracle-mjcf`; without arguments every robot of mujoco-menagerie, which that package downloads.

Each file is compiled and its tapes run at random states beside MuJoCo's own numbers. The exit
status is 1 if any disagrees or is refused for a reason that is not in REASONS."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import mujoco
import numpy as np

from benchmarks.relative_error import relative
from symgen.compiler.evaluate import evaluate
from symgen.errors import SymgenError
from symgen.mechanics.joint_type import quaternion_rows
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.numbers.scalar import plain
from symgen.reading.assemble import load
from symgen.reading.mjcf import compiled_model
from symgen.reading.mjcf.compiled_model import CompiledMjcf
from symgen.reading.xml_reader import parse_xml
from symgen.reading.xml_text import file_bytes
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

Array = Any
TOLERANCE: Final = 1e-9
"""Allowed difference by the largest entry."""

REASONS: Final = {
    "nothing moves": r"has no moving joint",
    "not for MuJoCo either": r"MuJoCo cannot compile it",
    "impossible inertia": r"inertia has a negative principal moment",
}
"""For what a file may be refused, as its message says it."""

QUANTITIES: Final = {
    "inverse_dynamics": "tau",
    "mass_matrix": "M",
    "bias": "tau_b",
    "gravity": "tau_g",
}


class Judge:
    """MuJoCo's model of a file beside ours: positions and velocities of ours in its own order.

    `at` puts both at a state; then `lift` is the matrix of our velocities to its own."""

    def __init__(self, path: Path, model: RigidBodyModel) -> None:
        root = parse_xml(file_bytes(path), str(path))
        _, self.model = compiled_model(root, path)
        self.data, self.ours = mujoco.MjData(self.model), model
        self.names = CompiledMjcf(mujoco, self.model, root).joints
        self.first = {body.joint.name: body for body in model.bodies if body.at == 0}
        self.places, self.positions = self._places()
        self.lift = np.zeros((self.model.nv, len(model.joint_names)))
        self.drift = np.zeros(self.model.nv)

    def _places(self) -> tuple[dict[str, tuple[int, int]], int]:
        """Where the positions and velocities of each of our joints with coordinates begin."""
        found, at, speed = dict[str, tuple[int, int]](), 0, 0
        for _, joint in self.ours.joints:
            if self.first[joint.name].follows is None:
                found[joint.name] = at, speed
                at, speed = at + len(joint.type.positions), speed + len(joint.type.velocities)
        return found, at

    def random(self, rng: np.random.Generator) -> dict[str, Array]:
        """A state of ours, with quaternions of length 1."""
        n = len(self.ours.joint_names)
        q = rng.uniform(-1, 1, self.positions)
        for name, (at, _) in self.places.items():
            quaternion = getattr(self.first[name].joint.type, "quaternion", None)
            if quaternion is not None:
                part = q[at + quaternion.start : at + quaternion.stop]
                part /= np.linalg.norm(part)
        return {"q": q, "qd": rng.uniform(-1, 1, n), "qdd": rng.uniform(-1, 1, n)}

    def at(self, state: dict[str, Array]) -> None:
        """Put MuJoCo at a state of ours."""
        self.lift[:], self.drift[:] = 0, 0
        for j, name in enumerate(self.names):
            self._joint(j, self.first[name], state)
        self.data.qvel[:] = self.lift @ state["qd"]
        mujoco.mj_forward(self.model, self.data)

    def _joint(self, j: int, body: Body, state: dict[str, Array]) -> None:
        at, dof = self.model.jnt_qposadr[j], self.model.jnt_dofadr[j]
        follow = body.follows
        if body.joint.type.has_one_coordinate:
            terms = ((self.ours.bodies.index(body) + 1, 1.0),) if follow is None else follow.terms
            self.data.qpos[at] = 0.0 if follow is None else follow.offset
            for number, factor in terms:
                place, speed = self.places[self.ours.body(number).joint.name]
                self.data.qpos[at] += factor * state["q"][place]
                self.lift[dof, speed] = factor
            return
        place, speed = self.places[body.joint.name]
        count, size = len(body.joint.type.positions), len(body.joint.type.velocities)
        *xyz, x, y, z, w = state["q"][place : place + count]
        self.data.qpos[at : at + count] = [*xyz, w, x, y, z]
        self.lift[dof : dof + size, speed : speed + size] = np.eye(size)
        if xyz:
            turned = np.array(
                [[plain(e) for e in row] for row in quaternion_rows((x, y, z, w))], dtype=float
            )
            v, omega = np.split(state["qd"][speed : speed + size], 2)
            self.lift[dof : dof + 3, speed : speed + 3] = turned
            self.drift[dof : dof + 3] = turned @ np.cross(omega, v)

    def expected(self, state: dict[str, Array]) -> dict[str, Array]:
        """MuJoCo's answers, in our coordinates."""
        self.at(state)
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        moving = full @ self.drift + self.data.qfrc_bias
        bias = self.lift.T @ moving
        mass = self.lift.T @ full @ self.lift
        self.at({**state, "qd": 0 * state["qd"]})
        return {
            "tau": mass @ state["qdd"] + bias,
            "M": mass.ravel(),
            "tau_b": bias,
            "tau_g": self.lift.T @ self.data.qfrc_bias,
        }


@dataclass(frozen=True)
class Result:
    """What became of one file: worst relative errors by output, or why it is refused."""

    name: str
    dof: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    refusal: str = ""

    @property
    def agrees(self) -> bool:
        return max(self.errors.values(), default=0.0) <= TOLERANCE

    @property
    def understood(self) -> bool:
        """Whether a refusal is for one of REASONS."""
        return not self.refusal or any(re.search(r, self.refusal) for r in REASONS.values())


def compare(path: Path, states: int = 3, seed: int = 0) -> Result:
    """One MJCF file, compiled and run at random states beside MuJoCo."""
    try:
        model = load(path, snap_angles=0.0).model
    except SymgenError as error:
        return Result(path.name, refusal=str(error).removeprefix(f"{path}:"))
    judge, errors = Judge(path, model), dict.fromkeys(QUANTITIES.values(), 0.0)
    functions = [
        trace(ParametricModel(model), FunctionRequest.parse(quantity)) for quantity in QUANTITIES
    ]
    rng = np.random.default_rng(seed)
    for _ in range(states):
        state = judge.random(rng)
        expected = judge.expected(state)
        torque = np.abs(expected["tau"]).max()
        for function in functions:
            given = {key: state[key].tolist() for key in function.inputs}
            for name, values in evaluate(function.program, given).items():
                found = np.array([float(x) for x in values])
                scale = 0.0 if name == "M" else torque  # MuJoCo's rounding where a bias is none
                errors[name] = max(errors[name], relative(found, expected[name], scale))
    return Result(path.name, model.dof, errors)


def files(given: Sequence[str]) -> Iterator[Path]:
    """The files given and those of folders given, or else the robots of mujoco-menagerie."""
    for path in map(Path, given):
        found = sorted(path.rglob("*.xml")) if path.is_dir() else [path]
        yield from (p for p in found if b"<mujoco" in p.read_bytes() and _whole(p))
    if not given:
        import mujoco_menagerie

        for name in mujoco_menagerie.names():
            robot = mujoco_menagerie.get(name)
            folder = robot.path()
            yield from (
                folder / entry.file for entry in robot.entry_points if entry.kind == "robot"
            )


def _whole(path: Path) -> bool:
    """Whether a file has bodies of its own: others are parts to be included, and scenes."""
    return b"<body" in path.read_bytes()


def main(given: Sequence[str]) -> int:
    """Judge every file; the exit status."""
    results = []
    for path in files(given):
        result = compare(path)
        results.append(result)
        worst = max(result.errors.values(), default=0.0)
        word = "agrees" if result.agrees else "DISAGREES"
        said = f"refused:{result.refusal}" if result.refusal else f"{word} {worst:.1e}"
        print(f"{result.name:40} {result.dof:3} {said}", flush=True)
    taken = [r for r in results if not r.refusal]
    refused = len(results) - len(taken)
    print(f"\n{sum(r.agrees for r in taken)} of {len(taken)} agree, {refused} refused")
    return 0 if results and all(r.agrees and r.understood for r in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
