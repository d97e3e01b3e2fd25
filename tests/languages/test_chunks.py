"""Long C functions in pieces: every statement once and in order, values that cross a border live in
slots."""

import re
import subprocess
from functools import cache
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgen.languages.c import work_array as partitions
from symgen.languages.c.checks import build
from symgen.languages.c.printed_function import MAX_UNSPLIT_RATIO
from symgen.languages.c.syntax import named_arrays
from symgen.languages.c.work_array import MAX_LIVE_RATIO, MIN_PIECE_RATIO, partition
from symgen.languages.dialect import ATOM, Expression
from symgen.languages.writer import Statement
from tests.support.tools import STRICT_C, c_files, compiled, generated


def statements(reads):
    """A statement for each set of earlier statements that it reads; None stores and makes no
    variable."""
    return [
        Statement(
            "",
            None if store else k,
            ("y",) if store else (),
            Expression(tuple(sorted(read)), ATOM, 5),
        )
        for k, (store, read) in enumerate(reads)
    ]


@st.composite
def programs(draw):
    """Random straight-line code: each statement reads up to three earlier variables, a few are
    stores."""
    variables, rows = [], []
    for k in range(draw(st.integers(1, 60))):
        store = draw(st.integers(0, 4)) == 0
        rows.append(
            (store, draw(st.sets(st.sampled_from(variables), max_size=3)) if variables else set())
        )
        variables += [] if store else [k]
    return statements(rows)


def simulate(result):
    """Run the pieces: a read must find its variable in its own piece, or its value still in its
    slot."""
    work = [None] * result.size
    for piece in result.pieces:
        local = set()
        for s in piece:
            for node in s.right.reads:
                if node in result.slots:
                    assert work[result.slots[node]] == node, (
                        f"slot of {node} holds {work[result.slots[node]]}"
                    )
                else:
                    assert node in local, f"{node} is read in another piece and has no slot"
            if s.node in result.slots:
                work[result.slots[s.node]] = s.node
            elif s.node is not None:
                local.add(s.node)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs(), st.integers(1, 20))
def test_any_program(code, size):
    result = partition(code, size)
    assert [s for piece in result.pieces for s in piece] == code
    assert all(0 < len(piece) <= size for piece in result.pieces)
    assert all(held(piece) <= max(1, MAX_LIVE_RATIO * size) for piece in result.pieces)
    assert sorted(set(result.slots.values())) == list(range(result.size))
    simulate(result)
    home = {s.node: p for p, piece in enumerate(result.pieces) for s in piece}
    crossing = {
        x
        for p, piece in enumerate(result.pieces)
        for s in piece
        for x in s.right.reads
        if home[x] < p
    }
    assert result.slots.keys() == crossing
    pieces_end_early_only_for_a_reason(code, size, result.pieces)


def pieces_end_early_only_for_a_reason(code, size, pieces):
    """A piece is short if it is the last, or if it would hold too much with a third more."""
    start = 0
    for piece in pieces[:-1]:
        most = code[start : start + int((len(piece) + 1) / MIN_PIECE_RATIO) + 1]
        assert len(piece) >= int(MIN_PIECE_RATIO * size) or held(most) > max(
            1, int(MAX_LIVE_RATIO * size)
        )
        start += len(piece)


def held(piece):
    """Most values of a piece that it reads later on, at any statement."""
    made = {node: k for k, s in enumerate(piece) for node in s.defines}
    last = {node: k for k, s in enumerate(piece) for node in s.right.reads & made.keys()}
    changes = [0] * (len(piece) + 2)
    for node, end in last.items():
        changes[made[node] + 1] += 1
        changes[end + 1] -= 1
    return max(accumulate(changes[: len(piece)]), default=0)


def chain(length):
    """Each statement reads the one before."""
    return statements([(False, {k - 1} if k else set()) for k in range(length)])


def test_a_chain_needs_one_slot_more_than_a_border_has_values():
    result = partition(chain(100), 10)
    assert result.size == 1 + 1  # the incoming value and the outgoing one, both alive in a piece
    assert len(result.slots) == len(result.pieces) - 1 >= 9


def test_borders_are_where_few_values_are_alive():
    """Three values live from 10 to 18 and one afterwards: the border at 19 or 20 crosses one,
    before it three."""
    wide = [
        *[(False, {k - 1} if k else set()) for k in range(8)],
        (False, {7}),
        (False, {7}),
        (False, {7}),
    ]
    tail = [(False, {8, 9, 10, 17} if k == 18 else {k - 1}) for k in range(11, 40)]
    result = partition(statements(wide + tail), 20)
    assert len(result.pieces[0]) >= 19 and len(result.slots) == len(result.pieces) - 1


def test_a_short_function_is_one_piece():
    result = partition(chain(10), 10)
    assert (len(result.pieces), result.slots, result.size) == (1, {}, 0)


# -- end to end ------------------------------------------------------------------------------------

CUT = {
    "double": ("panda_arm", {}),
    "float": ("ur5", {"scalar": "float"}),
    "runtime": ("ur5", {"parameters": "runtime", "gravity": "runtime"}),
}
FUNCTIONS = ("inverse_dynamics", "terms=bias+mass_matrix")
each = pytest.mark.parametrize("sample", CUT)


def made(sample, chunk):
    robot, options = CUT[sample]
    return generated(robot, quantities=FUNCTIONS, chunk=chunk, **options)


@cache
def library(sample, chunk):
    return build(*made(sample, chunk))


@each
def test_pieces_compile_under_strict_flags_and_pass_the_self_test(sample, tmp_path):
    module, folder = made(sample, 20)
    compiled(*STRICT_C, "-O0", f"-I{folder}", *c_files(folder), "-lm", "-o", "x", cwd=tmp_path)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0
    assert any("static" in path.read_text() for path in c_files(folder)), module.name


@each
def test_results_are_those_of_the_whole_bit_for_bit(sample):
    module, _ = made(sample, 20)
    random = np.random.default_rng(4)
    for function in module.functions:
        sizes = [np.prod(a.sizes(module.dimensions)) for a in module.inputs(function)]
        inputs = [random.uniform(-2, 2, (50, size)) for size in sizes]
        pieces, whole = (
            getattr(library(sample, chunk), function.name)(*inputs) for chunk in (20, 100000)
        )
        for a, b in zip(pieces, whole, strict=True):  # outputs, or the states of the only one
            assert np.array_equal(a, b) and np.isfinite(a).all()


def parts(text):
    """The bodies of the static functions of a C file by name, in order."""
    return dict(
        re.findall(
            r"^static \w+ void (part\d+)\(.*?\)\n\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL
        )
    )


def counted(body):
    """Assignments of a body; the sines of several angles are one."""
    return len(
        re.findall(
            r"^ .*? = (?!(?:co|angle_)sine\d*\[)",
            re.sub(r"/\*.*?\*/|enum \{.*?\}", "", body, flags=re.DOTALL),
            re.MULTILINE,
        )
    )


@each
def test_the_work_array_is_in_the_header_and_pieces_are_short(sample):
    module, folder = made(sample, 20)
    header = (folder / f"{module.name}.h").read_text()
    for function in module.functions:
        text = (folder / f"{module.name}_{function.name}.c").read_text()
        found = parts(text)
        assert (
            list(found) == [f"part{k}" for k in range(1, len(found) + 1)]
            and len(found) > MAX_UNSPLIT_RATIO
        )
        assert all(0 < counted(body) <= 20 for body in found.values())
        macro = f"{module.name}_{function.name}_WORK".upper()
        size = int(re.search(rf"^#define {macro} (\d+)$", header, re.MULTILINE)[1])
        slots = set()
        for body in found.values():
            names = {name: int(k) for name, k in re.findall(r"(\w+) = (\d+)[, ]", body)}
            assert len(set(names.values())) == len(names), "a slot has one name in a piece"
            assert names.keys() == set(re.findall(r"\bw\[(\w+)\]", body)), "names without use"
            slots |= set(names.values())
        assert slots == set(range(size))
        assert re.search(rf"{module.name}_real w\[{size}\]", header)


def test_a_function_is_cut_only_if_it_is_much_longer_than_a_piece():
    module, folder = made("double", 100000)
    header = (folder / f"{module.name}.h").read_text()
    assert "_WORK" not in header and "w[" not in header
    assert not any(parts(path.read_text()) for path in c_files(folder))


def stack(folder, module, tmp_path):
    """Bytes of stack by function, as the compiler reports them."""
    path = folder / f"{module.name}_inverse_dynamics.c"
    compiled("-O2", "-fstack-usage", f"-I{folder}", "-c", path, cwd=tmp_path)
    rows = (tmp_path / f"{path.stem}.su").read_text().splitlines()
    return {row.split("\t")[0].rsplit(":", 1)[1]: int(row.split("\t")[1]) for row in rows}


@each
def test_stack_is_bounded(sample, tmp_path):
    (module, folder), (_, whole) = made(sample, 20), made(sample, 100000)
    name = f"{module.name}_inverse_dynamics"
    pieces, one = stack(folder, module, tmp_path), stack(whole, module, tmp_path)[name]
    assert max(pieces.values()) < one
    assert sum(part.startswith("part") for part in pieces) > MAX_UNSPLIT_RATIO


def test_mutating_the_slots_is_noticed(monkeypatch):
    """The simulation above is no formality: freeing a slot one piece early must fail it."""
    honest = partitions.spill_slots

    def hasty(pieces, *more):
        slots, size = honest(pieces, *more)
        return dict.fromkeys(slots, 0), min(size, 1)

    monkeypatch.setattr(partitions, "spill_slots", hasty)
    code = statements(
        [(False, set()), (False, set()), (False, {0, 1}), (False, {2}), (True, {0, 1, 3})]
    )
    with pytest.raises(AssertionError, match="slot of"):
        simulate(partition(code, 2))


def test_an_array_is_seen_wherever_a_line_names_an_entry_of_it():
    """A piece that reads a position in a list of angles alone did not get the positions."""
    line = "arm_real sine[ARM_FILLED(3)] = {q[3], -w[theta1], -(qd[0])}; /* M */"
    assert named_arrays(line) == ["sine", "q", "w", "qd"]
    assert named_arrays("M[3 * k + 1] = -M2[k]") == ["M", "M2"]
    assert named_arrays("state->scratch[2] = own.q[1]") == []
