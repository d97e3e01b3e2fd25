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

from symgen.languages.c.calls import build

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
MOCKS = Path(__file__).resolve().parents[1] / "support" / "ros2"
CONTROLLERS = ("gravity_compensation", "computed_torque")
OPTIONS = {"quantities": CONTROLLERS, "glue": ("ros2",), "languages": ("c",)}
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


def driven(place, controller, *inputs):
    """The lines that the driver prints for a controller."""
    name = "".join(word.capitalize() for word in controller.split("_"))
    words = [
        f"ur5_controllers::{name}",
        *(["reference"] if controller == "computed_torque" else []),
    ]
    told = " ".join(map(str, inputs))
    done = subprocess.run(
        [place / "build/drive", *words], input=told, capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
@pytest.mark.parametrize("scalar", ["double", pytest.param("float", marks=pytest.mark.slow)])
def test_the_controllers_command_what_the_c_computes(scalar, tmp_path):
    module, folder, ours = package(scalar=scalar)
    (tmp_path / "CMakeLists.txt").write_text(TOP.format(mocks=MOCKS, package=ours))
    for command in (
        ["cmake", "-S", ".", "-B", "build", f"-DMOCKS={MOCKS}", f"-DPYTHON={sys.executable}"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
        ["cmake", "--install", "build", "--prefix", "there"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    calls, rng = build(module, folder), np.random.default_rng(0)
    q, qd, *wanted = rng.uniform(-0.1, 0.1, (5, N))
    k_p, k_d, k_i, limit = rng.uniform(20.0, 30.0, (4, N))
    limit += 1000.0
    digits = 1e-12 if scalar == "double" else 1e-4

    lines = driven(tmp_path, "gravity_compensation", N, 2, "k_d", *k_d, "limit", *limit, *q, *qd)
    kinds = ["effort"] * N + ["position"] * N + ["velocity"] * N
    assert lines[0] == [f"left/joint{k % N}/{kind}" for k, kind in enumerate(kinds)]
    near = {"rtol": digits, "atol": 10 * digits}
    first = calls.gravity_compensation(q, qd, k_d, limit)
    assert lines[1][0] == "ok" and np.allclose(np.array(lines[1][1:], float), first, **near)
    assert lines[2] == lines[1]  # an interface is held
    assert lines[3] == ["error", *["0"] * N] and lines[4] == ["0"] * N and lines[5] == ["0"]

    gains = ("k_p", *k_p, "k_d", *k_d, "k_i", *k_i, "limit", *limit)
    lines = driven(tmp_path, "computed_torque", N, 4, *gains, *q, *qd, *np.ravel(wanted))
    e_int, zero = np.zeros(N), np.zeros(N)
    for line, reference in zip(lines[1:5], [(q, zero, zero), *[wanted] * 3], strict=True):
        u, e_int = calls.computed_torque(q, qd, [0.002], *reference, e_int, k_p, k_d, k_i, limit)
        assert line[0] == "ok" and np.allclose(np.array(line[1:], float), u, **near)
    assert lines[5] == lines[4] and lines[6] == ["error", *["0"] * N]
    assert lines[-1] == ["0"]  # allocations in update
    there = {
        path.relative_to(tmp_path / "there").as_posix() for path in (tmp_path / "there").rglob("*")
    }
    assert {
        "lib/libur5_controllers.so",
        "share/ur5_controllers/config/controllers.yaml",
        "share/ur5_controllers/launch/ur5_controllers.launch.py",
        "include/ur5_controllers/ur5_controllers/computed_torque.hpp",
        "include/ur5_controllers/ur5.h",
    } <= there
    found = {*(tmp_path / "build" / "found.txt").read_text().split()}
    needed = {x.text for x in ElementTree.parse(ours / "package.xml").iter("depend")}
    assert found == needed | {"ament_cmake"}


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
            "base_class_type": "controller_interface::ControllerInterface",
        }
        for name in ("GravityCompensation", "ComputedTorque")
    ]
    data = yaml.safe_load((ours / "config" / "controllers.yaml").read_text())
    for name in CONTROLLERS:
        given = data[f"ur5_{name}"]["ros__parameters"]
        wanted = yaml.safe_load((ours / "src" / f"{name}_parameters.yaml").read_text())[name]
        assert given.keys() - {"type"} == wanted.keys()
        assert all(
            len(given[key]) == row["validation"]["fixed_size<>"] for key, row in wanted.items()
        )
        assert given["joints"] == list(module.robot.model.joint_names)
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
            "--glue ros2: there is no controller for a plugin; add --controller gravity_compensation",
        ),
        (
            ("--controller", "computed_torque", "--gravity", "runtime"),
            "--glue ros2: computed_torque reads g",
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
