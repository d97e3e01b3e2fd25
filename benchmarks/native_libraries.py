"""``python -m benchmarks.native_libraries [PART]...``: functions of a Panda beside the libraries of each language.

Each pair is timed in the same run on one thread: Pinocchio's C++ (on Eigen) and the C++ header; adam-robotics,
pytorch-kinematics and the package for PyTorch; MJX, frax and the two packages for JAX. The results go into
docs/benchmarks/native_libraries.json, and the table into docs/languages/index.md."""

import json
import os

os.environ |= {
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

import symgen
from benchmarks.bench import peers
from benchmarks.bench.plain import Plain
from benchmarks.page_tables import write_table
from benchmarks.python_calls import _with_heavy_base

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "docs" / "benchmarks" / "native_libraries.json"
PAGE: Final = ROOT / "docs" / "languages" / "index.md"
NAME: Final = "panda_arm"
ROBOT: Final = f"robots/{NAME}.urdf"
TIP: Final = "link7"
STATES: Final = 4096
SECONDS: Final = 0.2
"""Time for the calls of one function."""
QUANTITIES: Final = ("inverse_dynamics", "mass_matrix", f"frame_pose:{TIP}")
LABELS: Final = {"inverse_dynamics": "τ", "mass_matrix": "M", "frame_pose": "pose of the last link"}

Row = dict[str, Any]
Call = Callable[..., Any]


def microseconds(call: Callable[[], Any]) -> float:
    """The least time of a call."""
    call()
    least, end = float("inf"), time.perf_counter() + SECONDS
    while (begin := time.perf_counter()) < end:
        call()
        least = min(least, time.perf_counter() - begin)
    return 1e6 * least


def row(
    library: str, function: str, ours: str, one: tuple[Call, ...], many: tuple[Call, ...]
) -> Row:
    """Microseconds of symgen and of a library for one state and for a state of a batch."""
    a, b = map(microseconds, one)
    c, d = (microseconds(call) / STATES for call in many)
    print(f"{library}, {function}: {a:.1f} {b:.1f}, {c:.3f} {d:.3f}", flush=True)
    return {"library": library, "function": function, "ours": ours, "one": [a, b], "many": [c, d]}


def cpp(folder: Path, *_: Any) -> Iterator[Row]:
    """Pinocchio's C++, over 64 states one after the other."""
    symgen.generate(ROBOT, folder, languages=("cpp",), quantities=QUANTITIES[:2])
    source = Path(__file__).parent / "in_languages" / "pinocchio.cpp"
    model = folder / "model.txt"
    model.write_text(Plain.of(Path(ROBOT), (), floating=False).text, encoding="utf-8")
    headers = [
        *peers.includes(),
        f"-I{folder}",
        f"-I{Path(peers.__file__).parent}",
        f'-DMODEL="{model}"',
    ]
    flags = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", *peers.DEFINES]
    command = ["g++", *flags, *headers, str(source), "-o", str(folder / "beside")]
    subprocess.run(command, check=True)
    said = subprocess.run([folder / "beside"], check=True, capture_output=True, text=True).stdout
    for function, ours, theirs, difference in map(str.split, said.splitlines()):
        assert float(difference) < 1e-9
        times = [float(ours) / 1e3, float(theirs) / 1e3]
        yield {
            "library": "Pinocchio, C++",
            "function": function,
            "ours": "C++",
            "one": times,
            "many": None,
        }


def torch_rows(folder: Path, q: Any, qd: Any, qdd: Any) -> Iterator[Row]:
    """adam-robotics and pytorch-kinematics, in float64."""
    import pytorch_kinematics
    import torch
    from adam.pytorch import KinDynComputationsBatch

    symgen.generate(ROBOT, folder, languages=("torch",), quantities=QUANTITIES)
    import panda_arm_torch as robot

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    where = (torch.device("cpu"), torch.float64)
    down = torch.tensor([0, 0, -9.81, 0, 0, 0])
    adam = KinDynComputationsBatch(ROBOT, [*robot.JOINT_NAMES], *where, gravity=down)
    chain = pytorch_kinematics.build_serial_chain_from_urdf(Path(ROBOT).read_bytes(), TIP)
    chain = chain.to(dtype=torch.float64)

    def mass(q: Any) -> Any:
        return adam.mass_matrix(torch.eye(4).expand(len(q), 4, 4), q)[:, 6:, 6:]

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        bias = adam.bias_force(torch.eye(4).expand(len(q), 4, 4), q, torch.zeros(len(q), 6), qd)
        return (mass(q) @ qdd[..., None])[..., 0] + bias.reshape(len(q), -1)[:, 6:]

    def pose(q: Any) -> Any:
        return chain.forward_kinematics(q).get_matrix()

    states = [torch.from_numpy(x) for x in (q, qd, qdd)]
    ours = getattr(robot, f"frame_pose_{TIP}")
    torch.testing.assert_close(robot.mass_matrix(states[0]), mass(states[0]))
    torch.testing.assert_close(robot.inverse_dynamics(*states), inverse(*states))
    near, far = ours(states[0]), pose(states[0])
    torch.testing.assert_close(near[0], far[:, :3, :3])
    torch.testing.assert_close(near[1], far[:, :3, 3])
    for library, function, mine, theirs, count in (
        ("adam-robotics", "inverse_dynamics", robot.inverse_dynamics, inverse, 3),
        ("adam-robotics", "mass_matrix", robot.mass_matrix, mass, 1),
        ("pytorch-kinematics", "frame_pose", ours, pose, 1),
    ):
        yield row(library, function, "PyTorch", *compared(mine, theirs, states[:count]))


def compared(mine: Call, theirs: Call, states: list[Any]) -> tuple[tuple[Call, ...], ...]:
    """The calls of two functions of a batch: of its first state, and of all."""
    return tuple(
        tuple(partial(f, *given) for f in (mine, theirs))
        for given in ([x[:1] for x in states], states)
    )


def jax_rows(
    library: str, peer: Callable[[], dict[str, Call]], folder: Path, *given: Any
) -> Iterator[Row]:
    """A library for JAX, compiled by XLA, in float64."""
    import jax

    symgen.generate(ROBOT, folder, languages=("jax",), quantities=QUANTITIES[:2])
    from panda_arm_jax.build import build

    build()
    import panda_arm_jax
    from panda_arm_jax import native

    states = [jax.numpy.asarray(x) for x in given]

    def ready(function: Call, batch: bool) -> Call:
        made = jax.jit(jax.vmap(function) if batch else function)
        return lambda *x: jax.block_until_ready(made(*x))

    for function, theirs in peer().items():
        count = 3 if function == "inverse_dynamics" else 1
        single, many = [x[0] for x in states[:count]], states[:count]
        for label, package in (("JAX", panda_arm_jax), ("JAX, through C", native)):
            mine = getattr(package, function)
            np.testing.assert_allclose(mine(*single), theirs(*single), rtol=1e-6, atol=1e-6)
            calls = [
                tuple(partial(ready(f, batch), *x) for f in (mine, theirs))
                for batch, x in ((False, single), (True, many))
            ]
            yield row(library, function, label, *calls)


def mjx() -> dict[str, Call]:
    """MJX's functions of positions, velocities and accelerations."""
    import mujoco
    from mujoco import mjx as library
    from mujoco.mjx._src import smooth

    model = mujoco.MjModel.from_xml_path(ROBOT)
    made = library.put_model(model)
    data = library.make_data(made)

    def mass(q: Any) -> Any:
        at = smooth.crb(made, smooth.com_pos(made, smooth.kinematics(made, data.replace(qpos=q))))
        return library.full_m(made, at)

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        at = data.replace(qpos=q, qvel=qd, qacc=qdd)
        at = smooth.com_vel(made, smooth.com_pos(made, smooth.kinematics(made, at)))
        return smooth.rne(made, at, flg_acc=True).qfrc_bias

    return {"inverse_dynamics": inverse, "mass_matrix": mass}


def frax() -> dict[str, Call]:
    """frax's functions."""
    import frax as library
    import jax.numpy as jnp

    with tempfile.TemporaryDirectory() as folder:
        robot = library.Robot(_with_heavy_base(ROBOT, Path(folder)))
    down = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    return {
        "inverse_dynamics": lambda q, qd, qdd: robot.rnea(q, qd, qdd, down, None),
        "mass_matrix": robot.mass_matrix,
    }


def table(results: dict[str, Any]) -> str:
    """The rows of the page."""
    lines = [
        "| library | function | symgen's language | time of one call | time of a state in a batch |",
        "|---|---|---|---:|---:|",
    ]
    for r in chain.from_iterable(results["rows"].values()):
        ratios = [
            ""
            if r[k] is None
            else f"{ratio:,.0f}"
            if (ratio := r[k][1] / r[k][0]) >= 100
            else f"{ratio:.2g}"
            for k in ("one", "many")
        ]
        lines.append(
            f"| {r['library']} | {LABELS[r['function']]} | {r['ours']} | {' | '.join(ratios)} |"
        )
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    load = (
        f"shared machine (load {results['load']:.0f}), which slows libraries with large arrays most"
    )
    return "\n".join([*lines, "", f"{versions}; {load}."]) + "\n"


PACKAGES: Final = (
    "pin",
    "torch",
    "adam-robotics",
    "pytorch-kinematics",
    "jax",
    "mujoco-mjx",
    "frax",
)


PARTS: Final = {
    "cpp": cpp,
    "torch": torch_rows,
    "frax": partial(jax_rows, "frax", frax),
    "mjx": partial(jax_rows, "MJX", mjx),
}
"""The measurements by part; each is a run of its own."""


def main(parts: list[str]) -> None:
    """Measure some parts, all by default, store the results with those of the others, and write the
    table."""
    warnings.simplefilter("ignore")
    stored = json.loads(FILE.read_text("utf-8"))["rows"] if FILE.is_file() else {}
    rng = np.random.default_rng(1)
    states = [rng.uniform(-1.5, 1.5, (STATES, 7)) for _ in range(3)]
    for part in parts or PARTS:
        with tempfile.TemporaryDirectory() as name:
            sys.path.insert(0, name)
            stored[part] = [*PARTS[part](Path(name), *states)]
        rows = {name: stored[name] for name in PARTS if name in stored}
        versions = {name: version(name) for name in PACKAGES}
        results = {"versions": versions, "load": os.getloadavg()[0], "rows": rows}
        FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        write_table(PAGE, "native libraries", table(results))


if __name__ == "__main__":
    main(sys.argv[1:])
