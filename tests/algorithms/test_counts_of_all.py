"""Operations of every quantity of the UR5, stored in counts_ur5.json."""

import json
from pathlib import Path

from symgen.algorithms.registry import LINK_QUANTITIES, QUANTITIES
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

KNOWN = Path(__file__).with_name("counts_ur5.json")
ROBOTS = Path(__file__).resolve().parents[2] / "robots"


def test_operation_counts_are_the_recorded_ones(update):
    """Counts must not rise, and a lower one must be recorded, so that it cannot rise again."""
    arm = ParametricModel(load(ROBOTS / "ur5.urdf").model)
    names = [name for name in QUANTITIES if name not in LINK_QUANTITIES]
    counts = {name: trace(arm, FunctionRequest.parse(name)).counts.total for name in names}
    if update:
        KNOWN.write_text(json.dumps(counts, indent=1) + "\n")
    known = json.loads(KNOWN.read_text())
    more = {name: (known[name], n) for name, n in counts.items() if n > known.get(name, n)}
    fewer = {name: (known[name], n) for name, n in counts.items() if n < known.get(name, n)}
    new = sorted(counts.keys() ^ known.keys())
    assert not more, f"more operations than recorded (recorded, counted): {more}"
    assert not fewer, f"fewer operations (recorded, counted): {fewer}; run pytest --update"
    assert not new, f"quantities that are new or gone: {new}; run pytest --update"
