"""Echeandia's tables of rotors, on the robots that they were made with."""

import pytest
from tools import ROOT

from benchmarks.rotors import PUBLISHED, SIZES, differences, lines

MATCHED = [key for key in PUBLISHED if key[:2] == ("reflected", "none")]


@pytest.mark.parametrize("key", MATCHED, ids=" ".join)
def test_published_rows_of_mcrba_have_all_their_digits(key):
    """At rest as they are; moving where C qd is left out of MCRBA, and not otherwise."""
    one, other, shape, speed = key
    found = differences(one, other, shape, speed, still=speed == "moving")
    assert len(found) == len(SIZES) and found == pytest.approx(PUBLISHED[key], abs=0.0051)
    if speed == "moving":
        assert differences(one, other, shape, speed) != pytest.approx(PUBLISHED[key], rel=0.005)


def test_the_page_has_both_comparisons_and_is_written_by_the_script():
    page = (ROOT / "docs" / "rotors.md").read_text(encoding="utf-8")
    rows = [line for line in lines() if line.startswith("| M")]
    assert len(rows) == 14 and all(row in page for row in rows)
    assert "836.160 (836.16)" in page and "799.138 (836.16)" in page
