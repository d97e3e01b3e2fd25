"""The map and the recipes of CONTRIBUTING.md: every line is true, and nothing is missing."""

import re

import pytest

from symgen.languages import LANGUAGES
from symgen.reading.joint_kinds import JOINTS
from tests.support.house_files import ORDER
from tests.support.tools import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAP = dict(
    re.findall(r"^(\S+/) +(\S.*)$", PAGE.split("\n## Map\n")[1].split("```")[1], re.MULTILINE)
)
RECIPES = re.sub(r"\s+", " ", PAGE)
BUILT = re.compile(r"[._].*|build|dist|.*\.egg-info")
"""What commands make beside what is in the repository."""
PLACES = ("", "symgen/")
"""Where paths of CONTRIBUTING.md begin."""


def folders(place):
    """Those with files of ours."""
    return {
        f"{path.relative_to(ROOT).as_posix()}/"
        for path in place.iterdir()
        if path.is_dir() and not BUILT.fullmatch(path.name)
    }


def test_the_map_has_every_folder():
    present = folders(ROOT / "symgen") | folders(ROOT) - {"examples/"}
    assert present <= MAP.keys(), f"CONTRIBUTING.md, Map: {sorted(present - MAP.keys())}"
    assert not [name for name in MAP if not (ROOT / name).is_dir()]
    top = {path.name for path in (ROOT / "symgen").glob("[a-z]*.py")}
    assert set(re.findall(r"\b\w+\.py\b", MAP["symgen/"])) == top


def test_packages_are_in_their_order():
    packages = [name.split("/")[1] for name in MAP if re.fullmatch(r"symgen/\w+/", name)]
    assert packages == [name for name in ORDER if name in packages]


def test_the_map_has_every_language():
    names = [word for word in re.findall(r"\w+", MAP["symgen/languages/"]) if word in LANGUAGES]
    assert names == [*LANGUAGES], "CONTRIBUTING.md, Map: list LANGUAGES in their order"


def found(path):
    return next((ROOT / p / path for p in PLACES if (ROOT / p / path).exists()), None)


MADE = re.compile(r"build/|LANG|NAME")
"""Paths that a command makes, and those with a name that the reader chooses."""

NAMED = set(re.findall(r"`((?:[\w-]+/)+[\w.-]*|[\w-]+/[\w./-]+)`", RECIPES)) | set(
    re.findall(r"(?<![\w/`])(docs/[\w/-]+\.md)", RECIPES)
)


@pytest.mark.parametrize("path", sorted(p for p in NAMED if not MADE.search(p)))
def test_paths_of_recipes_exist(path):
    assert found(path) is not None, f"CONTRIBUTING.md names {path}"


OWNED = sorted(set(re.findall(r"`(\w+)` (?:of|in) `([\w/]+\.py)`", RECIPES)))


@pytest.mark.parametrize(("name", "path"), OWNED)
def test_names_of_recipes_are_in_their_files(name, path):
    text = found(path).read_text(encoding="utf-8")
    defined = rf"^(class |def |    def )?{name}\b( *[:=(|])"
    assert re.search(defined, text, re.MULTILINE), f"CONTRIBUTING.md: {path} has no {name}"


CLASSES = sorted(set(re.findall(r"`([A-Z][a-z]\w+)`", RECIPES)))


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_recipes_are_there(name):
    files = (ROOT / "symgen").rglob("*.py")
    defined = re.compile(rf"^class {name}\b", re.MULTILINE)
    assert any(defined.search(path.read_text(encoding="utf-8")) for path in files), name


STEPS = {
    title: re.findall(r"^(\d+)\. ", body, re.MULTILINE)
    for title, body in re.findall(
        r"^### (.*?)\n(.*?)(?=^##)", PAGE.split("\n## Recipes\n")[1], re.MULTILINE | re.DOTALL
    )
}


def test_recipes_are_numbered_steps():
    """A recipe with several steps numbers them from 1."""
    assert len(STEPS) > 12 and sum(len(steps) > 1 for steps in STEPS.values()) > 8
    wrong = {t: s for t, s in STEPS.items() if s != [str(k + 1) for k in range(len(s))]}
    assert not wrong


def test_the_first_screen_is_clone_environment_and_one_test():
    first = PAGE.split("```")[1]
    assert re.search(
        r"^git clone .*\nmake demo.*\nmake quick.*\n\S+ -m pytest tests/", first, re.MULTILINE
    )


TYPES = sorted({row.kind for row in JOINTS.values()})


@pytest.mark.parametrize("kind", TYPES)
def test_the_table_of_joints_has_every_type(kind):
    table = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| [^|]*\b{kind}\b[^|]*\|", table, re.MULTILINE), "docs/conventions.md"
