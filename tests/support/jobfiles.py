"""Job files of a few lines."""

from tests.support.tools import invoke, robot_file

PENDULUM, PANDA = robot_file("pendulum"), robot_file("panda")


def refusal(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    return done.stderr[:-1]
