"""Versions and addresses of packages."""

import json

import pytest

from symgen.jobs.verify import verify
from tests.support.glued import EVERY
from tests.support.tools import generated, invoke, robot_file, snapshot

VERSIONS = {
    "CMakeLists.txt": "project(ur5 VERSION 2.3.1 LANGUAGES C)",
    "ur5.pc": "Version: 2.3.1",
    "idf_component.yml": 'version: "2.3.1"',
    "library.properties": "version=2.3.1",
    "library.json": '"version": "2.3.1"',
    "manifest.json": '"module_version": "2.3.1"',
    "ur5.c": "module_version=2.3.1",
}


URLS = {
    "CMakeLists.txt": 'VERSION 2.3.1 HOMEPAGE_URL "https://example.org/arm?a=1" LANGUAGES C)',
    "ur5.pc": "URL: https://example.org/arm?a=1",
    "idf_component.yml": 'url: "https://example.org/arm?a=1"',
    "library.properties": "url=https://example.org/arm?a=1",
    "library.json": '"homepage": "https://example.org/arm?a=1"',
    "manifest.json": '"module_url": "https://example.org/arm?a=1"',
}


def test_packages_have_the_version_and_address_of_the_module(tmp_path):
    for texts, more in ((VERSIONS, {}), (URLS, {"module_url": "https://example.org/arm?a=1"})):
        options = {"quantities": ("gravity",), "glue": EVERY, "module_version": "2.3.1"}
        _, folder = generated("ur5", **options, **more)
        assert [f for f, text in texts.items() if text not in (folder / f).read_text()] == []
        assert all(check.passed for check in verify(folder))


def test_a_job_file_has_the_version(tmp_path):
    robot = json.dumps(robot_file("pendulum"))
    text = f'file = {robot}\nmodule_version = "3.0.2"\nlanguages = ["c"]\nout = "a"\n'
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    assert invoke("generate", tmp_path / "job.toml").exit_code == 0
    options = ("--module-version", "3.0.2", "--lang", "c")
    assert invoke("generate", robot_file("pendulum"), "-o", tmp_path / "b", *options).exit_code == 0
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


@pytest.mark.parametrize(
    "option, value",
    [
        ("version", x)
        for x in ("", "1", "1.2", "v1.2.3", "1.2.3-rc1", "01.2.3", "1.2.3\n", "1.2.\u0663")
    ]
    + [
        ("url", x)
        for x in ("arm", "ftp://a", 'https://a"b', "https://a b", "https://a\nb", "http://$a")
    ],
)
def test_versions_and_addresses_that_packages_would_not_take(option, value, tmp_path):
    given = (f"--module-{option}", value, "-o", tmp_path / "out")
    done = invoke("generate", robot_file("pendulum"), *given)
    assert done.exit_code == 2 and done.stderr.startswith(
        f"error: --module-{option} {value!r}: give"
    )
    assert not list(tmp_path.iterdir())
