"""xacro files: expanded by the optional library, refused in one sentence, the same digest on every
machine."""

import json
import sys

import pytest

from symgen.errors import OptionError, RobotError
from symgen.reading import xacro_sandbox
from symgen.reading.assemble import load
from tests.support.tools import invoke, robot_file, snapshot
from tests.support.xacros import XMLNS, library  # noqa: F401

LINK = """
  <link name="${name}"><inertial><mass value="${mass}"/><origin xyz="0 0 ${length / 2}"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><mesh filename="$(find arm_description)/meshes/a.stl"/></geometry></visual></link>"""


MACRO = f"""<robot {XMLNS}><xacro:macro name="piece" params="name mass length">{LINK}
  <joint name="${{name}}_joint" type="revolute"><parent link="base"/><child link="${{name}}"/><axis xyz="0 1 0"/>
    <limit effort="1" velocity="1"/></joint></xacro:macro></robot>
"""


ROBOT = f"""<?xml version="1.0"?>
<robot name="arm" {XMLNS}>
  <xacro:arg name="mass" default="2"/><xacro:arg name="two" default="false"/>
  <xacro:include filename="$(find arm_description)/urdf/piece.xacro"/>
  <link name="base"/>
  <xacro:piece name="a" mass="$(arg mass)" length="0.5"/>
  <xacro:if value="$(arg two)"><xacro:piece name="b" mass="1" length="${{2 * 0.2}}"/></xacro:if>
</robot>
"""


def package(folder, robot=ROBOT):
    """A package with a robot of macros; the path of its file."""
    (folder / "arm" / "urdf").mkdir(parents=True)
    (folder / "arm" / "package.xml").write_text("<package><name>arm_description</name></package>")
    (folder / "arm" / "urdf" / "piece.xacro").write_text(MACRO)
    path = folder / "arm" / "urdf" / "arm.urdf.xacro"
    path.write_text(robot)
    return path


@pytest.mark.usefixtures("library")
def test_macros_packages_and_arguments(tmp_path):
    path = package(tmp_path)
    masses = {}
    for name, arguments in {"plain": (), "more": (("mass", "3"), ("two", "true"))}.items():
        model = load(path, xacro_args=arguments).model
        masses[name] = [body.links[0].parameters[0] for body in model.bodies]
    assert masses == {"plain": [2.0], "more": [3.0, 1.0]}


@pytest.mark.usefixtures("library")
def test_a_package_at_the_root_of_a_clone_is_found_whatever_the_folder_is_called(tmp_path):
    """Universal Robots' ROS 2 description as cloned: package.xml is in the repository's root."""
    path = package(tmp_path)
    clone = path.parents[1].rename(tmp_path / "Cloned_Repo-main")
    (clone / ".git").mkdir()
    assert load(clone / "urdf" / path.name).model.dof == 1


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["$(arg hand)", "$(env NOT_SET)", "", "a b"])
def test_a_package_name_that_is_computed_is_refused_in_one_sentence(name, tmp_path):
    path = package(tmp_path, ROBOT.replace("find arm_description", f"find {name}"))
    with pytest.raises(RobotError) as caught:
        load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("library")
def test_includes_beside_the_file(tmp_path, monkeypatch):
    path = package(
        tmp_path, ROBOT.replace("$(find arm_description)/urdf/piece.xacro", "piece.xacro")
    )
    monkeypatch.chdir("/")
    assert load(path).model.dof == 1


@pytest.mark.usefixtures("library")
def test_the_same_bytes_from_any_folder_and_by_a_job(tmp_path):
    """Paths of meshes are in the expansion, but not in the digest; arguments are in both."""
    for name in ("here", "there/deeper"):
        path = package(tmp_path / name)
        done = invoke("generate", path, "-o", tmp_path / name / "out", "--xacro-arg", "mass=3")
        assert done.exit_code == 0, done.output
    assert snapshot(tmp_path / "here" / "out") == snapshot(tmp_path / "there" / "deeper" / "out")
    source = json.loads((tmp_path / "here" / "out" / "manifest.json").read_text())["source"]
    assert source["file"] == "arm.urdf.xacro"
    assert load(path).sha256 != source["sha256"] == load(path, xacro_args=[("mass", "3")]).sha256
    job = tmp_path / "here" / "job.toml"
    job.write_text('file = "arm/urdf/arm.urdf.xacro"\nout = "again"\nxacro_args = { mass = 3 }\n')
    assert invoke("generate", job).exit_code == 0
    assert snapshot(tmp_path / "here" / "again") == snapshot(tmp_path / "here" / "out")


@pytest.mark.usefixtures("library")
def test_init_of_a_xacro_file(tmp_path):
    path, made = package(tmp_path), tmp_path / "job.toml"
    assert invoke("init", path, "-o", made, "--xacro-arg", "two=true").exit_code == 0
    assert json.loads(invoke("ops", made, "--json").stdout)["dof"] == 2


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("robot", "said"),
    [
        (
            ROBOT.replace("find arm_description", "find no_such_package"),
            ":4: error: xacro: package 'no_such_package' is not found in the folders around "
            "the file, in ROS_PACKAGE_PATH or in AMENT_PREFIX_PATH; give --package-path DIR, "
            "where DIR or one of its subfolders contains no_such_package/package.xml\n",
        ),
        (
            ROBOT.replace("$(arg mass)", "$(arg size)").replace("0.2}", "0.2}$(arg other)"),
            ":6: error: xacro: arguments 'size' and 'other' have no value; give --xacro-arg "
            "size=VALUE --xacro-arg other=VALUE (the file has defaults for mass = 2)\n",
        ),
        (ROBOT.replace("2 * 0.2", "2 * ("), ":1: error: xacro: xacro cannot expand it: "),
        (
            ROBOT.replace("2 * 0.2", "1 / 0").replace('default="false"', 'default="true"'),
            "xacro cannot expand it: ",
        ),
        (ROBOT.replace("</robot>", ""), ": error: XML: not well-formed"),
        (
            '<!DOCTYPE r [<!ENTITY a "b">]>' + ROBOT.partition("?>")[2],
            ":1: error: <!DOCTYPE>: document types",
        ),
        (ROBOT.replace('"0 1 0"', '"0 0"').replace('name="base"', 'name="a"'), " (expanded):"),
    ],
)
def test_trouble_is_one_sentence(robot, said, tmp_path):
    path = package(tmp_path, robot)
    done = invoke("generate", path, "-o", tmp_path / "out", "--xacro-arg", "two=true")
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    assert done.stderr.startswith(str(path)) and said in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("library")
def test_lines_are_those_of_the_expansion(tmp_path):
    path = package(
        tmp_path,
        ROBOT.replace('length="0.5"', 'length="0.5 0"').replace("${length / 2}", "${length}"),
    )
    (path.parent / "piece.xacro").write_text(MACRO.replace("${length / 2}", "${length}"))
    with pytest.raises(
        RobotError, match=r"arm\.urdf\.xacro \(expanded\):\d+: error: link 'a': xyz of <origin>"
    ):
        load(path)


def test_without_the_library_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    path = package(tmp_path)
    with pytest.raises(
        RobotError,
        match=r"arm\.urdf\.xacro:1: error: xacro: expanding xacro needs xacrodoc; "
        "install it: pip install xacrodoc",
    ):
        load(path)


def test_arguments_where_there_is_no_xacro_file():
    with pytest.raises(OptionError, match=r"--xacro-arg: .*pendulum\.urdf' contains no xacro"):
        load(robot_file("pendulum"), xacro_args=[("a", "b")])
    done = invoke("check", robot_file("pendulum"), "--xacro-arg", "a")
    assert done.stderr == "error: --xacro-arg 'a': give NAME=VALUE, as in hand=true\n"


def test_arguments_given_twice(tmp_path):
    with pytest.raises(
        OptionError, match="--xacro-arg 'a': two values are given; keep one of them"
    ):
        load(package(tmp_path), xacro_args=[("a", "b"), ("a", "c")])


ENDLESS = {"power": "9**9**9", "memory": "len([0] * 10**10)"}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("expression", ENDLESS)
def test_an_expression_that_does_not_end_is_ended(expression, tmp_path, monkeypatch):
    """No switch of the interpreter ends 9**9**9, so the process does that expands the file."""
    monkeypatch.setattr(xacro_sandbox, "MAX_SECONDS", 1)
    path = package(tmp_path, ROBOT.replace("2 * 0.2", ENDLESS[expression]))
    with pytest.raises(
        RobotError,
        match=r"arm\.urdf\.xacro:1: error: xacro: its expansion takes more than 1 s of",
    ) as found:
        load(path, xacro_args=[("two", "true")])
    assert "\n" not in str(found.value)


@pytest.mark.usefixtures("library")
def test_expressions_run_in_another_process_which_looks_into_no_foreign_folder(
    tmp_path, monkeypatch
):
    """A module called xacro in the folder that the user is in is not run."""
    path = package(tmp_path)
    (tmp_path / "xacro.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    assert load(path).model.dof == 1
