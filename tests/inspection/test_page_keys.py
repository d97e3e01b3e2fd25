"""The page of a robot by the keyboard alone, and how soon it stands."""

import pytest

from tests.support.browser import needs_browser
from tests.support.devtools import opened
from tests.support.tools import invoke, robot_file

FOCUS = "document.activeElement"
SEEN = (
    f"{FOCUS}.matches(':focus-visible') && getComputedStyle({FOCUS}).outlineStyle !== 'none' && "
    f"parseFloat(getComputedStyle({FOCUS}).outlineWidth) > 0"
)


@pytest.fixture
def page(tmp_path):
    file = tmp_path / "r.html"
    assert invoke("inspect", robot_file("ur5"), "--html", file).exit_code == 0
    return file


def reach(tab, what):
    """Tab on until an element matches a selector; each one on the way shows that it is there."""
    for _ in range(40):
        tab.press("Tab")
        assert tab.value(SEEN), tab.value(f"{FOCUS}.outerHTML")
        if tab.value(f"{FOCUS}.matches({what!r})"):
            return
    raise AssertionError(f"no {what} is reached")


@needs_browser
def test_everything_is_reached_and_moved_by_keys(page):
    torque = "document.querySelector('#torques td.n[data-value]').dataset.value"
    picture = "document.getElementById('view').toDataURL()"
    second = "document.querySelectorAll('#sliders input')[1]"
    with opened(page) as tab:
        assert tab.value("document.body.dataset.ready") == "yes"
        reach(tab, "nav a")
        reach(tab, "#view")
        before = tab.value(picture)
        tab.press("ArrowLeft")
        assert tab.value(picture) != before
        reach(tab, "#frames")
        before = tab.value(picture)
        tab.press(" ")
        assert tab.value("document.getElementById('frames').checked")
        assert tab.value(picture) != before
        reach(tab, "#reset")
        reach(tab, "#sliders input")
        reach(tab, "#sliders input")
        held = [tab.value("document.querySelectorAll('#torques td.n')[1].dataset.value")]
        for key, sign in (("ArrowRight", 1), ("ArrowRight", 1), ("ArrowLeft", -1)):
            at = tab.value(f"Number({second}.value)")
            tab.press(key)
            assert (tab.value(f"Number({second}.value)") - at) * sign > 0
            held.append(tab.value("document.querySelectorAll('#torques td.n')[1].dataset.value"))
        assert held[1] != held[0] and held[3] == held[1] and "#q=0," in tab.value("location.href")
        tab.press("End")
        assert tab.value(f"{second}.value === {second}.max")
        tab.value("document.getElementById('reset').focus()")
        tab.press("Enter")
        assert tab.value(f"Number({second}.value)") == 0
        assert tab.value(torque) is not None


@needs_browser
def test_what_is_not_seen_costs_no_layout(page):
    """Tables below the first screen are laid out when they are scrolled to, and then are there."""
    last = "document.querySelector('#operations + .wide')"
    visible = f"{last}.querySelector('td').checkVisibility({{contentVisibilityAuto: true}})"
    with opened(page) as tab:
        assert not tab.value(visible)
        tab.value(f"{last}.scrollIntoView()")
        tab.value("new Promise(done => setTimeout(() => requestAnimationFrame(done), 50))")
        assert tab.value(visible)
