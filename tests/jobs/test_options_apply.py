"""Options that have no effect on what is requested are refused, and the others have one."""

import re

import click
import pytest

import symgen
from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.cli.main import COMMANDS, main
from symgen.compiler.passes import dump
from symgen.errors import OptionError
from symgen.jobs.extension_modules import build
from symgen.jobs.generating import OPTION_TARGETS, check_effects
from symgen.jobs.job import Job
from symgen.jobs.jobfile import MODULE_OPTIONS
from symgen.languages import LANGUAGES, module_files
from symgen.languages.c.options import PRODUCTS, COptions
from symgen.options import rows
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace_all
from tests.support.tools import invoke, robot_file

PENDULUM = robot_file("pendulum")
OF_LANGUAGES = {
    "scalar": "float",
    "trig": "libm",
    "zeros": "once",
    "batch": "8",
    "per_state": ("g",),
    "glue": ("zephyr",),
    "target": "cortex-m4f",
    "body_loops": True,
    "chunk": 1,
    "certify": True,
    "certify_limits": (("q", 1.0),),
    "certify_boxes": 8,
    "module_version": "2.3.4",
    "module_url": "https://example.com/arm",
}
"""Another value than the default of each option that applies to some languages only."""

BOUNDED = {"quantities": ("gravity",), "certify": True}
NEEDED = {
    "per_state": {"gravity": "runtime", "batch": "8"},
    "certify": {"quantities": ("gravity",)},
    "certify_limits": BOUNDED,
    "certify_boxes": BOUNDED,
}
"""Further options without which an option has no effect."""

FIXED_POINT = {"scalar": "q31", "certify_limits": (("velocity", 3.0), ("acceleration", 9.0))}

REFUSE_OTHERS = {"body_loops"}
"""Options with which files of other languages are refused (tests/languages/test_body_loops.py)."""

CHANGES_OTHERS = {
    "target": set(LANGUAGES) - {"c"},  # it also chooses the formulations that all of them have
    # The gateway of MATLAB calls the C of the folder; the states of tests depend on its precision.
    "scalar": {"matlab", "rust"},
    "chunk": {"matlab"},
    "zeros": {"matlab"},
}
"""Languages whose files follow an option that is requested for another language."""


def texts(**options):
    """The files of the pendulum by language, without what C repeats of options and version."""
    options = {"quantities": ("forward_dynamics", "regressor"), **options}
    job = Job.of(PENDULUM, **options)
    module = job.module(job.load())
    return {
        language: {
            name: without_options(text) for name, text in module_files(module, [language]).items()
        }
        for language in LANGUAGES
    }


def without_options(text):
    text = re.sub(r"char options\[\d+\]|#define \w+_VERSION.*", "", text)
    return re.sub(r'"gravity=\[.*', "", text)


@pytest.fixture(scope="module")
def usual():
    return texts()


def test_every_option_of_some_languages_is_tried():
    some = [row.name for row in rows(*MODULE_OPTIONS) if {*row.applies_to} & {*OPTION_TARGETS}]
    assert sorted(some) == sorted(OF_LANGUAGES)


@pytest.mark.parametrize("name", [name for name in OF_LANGUAGES if name not in REFUSE_OTHERS])
def test_an_option_changes_the_languages_that_it_applies_to_and_no_others(name, usual):
    row = next(row for row in rows(*MODULE_OPTIONS) if row.name == name)
    needed = NEEDED.get(name, {})
    changed, usual = (
        texts(**{name: OF_LANGUAGES[name]}, **needed),
        texts(**needed) if needed else usual,
    )
    different = {language for language in LANGUAGES if changed[language] != usual[language]}
    stated = {*row.applies_to} - {*PRODUCTS} | CHANGES_OTHERS.get(name, set())
    assert different == stated, f"applies_to of {row.flag} must name {sorted(different)}"


@pytest.mark.parametrize("form", [FIXED_POINT, {"body_loops": True}], ids=["fixed", "loops"])
def test_other_kinds_of_c_follow_an_option_or_refuse_it(form):
    def texts_of_c(**options):
        job = Job.of(PENDULUM, **{"quantities": ("gravity",), **form, **options})
        files = module_files(job.module(job.load()), ["c"])
        return {name: without_options(text) for name, text in files.items()}

    usual, tried = texts_of_c(), {row.name for row in rows(COptions)} & {*OF_LANGUAGES} - {*form}
    for name in sorted(tried):
        try:
            changed = texts_of_c(**NEEDED.get(name, {}) | {name: OF_LANGUAGES[name]})
        except OptionError:
            continue
        assert changed != usual, (
            f"{name} has no effect on this C: use it in its templates, or refuse it "
            "(for fixed point in NOT_FIXED_POINT of c/options.py)"
        )


@pytest.mark.parametrize("name", OF_LANGUAGES)
def test_an_option_is_refused_where_it_has_no_effect(name):
    row = next(row for row in rows(*MODULE_OPTIONS) if row.name == name)
    job = Job.of(PENDULUM, **{name: OF_LANGUAGES[name]})
    for target in OPTION_TARGETS:
        if target in row.applies_to:
            check_effects(job, [target])
        else:
            with pytest.raises(OptionError, match=f"{row.flag}: this option has no effect on"):
                check_effects(job, [target])
            check_effects(job, [target, row.applies_to[0]])


REFUSED = {
    "--glue: this option has no effect on 'cpp'; it applies to 'c'": "--lang cpp --glue ros2",
    "--target: this option has no effect on 'cpp'; it applies to 'c'": "--lang cpp "
    "--target cortex-m4f",
    "--batch: this option has no effect on 'cpp'; it applies to 'c', 'symgen build' and "
    "'symgen.compile'": "--lang cpp --batch auto",
    "--glue: this option has no effect on 'rust'; it applies to 'c'": "--lang rust --glue zephyr",
    "--trig: this option has no effect on 'javascript'; it applies to ": "--lang javascript "
    "--trig inline",
    "--scalar: this option has no effect on 'python'; it applies to 'c', 'cuda', 'symgen build' "
    "and 'symgen.compile'": "--lang python --scalar float",
    "--zeros: this option has no effect on 'python' and 'rust'; it applies to ": "--lang python "
    "--lang rust --zeros once",
    "--glue: this option has no effect on 'jax'; it applies to 'c'": "--lang jax "
    "--controller computed_torque --glue zephyr",
    "--friction: this option has no effect on 'mass_matrix'; it applies to 'inverse_dynamics', ": (
        "--quantity mass_matrix --friction viscous"
    ),
    "--external-wrench: this option has no effect on 'gravity'; ": "--quantity gravity "
    "--external-wrench tip",
    "--parameters: this option has no effect on 'regressor'; ": "--quantity regressor "
    "--parameters runtime",
    "--formulation mass_matrix: no function computes that quantity": "--quantity gravity "
    "--formulation mass_matrix=composite/minimal",
    "--scalar: two values are given, 'float' and 'double'; keep one of them": "--scalar float "
    "--scalar double",
    "--gravity: two values are given, '0,0,-9.81' and 'runtime'; keep one of them": "--gravity "
    "0,0,-9.81 --gravity runtime",
    "--processes: two values are given, '1' and '2'; keep one of them": "-j 1 --processes 2",
    "--out: two values are given, 'a' and 'b'; keep one of them": "-o a --out b",
    "--per-state pi: no function has this input; remove it": "--batch 8 --per-state pi",
    "--per-state 'q': use some of g, par, pi, friction, springs": "--batch 8 --per-state q",
    "--per-state: the C code has no functions for many states; add --batch": "--gravity runtime "
    "--per-state g",
    "--chunk: two values are given, '50' and '60'; keep one of them": "--chunk 50 --chunk 60",
}


@pytest.mark.parametrize("said", REFUSED)
def test_the_command_line_refuses_it_and_writes_nothing(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = () if "-o" in REFUSED[said].split() else ("-o", "out")
    done = invoke("generate", PENDULUM, *out, *REFUSED[said].split())
    assert done.exit_code == 2 and done.stdout == "", done.output
    assert done.stderr.startswith(f"error: {said}") and done.stderr.count("\n") == 1
    assert not [*tmp_path.iterdir()]


def test_no_command_takes_two_values_of_an_option():
    checked = 0
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        for option in command.params:
            if not isinstance(option, click.Option) or option.is_flag or option.multiple:
                continue
            checked += 1
            done = invoke(name, option.opts[0], "1", option.opts[-1], "2")
            flag = max(option.opts, key=len)
            assert done.exit_code == 2
            assert done.stderr.startswith(f"error: {flag}: two values are given, '1' and '2'; ")
    assert checked > 100


def test_the_same_value_twice_is_one_value(tmp_path):
    done = invoke("ops", PENDULUM, "--parameters", "constant", "--parameters", "constant")
    assert done.exit_code == 0, done.output


def test_ops_refuses_what_no_function_contains():
    done = invoke("ops", PENDULUM, "--quantity", "mass_matrix", "--springs")
    assert done.exit_code == 2 and "--springs: this option has no effect on" in done.stderr


def test_a_job_file_is_refused_at_its_line_unless_it_has_the_default(tmp_path):
    path = tmp_path / "job.toml"
    text = f'file = "{PENDULUM}"\nout = "out"\nlanguages = ["javascript"]\nquantities = ["bias"]\n'
    path.write_text(f'{text}trig = "inline"\nscalar = "double"\nglue = ["cmake"]\n')
    assert invoke("generate", path).exit_code == 0
    path.write_text(f'{text}trig = "libm"\n')
    done = invoke("generate", path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{path}:5: error: --trig: this option has no effect on ")


def test_every_job_file_of_init_serves_every_language(tmp_path):
    job, out = tmp_path / "job.toml", tmp_path / "out"
    assert invoke("init", PENDULUM, "-o", job).exit_code == 0
    done = invoke("generate", job, "-o", out, "--lang", "javascript", "--quantity", "bias")
    assert done.exit_code == 0, done.output


def test_the_python_interface_refuses_it(tmp_path):
    with pytest.raises(OptionError, match=r"--trig: .* no effect on 'javascript'"):
        symgen.generate(PENDULUM, tmp_path / "a", ["javascript"], trig="inline")
    robot = symgen.Robot(PENDULUM, scalar="float", friction="runtime:viscous")
    with pytest.raises(OptionError, match=r"--scalar: .* no effect on 'python'"):
        robot.generate(tmp_path / "a", ["python"])
    with pytest.raises(OptionError, match=r"--glue: .* no effect on 'symgen\.compile'"):
        symgen.compile(PENDULUM, "bias", glue=("cmake",))
    with pytest.raises(OptionError, match=r"--friction: .* no effect on 'mass_matrix'"):
        symgen.compile(PENDULUM, "mass_matrix", friction="runtime:viscous")
    with pytest.raises(OptionError, match=r"--glue: .* no effect on 'symgen build'"):
        build(PENDULUM, tmp_path / "a", glue=("ros2",))
    assert not [*tmp_path.iterdir()]


def test_options_of_a_robot_serve_all_that_is_made_of_it(tmp_path):
    robot = symgen.Robot(PENDULUM, friction="runtime:viscous", gravity="runtime")
    assert robot.generate(tmp_path / "a", ["c"], quantities=("mass_matrix",))
    assert robot.compile("mass_matrix").mass_matrix([0.1, 0.2]).shape == (2, 2)
    assert robot.subs({}).generate(tmp_path / "b", ["python"])


FEATURES = {
    "inertia": {"parameters": "runtime"},
    "wrench": {"external_wrench": ("tip",)},
    "friction": {"friction": "runtime:viscous"},
    "springs": {"runtime_springs": True},
}
"""An option for each tag of a quantity."""


def test_every_tag_of_a_quantity_has_an_option():
    tags = {tag for row in rows(*MODULE_OPTIONS) for tag in row.applies_to} - {*OPTION_TARGETS}
    assert tags == {*FEATURES}


@pytest.mark.parametrize("tag", FEATURES)
def test_a_quantity_has_a_tag_if_the_option_changes_its_function(tag):
    job = Job.of(robot_file("pendulum"))
    other = job.changed(**FEATURES[tag])
    robots = [each.robot(each.load()) for each in (job, other)]
    wrong = []
    for quantity in [*QUANTITIES.values(), *map(of_pendulum, LINK_QUANTITIES.values())]:
        wanted = [FunctionRequest("f", (quantity,))]
        (usual,), (changed,) = (trace_all(robot, wanted) for robot in robots)
        different = signature(usual) != signature(changed)
        if different != (tag in quantity.tags):
            wrong.append((quantity.name, different))
    assert not wrong


def of_pendulum(quantity):
    return quantity.of({"link": "tip", "joint": "elbow"}[quantity.subject])


def signature(function):
    return dump(function.program), function.inputs
