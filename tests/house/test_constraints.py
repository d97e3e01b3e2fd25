"""constraints.txt: every pin installs on every Python that symgen supports."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.support.tools import ROOT

LINE = re.compile(r"(\S+)==(\S+)  # Python ?(.*)")
PINS = {
    canonicalize_name(found[1]): (found[2], found[3])
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#") and (found := LINE.fullmatch(line))
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MINORS = sorted(
    int(found[1])
    for text in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", text))
)
LATEST_PATCH = 30
"""Later patch versions than this have not been released."""


def test_the_supported_versions_are_those_of_the_project():
    oldest = SpecifierSet(PROJECT["requires-python"])
    assert f"3.{MINORS[0]}.0" in oldest and f"3.{MINORS[0] - 1}.{LATEST_PATCH}" not in oldest
    assert [*range(MINORS[0], MINORS[-1] + 1)] == MINORS


def test_every_line_is_a_pin_with_its_requirement():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == len(PINS) > 100


@pytest.mark.parametrize("name", PINS)
def test_a_pin_installs_on_every_supported_python(name):
    version, wanted = PINS[name]
    specifier = SpecifierSet(wanted)
    refused = [
        f"3.{minor}.{patch}"
        for minor in MINORS
        for patch in range(LATEST_PATCH)
        if f"3.{minor}.{patch}" not in specifier
    ]
    assert not refused, f"{name} {version} needs Python {wanted}: run .ci/constraints.py"


@pytest.mark.parametrize("name", PINS)
def test_the_requirement_is_the_one_of_the_installed_version(name):
    try:
        installed = metadata(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if installed["Version"] != PINS[name][0]:
        pytest.skip(f"{name} {installed['Version']} is installed")
    assert SpecifierSet(installed.get("Requires-Python", "")) == SpecifierSet(PINS[name][1])


def extras():
    return {
        name: [Requirement(text) for text in texts]
        for name, texts in PROJECT["optional-dependencies"].items()
    }


def test_every_direct_requirement_is_pinned_at_a_version_that_it_allows():
    needed = [Requirement(text) for text in PROJECT["dependencies"]]
    needed += [each for group in extras().values() for each in group]
    for each in needed:
        name = canonicalize_name(each.name)
        if name != "symgen":
            assert name in PINS and PINS[name][0] in each.specifier, str(each)


def test_the_tests_need_neither_oracles_nor_the_documentation():
    """What `make test` installs has none of the packages of `oracles`, `docs` and `lint`."""
    groups = extras()
    included = {"test"}
    while more := {x for g in included for r in groups[g] for x in r.extras} - included:
        included |= more
    test = {r.name for group in included for r in groups[group]}
    for other in ("oracles", "docs", "lint"):
        assert not test & ({r.name for r in groups[other]} - {"symgen"}), other
    assert {extra for r in groups["dev"] for extra in r.extras} == {
        "test",
        "oracles",
        "docs",
        "lint",
    }


def test_no_group_is_repeated_possessively():
    """Python before 3.11.5 matches possessive repetitions of groups that backtrack wrongly
    (python/cpython#106052). Atomic groups are right in every version."""
    possessive = re.compile(r"\)[*+?]\+")
    files = sorted((ROOT / "symgen").rglob("*.py"))
    assert len(files) > 100
    assert not [str(f) for f in files if possessive.search(f.read_text(encoding="utf-8"))]
