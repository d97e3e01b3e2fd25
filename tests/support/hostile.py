"""Names in a robot's file that are a danger to those who write them into code."""

from xml.sax.saxutils import quoteattr

SOLID = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)


def quoted(name):
    return quoteattr(name, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def hostile(robot, names):
    """A chain with these joint names; links are called the same with an L before."""
    carriers = ["base", *(f"L{name}" for name in names)]
    text = f'<robot name={quoted(robot)}><link name="base"/>'
    for k, name in enumerate(names):
        link, carrier = quoted(f"L{name}"), quoted(carriers[k])
        text += f'<link name={link}>{SOLID}</link><joint name={quoted(name)} type="revolute">'
        text += f'<parent link={carrier}/><child link={link}/><axis xyz="{k % 2} 1 0"/></joint>'
    return text + "</robot>"
