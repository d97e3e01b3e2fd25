"""Damaged manifests: whatever is deleted or replaced, ``symgen verify`` reads a module or refuses in
one sentence."""

import copy
import json
import math
import re

import pytest

from symgen.errors import OptionError
from symgen.jobs.api import generate
from symgen.jobs.manifest_reader import RULES, read
from tests.support.tools import generated, robot_file

OTHERS = (
    None,
    True,
    0,
    -5,
    1.5,
    1e300,
    10**400,
    math.nan,
    "",
    "x",
    "a\0b",
    "../x",
    "x" * 300,
    "\ud800",
    "half",
    [],
    {},
    [[[]]],
)
"""What any value is replaced by."""


def places(data, path=()):
    """The path of every value."""
    yield path
    rows = enumerate(data) if isinstance(data, list) else ()
    for key, value in data.items() if isinstance(data, dict) else rows:
        yield from places(value, (*path, key))


def at(data, path):
    for key in path:
        data = data[key]
    return data


def edits(data, share):
    """Every edit of one place, with its path: the value replaced, deleted, its key renamed. With a
    `share` of n, 1 in n of all, of each place others."""
    for k, path in enumerate(places(data)):
        for other in OTHERS[k % share :: share]:
            yield path, _edited(data, path, lambda o, k, x=other: _set(o, k, x))
        if k % share:
            continue
        if path:
            yield path, _edited(data, path, lambda o, k: o.pop(k))
        if path and isinstance(path[-1], str):
            yield path, _edited(data, path, lambda o, k: _set(o, "other", o.pop(k)))


def _set(container, key, value):
    container[key] = value


def _edited(data, path, change):
    whole = {"": copy.deepcopy(data)}
    change(at(whole, ("", *path)[:-1]), ("", *path)[-1])
    return whole[""]


DERIVED = (
    r"format|robot|prefix|dof|nq|joints.*|velocities.*|functions\.\w+\..*|model\.joint_names.*"
)
"""What follows from the rest, so that no edit of it alone is ever read."""
INERTIAL = """<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"""
EVERYTHING = f"""<robot name="all"><link name="base">{INERTIAL}</link>
<joint name="glide" type="planar"><parent link="base"/><child link="a"/></joint>
<link name="a">{INERTIAL}</link>
<joint name="far" type="revolute"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1" friction="0.2"/>
</joint><link name="b">{INERTIAL}</link>
<joint name="near" type="continuous"><parent link="b"/><child link="c"/>
<mimic joint="far" multiplier="2"/></joint><link name="c">{INERTIAL}</link></robot>"""
ACTUATORS = "[joints.far]\ngear_ratio = 3.0\nrotor_inertia = 0.01\nrotor_mass = 0.1\n"
OPEN = {
    "base": "floating",
    "parameters": "runtime:b",
    "external_wrench": ("c",),
    "wrench_axes": "root",
    "friction": "runtime:viscous",
}


@pytest.fixture(params=["pendulum", "everything"])
def written(request, tmp_path):
    """The manifest of a small folder, as data."""
    file, options = robot_file("pendulum"), {}
    if request.param == "everything":
        file, options = tmp_path / "all.urdf", {**OPEN, "actuators": str(tmp_path / "all.toml")}
        file.write_text(EVERYTHING)
        (tmp_path / "all.toml").write_text(ACTUATORS)
    generate(file, tmp_path / "out", ["python"], quantities=("inverse_dynamics",), **options)
    return json.loads((tmp_path / "out" / "manifest.json").read_text())


SHARES = [pytest.param(97, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("share", SHARES)
def test_every_edit_is_read_or_refused_in_one_sentence(written, share, tmp_path):
    refused = accepted = 0
    for path, changed in edits(written, share):
        if changed == written:
            continue
        (tmp_path / "manifest.json").write_text(json.dumps(changed))
        try:
            read(tmp_path)
        except OptionError as error:
            said, refused = str(error), refused + 1
            assert "\n" not in said and said.isprintable(), path
            assert len(said) - len(str(tmp_path)) < 600, path
            assert said.endswith("generate the folder again"), said
        else:
            accepted += 1
            assert not re.fullmatch(DERIVED, ".".join(map(str, path))), path
    assert refused > 2 * accepted > 0


BROKEN = {
    "prefix": (("prefix",), "1x"),
    "functions": (("functions",), {}),
    "files": (("files",), {}),
    "runtime.friction": (("runtime", "friction"), ["viscous", "slippery"]),
    "runtime.springs": (("runtime", "springs_input"), True),
    "runtime.friction_width": (("runtime", "friction_width"), -1.0),
    "runtime.friction_compensation": (("runtime", "friction_compensation"), "rest"),
    "runtime.parameters or runtime.wrenches": (("runtime", "wrenches"), ["nobody"]),
    "model.gravity": (("model", "gravity"), [0.0, 0.0, 1e200]),
}
"""An edit that breaks each rule, and no other."""


@pytest.mark.parametrize("place", RULES)
def test_every_rule_is_told_with_its_place(place, tmp_path):
    path, value = BROKEN[place]
    data = json.loads((generated("pendulum")[1] / "manifest.json").read_text())
    changed = _edited(data, path, lambda o, k: _set(o, k, value))
    (tmp_path / "manifest.json").write_text(json.dumps(changed))
    with pytest.raises(OptionError, match=rf"\({place}: the value is not valid\)"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xff\xfe", "it is not JSON"),
        (b"[" * 100000, "it is not JSON"),
        (b'{"format": ' + b"1" * 5000 + b"}", "it is not JSON"),
        (b'{"format": 2, "format": 2}', "a key occurs twice"),
        (b"{}", "missing key 'conventions', 'dof', 'files' and 12 more"),
    ],
)
def test_what_is_no_manifest_at_all(text, said, tmp_path):
    (tmp_path / "manifest.json").write_bytes(text)
    with pytest.raises(OptionError, match=re.escape(f"is not a valid manifest ({said})")):
        read(tmp_path)


def test_a_planar_joint_without_its_x_direction_is_refused(tmp_path):
    """As in manifests of versions in which it was not stored."""
    file, out = tmp_path / "all.urdf", tmp_path / "out"
    file.write_text(EVERYTHING)
    generate(file, out, ["python"], quantities=("gravity",))
    data = json.loads((out / "manifest.json").read_text())
    for body in data["model"]["bodies"]:
        body["joint"]["constants"] = []
    (out / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(OptionError, match=r"not a valid manifest .*; generate the folder again"):
        read(out)
