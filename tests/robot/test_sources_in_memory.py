"""Every way to give a robot's file that is in memory already: text, bytes, open files, standard
input, documents of other libraries, models of MuJoCo; the robot is that of the file."""

import io
import subprocess
import sys
from xml.dom import minidom
from xml.etree import ElementTree

import pytest
from lxml import etree

import symgen
from symgen.errors import OptionError, RobotError
from symgen.reading.assemble import load
from tests.support.tools import ROOT, invoke

MJCF = (
    '<mujoco model="m"><option gravity="0 0 -3"/><worldbody><body name="a">'
    '<joint name="j" axis="0 1 0" armature="0.2"/>'
    '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
)
SDF = (ROOT / "tests" / "sdf" / "arm.sdf").read_text()
URDF = (ROOT / "robots" / "pendulum.urdf").read_text()
TEXTS = {"urdf": URDF, "sdf": SDF, "mjcf": MJCF}
WAYS = {
    "text": lambda text: text,
    "text of a file with an encoding": lambda text: (
        '\ufeff<?xml version="1.0" encoding="iso-8859-1"?>' + text.partition("?>")[2]
        if text.startswith("<?xml")
        else text
    ),
    "bytes": str.encode,
    "bytearray": lambda text: bytearray(text.encode()),
    "open text": io.StringIO,
    "open bytes": lambda text: io.BytesIO(text.encode()),
    "lxml element": lambda text: etree.fromstring(text.encode()),
    "lxml tree": lambda text: etree.ElementTree(etree.fromstring(text.encode())),
    "ElementTree element": lambda text: ElementTree.fromstring(text.encode()),
    "ElementTree": lambda text: ElementTree.ElementTree(ElementTree.fromstring(text.encode())),
    "minidom": lambda text: minidom.parseString(text.encode()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TEXTS)
def test_the_robot_is_that_of_the_file(kind, way, tmp_path):
    if kind == "mjcf":
        pytest.importorskip("mujoco")
    path = tmp_path / f"robot.{'xml' if kind == 'mjcf' else kind}"
    path.write_text(TEXTS[kind], encoding="utf-8")
    expected = load(path).model
    assert load(WAYS[way](TEXTS[kind])).model == expected
    robot = symgen.Robot(WAYS[way](TEXTS[kind]))
    assert robot.model == expected
    assert robot.with_options(rotors="none").model.dof == expected.dof  # read again


def test_an_open_file_has_its_name_and_its_folder(tmp_path):
    """Its includes are beside it, and messages name it."""
    path = tmp_path / "robot.urdf"
    path.write_text(URDF.replace("<robot", "<robbot"), encoding="utf-8")
    with path.open("rb") as stream, pytest.raises(RobotError) as caught:
        load(stream)
    assert str(caught.value).startswith(f"{path}:")
    part = tmp_path / "arm" / "model.sdf"
    part.parent.mkdir()
    part.write_text(SDF)
    outer = tmp_path / "robot.sdf"
    include = "<include><uri>model://arm</uri><name>x</name></include>"
    outer.write_text(f'<sdf version="1.9"><model name="m">{include}</model></sdf>')
    with outer.open(encoding="utf-8") as stream:
        assert load(stream).model == load(outer).model


def test_a_document_that_changes_later_changes_no_robot():
    tree = etree.fromstring(URDF.encode())
    robot = symgen.Robot(tree)
    tree.clear()
    assert robot.dof == 2


def test_documents_that_xacro_expanded(tmp_path):
    xacro = pytest.importorskip("xacro")
    path = tmp_path / "robot.urdf.xacro"
    text = URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    path.write_text(text, encoding="utf-8")
    assert load(xacro.process_file(str(path))).model == load(path).model
    xacrodoc = pytest.importorskip("xacrodoc")
    assert load(xacrodoc.XacroDoc.from_file(str(path))).model == load(path).model
    macro = text.replace("</robot>", '<xacro:property name="a" value="1"/></robot>')
    with pytest.raises(OptionError, match=r"contains xacro; save it as a \.xacro file"):
        load(macro)


def test_models_of_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    spec = mujoco.MjSpec.from_string(MJCF)
    for source in (mujoco.MjModel.from_xml_string(MJCF), spec):
        loaded = load(source)
        assert loaded.model == load(path).model and loaded.file == "m (Python)"
    spec.body("a").add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="lost")
    with pytest.raises(OptionError, match=r"mujoco.MjSpec: MuJoCo cannot compile it"):
        load(spec)
    with pytest.raises(
        TypeError, match="a robot from mujoco must be an MjModel or an MjSpec, not MjData"
    ):
        load(mujoco.MjData(mujoco.MjModel.from_xml_string(MJCF)))


@pytest.mark.parametrize("source", [None, 3, ["arm.urdf"], {"a": 1}, object()])
def test_anything_else_is_refused_with_what_is_accepted(source):
    with pytest.raises(TypeError, match="XML \\(text, bytes, an open file or a document\\)"):
        load(source)


def test_standard_input(tmp_path):
    """A file, and the same bytes on standard input, through commands that read it several times."""
    command = [sys.executable, "-m", "symgen"]
    for arguments in (["ops", "-"], ["check", "-", "--repair-inertia", "nearest"]):
        done = subprocess.run(
            [*command, *arguments], input=URDF.encode(), capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    for source, given in (("-", URDF.encode()), (str(ROOT / "robots" / "pendulum.urdf"), b"")):
        done = subprocess.run(
            [*command, "generate", source, "-o", str(out / source[-4:]), "--lang", "python"],
            input=given, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    texts = [(out / name / "pendulum.py").read_text() for name in ("-", "urdf")]
    assert texts[0].replace("from -.", "from pendulum.urdf.") == texts[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", "-: error: is empty"),
        (b"<robot", "-:1: error: XML: not well-formed"),
        (b'<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="a"/></robot>', "xacro on standard input is not supported"),
    ],
)  # fmt: skip
def test_standard_input_that_is_no_robot_is_one_sentence(given, words):
    done = subprocess.run(
        [sys.executable, "-m", "symgen", "check", "-"],
        input=given, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and words in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


TOLERATED = {
    "hyphens in a comment": (b"<!-- a -- b\n\n --->", 1, "two hyphens inside a comment"),
    "a bare ampersand": (b'<link name="a & b"/>', 1, "an & that is not written as &amp;"),
    "an entity of HTML": (b'<material name="&eacute;"/>', 1, "an & that is not written as"),
    "bytes of Latin-1": ("<!-- Länge -->".encode("iso-8859-1"), 1, "are read as Latin-1"),
}


@pytest.mark.parametrize("kind", TOLERATED)
def test_what_other_readers_accept_is_read_with_a_note(kind, tmp_path):
    """Readers on tinyxml2 (ROS, Gazebo, MuJoCo) and so Pinocchio accept it."""
    extra, _, words = TOLERATED[kind]
    path = tmp_path / "robot.urdf"
    data = URDF.encode().replace(b"</robot>", extra + b"\n</robot>")
    if b"<link" in extra:
        joint = (
            b'<joint name="f" type="fixed"><parent link="base"/><child link="a &amp; b"/></joint>'
        )
        data = data.replace(b"</robot>", joint + b"</robot>")
    path.write_bytes(data)
    loaded = load(path)
    assert loaded.model.dof == 2
    (note,) = [notice for notice in loaded.notices if words in notice.message]
    assert note.level == "note"
    assert note.location.line == data[: data.index(extra)].count(b"\n") + 1


def test_lines_stay_where_they_were(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="r">\n<!-- a -- \n b -->\n<link name="a & b"/>\n<joint/></robot>')
    with pytest.raises(RobotError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:5: error:")


@pytest.mark.parametrize("data", [b"<robot name='r'><link</robot>", b"<a>&</b>", b"<!-- -- -->"])
def test_what_nobody_reads_is_refused_as_before(data):
    with pytest.raises(RobotError, match="not well-formed"):
        load(data)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(RobotError, match="bytes that are not UTF-8 text"):
        load(b'<robot name="\xff\x01"/>')


def test_a_file_of_the_command_line_with_an_ampersand(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(URDF.replace("</robot>", "<gazebo><x>a & b</x></gazebo></robot>"))
    done = invoke("check", path)
    assert done.exit_code == 0 and "note: XML: an & that is not" in done.stderr
