"""The programs of pages run in a new environment of Python with nothing of this checkout: packages that
pip has installed, and what these need. (Pages of other languages use cargo, npm, CMake, Octave and the
compiler: tests/house/test_docs.)"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.pages import blocks, commands, same
from tests.support.tools import ROOT

PACKAGES = {
    "casadi": "./pendulum/pendulum_casadi",
    "jax": "./pendulum/pendulum_jax",
    "torch": "./pendulum/pendulum_torch",
    "python": "build/fast/*.whl",
}
"""What pip installs, by language; as the pages say."""


@pytest.mark.slow
@pytest.mark.parametrize("language", PACKAGES)
def test_the_program_of_a_page_runs_in_a_new_environment(language, tmp_path):
    if language != "python" and find_spec(language) is None:
        pytest.skip(f"{language} is not installed")
    page = (ROOT / "docs" / "languages" / f"{language}.md").read_text(encoding="utf-8")
    assert PACKAGES[language].partition("*")[0] in page
    shutil.copytree(ROOT / "robots", tmp_path / "robots")
    found = [(kind, code) for _, kind, code in blocks(page)]
    own = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ours = os.environ | {"PATH": own, "PYTHONPATH": str(ROOT)}
    for command, _ in commands(next(code for kind, code in found if kind == "console")):
        subprocess.run(command, shell=True, check=True, cwd=tmp_path, env=ours)
    subprocess.run([sys.executable, "-m", "venv", "new"], check=True, cwd=tmp_path)
    new = {key: x for key, x in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    place = next((tmp_path / "new" / "lib").glob("python*")) / "site-packages" / "needed.pth"
    place.write_text(sysconfig.get_paths()["purelib"] + "\n")  # instead of packages of an index
    flags = "--quiet --no-deps --no-build-isolation --no-index"
    install = f"new/bin/python -m pip install {flags} {PACKAGES[language]}"
    subprocess.run(install, shell=True, check=True, cwd=tmp_path, env=new)
    if f"python -m pendulum_{language}.build" in page:
        build = ["new/bin/python", "-m", f"pendulum_{language}.build"]
        subprocess.run(build, check=True, cwd=tmp_path, env=new)
    program = next(code for kind, code in found if kind == "python")
    lines = [line for line in program.splitlines() if "sys.path" not in line]
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "main.py").write_text("\n".join(lines))
    done = subprocess.run(
        shlex.split("../new/bin/python main.py"),
        cwd=tmp_path / "program",
        env=new | {"JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wanted,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[:1]
    same(done.stdout, wanted, "what Python prints")
