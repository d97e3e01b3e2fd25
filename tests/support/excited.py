"""Tasks of exciting motions."""

from click.testing import CliRunner
from tools import robot_file

from symgen.cli.main import main

SCARA = robot_file("scara")


def run(*arguments):
    return CliRunner().invoke(main, ["excite", *map(str, arguments)])
