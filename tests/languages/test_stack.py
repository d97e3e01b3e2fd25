"""Stack of functions on a target: the compiler's bound of call paths, and what a log of registers
shows."""

import pytest

from firmware.stack import Calls, _lowest
from firmware.tools import Refused

CI = r"""node: {{ title: "top" label: "top\\n1:1\\n{kept} bytes ({kind})\\n0 dynamic objects" }}
node: {{ title: "w.c:piece" label: "piece\\n2:1\\n40 bytes (static)\\n0 dynamic objects" }}
edge: {{ sourcename: "top" targetname: "w.c:piece" }}
"""


@pytest.fixture
def written(tmp_path):
    def write(kept, kind="static"):
        (tmp_path / "w.ci").write_text(CI.format(kept=kept, kind=kind))
        return tmp_path.glob("*.ci")

    return write


def test_a_path_takes_its_frames(written):
    assert Calls.read(written(24)).worst("top") == 64


@pytest.mark.parametrize(("kept", "bound"), [(24, 40), (88, 88)])
def test_a_tail_call_comes_after_the_frame(written, kept, bound):
    assert Calls.read(written(kept), frozenset({("top", "piece")})).worst("top") == bound


def test_a_frame_of_unknown_size_is_refused(written):
    with pytest.raises(Refused, match="top: stack is not static"):
        Calls.read(written(24, "dynamic"))


def test_a_function_that_nobody_knows_is_refused(written):
    with pytest.raises(Refused, match="other is called"):
        Calls.read(written(24)).worst("other")


def test_stack_is_the_lowest_pointer_of_a_call():
    code = {0x10: "main", 0x20: "call_f", 0x30: "f", 0x40: "piece", 0x50: "call_g", 0x60: "g"}
    steps = [
        (1000, 0x10),
        (1000, 0x20),
        (992, 0x30),
        (952, 0x34),
        (952, 0x40),
        (932, 0x44),
        (952, 0x38),
        (992, 0x24),
        (1000, 0x50),
        (992, 0x60),
        (900, 0x64),
    ]
    found = _lowest(steps, code)
    assert (found["f"], found["piece"], found["g"]) == (60, 20, 92)
