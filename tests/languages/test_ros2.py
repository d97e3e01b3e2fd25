"""The ROS 2 package: what describes it is read by parsers; what cannot be a plugin is refused."""

import ast
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.support.ros2_package import CONTROLLED, TYPES, package
from tests.support.tools import invoke, robot_file

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")


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
            ("--controller", "elastic_feedback_linearization"),
            "--glue ros2: ros2_control has no interface for the input",
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
