"""Simulated logs whose truth is known."""

from dataclasses import replace
from functools import cache

from benchmarks.simulated_logs import Recipe, simulated, write
from symgen.identification.estimation.run import identify
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from tests.support.tools import robot_file

ARM, SMALL = robot_file("ur5"), robot_file("scara")


SHORT = Recipe(duration=8.0, rate=200.0)


@cache
def loaded(file, **options):
    job = Job.of(file, **options)
    return job, job.load()


def found(tmp_path, recipe, settings=None, suffix=".npz", accelerations=True, file=ARM, **options):
    """What identification finds in the log of a recipe, by default with the friction of the job."""
    settings = settings or Settings()
    if settings.automatic:
        settings = replace(settings, friction=options.get("friction", "none"))
    job, robot = loaded(file, **options)
    path = tmp_path / f"log{suffix}"
    write(path, simulated(job, robot, recipe, accelerations))
    return identify(job, robot, str(path), settings)
