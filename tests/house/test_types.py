"""What mypy sees in an algorithm: that scalars are no floats, and vectors no scalars."""

import sys
from pathlib import Path

import pytest

from tests.support.oracles import oracle

api = oracle("mypy.api")

ROOT = Path(__file__).resolve().parents[2]
READ = ("numbers", "mechanics", "errors", "text")
"""Rooms that an algorithm imports, and what those do."""
SKIPPED = ["numpy.*", "sympy.*", "mpmath.*"]
SKIPPED += [
    f"symgen.{path.stem}" + ".*" * path.is_dir()
    for path in sorted((ROOT / "symgen").iterdir())
    if path.stem not in READ and not path.stem.startswith("_")
]
OTHERS = f"""[mypy]
[mypy-{",".join(SKIPPED)}]
follow_imports = skip
follow_imports_for_stubs = True
"""
"""Libraries and rooms whose types take most of the time to read and are in no scalar's; a room is
read only since symgen itself offers it."""
START = """from collections.abc import Sequence

from symgen.mechanics.spatial import Vector
from symgen.numbers.operations import sin
from symgen.numbers.scalar import ZERO, Scalar


def algorithm(q: Sequence[Scalar], v: Vector) -> list[Scalar]:
    total: Scalar = ZERO
    for x in q:
        total = total + 0.5 * sin(x) * v.x - x / 2.0
"""
RIGHT = "    return [total, -total, 1.0, 1j * total, ZERO, v.dot(v)]\n"
FAULTS = {
    "a vector as a scalar": "    return [v]\n",
    "a choice by a value": "    return [total if total > 0.0 else ZERO]\n",
    "a number of Python": "    return [float(total)]\n",
    "a function of another library": "    import math\n\n    return [math.sin(total)]\n",
    "a product of vectors": "    return [v * v]\n",
    "a component that is none": "    return [v.w]\n",
    "a whole part": "    return [total // 2]\n",
    "a list for a scalar": "    return [q]\n",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says of each, by name; all in one run."""
    folder = tmp_path_factory.mktemp("types")
    texts = {"right": RIGHT, **FAULTS}
    paths = []
    for k, text in enumerate(texts.values()):
        paths.append(folder / f"case{k}.py")
        paths[-1].write_text(START + text)
    (folder / "mypy.ini").write_text(OTHERS)
    options = [
        "--strict",
        f"--config-file={folder / 'mypy.ini'}",
        f"--cache-dir={folder / 'cache'}",
    ]
    options += [f"--python-executable={sys.executable}", "--follow-imports=silent"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPYPATH", str(ROOT))
        found, errors, _ = api.run([*options, *map(str, paths)])
    assert not errors
    lines = found.splitlines()
    return {
        name: [line for line in lines if path.name in line and ": error:" in line]
        for name, path in zip(texts, paths, strict=True)
    }


def test_an_algorithm_on_any_scalars_passes(said):
    assert not said["right"]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault, said):
    assert len(said[fault]) == 1, said[fault]
