"""Twenty models of SDFormat that we wrote, a thing of the format each, against Drake's reader of it
(libsdformat): its numbers are kept in a file, and found anew where Drake is installed.

`pytest --update` writes them. Drake leaves joints that follow others open; what they must do is
written here, by SDFormat's own words."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from symgen.jobs.job import Job
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_listing import position_coordinates
from symgen.reading.assemble import load
from tests.support.tools import invoke

MODELS = Path(__file__).resolve().parents[1] / "sdf"
KEPT = MODELS / "drake.json"
NAMES = sorted(path.stem for path in MODELS.glob("*.sdf"))
BASES = {"drone": "floating"}
GRAVITY = {"hall": (0.5, -1.0, -3.7)}
FOLLOWING = {
    "gearbox": {"driven": ("drive", -2.5, 0.0)},
    "mimic": {"other": ("open", 1.0, 0.0), "flap": ("open", 4.0, 0.2 - 4 * 0.05)},
}
"""Joints that follow: their leaders, factors and offsets."""
STATIC = {"slab"}
"""Links of models that do not move, which are no part of the robot."""
TERMS = ("mass_matrix", "bias", "gravity", "inverse_dynamics")
TOLERANCE = 1e-9


def loaded(name):
    return load(MODELS / f"{name}.sdf", snap_angles=0.0, base=BASES.get(name, "fixed"))


def drawn(name):
    """A state by names, quaternions of length 1; the same on every machine."""
    model = loaded(name).model
    rng = np.random.default_rng(NAMES.index(name))
    q = rng.uniform(-0.9, 0.9, len(position_coordinates(model)))
    for four in coupling_of(model).quaternions:
        q[four] /= np.linalg.norm(q[four])
    rows = {key: rng.uniform(-1, 1, len(model.joint_names)) for key in ("qd", "qdd")}
    made = {"q": dict(zip((c.name for c in position_coordinates(model)), q.tolist(), strict=True))}
    return made | {
        k: dict(zip(model.joint_names, x.tolist(), strict=True)) for k, x in rows.items()
    }


def drake(name):
    from tests.support.drake_terms import drake_terms

    text = re.sub(
        r'<joint [^>]*type="gearbox".*?</joint>',
        "",
        (MODELS / f"{name}.sdf").read_text(encoding="utf-8"),
    )
    gravity = GRAVITY.get(name, (0.0, 0.0, -9.81))
    found = drake_terms(text, MODELS, gravity, FOLLOWING.get(name, {}), drawn(name))
    return {key: np.ravel(x) for key, x in found.items() if key not in STATIC}


@pytest.fixture(scope="module")
def kept(request):
    if request.config.getoption("--update"):
        found = {
            n: {k: [float(f"{x:.15g}") for x in v] for k, v in drake(n).items()} for n in NAMES
        }
        KEPT.write_text(
            json.dumps(found, indent=None).replace("}, ", "},\n").replace("], ", "],\n") + "\n",
            encoding="utf-8",
        )
    return json.loads(KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_as_drake_reads_it(name, kept):
    links = [link for link in kept[name] if link not in ("M", "tau", "tau_b", "tau_g")]
    assert len(links) >= 3
    wanted = (*TERMS, *(f"frame_pose:{link}" for link in links))
    given = {"springs": True, "friction": "viscous", "snap_angles": 0.0}
    job = Job.of(MODELS / f"{name}.sdf", quantities=wanted, base=BASES.get(name, "fixed"), **given)
    state = {key: [*row.values()] for key, row in drawn(name).items()}
    module = job.module(job.load())
    for function, quantity in zip(module.functions, wanted, strict=True):
        found = function.run(**{key: state[key] for key in function.inputs})
        values = [np.array(x, float) for x in found.values()]
        if quantity in TERMS:
            (key,), (got,) = found, values
        else:
            key, (turn, place) = quantity.partition(":")[2], values
            got = np.hstack([turn.reshape(3, 3), place.reshape(3, 1)]).ravel()
        assert np.allclose(got, kept[name][key], rtol=0, atol=TOLERANCE), key


@pytest.mark.skipif(find_spec("pydrake") is None, reason="Drake is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_drake_still_says_so(name, kept):
    found = drake(name)
    assert found.keys() == kept[name].keys()
    for key, row in found.items():
        assert np.allclose(row, kept[name][key], rtol=0, atol=1e-12), key


@pytest.mark.parametrize("name", NAMES)
def test_as_a_urdf_it_moves_alike(name, tmp_path):
    """`symgen convert` loses nothing that dynamics need, but for gravity, which it says."""
    path = tmp_path / "robot.urdf"
    done = invoke("convert", MODELS / f"{name}.sdf", "-o", path)
    assert done.exit_code == 0, done.output
    assert ("gravity" in done.stderr) == (name in GRAVITY), done.stderr
    state = {key: [*row.values()] for key, row in drawn(name).items()}
    options = {"springs": True, "friction": "viscous", "snap_angles": 0.0}
    found = []
    for file, gravity in ((MODELS / f"{name}.sdf", None), (path, loaded(name).model.gravity)):
        given = {"base": BASES.get(name, "fixed"), **options}
        given |= {} if gravity is None or name not in GRAVITY else {"gravity": gravity}
        job = Job.of(file, quantities=("inverse_dynamics",), **given)
        (function,) = job.module(job.load()).functions
        found.append(function.run(**{key: state[key] for key in function.inputs})["tau"])
    assert np.allclose(*(np.array(x, float) for x in found), rtol=0, atol=1e-13)
