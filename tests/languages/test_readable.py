"""What a reader of generated code needs: names, headings, numbers as the file has them."""

import re
from pathlib import Path

import pytest

from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.local_names import STEM_MEANINGS, legend
from tests.support.store import kept
from tests.support.tools import robot_file

FOLDER = Path(__file__).resolve().parents[2] / "generated"
FILES = sorted(path for path in FOLDER.glob("*/*_*.c") if not path.stem.endswith("selftest"))


def code(path):
    """A C file without the comment at its head and the functions that tell the status."""
    text = path.read_text().split("*/\n", 1)[1]
    return re.sub(
        r"^static int (?:regular|(?:all_finite|finite_sum))\(.*?^\}\n",
        "",
        text,
        flags=re.M | re.DOTALL,
    )


def variables(path):
    """Every variable of a C file: constants, and slots of the work array once each."""
    text = code(path)
    local = re.findall(r"^    (?:const )?\w+_real (\w+)(?: +=.*)?;$", text, re.MULTILINE)
    slots = re.findall(r"(\w+) = \d+", " ".join(re.findall(r"enum \{(.*?)\}", text, re.DOTALL)))
    return [*local, *dict.fromkeys(slots)]


def blocks(path):
    """The blocks of lines of a C file that compute something."""
    lines = re.compile(r"^    (?! |}|return|int |for |bad |part|/\*|\(void\)|enum )", re.MULTILINE)
    return [block for block in code(path).split("\n\n") if lines.search(block) and " = " in block]


def anonymous(names):
    return [name for name in names if re.fullmatch(r"t\d+|w\[\d+\]", name)]


ANONYMOUS = {
    "quadruped_forward_dynamics.c": 6,
    "quadruped_mass_matrix.c": 1,
}
"""Variables without a name in the samples; none in the others. Lower it where one gets its name."""


def table(files=FILES):
    """Lines of a table: a file's variables, those without a name, and their share."""
    every = {path.name: variables(path) for path in files}
    every["all"] = [name for names in every.values() for name in names]
    rows = [(name, len(names), len(anonymous(names))) for name, names in every.items()]
    return [f"{name:34} {n:5} {t:5} {100 * t / max(n, 1):4.0f} %" for name, n, t in rows]


if __name__ == "__main__":
    print("\n".join(table()))


def test_variables_of_the_samples_have_names():
    names = {path.name: variables(path) for path in FILES}
    assert sum(map(len, names.values())) > 2500
    bare = {name: len(anonymous(found)) for name, found in names.items() if anonymous(found)}
    assert bare == ANONYMOUS, "\n".join(table())


def test_most_variables_of_every_quantity_have_names():
    files = functions_of_all()
    names = [name for path in files for name in variables(path)]
    assert len(anonymous(names)) <= 0.32 * len(names), "\n".join(table(files))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_block_has_a_heading(path):
    found = blocks(path)
    bare = [b for b in found if not re.search(r"^    /\*", b, re.MULTILINE)]
    assert found and not bare, bare[0]


def functions_of_all():
    """The C of every quantity of the first four joints of the UR5, but for what is written in loops
    by hand."""

    def make(folder):
        job = Job.of(robot_file("ur5"), quantities=("all",), tip="link4")
        folder.mkdir()
        for name, text in code_files(job.module(job.load())).items():
            (folder / name).write_text(text)

    _, folder = kept("the C of every quantity of the first joints of the UR5", make)
    return sorted(p for p in folder.glob("ur5_*.c") if "recursive_least_squares" not in p.stem)


def test_every_block_of_every_quantity_has_a_heading():
    files = functions_of_all()
    bare = [
        (path.name, block)
        for path in files
        for block in blocks(path)
        if not re.search(r"^    /\*", block, re.MULTILINE)
    ]
    assert len(files) > 40 and not bare, bare[0]


@pytest.mark.parametrize("name", ["pendulum", "ur5"])
def test_numbers_are_those_that_a_person_would_compute(name):
    """No 1.3981214687499999 for 1.39812146875: what is made of decimals of the file is the double
    nearest to the decimal that it is."""
    texts = {
        text
        for path in FILES
        if path.name.startswith(name)
        for text in re.findall(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?", code(path))
    }
    odd = {x for x in texts if len(x.split("e")[0].replace(".", "").lstrip("0")) > 15}
    near = {x for x in odd if abs(float(f"{float(x):.14e}") - float(x)) < 1e-15 * float(x)}
    assert texts and not near


def test_the_legend_has_the_numbers_of_joints_in_its_texts():
    names = [f"{stem}3" for stem in STEM_MEANINGS]
    rows = legend(names, [])
    assert len(rows) == len(names)
    assert not [row for row in rows if "{" in row or "}" in row]


@pytest.mark.parametrize(
    "name, row",
    [
        ("J_link_2_3_0", "entry [3, 0] of J_link_2"),
        ("tau_g_1", "entry [1] of tau_g"),
        ("tau_2", "entry [2] of tau"),
    ],
)
def test_the_legend_finds_the_output_of_an_entry(name, row):
    assert row in "".join(legend([name], ["tau", "tau_g", "J_link_2"]))
