"""Files of xacro."""

import pytest

from symgen.reading.assemble import load

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


@pytest.fixture
def library():
    pytest.importorskip("xacrodoc", reason="needs the extra xacro")


@pytest.fixture
def repository(tmp_path):
    """The search for a package that is nowhere ends here, and goes through nothing else of /tmp."""
    (tmp_path / ".git").mkdir()


PLAIN = """<robot name="r" {ns}>{more}<link name="base">{look}</link>
<link name="a"><inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
 izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
</robot>"""


def plain(path, more="", look="", mass="1", ns=XMLNS):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PLAIN.format(more=more, look=look, mass=mass, ns=ns))
    return path


def said(path, **options):
    return [f"{n.level}: {n.element}: {n.message}" for n in load(path, **options).notices]
