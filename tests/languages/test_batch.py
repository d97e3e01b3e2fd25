"""Batches: C for many states at once has the bits of C for one, in every layout."""

import subprocess

import numpy as np
import pytest

import symgen
from symgen.languages.c.options import ROBOT_INPUTS
from symgen.languages.c.simd import batch_functions
from tests.support.batches import MODULES, N, inputs, made, many, results, same_bits, single
from tests.support.tools import STRICT_C, compiled, robot_file

WITHOUT = ("-DPENDULUM_NO_VECTORS", "-fno-tree-slp-vectorize")
"""The second because gcc 12 fuses scalar code that it vectorises, whatever -ffp-contract says."""


variants = pytest.mark.parametrize(
    "which, flags",
    [
        *((which, ()) for which in MODULES if which != "every quantity"),
        *((which, WITHOUT) for which in MODULES if "quantit" not in which),
        pytest.param("every quantity", (), marks=pytest.mark.slow),
    ],
)


@variants
def test_rows_have_the_bits_of_single_states(which, flags):
    for name in many(which).functions:
        given = inputs(which, name)
        for n in (1, 2, N):
            own = [x[:n] for x in given]
            pairs = zip(
                many(which, *flags).rows(name, own),
                results(getattr(single(which), name), own),
                strict=True,
            )
            assert all(same_bits(got, wanted) for got, wanted in pairs), (name, n)


@variants
def test_blocks_have_the_bits_of_single_states(which, flags):
    for name, f in many(which).functions.items():
        ins = [a.name for a in f.description.arguments if a.direction == "in"]
        one = {*ROBOT_INPUTS} - {*made(which)[0].options["per_state"]}
        one -= {"pi"} if name == "regroup" else set()
        given = [
            np.repeat(x[:1], N, 0) if k in one else x
            for k, x in zip(ins, inputs(which, name), strict=True)
        ]
        got = many(which, *flags).blocks(name, given)
        pairs = zip(got, results(getattr(single(which), name), given), strict=True)
        assert all(same_bits(x, wanted) for x, wanted in pairs), name


def test_threads_of_openmp_change_nothing():
    given = inputs("pieces", "forward_dynamics_derivatives")
    both = [
        many("pieces", *flags).rows("forward_dynamics_derivatives", given)
        for flags in (("-fopenmp",), ())
    ]
    assert all(same_bits(a, b) for a, b in zip(*both, strict=True))


def test_pieces_and_zeroed_outputs_are_tried_here():
    assert any(len(f.pieces) > 1 and f.work for f in batch_functions(made("pieces")[0]))
    assert any(f.loop_zeroed for f in batch_functions(made("many quantities")[0]))
    assert {a.name for f in batch_functions(made("all inputs")[0]) for a in f.shared} == {
        "g",
        "par",
        "friction",
    }
    assert {a.name for f in batch_functions(made("own inputs")[0]) for a in f.shared} == {
        "friction"
    }


def test_blocks_are_laid_out_as_the_header_says(tmp_path):
    _, folder = made("all inputs")
    (tmp_path / "at.c").write_text(
        '#include <stdio.h>\n#include "pendulum_batch.h"\nint main(void) { for (int s = 0; s < '
        "21; ++s) "
        'for (int k = 0; k < 3; ++k) printf("%d ", PENDULUM_BATCH_AT(3, s, k)); return 0; }\n',
        encoding="utf-8",
    )
    compiled(*STRICT_C, f"-I{folder}", tmp_path / "at.c", "-o", tmp_path / "at")
    places = [int(x) for x in subprocess.check_output([tmp_path / "at"]).split()]
    rows = np.arange(63.0).reshape(21, 3)
    packed = many("all inputs")._packed(rows).ravel()
    assert many("all inputs").width == 8 and len(packed) == 24 * 3
    assert packed[places].tolist() == rows.ravel().tolist()


def test_lanes_beyond_the_last_state_do_not_count_as_failures():
    library, module = many("all inputs"), made("all inputs")[0]
    f, given = library.functions["forward_dynamics"], inputs("all inputs", "forward_dynamics")
    wrong = [x.copy() for x in given]
    names = [a.name for a in f.description.arguments if a.direction == "in"]
    wrong[names.index("par")][[2, 9, 20]] *= -1.0
    wrong[names.index("tau")][[5, 20], 0] = np.nan
    wrong[names.index("qd")][12, 1] = np.inf
    out = np.full((N + 1, module.dof), 7.0)
    words = [w for x in (*wrong, out) for w in (x, x.shape[1])]
    assert library._run("forward_dynamics_rows", N, *words) == 5
    assert (out[N] == 7.0).all()
    assert library._run("forward_dynamics_rows", 0, *words) == 0


def test_python_takes_parameters_of_each_state():
    """As many `par`, `friction` and `g` as states, as an environment for each robot has."""
    rng, count = np.random.default_rng(4), 5
    arm = symgen.compile(
        robot_file("pendulum"),
        "inverse_dynamics",
        parameters="runtime",
        gravity="runtime",
        friction="runtime:viscous",
    )
    motion, n = rng.uniform(-1, 1, (3, count, 2)), 10 * len(arm.PARAMETERS)
    pi = rng.uniform(0.5, 1.5, (count, n))
    own = (rng.uniform(0, 1, (count, 2)), rng.uniform(-9, 9, (count, 3)), arm.regroup(pi))
    together = arm.inverse_dynamics(*motion, *own)
    for k in range(count):
        alone = arm.inverse_dynamics(*(x[k] for x in motion), *(x[k] for x in own))
        assert same_bits(together[k], alone)
    assert not np.allclose(together, arm.inverse_dynamics(*motion, *(x[0] for x in own)))
