"""Tasks of exciting motions."""

from click.testing import CliRunner

from symgen.cli.main import main
from tests.support.tools import robot_file

SCARA = robot_file("scara")


def run(*arguments):
    return CliRunner().invoke(main, ["excite", *map(str, arguments)])
