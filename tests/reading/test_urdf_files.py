"""Files of URDF as they are: paths, bytes, prefixes, lines, namespaces."""

import math
import random
from pathlib import Path

import pytest

from symgen.errors import RobotError, SymgenError
from symgen.reading.assemble import load
from symgen.reading.urdf import parse
from symgen.reading.xml_text import MAX_BYTES
from symgen.text import shown
from tests.support.urdf import CASES, LINKS, case_file, joint, refusal, robot


def test_unreadable_paths(tmp_path):
    message = r"error: cannot be read \(.*\); give the path of a robot file"
    for path in (tmp_path, tmp_path / "none.urdf", "a\0b", tmp_path / "two\nlines"):
        with pytest.raises(RobotError, match=message) as caught:
            load(path)
        assert str(caught.value).isprintable()


def test_huge_file(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(RobotError, match=r"huge\.urdf: error: is larger than 64 MiB"):
        load(path)


def test_names_cannot_break_the_line():
    odd = "a&#10;b: error: &#x9b;31m&#x202e;"
    text = refusal(
        f'<link name="c"/><joint name="{odd}" type="fixed"><parent link="{odd}"/>'
        '<child link="c"/></joint>'
    )
    assert text == (
        "r.urdf:1: error: joint 'a\\nb: error: \\x9b31m\\u202e': parent link 'a\\nb: error: "
        "\\x9b31m\\u202e' does not exist; add it or correct the name"
    )
    assert len(shown("x" * 10**6)) < 200
    assert len(shown("\u202e" * 10**6)) < 200


def test_undeclared_prefixes_are_read_as_ros_does():
    found = robot(LINKS + joint(kind="fixed") + '<sensor:camera name="c"/><sensor:camera/>')
    assert [str(n) for n in found.notices] == [
        "r.urdf:1: note: <sensor:camera>: unknown in <robot>, ignored (2 of them)"
    ]


def test_only_the_roots_namespace_counts():
    data = (
        f'<u:robot xmlns:u="urn:u" xmlns:v="urn:v" name="r"><v:link name="ghost"/><link '
        f'name="bare"/>'
        f"{LINKS}</u:robot>"
    ).replace('<link name="a', '<u:link name="a')
    assert [link.name for link in parse(data.encode(), "r").links] == ["a"]


def test_misspelt_inertial_is_pointed_out():
    found = robot('<link name="a"><Inertial/></link>')
    assert (
        found.notices[0].message
        == "unknown in <link>, ignored; if <inertial> is meant, correct the name"
    )


def test_lines_are_where_start_tags_begin():
    data = b'<robot\n name="r">\n<link\n\n name="a"\n/>\n</robot>'
    found = parse(data, "r.urdf")
    assert (found.line, found.links[0].line) == (1, 3)


def test_no_bytes_end_in_a_traceback(tmp_path):
    generator, path = random.Random(1), tmp_path / "fuzz.urdf"
    texts = [Path(case_file(name)).read_bytes() for name in CASES]
    for _ in range(400):
        path.write_bytes(mutated(generator, generator.choice(texts)))
        try:
            load(path)
        except SymgenError as error:
            assert all(line.isprintable() for line in str(error).split("\n"))


def mutated(generator: random.Random, data: bytes) -> bytes:
    """`data` with a few bytes changed, removed, or copied from elsewhere."""
    edited = bytearray(data)
    for _ in range(generator.randint(1, 6)):
        at, kind = generator.randrange(len(edited)), generator.randrange(4)
        piece = edited[at : at + generator.randint(1, 60)]
        if kind == 0:
            edited[at] = generator.randrange(256)
        elif kind == 1:
            del edited[at : at + len(piece)]
        else:
            to = generator.randrange(len(edited))
            edited[to : to + (kind == 2) * len(piece)] = piece
    return bytes(edited) or b" "


@pytest.mark.parametrize(
    ("quaternion", "rpy"),
    [
        ("0.7071067811865476 0 0 0.7071067811865476", (math.pi / 2, 0, 0)),
        ("0 0 7 7", (0, 0, math.pi / 2)),
        ("0 -0.5 0 -0.5", (0, math.pi / 2, 0)),  # q and -q are one rotation
        ("1e-200 0 0 1e200", (0, 0, 0)),
    ],
)
def test_quaternions_of_urdf_1_1(quaternion, rpy):
    found = robot(LINKS + joint(f"<origin quat_xyzw='{quaternion}'/>", "continuous")).joints[0]
    assert found.origin.rpy == pytest.approx(rpy, abs=1e-15)
