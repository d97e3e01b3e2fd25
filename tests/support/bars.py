"""A four-bar linkage in URDF, open or closed by a loop of URDF+ or of Drake."""

MASS = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
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
