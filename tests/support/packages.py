"""Generated Python packages, run in processes of their own: their libraries have threads, and a
process with threads must not fork as tests do."""

import os
import shutil
import subprocess
import sys

from tests.support.tools import generated


def python(folder, code, *flags, **environment):
    """What a script prints that runs beside a package, with additional environment variables."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def package(language, name, folder, **options):
    """The folder, with a copy of the package of a robot in a language."""
    _, made = generated(name, languages=(language,), **options)
    shutil.copytree(made / f"{name}_{language}", folder / f"{name}_{language}")
    return folder
