"""Operations of every quantity of the UR5, in a file beside (`pytest --update` writes it anew):
none may take more without somebody saying so."""

import json
from pathlib import Path

from symgen.algorithms.registry import LINK_QUANTITIES, QUANTITIES
from symgen.reading.assemble import load
from symgen.tracing.robot import RuntimeModel
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

KNOWN = Path(__file__).with_name("counts_ur5.json")
ROBOTS = Path(__file__).resolve().parents[2] / "robots"


def test_operation_counts_are_as_recorded(update):
    arm = RuntimeModel(load(ROBOTS / "ur5.urdf").model)
    names = [name for name in QUANTITIES if name not in LINK_QUANTITIES]
    counts = {name: trace(arm, Wanted.parse(name)).counts.total for name in names}
    if update:
        KNOWN.write_text(json.dumps(counts, indent=1) + "\n")
    known = json.loads(KNOWN.read_text())
    more = {name: (known.get(name), n) for name, n in counts.items() if n != known.get(name)}
    assert not more, f"known and counted: {more}; where that is right, pytest --update"
