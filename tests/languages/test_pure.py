"""Generated C has no state and no heap: check G2 of tests/cases/index.md."""

import subprocess
import threading

import numpy as np

from symgen.languages.c.checks import build
from symgen.languages.c.options import COptions
from tests.support.samples import made, samples
from tests.support.tools import (
    c_files,
    compiled,
)


def symbols(paths, folder, work):
    """Letter and name of every symbol of unoptimised objects."""
    compiled("-std=c99", "-O0", "-fno-pic", f"-I{folder}", "-c", *paths, cwd=work)
    lines = subprocess.run(
        ["nm", *work.glob("*.o")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {tuple(line.split()[-2:]) for line in lines if len(line.split()) >= 2}


@samples
def test_g2_no_state_no_heap(sample, tmp_path):
    module, folder = made(sample)
    found = symbols(c_files(folder, ["_selftest"]), folder, tmp_path)
    assert not [name for letter, name in found if letter in "bBdDC"]
    f = "f" if module[COptions].scalar == "float" else ""
    assert {name for letter, name in found if letter == "U"} <= {f"sin{f}", f"cos{f}"}
    shared = {name for letter, name in found if letter.isupper() and letter != "U"}
    assert {name for name in shared if not name.startswith(f"{module.name}_")} == set()


def test_g2_sees_state(tmp_path):
    source = (
        "static double w[3];\ndouble *f(void);\ndouble *f(void) { return w + *(char "
        "*)malloc(3); }\n"
    )
    (tmp_path / "bad.c").write_text(f"#include <stdlib.h>\n{source}")
    found = symbols([tmp_path / "bad.c"], tmp_path, tmp_path)
    assert ("b", "w") in found and ("U", "malloc") in found


def test_g2_threads_give_the_serial_answers():
    module, folder = made("ur5")
    run_c = build(module, folder).inverse_dynamics
    rng = np.random.default_rng(1)
    states = [rng.uniform(-3, 3, (3, 100_000, module.dof)) for _ in range(2)]
    serial = [run_c(*state) for state in states]
    threaded = [None, None]

    def work(k):
        threaded[k] = run_c(*states[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        assert np.array_equal(threaded[k], serial[k])
