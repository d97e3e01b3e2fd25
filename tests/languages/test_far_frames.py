"""Rounding errors of inertial parameters in canonical frames that are far from a body."""

from tests.support.tools import invoke

ROBOT = """<robot name="long">
<link name="l0"/>
<link name="l1"><inertial><origin xyz="-73 -159.2 198.1"/><mass value="3.525"/>
<inertia ixx="0.12" ixy="0" ixz="0" iyy="0.19" iyz="0" izz="0.2"/></inertial></link>
<link name="l2"><inertial><origin xyz="0 -150.8 61.2" rpy="-2.808 -2.157 -2.12"/>
<mass value="4.26"/><inertia ixx="0.0075" ixy="0" ixz="0" iyy="0.0193" iyz="0" izz="0.0268"/>
</inertial></link>
<link name="l3"><inertial><origin xyz="0 0 0" rpy="1.2647169 0.1649808 -1.6308287"/>
<mass value="4.319"/><inertia ixx="0.01638756" ixy="0" ixz="0" iyy="0.01971964" iyz="0"
izz="0.02179183"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="l0"/><child link="l1"/><axis xyz="0.6 0 0.8"/>
<origin rpy="3.141592653589793 3.141592653589793 -1.5707963267948966"/>
<limit lower="-1.5" upper="3" effort="1" velocity="1"/></joint>
<joint name="swing" type="continuous"><parent link="l1"/><child link="l2"/><axis xyz="1 1 1"/>
<origin xyz="0 0 -124.4" rpy="-1.1609 -1.35157 0.28697"/></joint>
<joint name="turn" type="continuous"><parent link="l2"/><child link="l3"/>
<origin xyz="174.5 108.6 -190" rpy="3.141592653589793 -1.5707963267948966 1.5707963267948966"/>
</joint></robot>"""


def test_the_bound_of_errors_has_those_of_parameters_far_from_the_body(tmp_path):
    """The second moment along the last axis is 1e7 times the products of inertia, which take their
    rounding errors from it. Regrouping removes it, so it is no constant of the code."""
    (tmp_path / "long.urdf").write_text(ROBOT)
    options = ("--lang", "c", "--quantity", "bias", "-o", tmp_path / "out")
    assert invoke("generate", tmp_path / "long.urdf", *options).exit_code == 0
    done = invoke("verify", tmp_path / "out")
    assert done.exit_code == 0 and "FAILED" not in done.stdout
