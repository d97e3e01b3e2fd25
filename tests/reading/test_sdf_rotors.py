"""Rotors that SDF files state in Drake's tags, and links without gravity in the words of URDF."""

import numpy as np
import pytest

import symgen
from symgen.errors import RobotError
from symgen.mechanics.model import Rotor
from symgen.reading.assemble import load
from tests.support.tools import invoke

INERTIAL = (
    "<inertial><pose>0.1 0.02 -0.1 0 0 0</pose><mass>1.3</mass><inertia><ixx>0.02</ixx>"
    "<iyy>0.03</iyy><izz>0.025</izz></inertia></inertial>"
)
SDF = """<sdf version="1.9"{0}><model name="arm">
<link name="a">{1}</link><link name="b"><pose>0 0 0.4 0.3 0 0</pose>{1}</link>
<joint name="fixed" type="fixed"><parent>world</parent><child>base</child></joint>
<link name="base">{1}</link>
<joint name="shoulder" type="revolute"><parent>base</parent><child>a</child>
<axis><xyz>0 1 0</xyz></axis>{2}</joint>
<joint name="slide" type="prismatic"><parent>a</parent><child>b</child>
<axis><xyz>0 0.6 0.8</xyz></axis>{3}</joint></model></sdf>"""
ROTOR = "<drake:rotor_inertia>{0}</drake:rotor_inertia>"
RATIO = "<drake:gear_ratio>{0}</drake:gear_ratio>"
DRAKE = ' xmlns:drake="http://drake.mit.edu"'


def sdf(shoulder: str, slide: str = "", space: str = DRAKE) -> str:
    return SDF.format(space, INERTIAL, shoulder, slide)


@pytest.mark.parametrize("space", [DRAKE, ""], ids=["declared", "undeclared"])
def test_tags_of_drake_are_the_rotor_of_a_joint(space):
    text = sdf(ROTOR.format(2e-5) + RATIO.format(-120), ROTOR.format(3e-5), space)
    loaded = load(text)
    joints = {joint.name: joint for _, joint in loaded.model.joints}
    assert joints["shoulder"].rotor == Rotor(-120.0, 2e-5)
    assert joints["slide"].rotor == Rotor(1.0, 3e-5)
    assert not [n for n in loaded.notices if "drake" in f"{n.element} {n.message}"]


def test_mass_matrix_is_drakes():
    """Drake adds what is reflected of a rotor, ratio² inertia, to the diagonal of M."""
    pytest.importorskip("pydrake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    text = sdf(ROTOR.format(2e-5) + RATIO.format(120), ROTOR.format(3e-4) + RATIO.format(30))
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    context, rng = plant.CreateDefaultContext(), np.random.default_rng(0)
    ours = symgen.compile(text, "mass_matrix", rotors="reflected")
    bare = symgen.compile(text, "mass_matrix", rotors="none")
    for _ in range(3):
        q = rng.uniform(-1, 1, 2)
        plant.SetPositions(context, q)
        assert np.allclose(ours.mass_matrix(q), plant.CalcMassMatrix(context), atol=1e-12)
        gains = np.diag(ours.mass_matrix(q) - bare.mass_matrix(q))
        assert np.allclose(gains, [120**2 * 2e-5, 30**2 * 3e-4])


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        (ROTOR.format(-1), "<drake:rotor_inertia> is -1; give one number"),
        (RATIO.format(0), "<drake:gear_ratio> is 0; give one number"),
        (ROTOR.format(1) * 2, "<drake:rotor_inertia> is given twice"),
        (ROTOR.format("x"), "<drake:rotor_inertia> holds 'x'"),
    ],
)
def test_numbers_that_no_rotor_has_are_refused(tmp_path, tags, words):
    path = tmp_path / "arm.sdf"
    path.write_text(sdf(tags), encoding="utf-8")
    with pytest.raises(RobotError) as caught:
        load(path)
    assert words in str(caught.value)
    done = invoke("check", path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1


URDF = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<gazebo reference="{0}">{1}</gazebo></robot>"""


@pytest.mark.parametrize(
    ("reference", "inside", "warned"),
    [
        ("b", "<turnGravityOff>true</turnGravityOff>", True),
        ("b", "<turnGravityOff>1</turnGravityOff>", True),
        ("b", "<gravity>0</gravity>", True),
        ("b", "<gravity> false </gravity>", True),
        ("b", "<gravity>1</gravity>", False),
        ("b", "<turnGravityOff>false</turnGravityOff>", False),
        ("j", "<gravity>0</gravity>", False),
    ],
)
def test_links_that_a_urdf_lets_not_fall_are_warned_of(reference, inside, warned):
    """In the words and the loudness of SDF files."""
    loaded = load(URDF.format(reference, inside))
    said = [n.message for n in loaded.notices if n.level == "warning"]
    expected = "links without gravity ('b') are subject to gravity here, as all others"
    assert said == ([expected] if warned else [])
