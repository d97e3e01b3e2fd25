"""What URDF says is read: axes, limits, numbers, notes, frames."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgen.reading.urdf import parse
from symgen.reading.xml_reader import NUMBER
from tests.support.urdf import INERTIAL, LINKS, joint, refusal, robot


def test_notes():
    drive = "<transmission><joint name='j'/><motorInertia>1</motorInertia></transmission>"
    damped = "<dynamics damping='0.1' friction='0'/>"
    found = robot(LINKS + joint("<axis xyz='0 3 4'/>" + damped, "continuous") + drive + drive)
    assert {n.message for n in found.notices} == {
        "the axis has the length 5 and is normalized",
        "damping and friction (1 joint) are ignored; add --friction to include them",
        "reduction and rotor inertia (2 transmissions) are ignored; use --actuators to give rotors",
    }
    assert (
        robot(LINKS + joint("<dynamics damping='0.0' friction='-0'/>", "continuous")).notices == ()
    )


def test_zero_mass_with_inertia_warns():
    found = robot(
        '<link name="b">' + INERTIAL.replace('mass value="1"', 'mass value="0"') + "</link>"
    )
    assert [str(n) for n in found.notices] == [
        "r.urdf:1: warning: link 'b': has inertia but zero mass; used as written"
    ]


@pytest.mark.parametrize(
    ("text", "axis", "noted"),
    [
        ("0 0 -2", (0, 0, -1), True),
        ("1e-320 0 0", (1, 0, 0), True),
        ("1e308 1e308 0", (0.5**0.5, 0.5**0.5, 0), True),
        ("0.6 0 0.8", (0.6, 0, 0.8), False),
        ("0.7071068 0 0.7071068", (0.5**0.5, 0, 0.5**0.5), False),
    ],
)
def test_axis(text, axis, noted):
    found = robot(LINKS + joint(f"<axis xyz='{text}'/>", "continuous"))
    assert found.joints[0].axis == pytest.approx(axis, abs=1e-15) and bool(found.notices) == noted


def test_fixed_and_floating_joints_need_no_axis():
    for kind in ("fixed", "floating"):
        assert robot(LINKS + joint("<axis xyz='0 0 0'/>", kind)).joints[0].axis == (1, 0, 0)


def test_limits():
    limit = '<limit lower="-1" upper="2" velocity="3"/>'
    limits = robot(LINKS + joint(limit)).joints[0].limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1, 2, 3, None)
    assert robot(LINKS + joint(limit, "continuous")).joints[0].limits.lower is None


def test_nameless_robot():
    found = parse(b"<robot><link name='a'/></robot>", "r")
    assert found.name == "robot" and found.notices[0].message == "has no name; 'robot' is used"


DIGITS = st.text("0123456789", min_size=1, max_size=20)


@given(
    st.sampled_from(["", "+", "-"]),
    DIGITS,
    st.sampled_from(["", "."]),
    st.one_of(st.just(""), DIGITS),
    st.sampled_from(["", "e", "E-", "e+"]),
)
def test_numbers_of_the_grammar(sign, whole, point, fraction, exponent):
    text = sign + whole + (point and point + fraction) + (exponent and exponent + "3")
    assert robot(LINKS + joint(f"<limit effort=' {text}\n'/>")).joints[0].limits.effort == float(
        text
    )


@given(st.text("0123456789+-.eE_xnaif ,", max_size=12))
@settings(max_examples=300, deadline=None)
def test_numbers_outside_the_grammar(text):
    if NUMBER.fullmatch(text.strip(" ")):
        assert abs(float(text)) >= 0
    else:
        assert "effort of <limit>" in refusal(LINKS + joint(f"<limit effort='{text}'/>"))


@pytest.mark.parametrize(
    "text", ["nan", "inf", "0x10", "1_000", "1e", ".", "+", "1.0f", "\u0661", "\u00a02"]
)
def test_number_spellings_of_python_are_refused(text):
    assert "not a decimal number" in refusal(LINKS + joint(f"<limit effort='{text}'/>"))


def test_the_world_is_implicit_as_for_drake():
    found = robot(LINKS + joint(kind="fixed", name="w", ends='<parent link="world"/><child link="a"/>')
                  + joint(kind="continuous"))  # fmt: skip
    assert found.roots == ("world",) and found.links[0].name == "world"
    assert [n.message for n in found.notices] == [
        "link 'world' is missing, but a joint refers to it; it is taken as the ground"
    ]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ('<?xml version="0.0"?>', "1: note: XML: XML has no version 0.0; the file is read anyway"),
        ('\n<?xml version="1.0"?>', "2: note: XML: the XML declaration is not at the start"),
        (
            '<!-- of us -->\n<?xml version="1.0"?>',
            "2: note: XML: the XML declaration is not at the",
        ),
    ],
)
def test_declarations_that_other_parsers_take(start, said):
    found = parse(f"{start}\n<robot name='r'><link name='a'/></robot>".encode(), "r.urdf")
    assert found.line == start.count("\n") + 2
    (notice,) = found.notices
    assert str(notice).startswith(f"r.urdf:{said}")
