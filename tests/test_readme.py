"""What README shows is what symgen does."""

from pathlib import Path

README = Path("README.md").read_text(encoding="utf-8")


def test_the_function_shown_is_the_one_generated():
    shown = README.split("```c\n")[1].split("\n```")[0]
    assert shown in Path("generated/pendulum/pendulum_inverse_dynamics.c").read_text(encoding="ascii")
