"""The maps of README.md and CONTRIBUTING.md: every line is true, and nothing is missing."""

import re

import pytest
from house_files import ORDER
from tools import ROOT

from symgen.languages import LANGUAGES
from symgen.reading.joints import JOINTS

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAP = dict(
    re.findall(r"^(\S+/) +(\S.*)$", README.split("## Map\n")[1].split("```")[1], re.MULTILINE)
)
RECIPES = re.sub(r"\s+", " ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
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
    rooms, top = folders(ROOT / "symgen"), folders(ROOT) - {"examples/"}
    assert rooms | top <= MAP.keys(), f"README.md, Map: {sorted((rooms | top) - MAP.keys())}"
    assert not [name for name in MAP if not (ROOT / name).is_dir()]
    top = {path.name for path in (ROOT / "symgen").glob("[a-z]*.py")}
    assert set(re.findall(r"\b\w+\.py\b", MAP["symgen/"])) == top


def test_rooms_are_in_their_order():
    rooms = [name.split("/")[1] for name in MAP if re.fullmatch(r"symgen/\w+/", name)]
    assert rooms == [name for name in ORDER if name in rooms]


def test_the_map_has_every_language():
    assert re.findall(r"(\w+)/", MAP["symgen/languages/"]) == [*LANGUAGES]


def found(path):
    return next((ROOT / p / path for p in PLACES if (ROOT / p / path).exists()), None)


NAMED = set(re.findall(r"`((?:[\w-]+/)+[\w.-]*|[\w-]+/[\w./-]+)`", RECIPES)) | set(
    re.findall(r"(?<![\w/`])(docs/[\w/-]+\.md)", RECIPES)
)


@pytest.mark.parametrize("path", sorted(p for p in NAMED if not re.search(r"LANG|NAME", p)))
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


TYPES = sorted({row.kind for row in JOINTS.values()})


@pytest.mark.parametrize("kind", TYPES)
def test_the_table_of_joints_has_every_type(kind):
    table = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| [^|]*\b{kind}\b[^|]*\|", table, re.MULTILINE), "docs/conventions.md"
