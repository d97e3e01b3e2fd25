"""A four-bar linkage in URDF, open or closed by a loop of URDF+ or of Drake; an ankle and its
rods."""

MASS = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
)
CLOSED = f"""<robot name="bars"><link name="base"/>
<link name="crank">{MASS}</link><link name="rod">{MASS}</link><link name="rocker">{MASS}</link>
<joint name="a" type="continuous"><parent link="base"/><child link="crank"/>
<axis xyz="0 0 1"/></joint>
<joint name="b" type="continuous"><origin xyz="0.2 0 0"/><parent link="crank"/><child link="rod"/>
<axis xyz="{{axis}}"/></joint>
<joint name="c" type="continuous"><origin xyz="0.4 0 0"/><parent link="base"/><child link="rocker"/>
<axis xyz="0 0 -1"/></joint>
{{loop}}</robot>"""
PLUS = (
    '<loop name="pin" type="{}"><predecessor link="rod"><origin xyz="0.45 0 0"/></predecessor>'
    '<successor link="{}"><origin xyz="0.3 0 0"/></successor></loop>'
)
DRAKE = (
    '<loop_joint name="pin" type="continuous"><link1 link="rod" xyz="0.45 0 0"/>'
    '<link2 link="rocker" xyz="0.3 0 0"/></loop_joint>'
)
ANKLE = """<robot name="ankle"><link name="shin"/><link name="cross"/><link name="foot"><inertial>
<origin xyz="0.03 0 -0.04"/><mass value="0.9"/>
<inertia ixx="2e-3" ixy="0" ixz="0" iyy="3e-3" iyz="0" izz="3e-3"/></inertial></link>
<link name="left"><inertial><origin xyz="-0.02 0 0"/><mass value="0.05"/>
<inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
<link name="right"><inertial><origin xyz="-0.02 0 0"/><mass value="0.05"/>
<inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
<joint name="pitch" type="continuous"><parent link="shin"/><child link="cross"/><axis xyz="0 1 0"/>
</joint>
<joint name="roll" type="continuous"><parent link="cross"/><child link="foot"/></joint>
<joint name="motor_left" type="continuous"><origin xyz="0 0.04 0.25"/><parent link="shin"/>
<child link="left"/><axis xyz="0 1 0"/></joint>
<joint name="motor_right" type="continuous"><origin xyz="0 -0.04 0.2"/><parent link="shin"/>
<child link="right"/><axis xyz="0 1 0"/></joint></robot>"""
ROD = (
    'name="rod_{0}", joint="distance", length={1}, first="{0}", second="foot", '
    "at_first=[-0.05, 0, 0], at_second=[-0.05, {2}, 0]"
)
