"""Characters of a robot's names that the font of pictures does not have."""

import warnings

import pytest

from symgen.inspection import rendering
from symgen.inspection.rendering import new_figure


def drawn(text):
    figure = new_figure(1, 1)
    figure.text(0.1, 0.5, text)
    return rendering.encoded(figure, "png", 30)


@pytest.fixture(autouse=True)
def nothing_said():
    pytest.importorskip("matplotlib")
    rendering._say_missing.cache_clear()


def test_are_said_in_one_line_once(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again = drawn("肘 elbow 手"), drawn("肘 elbow 手")
    assert first == again
    note = "note: the font of pictures has no 手 (U+624B), 肘 (U+8098); boxes stand for them\n"
    assert capsys.readouterr().err == note


def test_others_are_not(capsys):
    drawn("épaule ½ π √ 12°")
    assert capsys.readouterr().err == ""


def test_other_warnings_stay(monkeypatch):
    figure = new_figure(1, 1)
    monkeypatch.setattr(figure, "savefig", lambda *a, **k: warnings.warn("thin", stacklevel=2))
    with pytest.warns(UserWarning, match="thin"):
        rendering.encoded(figure, "png", 30)
