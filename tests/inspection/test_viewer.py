"""The geometry and the motion that the viewer shows."""

import base64
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from symgen.inspection.visual_geometry import (
    MAX_TRIANGLES,
    geometry,
    inertia_ellipsoids,
    simplified,
)
from symgen.jobs.job import Job
from symgen.reading.visual_shapes import shapes
from tests.support.tools import invoke, robot_file

URDF = """<robot name="r">
  <material name="blue"><color rgba="0 0 1 0.5"/></material>
  <link name="base"/>
  <link name="arm">
    <inertial><origin xyz="0 0 0.1"/><mass value="3"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.15"/></inertial>
    <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="0.1 0.2 0.3"/></geometry><material name="blue"/></visual>
    <visual><geometry><mesh filename="{mesh}" scale="1 1 2"/></geometry></visual>
    <visual><geometry><mesh filename="absent.stl"/></geometry></visual>
  </link>
  <link name="tool"><visual><geometry><sphere radius="0.05"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="f" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 0 0.4"/></joint>
</robot>"""


def stl(path, triangles):
    """A binary STL file."""
    rows = (struct.pack("<12fH", *(0.0,) * 3, *np.ravel(corners), 0) for corners in triangles)
    path.write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + b"".join(rows))


def decoded(shape):
    """The vertices (m) and corners of a mesh on a page."""
    levels = np.frombuffer(base64.b64decode(shape["vertices"]), "<u2").reshape(-1, 3)
    vertices = np.array(shape["low"]) + levels / shape["levels"] * np.array(shape["span"])
    return vertices, np.frombuffer(base64.b64decode(shape["corners"]), "<u2").reshape(-1, 3)


def test_shapes_are_in_the_frames_of_their_bodies(tmp_path):
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    stl(tmp_path / "m.stl", [((0, 0, 0), (1, 0, 0), (0, 1, 0)), ((0, 0, 0), (1, 0, 0), (0, 0, 1))])
    file = tmp_path / "r.urdf"
    file.write_text(URDF.format(mesh="m.stl"), encoding="utf-8")
    found = geometry(Job.of(str(file)).load().model, shapes(file))
    box, mesh, sphere = found.shapes[1]
    assert (box["kind"], box["size"], box["color"]) == ("box", [0.1, 0.2, 0.3], [0, 0, 1, 0.5])
    assert box["p"] == [1, 2, 3] and np.allclose(box["R"], [0, -1, 0, 1, 0, 0, 0, 0, 1])
    vertices, corners = decoded(mesh)
    assert len(corners) == 2 and np.allclose(np.ptp(vertices, axis=0), [1, 1, 2], atol=1e-4)
    assert (sphere["kind"], sphere["size"], sphere["p"]) == ("sphere", [0.05], [0, 0, 0.4])
    assert found.missing == ("absent.stl",)
    done = invoke("inspect", file, "--html", tmp_path / "r.html")
    assert done.exit_code == 0 and "1 mesh files are not drawn: 'absent.stl'" in done.stderr


def test_a_fine_mesh_keeps_its_shape_with_fewer_triangles():
    n = 200
    u, v = (x.ravel() for x in np.meshgrid(np.linspace(0, 2 * np.pi, n), np.linspace(0, np.pi, n)))
    vertices = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=1)
    k = np.arange(n * (n - 1)).reshape(n - 1, n)[:, :-1].ravel()
    faces = np.concatenate([np.stack([k, k + 1, k + n], 1), np.stack([k + 1, k + n + 1, k + n], 1)])
    coarse, corners = simplified(vertices, faces)
    assert 500 < len(corners) <= MAX_TRIANGLES < len(faces)
    assert np.abs(np.linalg.norm(coarse, axis=1) - 1).max() < 0.05


def test_ellipsoids_have_the_inertia_of_their_bodies(tmp_path):
    """A uniform ellipsoid of mass m has I_xx = m (b^2 + c^2) / 5 about its centre."""
    file = tmp_path / "r.urdf"
    file.write_text(URDF.format(mesh="m.stl"), encoding="utf-8")
    (ellipsoid,) = inertia_ellipsoids(Job.of(str(file)).load().model)
    R, squares = np.array(ellipsoid["R"]).reshape(3, 3), np.array(ellipsoid["size"]) ** 2
    inertia = 3 / 5 * (squares.sum() * np.eye(3) - R @ np.diag(squares) @ R.T)
    assert np.allclose(inertia, np.diag([0.2, 0.1, 0.15]), atol=1e-5)
    assert ellipsoid["p"] == [0, 0, 0.1]


def test_geoms_of_mujoco(tmp_path):
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    file = tmp_path / "r.xml"
    file.write_text(
        """<mujoco><worldbody><body name="a"><joint/><geom type="capsule" size="0.1 0.2" pos="0 0 1"/>
        <geom type="box" size="1 2 3" group="4"/></body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    (capsule,) = shapes(file)
    assert (capsule.link, capsule.kind, capsule.size) == ("a", "capsule", (0.1, 0.4))
    assert capsule.pose.position == (0, 0, 1)


def test_a_motion_is_in_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    table = tmp_path / "motion.csv"
    table.write_text("t,q_joint2,qd_joint2\n0,0.5,0\n0.5,0.75,1\n", encoding="utf-8")
    done = invoke("view", robot_file("ur5"), "--motion", table, "--json")
    assert done.exit_code == 0, done.output
    page = Path(json.loads(done.stdout)["files"][0]).read_text(encoding="utf-8")
    scene = json.loads(page.split('id="robot">')[1].split("</script>")[0])
    assert scene["motion"] == {
        "times": [0, 0.5],
        "positions": [[0, 0.5, 0, 0, 0, 0], [0, 0.75, 0, 0, 0, 0]],
    }


@pytest.mark.parametrize(
    "text, words",
    [
        ("t,q_joint1\n0,0\n1,x\n", "motion.csv:3: needs 2 finite numbers"),
        ("t,q_joint1\n0,0\n1\n", "motion.csv:3: needs 2 finite numbers"),
        ("t,q_elbow\n0,0\n1,0\n", "columns q_NAME for positions; the positions are 'joint1'"),
        ("t,q_joint1\n1,0\n0,0\n", "needs two rows or more with rising t"),
    ],
)
def test_a_motion_that_cannot_be_read(text, words, tmp_path):
    table = tmp_path / "motion.csv"
    table.write_text(text, encoding="utf-8")
    done = invoke("view", robot_file("ur5"), "--motion", table)
    assert done.exit_code == 2 and words in done.stderr and "Traceback" not in done.output
