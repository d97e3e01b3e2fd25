"""What README shows is what symgen does."""

from pathlib import Path

from benchmarks.quantities import inputs, page

README = Path("README.md").read_text(encoding="utf-8")


def test_the_function_shown_is_the_one_generated():
    shown = README.split("```c\n")[1].split("\n```")[0]
    assert shown in Path("generated/pendulum/pendulum_inverse_dynamics.c").read_text(encoding="ascii")


def test_the_page_of_quantities_is_that_of_the_registry():
    assert Path("docs/quantities.md").read_text(encoding="utf-8") == f"{page()}\n## Inputs\n\n{inputs()}\n"
