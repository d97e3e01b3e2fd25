"""What ``symgen verify`` runs and with what: nothing of files that have changed, a copy of those that
have not, for a limited time, with the compiler that is meant."""

import hashlib
import json
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from symgen.jobs.verify import verify
from symgen.languages import verification
from symgen.languages.language import Language
from symgen.native.compiler import (
    TIME_LIMIT,
    CompilerError,
    compiler,
    compiler_version,
    run_isolated,
)
from tests.support.tools import generated, invoke, run

RUN = '#include <stdio.h>\n__attribute__((constructor)) static void first(void) { FILE *f = fopen("%s", "w"); if (f) fclose(f); }\n'


@pytest.fixture
def copy(tmp_path):
    """A copy of the pendulum's gravity that a test may spoil."""
    _, folder = generated("pendulum", quantities=("gravity",))
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def claimed(folder, name):
    """Give a file that was changed the digest that it has now, as one who covers it up would."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    data["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(data))


def changed(folder, mark):
    """Code in C and in Python that leaves a mark when it is run."""
    c, python = folder / "pendulum_gravity.c", folder / "pendulum.py"
    c.write_text(c.read_text() + RUN % mark)
    python.write_text(python.read_text() + f"\nopen({str(mark)!r}, 'w').close()\n")


def test_nothing_of_a_changed_folder_is_run(copy, tmp_path):
    changed(copy, tmp_path / "mark")
    done = invoke("verify", copy)
    assert done.exit_code == 1 and "1 of 1 checks failed" in done.stdout
    assert "changed or missing: pendulum_gravity.c, pendulum.py; nothing was run" in done.stdout
    assert not (tmp_path / "mark").exists()


def test_unless_told_so(copy, tmp_path):
    changed(copy, tmp_path / "mark")
    done = invoke("verify", copy, "--run-changed")
    assert done.exit_code == 1 and "gravity: Python equals" in done.stdout
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", ["math.h", "stddef.h", "numpy.py"])
def test_a_file_that_is_not_listed_is_not_read(copy, name, tmp_path):
    (copy / name).write_text(f"#error {name} is not of this module\nraise SystemExit\n")
    done = invoke("verify", copy)
    assert done.exit_code == 0, done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_place_of_a_file_is_a_changed_file(copy):
    (copy / "pendulum_gravity.c").unlink()
    os.mkfifo(copy / "pendulum_gravity.c")
    assert "changed or missing: pendulum_gravity.c" in invoke("verify", copy).stdout


def test_a_language_without_checks_is_not_proven(copy, monkeypatch):
    monkeypatch.setattr(Language, "checks", lambda language, subject, say: iter(()))
    done = invoke("verify", copy)
    assert done.exit_code == 1
    assert "c: has checks" in done.stdout and "so nothing is verified" in done.stdout


def test_a_self_test_that_does_not_end_is_ended(copy, monkeypatch):
    path = copy / "pendulum_selftest.c"
    path.write_text(
        path.read_text().replace("int main(void)\n{", "int main(void)\n{\n    for (;;) {}\n")
    )
    claimed(copy, path.name)
    monkeypatch.setattr(import_module("symgen.languages.c.checks"), "SELFTEST_TIME_LIMIT", 2)
    done = invoke("verify", copy)
    assert done.exit_code == 1 and "pendulum_selftest: did not end within 2 s" in done.stdout


LOOP = "extern int pause(void); for (;;) pause();"
"""One that takes no time of the processor; that of the self-test above does."""
FOREVER = {
    "a function": ("pendulum_gravity.c", r"\)\n\{", ")\n{ " + LOOP, "gravity"),
    "a library that is loaded": (
        "pendulum.c",
        r"\Z",
        "__attribute__((constructor)) static void first(void) { " + LOOP + " }\n",
        "compiling for comparison",
    ),
    "a Python module": (
        "pendulum.py",
        r"\Z",
        "\nimport time\nwhile True: time.sleep(9)\n",
        "Python module",
    ),
    "a Python function": (
        "pendulum.py",
        r"(?m)^(?=    tau_g\[1\])",
        "    import time\n    while True: time.sleep(9)\n",
        "gravity",
    ),
}


@pytest.mark.parametrize("where", FOREVER)
def test_code_that_does_not_end_is_ended(where, copy, monkeypatch):
    name, place, code, step = FOREVER[where]
    path = copy / name
    text = re.sub(place, lambda match: code, path.read_text(), count=1)
    assert text != path.read_text()
    path.write_text(text)
    claimed(copy, name)
    monkeypatch.setitem(TIME_LIMIT, "seconds", 2)
    (copy / "pendulum_selftest.c").write_text("int main(void) { return 0; }\n")
    claimed(copy, "pendulum_selftest.c")
    monkeypatch.setattr(import_module("symgen.languages.c.checks"), "SELFTEST_TIME_LIMIT", 2)
    checks = {check.what: check for check in verify(copy)}
    language = "python" if name.endswith(".py") else "c"
    ended = checks[f"{language}: {step}"]
    assert not ended.passed and ended.detail == "did not end within 2 s"
    other = "Python equals the float run" if language == "c" else "C equals the float run"
    assert any(other in what and check.passed for what, check in checks.items())


def test_code_that_crashes_fails(copy):
    path = copy / "pendulum_gravity.c"
    text = path.read_text().replace(")\n{", ")\n{ volatile int *p = 0; *p = 1;", 1)
    path.write_text(text)
    claimed(copy, path.name)
    failed = {check.what: check.detail for check in verify(copy) if not check.passed}
    assert failed["c: gravity"] == "was terminated by SIGSEGV"


def test_what_a_process_of_its_own_raises_is_raised(tmp_path):
    def work(say):
        say(1)
        raise CompilerError("error: no")

    said = run_isolated(work, tmp_path)
    assert next(said) == 1
    with pytest.raises(CompilerError, match="error: no"):
        next(said)


def test_the_help_says_that_code_is_run():
    said = " ".join(invoke("verify", "--help").stdout.split())
    assert "is compiled and RUN" in said and "--run-changed" in said


# -- the compiler ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["{gcc} -m64", "env {gcc}", "'{gcc}'"])
def test_cc_is_used_with_its_arguments(command, copy, monkeypatch):
    monkeypatch.setenv("CC", command.format(gcc=shutil.which("gcc")))
    first, *rest = compiler()
    assert (
        Path(shutil.which(first)).name in ("gcc", "env") and len(rest) == len(command.split()) - 1
    )
    done = invoke("verify", copy)
    assert done.exit_code == 0
    assert f"exit status 0; {compiler_version(['gcc'])}" in done.stdout or "env" in command
    assert compiler_version([first, *rest])[:12] in done.stdout


@pytest.mark.parametrize("command", ["/nonexistent/clang", "no_such_gcc -O1", "'gcc", "''"])
def test_another_compiler_is_not_taken_in_silence(command, copy, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", command)
    with pytest.raises(CompilerError, match=r"^error: CC='"):
        compiler()
    done = invoke("verify", copy)
    assert done.exit_code == 1 and "CC=" in done.stdout
    done = invoke("build", "robots/pendulum.urdf", "-o", tmp_path / "out")
    assert done.exit_code == 2 and done.stderr.startswith("error: CC='")


def test_a_compiler_with_an_argument_of_ours(copy, tmp_path):
    """A script that notes how it was called is what is run."""
    script = tmp_path / "cc.py"
    script.write_text(
        "import subprocess, sys\n"
        f"open({str(tmp_path / 'log')!r}, 'a').write(' '.join(sys.argv[1:3]) + chr(10))\n"
        "sys.exit(subprocess.run(['gcc', *sys.argv[2:]]).returncode)\n"
    )
    done = run("verify", copy, env={"CC": f"{sys.executable} {script} marked"})
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in (tmp_path / "log").read_text().splitlines()} == {"marked"}


def test_python_that_leaves_is_a_failed_check(copy):
    path = copy / "pendulum.py"
    path.write_text(path.read_text() + "\nraise SystemExit(0)\n")
    claimed(copy, path.name)
    done = invoke("verify", copy)
    assert done.exit_code == 1 and "Python module loads" in done.stdout


def test_functions_run_at_as_many_states_as_their_length_allows():
    module, folder = generated("ur5", quantities=("gravity",))
    (function,) = module.functions
    for times, count in (
        (0, verification.MIN_STATE_COUNT),
        (7, 7),
        (10**6, verification.STATE_COUNT),
    ):
        operations = times * function.counts.total
        target = verification.VerificationTarget(folder, module, {}, max_run_operations=operations)
        assert len(target.run_states(function)) == count
