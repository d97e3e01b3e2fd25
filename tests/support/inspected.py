"""What tests of ``symgen inspect`` share: its data, robots, names that are a danger."""

import json
from functools import cache

from tests.support.tools import invoke, robot_file

PENDULUM = robot_file("pendulum")


@cache
def data(name):
    done = invoke("inspect", robot_file(name), "--json")
    assert done.exit_code == 0 and done.stderr == ""
    return json.loads(done.stdout)


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "'&amp;",
    "[bold]",
    "]]>",
]
