"""The pieces of the benchmark that need no competitor: robots as plain joints, symgen's calls, the
page."""

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")

from benchmarks.bench.cases import ROBOTS, Case  # noqa: E402
from benchmarks.bench.contender import Order  # noqa: E402
from benchmarks.bench.plain import Plain, chain_urdf  # noqa: E402
from benchmarks.bench.report import page  # noqa: E402


@pytest.mark.parametrize("name", ["ur5", "iiwa7", "snake16"])
def test_a_chain_written_anew_has_the_same_dynamics(name, tmp_path):
    file = tmp_path / "chain.urdf"
    file.write_text(
        chain_urdf(Plain.of(ROBOTS / f"{name}.urdf", (), False).joints), encoding="utf-8"
    )
    models = [pin.buildModelFromUrdf(str(path)) for path in (ROBOTS / f"{name}.urdf", file)]
    state = np.random.default_rng(0).uniform(-2, 2, (3, models[0].nv))
    expected, found = (pin.rnea(model, model.createData(), *state) for model in models)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_orders_put_what_is_symgens_in_place():
    case = Case("quadruped", ROBOTS / "quadruped.urdf", floating=True)
    plain = case.plain()
    turned = [joint.name for joint in plain.joints[1:]][::-1]
    order = Order.of(plain, turned)
    state = np.arange(plain.nq + 2 * plain.nv, dtype=float)[None]
    given = order.states(state)
    assert sorted(given[0]) == sorted(state[0])
    assert given[0, plain.places[turned[0]][1]] == 7  # the first joint after the seven of the trunk
    velocities = given[0, plain.nq : plain.nq + plain.nv]
    assert list(order.result("bias", velocities)) == list(state[0, plain.nq : plain.nq + plain.nv])


def test_the_page_marks_what_is_below_the_bar():
    def row(tool, ns, **more):
        return {
            "robot": "r",
            "quantity": "bias",
            "tool": tool,
            "minimum": ns,
            "operations": 10,
            **more,
        }

    cost = {
        "generation": {"seconds": 1, "megabytes": 2},
        "compile": {"seconds": 1, "megabytes": 2},
        "bytes": 1000,
        "code": 1024,
    }
    ours = [row(f"symgen {flag}", 10.0, trig=1, **cost) for flag in ("O2", "fast")]
    ours += [row("symgen inline O2", 12.0, trig=1, work=5.0, path=30.0, **cost)]
    ours += [row("symgen default O2", 12.5, trig=1, **cost)]
    peers = [
        row("urdf2casadi O2", 15.0, **cost),
        row("urdf2casadi fast", 15.0, **cost),
        row("pinocchio", 100.0),
    ]
    machine = {
        "packages": {},
        "flags": {},
        "processor": "p",
        "cores": 2,
        "gcc": "g",
        "python": "3",
        "commit": "c",
        "trig": 4.0,
        "instruction_cache": 500,
        "cycle": 0.25,
    }
    text = page({"machine": machine, "robots": ours + peers, "chains": []})
    assert "| **1.5** | 10.0 |" in text
    assert "| **1.2** / 8.0 |" in text  # the defaults, beside CasADi's -O2
    assert "| 1, **8** | 12 | 10 | 12 | 15 | 100 | 1.3 |" in text
    assert "1.3 × the limit (path, 8 ns)" in text and "4.00 GHz" in text
    assert "1 of 2 values" in text and "1 KiB of machine code" in text
