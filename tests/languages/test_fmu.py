"""An FMU as source code: FMPy builds and simulates it as Model Exchange and as Co-Simulation."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import symgen
from tests.support.tools import compiled, generated, invoke, robot_file

needs_fmpy = pytest.mark.skipif(find_spec("fmpy") is None, reason="FMPy is not installed")
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
STOP = 0.5
"""Seconds."""


TORQUES = (3.0, -1.0)
"""N m, constant."""


@needs_fmpy
@needs_cmake
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # files of FMPy
def test_fmpy_simulates_it_as_symgen_does(tmp_path):
    """Both interfaces end in the state of `Robot.simulate`, whose integrator is SciPy's."""
    import fmpy
    from fmpy.build import build_platform_binary
    from fmpy.validation import validate_fmu

    _, folder = generated("pendulum", glue=("fmi",), quantities=("forward_dynamics",))
    unzipped = tmp_path / "pendulum_fmu"
    shutil.copytree(folder / "pendulum_fmu", unzipped)
    assert validate_fmu(str(unzipped)) == []
    build_platform_binary(unzipped, all_warnings=True)
    names = symgen.Robot(robot_file("pendulum")).positions
    begin = {f"q[{names[0]}]": 0.4, f"q[{names[1]}]": -0.2, f"qd[{names[0]}]": 1.0}
    begin |= {f"tau[{name}]": torque for name, torque in zip(names, TORQUES, strict=True)}
    robot = symgen.Robot(robot_file("pendulum"))
    ours = robot.simulate(STOP, [0.4, -0.2], [1.0, 0.0], TORQUES)
    end = robot.compile("forward_dynamics").forward_dynamics(ours.q[-1], ours.qd[-1], TORQUES)
    for kind in ("ModelExchange", "CoSimulation"):
        found = fmpy.simulate_fmu(
            str(unzipped),
            fmi_type=kind,
            start_values=begin,
            output=[f"{array}[{name}]" for array in ("q", "qd", "qdd") for name in names],
            stop_time=STOP,
            output_interval=0.01,
            relative_tolerance=1e-9,
        )
        last = np.array([*found[-1]][1:])
        assert np.allclose(last, [*ours.q[-1], *ours.qd[-1], *end], atol=1e-5), kind


@needs_fmpy
@needs_cmake
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # files of FMPy
def test_forces_may_vary_in_time(tmp_path):
    """In Co-Simulation, forces are constant over a step of the importing tool: the end is that of
    `Robot.simulate`, restarted at each step with the forces there."""
    import fmpy
    from fmpy.build import build_platform_binary

    _, folder = generated("pendulum", glue=("fmi",), quantities=("forward_dynamics",))
    unzipped, h = tmp_path / "pendulum_fmu", 0.02
    shutil.copytree(folder / "pendulum_fmu", unzipped)
    build_platform_binary(unzipped)
    robot = symgen.Robot(robot_file("pendulum"))
    names = robot.positions
    times = np.arange(11) * h
    forces = np.stack([3.0 * np.sin(20 * times), np.cos(30 * times)], axis=1)
    signals = np.array(
        [(t, *row) for t, row in zip(times, forces, strict=True)],
        dtype=[("time", float), *((f"tau[{name}]", float) for name in names)],
    )
    found = fmpy.simulate_fmu(
        str(unzipped),
        fmi_type="CoSimulation",
        input=signals,
        start_values={f"q[{names[0]}]": 0.4},
        output=[f"{array}[{name}]" for array in ("q", "qd") for name in names],
        stop_time=float(times[-1]),
        output_interval=h,
    )
    q, qd = np.array([0.4, 0.0]), np.zeros(2)
    for force in forces[:-1]:
        ours = robot.simulate(h, q, qd, force)
        q, qd = ours.q[-1], ours.qd[-1]
    assert np.allclose([*found[-1]][1:], [*q, *qd], atol=1e-7)


@needs_fmpy
def test_names_and_sources_are_described():
    """Each joint has variables of its own; all C files of the module are sources."""
    from fmpy import read_model_description

    _, folder = generated("ur5", glue=("fmi",), quantities=("forward_dynamics", "gravity"))
    described = read_model_description(str(folder / "ur5_fmu"))
    assert len(described.modelVariables) == 1 + 4 * 6
    (build,) = described.buildConfigurations
    (sources,) = build.sourceFileSets
    on_disk = {path.name for path in (folder / "ur5_fmu/sources").glob("*.c")}
    assert set(sources.sourceFiles) == on_disk
    rates = {v.name: v.derivative.name for v in described.modelVariables if v.derivative}
    joint = described.modelVariables[1].name[2:-1]
    assert rates[f"qd[{joint}]"] == f"q[{joint}]" and rates[f"qdd[{joint}]"] == f"qd[{joint}]"


REFUSED = {
    ("--quantity", "gravity"): "an FMU needs the forward dynamics; add --quantity forward_dynamics",
    ("--quantity", "forward_dynamics", "--parameters", "runtime"): "has the input par",
    ("--quantity", "forward_dynamics", "--scalar", "float"): "variables of an FMU are double",
    ("--quantity", "forward_dynamics", "--base", "floating"): "not the rates of its positions",
}


@pytest.mark.parametrize("options", REFUSED)
def test_modules_that_cannot_be_an_fmu_are_refused(options, tmp_path):
    out, robot = tmp_path / "x", "biped" if "floating" in options else "pendulum"
    done = invoke("generate", robot_file(robot), "-o", out, "--glue", "fmi", *options)
    assert done.exit_code == 2 and not out.exists()
    assert "error: --glue fmi: " in done.output and REFUSED[options] in " ".join(
        done.output.split()
    )


@pytest.mark.skipif(find_spec("fmpy") is None, reason="the headers of FMI come with FMPy")
def test_it_compiles_under_strict_warnings(tmp_path):
    import fmpy

    _, folder = generated("ur5", glue=("fmi",), quantities=("forward_dynamics",))
    headers = Path(fmpy.__file__).parent / "c-code"
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
    source = folder / "ur5_fmu/sources/fmi3.c"
    compiled(*strict, "-isystem", headers, "-c", source, "-o", tmp_path / "fmi3.o")
