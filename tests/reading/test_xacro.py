"""xacro files: expanded by the optional library, refused in one sentence, the same digest on every
machine."""

import json
import sys

import pytest
from tools import invoke, robot_file, snapshot

from symgen.errors import OptionError, RobotError
from symgen.reading import xacro_child
from symgen.reading.alone import is_alone
from symgen.reading.assemble import load

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
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


@pytest.fixture
def library():
    pytest.importorskip("xacrodoc", reason="needs the extra xacro")


@pytest.mark.usefixtures("library")
def test_macros_packages_and_arguments(tmp_path):
    path = package(tmp_path)
    masses = {}
    for name, arguments in {"plain": (), "more": (("mass", "3"), ("two", "true"))}.items():
        model = load(path, xacro_args=arguments).model
        masses[name] = [body.links[0].parameters[0] for body in model.bodies]
    assert masses == {"plain": [2.0], "more": [3.0, 1.0]}


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
            ":4: error: xacro: package 'no_such_package' is not found in the folders above and beside "
            "the file, in ROS_PACKAGE_PATH or in AMENT_PREFIX_PATH; give --package-path DIR, "
            "where DIR/no_such_package/package.xml is, or DIR is a folder above that\n",
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
        match=r"arm\.urdf\.xacro:1: error: xacro: needs xacro to be expanded; install it: "
        r"pip install 'symgen\[xacro\]'",
    ):
        load(path)


def test_arguments_where_there_is_no_xacro_file():
    with pytest.raises(OptionError, match=r"--xacro-arg: .*pendulum\.urdf' has no xacro in it"):
        load(robot_file("pendulum"), xacro_args=[("a", "b")])
    done = invoke("check", robot_file("pendulum"), "--xacro-arg", "a")
    assert done.stderr == "error: --xacro-arg 'a': give NAME=VALUE, as in hand=true\n"


def test_arguments_given_twice(tmp_path):
    with pytest.raises(OptionError, match="--xacro-arg 'a': given twice; keep one value"):
        load(package(tmp_path), xacro_args=[("a", "b"), ("a", "c")])


ENDLESS = {"power": "9**9**9", "memory": "len([0 for i in range(10**10)])"}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("expression", ENDLESS)
def test_an_expression_that_does_not_end_is_ended(expression, tmp_path):
    """No switch of the interpreter ends 9**9**9, so the process does that expands the file."""
    path = package(tmp_path, ROBOT.replace("2 * 0.2", ENDLESS[expression]))
    with pytest.raises(
        RobotError,
        match=rf"arm\.urdf\.xacro:1: error: xacro: expanding it takes more than {xacro_child.SECONDS} s of",
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


# -- by content, whatever the file is called -------------------------------------------------------

PLAIN = """<robot name="r" {ns}>{more}<link name="base">{look}</link>
<link name="a"><inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
 izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
</robot>"""
MESH = '<visual><geometry><mesh filename="{}/x.stl"/></geometry></visual>'


def plain(path, more="", look="", mass="1", ns=XMLNS):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PLAIN.format(more=more, look=look, mass=mass, ns=ns))
    return path


def mass_of(loaded):
    return loaded.model.body(1).links[0].parameters[0]


def said(path, **options):
    return [f"{n.level}: {n.element}: {n.message}" for n in load(path, **options).notices]


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
        match=r"r\.urdf:1: error: <xacro:property>: what xacro makes of this file is no robot: "
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
    with pytest.raises(RobotError, match=r"value of <mass> holds '\$m', and a URDF has no variab"):
        load(plain(tmp_path / "r.urdf", mass="$m"))


LEFT = "a macro of xacro that is not defined here; what it would add is missing"


def test_what_is_left_over_and_has_no_say_in_dynamics_is_noted(tmp_path):
    """Without the library too."""
    path = plain(tmp_path / "r.urdf", '<xacro:camera name="c"/>', MESH.format("$(arg dir)"))
    assert said(path) == [
        f"warning: <xacro:camera>: {LEFT}",
        "note: <mesh>: the xacro expression $(arg dir) is left in filename, which is not read",
    ]


@pytest.mark.usefixtures("library")
def test_what_is_left_over_beside_what_is_expanded(tmp_path):
    more = '<xacro:property name="m" value="3"/><xacro:camera name="c"/>'
    path = plain(tmp_path / "r.urdf", more, MESH.format("$(arg dir)"), mass="${m}")
    assert said(path) == [
        "warning: <xacro:camera>: a macro that is not defined here; what it would add is missing"
    ]
    with pytest.raises(RobotError, match="unknown macro name: xacro:camera"):
        load(plain(tmp_path / "r.xacro", more))  # which was never expanded


def test_a_call_inside_a_link_has_a_say_in_dynamics(tmp_path):
    path = plain(tmp_path / "r.urdf", look='<xacro:box_inertia mass="1"/>')
    with pytest.raises(RobotError, match="<xacro:box_inertia>: xacro elements are left in what"):
        load(path)


def test_what_leads_to_other_files_is_not_alone():
    """So that `symgen.compile` reads it each time."""
    assert is_alone("r.urdf", PLAIN.format(ns="", more="", look="", mass="1").encode())
    for changed in ({"ns": XMLNS}, {"more": NEEDS}, {"mass": "$(arg m)"}):
        given = {"ns": "", "more": "", "look": "", "mass": "1"} | changed
        assert not is_alone("r.urdf", PLAIN.format(**given).encode())


# -- packages --------------------------------------------------------------------------------------

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
        f"error: --package-path '{tmp_path / 'no'}': there is no such folder\n"
    )


@pytest.mark.usefixtures("library")
def test_a_package_that_only_unread_files_are_from_stops_nothing(tmp_path):
    gazebo = "<gazebo><plugin><file>$(find far_control)/config/c.yaml</file></plugin></gazebo>"
    path = plain(tmp_path / "arm.xacro", gazebo, MESH.format("$(find far_meshes)"))
    (line,) = said(path)
    assert line.startswith("note: xacro: package 'far_control' is not found, and only files that")


@pytest.mark.usefixtures("library")
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
    assert len(said) == 1 and f"nothing comes from '{tmp_path / 'idle'}'" in said[0]
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
    assert done.exit_code == 0 and f"nothing comes from '{tmp_path}'" in done.stderr, done.output
    assert invoke("check", path, "--package-path", tmp_path / "no").exit_code == 2
    refused = invoke("check", path, "--xacro-arg", "a=1")
    assert refused.exit_code == 2 and "has no xacro in it; remove the option" in refused.stderr
