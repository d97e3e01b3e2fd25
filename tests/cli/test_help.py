"""Help: every option has its words, every example of it works."""

import re

import click
import pytest
from shell import PENDULUM
from tools import invoke

import symgen
from symgen.cli.main import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_mentions_every_option_with_words(name, flag):
    done = invoke(name, flag)
    assert done.exit_code == 0 and done.stderr == ""
    for parameter in main.get_command(click.Context(main), name).params:
        spelling = parameter.opts[-1] if isinstance(parameter, click.Option) else parameter.metavar
        assert spelling in done.stdout
        assert not isinstance(parameter, click.Option) or (parameter.help or "").endswith("."), (
            spelling
        )


def test_group_help_and_version():
    done = invoke("--help")
    assert all(name in done.stdout for name in main.commands)
    assert invoke("--version").stdout == f"symgen, version {symgen.__version__}\n"


def test_nothing_is_answered_with_the_help():
    done = invoke()
    assert "\n  generate  Write C and Python" in done.stdout + done.stderr


def test_the_examples_of_the_help_work(tmp_path):
    said = re.sub(r" \\\n +", " ", invoke("generate", "-h").stdout)
    for line in re.findall(r"^  symgen generate (\S+ -o \S+ .*)$", said, re.MULTILINE):
        robot, _, out, *options = line.split()
        assert invoke("generate", robot, "-o", tmp_path / out, *options).exit_code == 0, line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["generat"], "near names: 'generate' and 'convert'"),
        (["generate", PENDULUM, "--gravity", "0", "-9.81"], "one word: 0,0,-9.81"),
        (["generate", PENDULUM], "Missing option '-o' / '--out'"),
        (["generate", PENDULUM, "-o", "x", "--bogus"], "No such option '--bogus'"),
        (["generate", PENDULUM, PENDULUM, "-o", "x"], "unexpected extra argument"),
        (["generate", "-o", "x"], "Missing argument 'FILE'"),
        (["generate", PENDULUM, "-o", "x", "--snap-angles", "x"], "'x' is not a valid float"),
        (["verify"], "Missing argument 'DIR'"),
        (["dump", PENDULUM], "Missing option '--quantity'"),
    ],
)
def test_misuse(arguments, said):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and said in done.stderr.splitlines()[-1]
