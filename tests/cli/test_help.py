"""The help: every option has a description, sections fit, every example works."""

import re

import click
import pytest

import symgen
from symgen.cli.help import SECTIONS
from symgen.cli.main import COMMANDS, main
from symgen.cli.main import SECTIONS as main_sections
from tests.support.shell import PENDULUM
from tests.support.tools import invoke


def options_of(name):
    command = main.get_command(click.Context(main), name)
    return [p for p in command.params if isinstance(p, click.Option) and not p.hidden]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help", "--help-all"])
def test_help_mentions_every_option(name, flag):
    done = invoke(name, flag)
    assert done.exit_code == 0 and done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 80
    for option in options_of(name):
        assert option.opts[-1] in done.stdout and (option.help or "").endswith("."), option.opts


@pytest.mark.parametrize("name", COMMANDS)
def test_help_all_describes_what_help_names(name):
    every, short = invoke(name, "--help-all").stdout, invoke(name, "--help").stdout
    if "--help-all" not in short:
        assert all(
            re.search(rf"^  .*{o.opts[-1]}\b", short, re.MULTILINE) for o in options_of(name)
        )
        return
    for option in options_of(name):
        assert re.search(rf"^  (-., )?{option.opts[-1]}\b", every, re.MULTILINE), option.opts


def test_shared_options_are_described_once():
    described = [name for name in COMMANDS if "\n  --root LINK" in invoke(name, "-h").stdout]
    assert described == ["check"]
    described = [name for name in COMMANDS if "\n  --column GROUP" in invoke(name, "-h").stdout]
    assert described == ["log"]
    assert "Robot (see symgen check --help):\n  --root," in invoke("generate", "-h").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_option_is_the_output(name):
    if any("-o" in option.opts for option in options_of(name)):
        assert "\n\nOutput:\n  -o, --out " in invoke(name, "-h").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_known_section(name):
    assert {option.section for option in options_of(name)} <= {*SECTIONS, ""}


def test_group_help_and_version():
    done = invoke("--help")
    for section, commands in main_sections.items():
        listed = "\n".join(rf"  {command} +\S.*" for command in commands)
        assert re.search(rf"^{section}:\n{listed}$", done.stdout, re.MULTILINE)
    assert invoke("--version").stdout == f"symgen, version {symgen.__version__}\n"


def test_no_arguments_print_the_help():
    done = invoke()
    assert re.search(r"\n  generate +Generate C and Python", done.stdout + done.stderr)


def test_the_examples_of_the_help_work(tmp_path):
    said = re.sub(r" \\\n +", " ", invoke("generate", "-h").stdout)
    for line in re.findall(r"^  symgen generate (\S+ -o \S+ .*)$", said, re.MULTILINE):
        robot, _, out, *options = line.split()
        assert invoke("generate", robot, "-o", tmp_path / out, *options).exit_code == 0, line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bogus"], "no command is called 'bogus'; there are 'init', "),
        (["generat"], "near names: 'generate'; see symgen --help"),
        (["generate", PENDULUM, "--gravity", "0", "-9.81"], "one word, as in 0,0,-9.81"),
        (["generate", PENDULUM], "missing option '-o' / '--out'; see symgen generate --help"),
        (["generate", PENDULUM, "-o", "x", "--bogus"], "no such option '--bogus'; see symgen"),
        (["check", PENDULUM, "--gravty", "0,0,1"], "'--gravty'; near names: '--gravity'; see"),
        (["generate", PENDULUM, PENDULUM, "-o", "x"], "unexpected extra argument"),
        (["generate", "-o", "x"], "missing argument 'FILE'"),
        (["generate", PENDULUM, "-o", "x", "--snap-angles", "x"], "'x' is not a valid float"),
        (["verify"], "missing argument 'DIR'"),
        (["dump", PENDULUM], "missing option '--quantity'"),
    ],
)
def test_misuse(arguments, said):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ") and said in done.stderr
