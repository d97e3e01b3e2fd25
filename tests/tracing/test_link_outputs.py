"""Outputs of links: no two of a module share a name, whatever its links are called."""

import re
from math import prod
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.registry import Array, RegistryError, quantity
from symgen.jobs.api import generate, trace
from symgen.jobs.job import Job
from symgen.jobs.verify import verify
from tests.support.states import close, numbers
from tests.support.tools import imported

pytestmark = pytest.mark.usefixtures("not_optimized")

SOLID = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
CLASHES = {
    "signs": ("arm.1", "arm-1", "arm_1", "arm_1_2"),
    "prefixes": ("w_x", "x", "a_x", "qd_x"),
    "arrays": ("c", "w", "w_c", "q"),
    "letters": ("\u00e4", "\u00f6", "_", "a*/b", "a\\"),
}


def arm(tmp_path, links):
    """Two chains of links of these names in turn, all poses different."""
    text = '<robot name="arm"><link name="base"/>'
    for k, link in enumerate(links):
        carrier = quoteattr(links[k - 2] if k > 1 else "base")
        text += f'<link name={quoteattr(link)}>{SOLID}</link><joint name="j{k}" type="revolute">'
        text += f"<parent link={carrier}/><child link={quoteattr(link)}/>"
        text += f'<origin xyz="0.1 0.{k} 0.3" rpy="0.3 0.1 0"/><axis xyz="{k % 2} 1 0"/></joint>'
    path = tmp_path / "arm.urdf"
    path.write_text(text + "</robot>", encoding="utf-8")
    return path


def functions(links):
    """Every quantity of every link and of joint j0 in a function of its own, and all in one."""
    of_links = [name for name, q in LINK_QUANTITIES.items() if q.subject == "link"]
    each = [f"{name}:{link}" for link in links for name in of_links]
    each += [f"{name}:j0" for name in LINK_QUANTITIES if name not in of_links]
    alone = [f"f{k}={one}" for k, one in enumerate(each)]
    return alone, f"together={'+'.join(each)}"


ONE = min(CLASHES, key=lambda clash: len(CLASHES[clash]))
FIRST_QUICK = [c if c == ONE else pytest.param(c, marks=pytest.mark.slow) for c in CLASHES]


@pytest.mark.parametrize("clash", FIRST_QUICK)
def test_no_output_is_lost(clash, tmp_path):
    links = CLASHES[clash]
    alone, together = functions(links)
    file = arm(tmp_path, links)
    made = Job.of(str(file), quantities=(*alone, together, "com_jacobian")).module
    module = made(Job.of(str(file)).load())
    by_name = {}
    for function in module.functions:
        for q in function.quantities:
            for k, out in enumerate(q.outputs):
                assert by_name.setdefault(out.name, (q.name, k)) == (q.name, k)
                assert re.fullmatch(r"[A-Za-z_]\w*", out.name, re.ASCII)
    *singles, both, _ = module.functions
    inputs = {k: np.linspace(-1, 1, prod(s)).tolist() for k, s in both.program.inputs}
    whole = both.run(**inputs)
    assert len(both.program.outputs) == sum(len(f.program.outputs) for f in singles)
    for single in singles:
        for name, values in single.run(**{k: inputs[k] for k in single.inputs}).items():
            # another regrouping may be the cheapest for all together
            close(numbers(whole[name]), numbers(values))


@pytest.mark.parametrize("clash", CLASHES)
def test_generated_code_gives_each_and_its_self_test_passes(clash, tmp_path):
    links, out = CLASHES[clash], tmp_path / "out"
    each = [f"frame_pose:{link}" for link in links] + [f"frame_jacobian_body:{x}" for x in links]
    each += [f"frame_jacobian_world:{link}" for link in links]
    alone = [f"f{k}={one}" for k, one in enumerate(each)]
    generate(arm(tmp_path, links), out, quantities=(*alone, f"all_of_it={'+'.join(each)}"))
    assert all(check.passed for check in verify(out))
    module, q = imported(out / "arm.py"), np.linspace(-1, 1, len(links))
    found = [x for k in range(len(alone)) for x in _tuple(getattr(module, f"f{k}")(q))]
    for a, b in zip(found, module.all_of_it(q), strict=True):
        assert (a == b).all()


def _tuple(x):
    return x if isinstance(x, tuple) else (x,)


def test_a_name_is_the_same_whatever_else_is_generated(tmp_path):
    file = arm(tmp_path, CLASHES["signs"])
    alone = trace(file, "frame_pose:arm-1").program.outputs
    beside = trace(file, "p=frame_pose:arm_1_2+frame_pose:arm-1+frame_pose:arm.1").program.outputs
    assert [out.name for out in alone] == ["R_arm_1_3", "p_arm_1_3"]
    assert {out.name for out in alone} < {out.name for out in beside}
    assert [out.name for out in trace(file, "frame_pose:arm_1_2").program.outputs] == [
        "R_arm_1_2",
        "p_arm_1_2",
    ]


def test_the_header_names_the_link_of_each_function(tmp_path):
    generate(
        arm(tmp_path, ("arm.1", "arm-1", "x" * 3000)),
        tmp_path / "out",
        quantities=("a=frame_pose:arm.1", "b=frame_pose:arm-1", f"c=frame_pose:{'x' * 3000}"),
    )
    text = (tmp_path / "out" / "arm_a.c").read_text(), (tmp_path / "out" / "arm_b.c").read_text()
    assert "R(q), p(q) of link arm.1\n" in text[0] and "of link arm-1\n" in text[1]
    text_of_c = (tmp_path / "out" / "arm_c.c").read_text()
    long = next(line for line in text_of_c.split("\n") if "of link" in line)
    assert long.endswith("of link " + "x" * 80 + "...")


def test_the_registry_refuses_two_meanings_of_one_name():
    before = dict(QUANTITIES)
    clash = Array("P", "power", "W", (1,))
    with pytest.raises(RegistryError, match="'momentum_regressor' has an output 'P' with another"):
        quantity("power", "qd tau", inputs=("qd", "tau"), outputs=(clash,), source="-")(len)
    twice = (Array("P1", "power", "W"), Array("P1", "other", "W"))
    with pytest.raises(RegistryError, match="'power' has an output 'P1' with another meaning"):
        quantity("power", "qd tau", inputs=("qd", "tau"), outputs=twice, source="-")(len)
    same = (Array("P1", "power", "W"),) * 2
    with pytest.raises(RegistryError, match="two outputs are called 'P1'"):
        quantity("power", "qd tau", inputs=("qd", "tau"), outputs=same, source="-")(len)
    assert before == QUANTITIES


def test_one_name_means_one_array_in_the_registry():
    meanings = {}
    for q in (*QUANTITIES.values(), *LINK_QUANTITIES.values()):
        for out in q.outputs:
            assert meanings.setdefault(out.name, out) == out


@pytest.mark.parametrize(
    "inputs, options, message",
    [
        (("q", "speed"), {}, "no input is called 'speed'"),
        (("q", "qd"), {"coordinates": "motors"}, "must be 'bodies' or 'joints', not 'motors'"),
    ],
)
def test_a_quantity_with_inputs_that_cannot_be_is_refused(inputs, options, message):
    with pytest.raises(RegistryError, match=message):
        row = quantity("power", "P", inputs=inputs, outputs=(), source="none", **options)
        row(lambda system, *given: [])
