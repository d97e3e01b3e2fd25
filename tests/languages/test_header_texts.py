"""What the header of generated C tells of each quantity."""

import re

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.api import generate
from tests.support.tools import robot_file

LINK = "lower"


def test_the_header_has_the_formula_and_the_outputs_of_every_quantity(tmp_path):
    names = [*QUANTITIES, *(f"{name}:{LINK}" for name in LINK_QUANTITIES)]
    _, _, paths = generate(robot_file("pendulum"), tmp_path, ["c"], quantities=names)
    header = next(path for path in paths if path.name == "pendulum.h").read_text(encoding="ascii")
    for quantity in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        linked = f"_{LINK}" if quantity.name in LINK_QUANTITIES else ""
        name = re.escape(f"pendulum_{quantity.name.replace(':', '_')}{linked}(")
        comment = r"/\*((?:(?!\*/).)*)\*/\n(?:#define \w+ \d+\n)?"
        row = re.search(rf"{comment}(?:void|int|pendulum_status) {name}([^;]*);", header, re.DOTALL)
        assert row, quantity.name
        formula = re.sub(r"of a link\b", f"of link {LINK}", quantity.formula)
        formula = formula.replace(" a link", f" link {LINK}")
        assert formula in re.sub(r"\n \*\s*", " ", row[1])
        for output in quantity.outputs:
            assert re.search(rf"\b{output.name}{linked}\[", row[2]), output.name
