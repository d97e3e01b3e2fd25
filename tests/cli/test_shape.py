"""Options that shape the result: parts of robots, names, gravity, formulations, pieces."""

import re

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.compiler.passes import dump
from symgen.inspection.command_reports import OTHER_SECTION, SECTIONS, sections
from symgen.jobs.api import trace
from symgen.languages import ALIASES, LANGUAGES
from tests.support.shell import PENDULUM, data
from tests.support.tools import invoke, robot_file, snapshot


def test_part_of_a_robot():
    done = invoke(
        "check", robot_file("panda"), "--root", "link2", "--tip", "link5", "--lock", "joint4=0.5"
    )
    assert done.exit_code == 0 and "panda: 2 joints" in done.stdout
    assert re.findall(r"^ \d +(\S+)", done.stdout, re.MULTILINE) == ["joint3", "joint5"]


def test_prefix_and_languages(tmp_path):
    options = ("--prefix", "arm_7", "--lang", "c", "--quantity", "t=bias+gravity")
    assert invoke("generate", PENDULUM, "-o", tmp_path, *options).exit_code == 0
    assert snapshot(tmp_path).keys() == {
        "CMakeLists.txt",
        "arm_7.c",
        "arm_7.h",
        "arm_7_selftest.c",
        "arm_7_t.c",
        "arm_7_trig.h",
        "arm_7_report.json",
        "manifest.json",
    }
    assert "void arm_7_t(" in (tmp_path / "arm_7.h").read_text()
    invoke("generate", PENDULUM, "-o", tmp_path, "--lang", "python", "--lang", "python")
    assert snapshot(tmp_path).keys() == {"pendulum.py", "manifest.json"}


def test_languages_have_aliases(tmp_path):
    for k, (alias, name) in enumerate(
        {"c++": "cpp", "CPP": "cpp", "js": "javascript", "Octave": "matlab"}.items()
    ):
        for out, lang in (("alias", alias), ("name", name)):
            folder = tmp_path / f"{out}{k}"
            options = ("--lang", lang, "--quantity", "gravity")
            assert invoke("generate", PENDULUM, "-o", folder, *options).exit_code == 0
        assert snapshot(tmp_path / f"alias{k}") == snapshot(tmp_path / f"name{k}")
    both = ("--lang", "c++", "--lang", "cpp", "--quantity", "gravity")
    assert invoke("generate", PENDULUM, "-o", tmp_path / "both", *both).exit_code == 0
    assert snapshot(tmp_path / "both") == snapshot(tmp_path / "name0")


def test_no_alias_is_another_language():
    assert not ALIASES.keys() & LANGUAGES.keys()
    assert len(ALIASES) == sum(len(language.aliases) for language in LANGUAGES.values())


def test_gravity():
    def code(*gravity):
        return invoke("dump", PENDULUM, "--quantity", "gravity", *gravity).stdout

    assert code() == code("--gravity", "0,0,-9.81") == code("--gravity", " 0, -0 ,-9.81e0")
    assert code() != code("--gravity", "1,0,0")
    assert "9.81" in code() and "input g[3]" in code("--gravity", "runtime")


def test_formulation():
    ways = [way.name for way in QUANTITIES["bias"].formulations]
    for name in ways:
        found = data(
            "ops",
            robot_file("ur5"),
            "--json",
            "--quantity",
            "bias",
            "--formulation",
            f"bias={name}",
        )
        assert found["quantities"]["bias"]["formulation"] == name
    assert len(ways) > 1


def test_chunk(tmp_path):
    options = ("--lang", "c", "--quantity", "bias")
    for size in ("20", "100000"):
        assert (
            invoke(
                "generate", robot_file("ur5"), "-o", tmp_path / size, "--chunk", size, *options
            ).exit_code
            == 0
        )
        assert invoke("verify", tmp_path / size).exit_code == 0
    pieces = [
        (tmp_path / size / "ur5_bias.c").read_text().count("\nstatic ") for size in ("20", "100000")
    ]
    assert pieces[0] > 3 and pieces[1] == 0


def test_dump_is_the_program():
    done = invoke("dump", PENDULUM, "--quantity", "gravity")
    program = trace(PENDULUM, "gravity").program
    assert done.stdout == f"{dump(program)}\n" and "output tau_g[2]" in done.stdout


def test_list_names_every_quantity_in_one_screen():
    """Every name is listed once, under a known section; frames are abbreviated."""
    done = invoke("list")
    lines = done.stdout.splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 100
    words = {
        f"{start}{middle}{end}"
        for word in re.findall(r"^  (.*)$", done.stdout, re.MULTILINE)
        for name in word.split()
        for start, options, end in [re.fullmatch(r"([^{]*)(?:\{(.*)\})?(.*)", name).groups()]
        for middle in (options or "").split(",")
    }
    names = {
        *QUANTITIES,
        *(f"{name}:{q.subject.upper()}" for name, q in LINK_QUANTITIES.items()),
        *LANGUAGES,
    }
    assert words == names


def test_every_file_of_algorithms_has_a_section_in_the_list():
    found = sections()
    assert OTHER_SECTION not in found and list(found) == list(SECTIONS)
