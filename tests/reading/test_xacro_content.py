"""xacro is known by its content, whatever the file is called; packages and where they are."""

import pytest

from symgen.errors import RobotError
from symgen.jobs.api import is_self_contained
from symgen.reading.assemble import load
from tests.support.tools import invoke
from tests.support.xacros import PLAIN, XMLNS, library, plain, repository, said  # noqa: F401

MESH = '<visual><geometry><mesh filename="{}/x.stl"/></geometry></visual>'


def mass_of(loaded):
    return loaded.model.body(1).links[0].parameters[0]


@pytest.mark.usefixtures("library")
def test_xacro_is_seen_in_the_content(tmp_path):
    more = '<xacro:property name="m" value="3"/>'
    named = [plain(tmp_path / f"r{end}", more, mass="${m / 2}") for end in (".urdf", ".xacro")]
    first, second = (load(path) for path in named)
    assert mass_of(first) == mass_of(second) == 1.5 and first.sha256 == second.sha256
    assert first.notices == ()


@pytest.mark.usefixtures("library")
def test_what_is_wrong_with_the_expansion_is_said_of_the_file(tmp_path):
    path = plain(tmp_path / "r.urdf", '<xacro:property name="m" value="-3"/>', mass="${m / 2}")
    with pytest.raises(
        RobotError,
        match=r"r\.urdf:1: error: <xacro:property>: the output of xacro is not a robot: "
        r"link 'a': mass is negative",
    ):
        load(path)


@pytest.mark.usefixtures("library")
def test_arguments_of_a_urdf_with_expressions(tmp_path):
    path = plain(tmp_path / "r.urdf", mass="$(arg m)", ns="")
    with pytest.raises(RobotError, match=r":2: error: .*'m' has no value; give --xacro-arg m=VAL"):
        load(path)
    assert mass_of(load(path, xacro_args=[("m", "4")])) == 4


def test_a_variable_of_nobody_is_a_sentence(tmp_path):
    with pytest.raises(
        RobotError, match=r"value of <mass> holds '\$m', and the file has no variab"
    ):
        load(plain(tmp_path / "r.urdf", mass="$m"))


LEFT = "this xacro macro is not defined in the file; its content is missing"


def test_what_is_left_over_and_has_no_say_in_dynamics_is_noted(tmp_path):
    """Without the library too."""
    path = plain(tmp_path / "r.urdf", '<xacro:camera name="c"/>', MESH.format("$(arg dir)"))
    assert said(path) == [
        f"warning: <xacro:camera>: {LEFT}",
        "note: <mesh>: filename contains the unexpanded xacro expression $(arg dir) and is ignored",
    ]


@pytest.mark.usefixtures("library")
def test_what_is_left_over_beside_what_is_expanded(tmp_path):
    more = '<xacro:property name="m" value="3"/><xacro:camera name="c"/>'
    path = plain(tmp_path / "r.urdf", more, MESH.format("$(arg dir)"), mass="${m}")
    assert said(path) == [
        "warning: <xacro:camera>: this macro is not defined in the file; its content is missing"
    ]
    with pytest.raises(RobotError, match="unknown macro name: xacro:camera"):
        load(plain(tmp_path / "r.xacro", more))  # which was never expanded


def test_a_call_inside_a_link_has_a_say_in_dynamics(tmp_path):
    path = plain(tmp_path / "r.urdf", look='<xacro:box_inertia mass="1"/>')
    with pytest.raises(RobotError, match="<xacro:box_inertia>: the file contains unexpanded xacro"):
        load(path)


def test_what_leads_to_other_files_is_not_alone():
    """So that `symgen.compile` reads it each time."""
    assert is_self_contained("r.urdf", PLAIN.format(ns="", more="", look="", mass="1").encode())
    for changed in ({"ns": XMLNS}, {"more": NEEDS}, {"mass": "$(arg m)"}):
        given = {"ns": "", "more": "", "look": "", "mass": "1"} | changed
        assert not is_self_contained("r.urdf", PLAIN.format(**given).encode())


COMMON = f'<robot {XMLNS}><xacro:property name="m" value="2.5"/></robot>'


NEEDS = '<xacro:include filename="$(find far_resources)/urdf/common.xacro"/>'


def resources(folder, name="far_resources", manifest="package.xml"):
    (folder / "urdf").mkdir(parents=True)
    (folder / "urdf" / "common.xacro").write_text(COMMON)
    if manifest:
        text = f"<package><!-- <name>x</name> --><name>{name}</name></package>"
        (folder / manifest).write_text(text)
    return folder


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("place", "manifest"),
    [
        ("ws/src/far", "package.xml"),
        ("ws/src/group/far", "package.xml"),
        ("ws/far", "package.xml"),
        ("ws/src/far_resources", "manifest.xml"),
        ("ws/src/far_resources", ""),
    ],
)
def test_packages_around_the_file(place, manifest, tmp_path):
    resources(tmp_path / place, manifest=manifest)
    path = plain(tmp_path / "ws" / "src" / "arm" / "urdf" / "arm.xacro", NEEDS, mass="${m}")
    (path.parents[1] / "package.xml").write_text("<package><name>arm</name></package>")
    assert mass_of(load(path)) == 2.5


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"])
def test_packages_where_ros_says(variable, tmp_path, monkeypatch):
    ros = variable.startswith("ROS")
    resources(tmp_path / "opt" / ("x" if ros else "share") / "far_resources")
    path = plain(tmp_path / "a/b/c/d/e/f" / "arm.xacro", NEEDS, mass="${m}")
    with pytest.raises(RobotError, match="--package-path DIR"):
        load(path)
    monkeypatch.setenv(variable, f"/nowhere:{tmp_path / 'opt'}")
    assert mass_of(load(path)) == 2.5


@pytest.mark.usefixtures("library")
def test_the_command_of_the_message_works_and_so_does_a_job(tmp_path):
    """Two packages apart from each other, without ROS."""
    resources(tmp_path / "elsewhere" / "far_resources")
    path = plain(tmp_path / "a/b/c/d/e/f" / "arm.xacro", NEEDS, mass="${m}")
    refused = invoke("generate", path, "-o", tmp_path / "out")
    assert refused.exit_code == 2 and "--package-path DIR" in refused.stderr
    given = ("--package-path", tmp_path / "elsewhere")
    done = invoke("generate", path, "-o", tmp_path / "out", *given)
    assert done.exit_code == 0, done.output
    manifest = (tmp_path / "out" / "manifest.json").read_text()
    assert "elsewhere" not in manifest and str(tmp_path) not in manifest
    assert invoke("init", path, "-o", tmp_path / "job.toml", *given).exit_code == 0
    assert 'package_paths = ["elsewhere"]' in (tmp_path / "job.toml").read_text()
    assert invoke("ops", tmp_path / "job.toml").exit_code == 0
    assert invoke("check", path, "--package-path", tmp_path / "no").stderr == (
        f"error: --package-path '{tmp_path / 'no'}': the folder does not exist\n"
    )


@pytest.mark.usefixtures("library", "repository")
def test_a_package_that_only_unread_files_are_from_stops_nothing(tmp_path):
    gazebo = "<gazebo><plugin><file>$(find far_control)/config/c.yaml</file></plugin></gazebo>"
    path = plain(tmp_path / "arm.xacro", gazebo, MESH.format("$(find far_meshes)"))
    (line,) = said(path)
    assert line.startswith("note: xacro: package 'far_control' was not found, but only files")


@pytest.mark.usefixtures("library", "repository")
@pytest.mark.parametrize(
    "more",
    [
        '<xacro:include filename="$(find gone)/a.xacro" optional="true"/>',
        '<xacro:include filename="$(find gone)/*.xacro"/>',
        '<xacro:property name="f" value="$(find gone)/a.yaml"/>'
        '<xacro:property name="y" value="${xacro.load_yaml(f)}"/>',
    ],
)
def test_a_package_whose_files_are_opened_is_missed(more, tmp_path):
    with pytest.raises(
        RobotError, match=r"arm\.xacro:1: error: xacro: package 'gone' is not found"
    ):
        load(plain(tmp_path / "arm.xacro", more, mass="${len(y)}" if "yaml" in more else "1"))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("start", ['<?xml version="0.0"?>', '\n\n<?xml version="1.0"?>\n'])
def test_declarations_that_no_parser_takes(start, tmp_path):
    path = plain(tmp_path / "arm.xacro", mass="${2 + 1}")
    path.write_text(start + path.read_text())
    assert mass_of(load(path)) == 3


@pytest.mark.usefixtures("library")
def test_folders_for_packages_that_nothing_comes_from_are_said(tmp_path):
    resources(tmp_path / "near" / "far_resources")
    (tmp_path / "idle").mkdir()
    path = plain(tmp_path / "a/b/c/d/e/f" / "arm.xacro", NEEDS, mass="${m}")
    given = [x for name in ("near", "idle") for x in ("--package-path", tmp_path / name)]
    done = invoke("generate", path, "-o", tmp_path / "out", "--quantity", "gravity", *given)
    assert done.exit_code == 0, done.output
    said = [line for line in done.stderr.splitlines() if "--package-path" in line]
    assert len(said) == 1 and f"no file was taken from '{tmp_path / 'idle'}'" in said[0]
    written = [p.read_text() for p in (tmp_path / "out").iterdir()]
    assert not any(str(tmp_path) in text for text in written)


SOURCES = {
    "arm.urdf": '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>',
    "arm.toml": 'convention = "standard"\n[[joint]]\na = 1\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]\n',
}


@pytest.mark.parametrize("name", SOURCES)
def test_options_of_xacro_where_there_is_none(name, tmp_path):
    path = tmp_path / name
    path.write_text(SOURCES[name])
    done = invoke("check", path, "--package-path", tmp_path)
    assert done.exit_code == 0 and f"no file was taken from '{tmp_path}'" in done.stderr, (
        done.output
    )
    assert invoke("check", path, "--package-path", tmp_path / "no").exit_code == 2
    refused = invoke("check", path, "--xacro-arg", "a=1")
    assert refused.exit_code == 2 and "contains no xacro; remove the option" in refused.stderr
