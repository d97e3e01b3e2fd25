"""Whether what `symgen identify` writes predicts a log as its estimate does: every log of a real
robot is fitted with the default options, and the C that is generated from the model file predicts
its samples. For the bodies of ``--urdf`` it tells by how much they enlarge the residual, and by how
much any physically consistent bodies do at least. ``python -m benchmarks.code_of_logs [FOLDER]``
writes docs/benchmarks/code_of_logs.json; `make figures` writes the table of
docs/benchmarks/identification.md from it."""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

import symgen
from benchmarks.friction_table import MOTIONS
from benchmarks.real_logs import TRIALS, Trial, make_tx40, prepared
from symgen.identification.consistency import nearest_bodies
from symgen.identification.consistency.nearest_bodies import (
    ConicProgramme,
    ResidualMetric,
    free_links,
    nearest_consistent_bodies,
)
from symgen.identification.data.samples import LEAD_STEPS
from symgen.identification.estimation.run import Identified, solved
from symgen.identification.report.model_file import drive_tables, model_file
from symgen.mechanics.model import RigidBodyModel

LOGS: Final = (
    *(
        replace(TRIALS[0], name=f"UR10e {name}", fitted=log, held_out=0.0)
        for name, log in MOTIONS.items()
    ),
    *(
        replace(trial, name=trial.name.partition(" ")[0], held_out=0.0)
        for trial in TRIALS
        if not trial.tried
    ),
)
RESULTS: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "code_of_logs.json"


def compared(trial: Trial, folder: Path) -> dict[str, Any]:
    """The largest difference of a joint force by the largest force of the joint, the errors of both
    predictions (relative to the measured forces of each joint, %), and the growths by bodies."""
    job, loaded, problem = prepared(trial.robot, trial.couple, folder)
    found = solved(job, loaded, problem, str(folder / trial.fitted), trial.settings())
    couple: dict[str, Any] = {"couple": trial.couple} if trial.couple else {}
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "model.toml"
        file.write_bytes(model_file(found, drive_tables(found, None), job, loaded))
        functions = "inverse_dynamics", "presliding_update"
        code = symgen.compile(job.file, *functions, estimate=str(file), **couple)
    of_code, of_estimate, measured = predictions(found, code)
    worst = np.abs(of_code - of_estimate).max(axis=0) / np.abs(of_estimate).max(axis=0)
    size = np.linalg.norm(measured, axis=0) / 100
    errors, others = (np.linalg.norm(measured - x, axis=0) / size for x in (of_code, of_estimate))
    return {
        "difference": float(f"{worst.max():.1g}"),
        "errors": np.round(errors, 3).tolist(),
        "difference_of_errors": float(f"{np.abs(errors - others).max():.1g}"),
        "growth": np.round(100 * np.array(growths(found, loaded.model)), 3).tolist(),
    }


def predictions(found: Identified, code: Any) -> Any:
    """The forces by compiled code, by the estimate and as measured (N x n each). The state begins
    as in the estimate: the motion before the log is that of its first steps."""
    drives = found.equations.drives
    assert drives is not None and drives.presliding is not None
    blocks = list(drives.presliding.attached(found.dataset.blocks(lambda step: None)))
    first, rows = blocks[0].q, []
    state, before = np.zeros(first.shape[1]), 2 * first[0] - first[LEAD_STEPS]
    for block in blocks:
        estimated = found.equations.equations(block).regressor @ found.estimate.values
        for k, q in enumerate(block.q):
            state, before = code.presliding_update(before, q, state), q
            tau = code.inverse_dynamics(q, block.qd[k], block.qdd[k], state)
            rows.append([tau, estimated[k], block.measured[k]])
    return np.array(rows).transpose(1, 0, 2)


def growths(found: Identified, model: RigidBodyModel) -> tuple[float, float]:
    """The parts by which the residual of the fit grows with the bodies of ``--urdf``, and with any
    bodies whose pseudo-inertias are positive semidefinite at least."""
    estimate, rows = found.estimate, sum(map(found.system.rows, found.system.channels))
    links = tuple(free_links(model, estimate.mapping, all_links=True))
    programme = ConicProgramme(links, estimate.mapping, ResidualMetric(estimate))
    with (
        patch.object(nearest_bodies, "MIN_INERTIA_FRACTION", 0.0),
        patch.object(nearest_bodies, "REGULARISATION", 1e-16),
    ):
        misfit = programme.misfit(programme.least_misfit())
    return nearest_consistent_bodies(model, estimate, rows).loss, float(
        np.sqrt(1 + misfit**2 / rows)
    ) - 1


def main(folder: str = "../shared") -> None:
    """Writes the results file."""
    make_tx40(Path(folder))
    found = {}
    for trial in LOGS:
        found[trial.name] = compared(trial, Path(folder))
        print(trial.name, found[trial.name], flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
