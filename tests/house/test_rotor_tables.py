"""Echeandia's tables of rotors, on the robots that they were made with."""

import re

import pytest

from benchmarks.rotors import PUBLISHED, SIZES, differences
from tests.support.tools import ROOT

MATCHED = [key for key in PUBLISHED if key[:2] == ("reflected", "none")]


@pytest.mark.parametrize("key", MATCHED, ids=" ".join)
def test_published_rows_of_mcrba_have_all_their_digits(key):
    """At rest as they are; moving where C qd is left out of MCRBA, and not otherwise."""
    one, other, shape, speed = key
    found = differences(one, other, shape, speed, still=speed == "moving")
    assert len(found) == len(SIZES) and found == pytest.approx(PUBLISHED[key], abs=0.0051)
    if speed == "moving":
        assert differences(one, other, shape, speed) != pytest.approx(PUBLISHED[key], rel=0.005)


def test_the_text_quotes_the_tables():
    """Each number of three decimals in the paragraph below the table is in the table."""
    page = (ROOT / "docs" / "rotors.md").read_text(encoding="utf-8")
    paragraph = page.partition("**What the moving rows compare.**")[2].partition("\n\n")[0]
    compared = [line for line in page.splitlines() if line.startswith("| M")]
    assert len(compared) == 14
    rows = "".join(compared)
    quoted = re.findall(r"\b\d+\.\d{3}\b", paragraph)
    assert len(quoted) > 8 and not [x for x in quoted if x not in rows]
