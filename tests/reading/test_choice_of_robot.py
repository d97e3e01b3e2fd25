"""One robot of a file with several: models of an SDF world (--model), trees of links (--root)."""

import json

import pytest

import symgen
from symgen.errors import OptionError, RobotError
from symgen.reading.assemble import load
from tests.support.tools import ROOT, invoke

INERTIAL = (
    "<inertial><mass>{}</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.3</izz></inertia>"
    "</inertial>"
)
ARM = (
    '<model name="{0}"><pose>{1}</pose><link name="base">'
    + INERTIAL.format(1)
    + '</link><link name="hand">{2}</link><joint name="{0}_joint" type="revolute">'
    "<parent>base</parent><child>hand</child><axis><xyz>0 1 0</xyz></axis></joint></model>"
)
LEFT = ARM.format("left", "1 2 3 0 0 0", INERTIAL.format(2))
RIGHT = ARM.format("right", "0 0 0 1.5707963267948966 0 0", INERTIAL.format(3))
GROUND = '<model name="ground"><static>true</static><link name="slab"/></model>'


def world(*models):
    return f'<sdf version="1.9"><world name="w">{"".join(models)}</world></sdf>'


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.sdf"
    path.write_text(world(GROUND, LEFT, RIGHT))
    return path


@pytest.mark.parametrize(("name", "alone"), [("left", LEFT), ("right", RIGHT)])
def test_a_model_of_a_world_is_what_it_is_alone(two, name, alone, tmp_path):
    single = tmp_path / "single.sdf"
    single.write_text(world(alone))
    chosen = load(two, model=name)
    assert chosen.model == load(single).model == load(two.read_text(), model=name).model
    assert any("2 models are ignored" in notice.message for notice in chosen.notices)


def test_several_models_that_move_are_refused_with_the_option_that_chooses(two):
    with pytest.raises(
        RobotError, match=r"has 2 models that are not static \('left' and 'right'\)"
    ):
        load(two)
    done = invoke("check", two, "--model", "rihgt")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "--model 'rihgt': the file has no such model; near names: 'right'" in done.stderr


def test_a_job_the_manifest_convert_and_init_have_the_model(two, tmp_path):
    job = tmp_path / "job.toml"
    job.write_text('file = "two.sdf"\nout = "out"\nmodel = "right"\n')
    assert invoke("generate", job).exit_code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["options"]["model"] == "right" and manifest["model"]["name"] == "right"
    urdf = tmp_path / "right.urdf"
    assert invoke("convert", two, "-o", urdf, "--model", "right").exit_code == 0
    assert load(urdf).model.joint_names == ("right_joint",)
    made = tmp_path / "made.toml"
    assert invoke("init", two, "-o", made, "--model", "left").exit_code == 0
    assert json.loads(invoke("ops", made, "--json").stdout)["robot"] == "left"


def test_a_file_with_one_robot_has_no_models(tmp_path):
    urdf = ROOT / "robots" / "pendulum.urdf"
    for source in (urdf, urdf.read_text(), symgen.reading.sources.describe(urdf)):
        with pytest.raises(
            OptionError, match="has one robot, because only SDF files can have several"
        ):
            load(source, model="arm")


TWO_ROOTS = ROOT / "tests" / "cases" / "two_roots.urdf"


def test_one_of_several_trees_is_chosen_by_its_root():
    with pytest.raises(RobotError, match=r"'left_base' and 'right_base'.*--root LINK"):
        load(TWO_ROOTS)
    chosen = load(TWO_ROOTS, root="right_base")
    assert {link.name for body in chosen.model.bodies for link in body.links} == {"right_arm"}
    assert any("--root and --tip exclude" in notice.message for notice in chosen.notices)


def test_convert_needs_one_root(tmp_path):
    done = invoke("convert", TWO_ROOTS, "-o", tmp_path / "out.urdf")
    assert done.exit_code == 2 and "has 2 root links" in done.stderr
    assert not (tmp_path / "out.urdf").exists()


def test_each_tree_of_an_sdf_model_hangs_as_it_stands_in_the_world(tmp_path):
    """Free fall in the axes of the chosen root, which is turned in the model and with it."""
    link = '<link name="{}"><pose>0 0 0 {} 0 0</pose>' + INERTIAL.format(1) + "</link>"
    joint = (
        '<joint name="{0}" type="revolute"><parent>{1}</parent><child>{2}</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
    )
    parts = link.format("a", 0) + link.format("b", 0) + joint.format("j", "a", "b")
    quarter = 1.5707963267948966
    parts += link.format("c", quarter) + link.format("d", quarter) + joint.format("k", "c", "d")
    path = tmp_path / "trees.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m">{parts}</model></sdf>')
    assert load(path, root="a").model.gravity == pytest.approx((0, 0, -9.81))
    assert load(path, root="c").model.gravity == pytest.approx((0, -9.81, 0))
    assert load(path, root="d", base="floating").model.gravity == pytest.approx((0, 0, -9.81))
