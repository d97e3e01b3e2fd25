"""The page of a robot: one file, safe whatever names say, and its numbers are those of the C."""

import html.parser
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.inspection.inspect_command import grouping
from symgen.inspection.robot_report import groups
from symgen.reading.joint_kinds import JOINTS
from symgen.render import asset
from symgen.text import escaped
from tests.support.browser import needs_browser, shown
from tests.support.hostile import hostile
from tests.support.inspected import HOSTILE, data
from tests.support.joint_kinds import in_python, of_axis
from tests.support.tools import invoke, robot_file

VOID = {"meta", "input", "wbr"}
TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "h1",
    "h2",
    "h3",
    "p",
    "nav",
    "a",
    "div",
    "section",
    "canvas",
    "label",
    "input",
    "button",
    "table",
    "tr",
    "th",
    "td",
    "b",
    "i",
    "ul",
    "li",
    "code",
    "sub",
    "svg",
    "path",
    "line",
    "rect",
    "script",
    "math",
    "mrow",
    "msub",
    "msup",
    "mi",
    "mn",
    "mo",
    "mtext",
    "mspace",
    "span",
    "wbr",
}


class Reader(html.parser.HTMLParser):
    """Tags, attributes and text of a page; every tag that is opened must be closed; <wbr> and what
    it breaks is one text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.tags[-1:] == ["wbr"] and self.text:  # where a long name may be broken
            self.text[-1] += text
            self.tags.pop()
        else:
            self.text.append(text)


def page(file, out, *options):
    done = invoke("inspect", file, "--html", out, *options)
    assert done.exit_code == 0 and done.stdout == "", done.output
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["scara", "panda_arm"])
def test_one_self_contained_file(name, tmp_path):
    text = page(robot_file(name), tmp_path / "r.html")
    seen = Reader(text)
    assert set(seen.tags) <= TAGS
    own = text.replace(escaped(asset("html/three.min.js")), "")
    assert len(own) < len(text) - 500_000
    assert not re.search(r"https?:|src=|@import|url\(|<link|fetch\(|import\(", own)
    assert all(value[0] == "#" for key, value in seen.attributes if key == "href")
    joined = "\n".join(seen.text)
    for b in data(name)["bodies"]:
        assert b["name"] in joined and b["joint"] in joined
    why = [value for key, value in seen.attributes if key == "title"]
    base = data(name)["base_parameters"]
    assert [f"{parameter}: {reason}" for parameter, reason in base["parameters"].items()] == [
        text for text in why if ": " in text
    ]
    equations = {text for text in why if " = " in text}
    assert equations == {f"{name} = {text}" for name, text in base["groupings"].items()}


@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_type_has_a_page(kind, tmp_path):
    """Base parameters of bodies within joints with several coordinates too (universal ones)."""
    more = in_python(JOINTS[kind], of_axis(JOINTS[kind].kind, (0.0, 0.0, 1.0)))
    made = symgen.Builder("each").link("world")
    for k, parent in enumerate(("world", "l0", "l1")):
        made.link(f"l{k}", 1.0 + k, (0.1, 0.2, -0.1), (0.1, 0.0, 0.01, 0.2, 0.0, 0.2))
        word, own = ("revolute", {"axis": (0, 1, 1)}) if k == 1 else (kind, more)
        made.joint(f"j{k}", word, parent, f"l{k}", (0.1, 0.2, 0.3), (0.3, 0.2, 0.1), **own)
    seen = symgen.Robot(made).inspect()
    assert seen.data["bodies"][0]["type"] in seen.page()
    sizes, labels, columns = groups("Y_b", seen.data)
    assert sum(sizes) == len(columns) == seen.data["base_parameters"]["count"]
    assert len(labels) == len(sizes)


def test_names_are_data(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(hostile("</title><script>", HOSTILE), encoding="utf-8")
    seen = Reader(page(file, tmp_path / "r.html"))
    assert set(seen.tags) <= TAGS and seen.tags.count("script") == 3
    assert "</title><script>" in seen.text and all(name in seen.text for name in HOSTILE)
    scene = json.loads(next(text for text in seen.text if text.startswith('{"name"')))
    assert {body["name"] for body in scene["bodies"]} == {f"L{name}" for name in HOSTILE}


def cells(text, table):
    """The full numbers in a table of a page that has run."""
    inside = re.search(rf'<table id="{table}".*?</table>', text, re.DOTALL)[0]
    return np.array([float(x) for x in re.findall(r'data-value="([^"]*)"', inside)])


STATES = {
    "scara": ((), [0.5, -1.0, 1.2, 0.3]),
    "biped": (("--base", "floating"), None),
}


@needs_browser
@pytest.mark.parametrize("name", STATES)
def test_its_numbers_are_those_of_the_c(name, tmp_path):
    options, q = STATES[name]
    base = {"base": "floating"} if options else {}
    file = tmp_path / "r.html"
    page(robot_file(name), file, *options)
    robot = symgen.compile(robot_file(name), "gravity", "mass_matrix", "potential_energy", **base)
    if q is None:
        rng, n = np.random.default_rng(0), len(data(name)["velocities"])
        q = rng.uniform(-0.1, 0.1, n + 6 * bool(base)).round(3)
    text = shown(file, "#q=" + ",".join(map(str, q)))
    assert 'data-ready="yes"' in text
    q = clipped(robot_file(name), q, base)
    full = [*q[:3], *quaternion(q[3:6]), *q[6:]] if base else q
    assert np.allclose(cells(text, "torques"), robot.gravity(full), atol=1e-9)
    n = len(robot.gravity(full))
    assert np.allclose(cells(text, "matrix").reshape(n, n), robot.mass_matrix(full), atol=1e-12)
    energy = float(re.search(r'id="potential" data-value="([^"]*)"', text)[1])
    assert np.isclose(energy, robot.potential_energy(full)[0])


def quaternion(v):
    angle = np.linalg.norm(v)
    return [*(np.sin(angle / 2) / angle * np.array(v)), np.cos(angle / 2)]


def clipped(file, q, options):
    """As sliders do: within the limits."""
    limits = symgen.load(file, **options).model.limits.values()
    low = [-np.inf if row.lower is None else row.lower for row in limits]
    high = [np.inf if row.upper is None else row.upper for row in limits]
    return np.clip(q, low, high)


def test_equations():
    text = grouping("SXXR_2", "0.5*Ixx_2 - 1e-05*m_3 + hx_2")
    assert re.sub(r"<[^>]*>", "", text) == "SXXR2=0.5Ixx 2-1·10-5m3+hx 2".replace("-1·", "−1·")
    assert re.sub(r"<[^>]*>", "", grouping("MYR_1", "-hz_1")) == "MYR1=−hz 1"


@pytest.mark.parametrize("bare", ["fingers", "one"])
def test_a_robot_without_mass_has_a_page(bare, tmp_path):
    joint = '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>'
    n = 2 if bare == "fingers" else 1
    file = tmp_path / "r.urdf"
    file.write_text(
        '<robot name="r">'
        + "".join(f'<link name="l{k}"/>' for k in range(n + 1))
        + "".join(joint.format(k, k + 1) for k in range(n))
        + "</robot>"
    )
    seen = Reader(page(file, tmp_path / "r.html"))
    assert any("No link has mass" in text for text in seen.text)


def test_view_writes_the_page_and_opens_it(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    done = invoke("view", robot_file("scara"))
    path = Path(done.stdout.strip())
    assert done.exit_code == 0 and opened == [path.as_uri()]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    shutil.rmtree(path.parent)
