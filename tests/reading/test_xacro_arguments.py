"""Arguments of xacro that no file has are refused with near names."""

import pytest

from symgen.errors import OptionError
from symgen.reading.assemble import load
from tests.support.tools import invoke
from tests.support.xacros import XMLNS, library, plain  # noqa: F401

SIDE = """<xacro:arg name="side" default="left"/>
<xacro:property name="mass" value="${2 if xacro.arg('side') == 'right' else 1}"/>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    plain(path, SIDE, mass="${mass}")
    return path


@pytest.mark.usefixtures("library")
def test_a_mistyped_argument_is_refused_with_the_near_name(arm):
    done = invoke("check", arm, "--xacro-arg", "sid=right")
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr == (
        "error: --xacro-arg 'sid': no file declares or uses this argument; near names: 'side'\n"
    )
    with pytest.raises(OptionError, match="no file declares or uses"):
        load(arm, xacro_args=(("side", "right"), ("mass", "3")))


@pytest.mark.usefixtures("library")
def test_a_declared_argument_is_taken(arm):
    model = load(arm, xacro_args=(("side", "right"),)).model
    assert model.bodies[0].links[0].parameters[0] == 2


@pytest.mark.usefixtures("library")
def test_an_argument_that_is_only_used_is_taken(tmp_path):
    path = tmp_path / "used.urdf.xacro"
    look = '<visual><geometry><box size="$(arg size)"/></geometry></visual>'
    plain(path, "<xacro:property name='m' value='$(arg weight)'/>", look, mass="${m}")
    model = load(path, xacro_args=(("weight", "3"), ("size", "1 1 1"))).model
    assert model.bodies[0].links[0].parameters[0] == 3


@pytest.mark.usefixtures("library")
def test_an_argument_of_an_included_file_is_taken(tmp_path):
    (tmp_path / "inner.xacro").write_text(
        f'<robot {XMLNS}><xacro:arg name="inner" default="1"/></robot>'
    )
    path = tmp_path / "outer.urdf.xacro"
    plain(path, '<xacro:include filename="inner.xacro"/>', mass="$(arg inner)")
    model = load(path, xacro_args=(("inner", "4"),)).model
    assert model.bodies[0].links[0].parameters[0] == 4
