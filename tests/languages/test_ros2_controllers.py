"""The controllers of the ROS 2 package: CMake builds them against mocks of the packages that they
need, and they command what the C computes."""

import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from symgen.algorithms.controllers import CONTROLLERS
from symgen.languages.c.checks import build
from symgen.languages.describe import descriptions
from tests.support.ros2_package import (
    CONTROLLED,
    LIMIT,
    MOCKS,
    OPTIONS,
    TOP,
    N,
    beginning,
    close,
    driven,
    line,
    package,
)
from tests.support.tools import generated

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")


@pytest.fixture(scope="module", params=["double", pytest.param("float", marks=pytest.mark.slow)])
def built(request, tmp_path_factory):
    """The module, its C, the folder where the package of all controllers is built and installed,
    and the relative accuracy of its numbers."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    place = tmp_path_factory.mktemp("ros2")
    module, folder, ours = package(scalar=request.param)
    (place / "CMakeLists.txt").write_text(TOP.format(mocks=MOCKS, package=ours))
    for command in (
        ["cmake", "-S", ".", "-B", "build", f"-DMOCKS={MOCKS}", f"-DPYTHON={sys.executable}"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
        ["cmake", "--install", "build", "--prefix", "there"],
    ):
        done = subprocess.run(command, cwd=place, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return module, build(module, folder), place, 1e-12 if request.param == "double" else 1e-4


def test_gravity_compensation_and_what_interfaces_do(built):
    _, calls, place, digits = built
    rng = np.random.default_rng(0)
    q, qd, k_d = rng.uniform(-0.1, 0.1, N), rng.uniform(-0.1, 0.1, N), rng.uniform(20.0, 30.0, N)
    lines = [
        *beginning({"k_d": k_d, "limit": LIMIT}, q, qd),
        *("names", "cycle 0.002", "lock 0", "cycle 0.0021", "cycle 0.0022", "cycle 0.02"),
        *(line("measured", q), "cycle 0.0023", "takes 0", "cycle 0.003", "cycle 0.009", "takes 1"),
        *("cycle 0.0024", "measured nan", "cycle 0.0025", "deactivate", "allocations"),
    ]
    said = driven(place, "gravity_compensation", lines)
    kinds = ["effort"] * N + ["position"] * N + ["velocity"] * N
    assert said["names"] == [f"left/joint{k % N + 1}/{kind}" for k, kind in enumerate(kinds)]
    wanted = calls.gravity_compensation(q, qd, k_d, LIMIT)
    for cycle in ("cycle 0.002", "cycle 0.0021", "cycle 0.0022", "cycle 0.0023", "cycle 0.0024"):
        assert said[cycle][0] == "ok" and close(said[cycle][1:], wanted, digits)
    assert said["cycle 0.02"][0] == "error"  # an interface was locked for more than 10 ms
    assert said["cycle 0.003"][0] == "ok" and said["cycle 0.009"][0] == "error"  # not accepted
    assert said["cycle 0.0025"] == ["error", *["0"] * N]
    assert said["allocations"] == ["0"]


def test_a_reference_is_followed_held_and_commanded_by_another_controller(built):
    _, calls, place, digits = built
    rng = np.random.default_rng(1)
    q, qd, *wanted = rng.uniform(-0.1, 0.1, (5, N))
    gains = dict(zip(("k_p", "k_d", "k_i"), rng.uniform(20.0, 30.0, (3, N)), strict=True))
    values = (*gains.values(), LIMIT)
    bad = [line("message", [1.0], [], []), line("message", [np.nan] * N, [], [])]
    lines = [
        *beginning({**gains, "limit": LIMIT}, q, qd),
        *("cycle 0.002", line("message", *wanted), "cycle 0.0021", *bad, "cycle 0.0022"),
        *(
            "cycle 0.25",
            "cycle 0.0023",
            "lock 0",
            "cycle 0.001",
            line("measured", q),
            "cycle 0.003",
        ),
        *("chained 1", line("references", wanted), "cycle 0.0024"),
        *(line("references", [np.nan] * 3 * N), "cycle 0.0025", "deactivate", "allocations"),
    ]
    said = driven(place, "computed_torque", lines)
    zero, e_int = np.zeros(N), np.zeros(N)
    rest = (wanted[0], zero, zero)
    steps = {
        "cycle 0.002": (0.002, (q, zero, zero)),
        "cycle 0.0021": (0.0021, wanted),
        "cycle 0.0022": (0.0022, wanted),
        "cycle 0.25": (0.25, rest),  # no message for more than 0.2 s
        "cycle 0.0023": (0.0023, rest),
        "cycle 0.003": (0.004, rest),  # a cycle was left out
        "cycle 0.0024": (0.0024, wanted),
        "cycle 0.0025": (0.0025, rest),
    }
    for name, (h, reference) in steps.items():
        u, e_int = calls.computed_torque(q, qd, [h], *reference, e_int, *values)
        assert said[name][0] == "ok" and close(said[name][1:], u, digits), name
    assert said["cycle 0.001"] == ["ok", *said["cycle 0.0023"][1:]]
    assert said["allocations"] == ["0"]


def test_the_pose_at_activation_is_held(built):
    _, calls, place, digits = built
    rng = np.random.default_rng(2)
    q, qd = rng.uniform(-2.0, 2.0, N), np.zeros(N)
    gains = {
        "k_x": [400.0] * 6,
        "d_x": [40.0] * 6,
        "k_p": [1.0] * N,
        "k_d": [0.5] * N,
        "damping": [0.01],
        "limit": LIMIT,
    }
    p_ref, quat_ref = [0.3, 0.2, 0.1], [0.1, 0.7, -0.1, 0.7]
    lines = [
        *beginning(gains, q, qd),
        *("names", "cycle 0.001", line("pose", [*p_ref, *quat_ref]), "cycle 0.002"),
        *(line("pose", [*p_ref, 0.0, 0.0, 0.0, 2.0]), "cycle 0.003", "allocations"),
    ]
    said = driven(place, "cartesian_impedance_link6", lines)
    names = [x.removeprefix("this_controller/") for x in said["names"] if "this_" in x]
    ends = [*("position.x", "position.y", "position.z"), *(f"orientation.{x}" for x in "xyzw")]
    assert names[N:] == [f"pose/{end}" for end in ends]
    held = calls.gravity(q)  # no error of the pose, no velocity
    assert close(said["cycle 0.001"][1:], held, 1e3 * digits)
    order = ("k_x", "d_x", "k_p", "k_d", "limit", "damping")
    constants = [gains[name] for name in order]
    u = calls.cartesian_impedance_link6(q, qd, q, p_ref, quat_ref, *constants)
    u = u[0] if isinstance(u, tuple) else u
    for cycle in ("cycle 0.002", "cycle 0.003"):
        assert said[cycle][0] == "ok" and close(said[cycle][1:], u, 10 * digits)
    assert said["allocations"] == ["0"]


def test_observers_command_nothing_and_export_their_results(built):
    _, calls, place, digits = built
    rng = np.random.default_rng(3)
    q, qd, qdd, tau = rng.uniform(-1.0, 1.0, (4, N))
    lines = [*beginning({"gain": [25.0] * N}, q, qd, tau), "names", "cycle 0.002", "cycle 0.003"]
    said = driven(place, "momentum_observer", [*lines, "exported", "allocations"])
    kinds = ["position"] * N + ["velocity"] * N + ["effort"] * N
    names = [f"left/joint{k % N + 1}/{kind}" for k, kind in enumerate(kinds)]
    assert said["names"][: 3 * N] == names
    assert said["names"][3 * N] == "this_controller/left/joint1/tau_ext"
    state = (np.zeros(1), np.zeros(N), np.zeros(N))
    for h in (0.002, 0.003):
        r, p, started = calls.momentum_observer(q, qd, tau, [h], *state, [25.0] * N)
        state = (started, p, r)
    assert close(said["exported"], r, digits) and said["allocations"] == ["0"]
    lines = [*beginning({"forget": [0.999]}, q, qd, qdd, tau), "cycle 0.002", "exported"]
    said = driven(place, "recursive_least_squares", lines)
    assert said["cycle 0.002"] == ["ok"] and np.abs(np.array(said["exported"], float)).max() > 0.1


@pytest.mark.parametrize("name", ["adaptive_slotine_li", "joint_impedance"])
def test_the_other_controllers_command_what_the_c_computes(built, name):
    module, calls, place, digits = built
    d = next(x for x in descriptions(module) if x.name == name)
    rng, sizes = np.random.default_rng(5), {a.name: a.size for a in d.arguments}
    gains = {gain: rng.uniform(0.5, 1.0, sizes[gain]) for gain in CONTROLLERS[name].gains}
    gains["limit"] = LIMIT
    q, qd, zero = rng.uniform(-1.0, 1.0, N), rng.uniform(-1.0, 1.0, N), np.zeros(N)
    values = {"q": q, "qd": qd, "q_ref": q, "qd_ref": zero, "qdd_ref": zero, "h": [0.002]}
    values |= {"beta_hat": gains.get("beta_mean"), **gains}
    said = driven(place, name, [*beginning(gains, q, qd), "cycle 0.002", "allocations"])
    u = getattr(calls, name)(*(values[a.name] for a in d.ins))
    u = u[0] if isinstance(u, tuple) else u
    assert said["cycle 0.002"][0] == "ok" and close(said["cycle 0.002"][1:], u, digits)
    assert said["allocations"] == ["0"]


def test_the_order_of_the_joints_is_checked_by_name(built):
    _, _, place, _ = built
    gains = ["numbers k_d " + "0 " * N, "numbers limit " + "1 " * N]
    swapped = "joints " + " ".join(f"joint{k}" for k in (2, 1, 3, 4, 5, 6))
    said = driven(place, "gravity_compensation", [swapped, *gains, "init", "configure"])
    assert said["init"] == ["success"] and said["configure"] == ["error"]
    flag = "flag check_joint_names 0"
    said = driven(place, "gravity_compensation", [swapped, *gains, flag, "init", "configure"])
    assert said["configure"] == ["success"]


def test_a_payload_is_a_parameter_that_can_change_while_it_runs(built, tmp_path):
    """With the numbers of the file and others, against the C of the same module."""
    digits = built[3]
    options = {**OPTIONS, "quantities": ("gravity_compensation",), "parameters": "runtime:link6"}
    scalar = built[0].options["scalar"]
    module, folder = generated("ur5", **options, gravity="runtime", scalar=scalar)
    ours, calls = folder / "ur5_controllers", build(module, folder)
    (tmp_path / "CMakeLists.txt").write_text(TOP.format(mocks=MOCKS, package=ours))
    for command in (
        ["cmake", "-S", ".", "-B", "build", f"-DMOCKS={MOCKS}", f"-DPYTHON={sys.executable}"],
        ["cmake", "--build", "build"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    data = yaml.safe_load((ours / "config" / "controllers.yaml").read_text())
    given = data["ur5_gravity_compensation"]["ros__parameters"]
    (block,) = module.robot.blocks.values()
    assert given["pi"] == list(block) and given["g"] == [0.0, 0.0, -9.81]
    rng = np.random.default_rng(4)
    q, zero = rng.uniform(-1.0, 1.0, N), np.zeros(N)
    heavy = [3.0 * x for x in block]
    gains = {"k_d": zero, "limit": LIMIT, "pi": block, "g": given["g"]}
    lines = [*beginning(gains, q, zero), "cycle 0.001", line("numbers pi", heavy), "set"]
    said = driven(tmp_path, "gravity_compensation", [*lines, "cycle 0.002", "allocations"])
    for cycle, pi in (("cycle 0.001", block), ("cycle 0.002", heavy)):
        par = calls.regroup(pi)
        u = calls.gravity_compensation(q, zero, zero, LIMIT, given["g"], par)
        assert said[cycle][0] == "ok" and close(said[cycle][1:], u, digits), cycle
    assert said["allocations"] == ["0"]


def test_the_package_is_installed_with_what_it_needs(built):
    module, _, place, _ = built
    ours = package(scalar=module.options["scalar"])[2]
    there = {path.relative_to(place / "there").as_posix() for path in (place / "there").rglob("*")}
    assert {
        "lib/libur5_controllers.so",
        "share/ur5_controllers/config/controllers.yaml",
        "share/ur5_controllers/launch/ur5_controllers.launch.py",
        "include/ur5_controllers/ur5_controllers/computed_torque.hpp",
        "include/ur5_controllers/ur5.h",
    } <= there
    found = {*(place / "build" / "found.txt").read_text().split()}
    needed = {x.text for x in ElementTree.parse(ours / "package.xml").iter("depend")}
    assert found == needed | {"ament_cmake"}


def test_every_controller_has_a_plugin():
    rows = {name.partition(":")[0] for name in CONTROLLED}
    assert rows == {name for name, row in CONTROLLERS.items() if not row.is_elastic}
