"""``symgen inspect`` of robots with closed loops: the tree with its cut joints, mobility, closed
forms."""

import numpy as np
import pytest
import sympy

import symgen
from symgen.errors import OptionError
from tests.support.loops import LOOPS
from tests.support.tools import invoke, robot_file

EXCAVATOR = robot_file("excavator")


def test_the_tree_has_cut_joints_and_coordinates() -> None:
    text = invoke("inspect", EXCAVATOR).stdout
    assert "closed loops: 4 independent coordinates, -2 by Grübler's formula" in text
    tree = text[text.index("\nbase\n") :].splitlines()[1:10]
    assert tree[:4] == [
        "base",
        "└─ cab: swing (q[0])",
        "   ├─ boom_link: boom (q[1])  ═ boom_lift to boom_rod",
        "   │  ├─ stick_link: stick (q[2])  ═ stick_lift to stick_rod",
    ]
    last = "      └─ boom_rod: boom_cylinder (closed loop 'boom_lift')  ═ boom_lift to boom_link"
    assert tree[8] == last


def test_data_and_page_have_the_loops(tmp_path) -> None:
    from symgen.inspection.robot_data import inspect
    from symgen.jobs.job import Job

    job = Job.of(robot_file("ankle"), root="shin", quantities=("gravity",))
    found = inspect(job, job.load())
    assert (found["dof"], found["gruebler_dof"]) == (2, 2)
    loop = found["closed_loops"][0]
    assert (loop["name"], loop["type"]) == ("left_ball", "ball")
    assert loop["links"] == ["left_rod", "foot"] and loop["from"] == ["pitch", "roll"]
    assert loop["determines"] == ["left_motor", "left_rod_swing", "left_rod_tilt"]
    done = invoke("inspect", robot_file("five_bar"), "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert done.exit_code == 0 and "═ tip to right_lower" in page and "2 of 5" in page


@pytest.mark.parametrize(
    ("name", "quantity", "longest"),
    [
        ("excavator", "transmission:q4", 100),
        ("engine", "transmission:q3", 150),
        ("four-bar", "transmission:q4", 700),
        ("engine", "mass_matrix", 1600),
        ("engine", "inverse_dynamics", 9000),
    ],
)
def test_closed_forms_have_the_values_of_the_functions(
    name: str, quantity: str, longest: int
) -> None:
    """And they are short, without the square of a sine beside that of a cosine."""
    robot = symgen.Robot(LOOPS[name]())
    function, symbolic = robot.trace(quantity), robot.symbolic
    given = {key: (np.arange(robot.dof) * 0.07 + 0.2).tolist() for key in ("q", "qd", "qdd")}
    inputs = {key: given[key] for key in function.inputs}
    wanted = function.run(**inputs)
    symbols = symbolic.inputs(quantity)
    at = {s: x for key in inputs for s, x in zip(symbols[key], inputs[key], strict=True)}
    for out, values in wanted.items():
        found = np.array(symbolic.quantity(quantity, output=out), dtype=object).ravel()
        assert max(len(str(x)) for x in found) <= longest
        numbers = [float(sympy.sympify(x).evalf(20, subs=at)) for x in found]
        assert numbers == pytest.approx([float(x) for x in values], rel=1e-9, abs=1e-12)


def test_lengths_of_loops_are_numbers() -> None:
    with pytest.raises(OptionError, match="not supported for robots with closed loops"):
        symgen.Robot(EXCAVATOR).symbolic.entry("gravity", 1, lengths="symbols")
