"""What the header of generated C tells of each quantity."""

import re

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.jobs.api import generate
from tests.support.tools import robot_file

SUBJECTS = {"link": "lower", "joint": "elbow"}


def test_the_header_has_the_formula_and_the_outputs_of_every_quantity(tmp_path):
    names = [*QUANTITIES, *(f"{name}:{SUBJECTS[q.subject]}" for name, q in LINK_QUANTITIES.items())]
    _, _, paths = generate(robot_file("pendulum"), tmp_path, ["c"], quantities=names)
    header = next(path for path in paths if path.name == "pendulum.h").read_text(encoding="ascii")
    for quantity in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        kind = quantity.subject or "robot"
        subject = SUBJECTS.get(kind, "")
        linked = f"_{subject}" if subject else ""
        name = re.escape(f"pendulum_{quantity.name.replace(':', '_')}{linked}(")
        comment = r"/\*((?:(?!\*/).)*)\*/\n(?:#define \w+ \d+\n)?"
        row = re.search(rf"{comment}(?:void|int|pendulum_status) {name}([^;]*);", header, re.DOTALL)
        assert row, quantity.name
        formula = re.sub(rf"\ba {kind}\b", f"{kind} {subject}".strip(), quantity.formula)
        assert formula in re.sub(r"\n \*\s*", " ", row[1])
        present = [x for x in quantity.outputs if not {"wrench", "thrust"} & {*x.shape}]
        for output in present:  # others need inputs that this robot does not have
            assert re.search(rf"\b{output.name}{linked}\[", row[2]), output.name
