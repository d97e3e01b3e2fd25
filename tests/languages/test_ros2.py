"""The ROS 2 package: CMake builds it against mocks of the packages that it needs, its controllers
command what the C computes, and what describes it is read by parsers."""

import ast
import shutil
import subprocess
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tools import generated, invoke, robot_file

from symgen.algorithms.controllers import CONTROLLERS
from symgen.languages.c.calls import build
from symgen.languages.describe import descriptions

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
MOCKS = Path(__file__).resolve().parents[1] / "support" / "ros2"
CONTROLLED = (
    *("gravity_compensation", "computed_torque", "joint_impedance", "momentum_observer"),
    *("adaptive_slotine_li", "recursive_least_squares", "cartesian_impedance:link6"),
)
OPTIONS = {
    "quantities": (*CONTROLLED, "gravity", "frame_pose:link6"),
    "glue": ("ros2",),
    "languages": ("c",),
}
TYPES = [
    "".join(word.capitalize() for word in name.replace(":", "_").split("_")) for name in CONTROLLED
]
N = 6


def package(**more):
    module, folder = generated("ur5", **OPTIONS, **more)
    return module, folder, folder / "ur5_controllers"


TOP = """cmake_minimum_required(VERSION 3.19)
project(top LANGUAGES C CXX)
set(BUILD_TESTING ON)
enable_testing()
include({mocks}/packages.cmake)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
    $<$<COMPILE_LANGUAGE:CXX>:-Wshadow> $<$<COMPILE_LANGUAGE:CXX>:-Wconversion> -Werror)
add_subdirectory({package} package)
add_executable(drive {mocks}/drive.cpp)
target_link_libraries(drive PRIVATE -Wl,--no-as-needed ur5_controllers)
"""


def driven(place, controller, lines):
    """The words of the answers to the lines, which the driver of a controller reads."""
    name = "".join(word.capitalize() for word in controller.split("_"))
    command = [place / "build/drive", f"ur5_controllers::{name}"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    answers = [line.split() for line in done.stdout.splitlines()]
    return dict(zip(lines, answers, strict=True)) if len({*lines}) == len(lines) else answers


def line(what, *arrays):
    """A line for the driver; arrays are separated by semicolons."""
    return f"{what} " + " ; ".join(" ".join(map(str, np.ravel(x))) for x in arrays)


def beginning(gains, *measured):
    """The lines up to activation, with names of joints that have a prefix."""
    joints = " ".join(f"left/joint{k + 1}" for k in range(N))
    numbers = [f"numbers {name} {' '.join(map(str, np.ravel(x)))}" for name, x in gains.items()]
    head = [f"joints {joints}", *numbers, "init", "configure"]
    return [*head, line("measured", np.ravel(measured)), "activate"]


def close(words, numbers, digits):
    return np.allclose(np.array(words, float), np.ravel(numbers), rtol=digits, atol=10 * digits)


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


LIMIT = np.full(N, 1000.0)


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
    assert rows == {*CONTROLLERS}


def test_what_describes_the_package_is_read_by_parsers():
    module, _, ours = package(module_version="2.3.1", module_url="https://example.org/a?b=1")
    parser = pytest.importorskip("catkin_pkg.package", reason="catkin_pkg is not installed")
    found = parser.parse_package(str(ours))
    found.validate()
    assert (found.name, found.version, found.package_format) == ("ur5_controllers", "2.3.1", 3)
    assert found.get_build_type() == "ament_cmake" and found.licenses == ["0BSD"]
    assert found.urls[0].url == "https://example.org/a?b=1"
    classes = ElementTree.parse(ours / "ur5_controllers.xml").getroot()
    assert classes.attrib == {"path": "ur5_controllers"}
    assert [x.attrib for x in classes] == [
        {
            "name": f"ur5_controllers/{name}",
            "type": f"ur5_controllers::{name}",
            "base_class_type": "controller_interface::ChainableControllerInterface",
        }
        for name in TYPES
    ]
    data = yaml.safe_load((ours / "config" / "controllers.yaml").read_text())
    for name in (text.replace(":", "_") for text in CONTROLLED):
        given = data[f"ur5_{name}"]["ros__parameters"]
        wanted = yaml.safe_load((ours / "src" / f"{name}_parameters.yaml").read_text())[name]
        required = {key: row for key, row in wanted.items() if "default_value" not in row}
        assert given.keys() - {"type"} == required.keys()
        for key, row in required.items():
            assert len(given[key]) == row["validation"]["fixed_size<>"]
            lowest = row["validation"].get("lower_element_bounds<>", -np.inf)
            assert key == "joints" or min(given[key]) >= lowest
        assert given["joints"] == list(module.robot.model.joint_names)
        if "limit" in given:
            assert given["limit"] == [150.0, 150.0, 150.0, 28.0, 28.0, 28.0]


def test_the_readme_knows_what_colcon_does_with_cmake_s_file(tmp_path):
    _, _, ours = package()
    assert "--base-paths" not in (ours / "README.md").read_text()
    given = ("-o", tmp_path / "x", "--lang", "c", "--controller", "gravity_compensation")
    done = invoke("generate", robot_file("pendulum"), *given, "--glue", "cmake,ros2")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "x" / "pendulum_controllers" / "README.md").read_text()
    assert "--base-paths src/pendulum/pendulum_controllers" in text


class Word:
    """What is called with anything and remembers it."""

    def __init__(self, *arguments, **named):
        self.arguments, self.named = arguments, named


def test_the_launch_file_starts_a_spawner(monkeypatch):
    _, _, ours = package()
    words = {
        "launch": ("LaunchDescription",),
        "launch.actions": ("DeclareLaunchArgument",),
        "launch.substitutions": ("LaunchConfiguration", "PathJoinSubstitution"),
        "launch_ros": (),
        "launch_ros.actions": ("Node",),
        "launch_ros.substitutions": ("FindPackageShare",),
    }
    for name, own in words.items():
        module = types.ModuleType(name)
        module.__dict__.update(dict.fromkeys(own, Word))
        monkeypatch.setitem(sys.modules, name, module)
    text = (ours / "launch" / "ur5_controllers.launch.py").read_text()
    space = {}
    exec(compile(ast.parse(text), "launch", "exec"), space)
    *_, node = space["generate_launch_description"]().arguments[0]
    assert node.named["package"] == "controller_manager" and node.named["executable"] == "spawner"


def test_names_stay_data(tmp_path):
    nasty = 'é"]\n# <x> & \\ {{ x }} --> #include "x"'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    escaped = (
        nasty.replace("&", "&amp;")
        .replace('"', "&quot;")
        .replace("<", "&lt;")
        .replace("\n", "&#10;")
    )
    robot = text.replace(f'"{joint}"', f'"{escaped}"').replace(
        'name="pendulum"', f'name="{escaped}"'
    )
    (tmp_path / "x.urdf").write_text(robot, encoding="utf-8")
    options = (
        "--lang",
        "c",
        "--glue",
        "ros2",
        "--controller",
        "computed_torque",
        "--prefix",
        "arm",
    )
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", *options)
    assert done.exit_code == 0, done.output
    ours = tmp_path / "x" / "arm_controllers"
    data = yaml.safe_load((ours / "config" / "controllers.yaml").read_text())
    assert data["arm_computed_torque"]["ros__parameters"]["joints"][0] == nasty
    description = ElementTree.parse(ours / "package.xml").find("description").text
    assert "{{ x }}" in description and description.isascii()
    code = [
        path for path in ours.rglob("*") if path.suffix in (".cpp", ".hpp", ".py", ".txt", ".md")
    ]
    assert len(code) > 4 and not [path for path in code if 'include "x' in path.read_text()]


@pytest.mark.parametrize(
    "options, said",
    [
        (
            (),
            "--glue ros2: there is no controller for a plugin; add --controller NAME",
        ),
        (
            ("--controller", "cartesian_impedance:left_foot"),
            "--glue ros2: cartesian_impedance:left_foot holds the pose that the link has at "
            "activation; add --quantity frame_pose:left_foot",
        ),
        (
            ("--controller", "gravity_compensation", "--base", "floating"),
            "--glue ros2: joints of ros2_control have one",
        ),
    ],
)
def test_robots_that_ros2_control_has_no_place_for(options, said, tmp_path):
    given = ("-o", tmp_path / "x", "--lang", "c", "--glue", "ros2", *options)
    done = invoke("generate", robot_file("biped"), *given)
    assert done.exit_code == 2 and said in done.stderr and not (tmp_path / "x").exists()
