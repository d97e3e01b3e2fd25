"""Logs that are wide or damaged."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from symgen.identification.data import open_log as logs
from symgen.identification.data.log_file import LogError, check_columns
from symgen.identification.data.open_log import open_log
from symgen.identification.data.samples import rows_of_ranges

WRITERS = {"stored": np.savez, "compressed": np.savez_compressed}


@pytest.fixture(params=WRITERS)
def npz(request, tmp_path):
    """A log of 20000 rows in a column and a matrix, and where each byte of theirs is in the file."""
    path = tmp_path / "log.npz"
    random = np.random.default_rng(3)
    WRITERS[request.param](path, t=np.arange(20000) / 100, q=random.normal(size=(20000, 2)))
    with zipfile.ZipFile(path) as archive:
        ends = [(info.header_offset, info.compress_size) for info in archive.infolist()]
    return path, [begin + 60 + 3 * size // 4 for begin, size in ends]


def read(path):
    log = open_log(str(path))
    return np.concatenate(list(log.chunks(log.names)))


def test_an_undamaged_file_is_read(npz):
    path, _ = npz
    with np.load(path) as found:
        assert np.array_equal(read(path), np.column_stack([found["t"], found["q"]]))


@pytest.mark.parametrize("member", [0, 1])
def test_a_file_with_another_checksum_is_refused(npz, member):
    """A flipped bit in the numbers is found whatever it makes of them."""
    path, places = npz
    data = bytearray(path.read_bytes())
    data[places[member]] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        LogError, match=r"(cannot be read|is not an NPZ file) \((Bad CRC-32|Error -3)"
    ):
        read(path)


def test_damage_behind_the_rows_in_use_is_found_too(npz, monkeypatch):
    path, places = npz
    data = bytearray(path.read_bytes())
    data[places[0]] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr("symgen.identification.data.binary_logs.CHUNK_ROWS", 1024)
    log = open_log(str(path))
    with pytest.raises(LogError, match="cannot be read"):
        list(rows_of_ranges(log.chunks(log.names), [(0, 10)]))


class Compared(str):
    """A text that counts how often it is compared."""

    count = 0

    def __eq__(self, other):
        Compared.count += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_the_names_of_columns_are_compared_in_proportion_to_their_number(tmp_path, monkeypatch):
    path, n = tmp_path / "wide.csv", 2000
    path.write_text(",".join(f"c{k}" for k in range(n)) + "\n" + "1," * (n - 1) + "1\n")
    usual = logs.FORMATS[".csv"](str(path))
    named = replace(usual.dialect, names=tuple(map(Compared, usual.names)))
    wide = replace(usual, dialect=named)
    monkeypatch.setitem(logs.FORMATS, ".csv", lambda path: wide)
    Compared.count = 0
    log = open_log(str(path))
    with pytest.raises(LogError, match=r"has no column 't'; there are 'c0', .* and 1992 more"):
        check_columns(log, ["t"])
    assert Compared.count < 10 * n
    assert np.array_equal(np.concatenate(list(log.chunks(["c7", "c3"]))), [[1.0, 1.0]])


def test_two_columns_of_one_name_are_found(tmp_path):
    (tmp_path / "twice.csv").write_text("t,a,b,a\n1,2,3,4\n")
    with pytest.raises(LogError, match="has two columns called 'a'"):
        open_log(str(tmp_path / "twice.csv"))


@pytest.mark.parametrize("kind", ["timestamp[ns]", "timestamp[us, tz=UTC]", "duration[ms]"])
def test_times_that_have_a_type_are_in_seconds(tmp_path, kind):
    """As pandas writes an index of dates; a date that is missing is no number."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    unit = kind.split("[")[1][:2]
    whole = [10 * k * {"ns": 10**6, "us": 10**3, "ms": 1}[unit] for k in range(4)]
    zone = "UTC" if "tz" in kind else None
    type_ = arrow.duration(unit) if "duration" in kind else arrow.timestamp(unit, zone)
    stamps = arrow.array([*whole[:3], None, whole[3]], type_)
    parquet.write_table(arrow.table({"stamp": stamps, "a": range(5)}), tmp_path / "log.parquet")
    read = np.concatenate(list(open_log(str(tmp_path / "log.parquet")).chunks(["stamp", "a"])))
    assert np.allclose(read[[0, 1, 2, 4], 0], [0.0, 0.01, 0.02, 0.03], atol=1e-12)
    assert np.isnan(read[3, 0]) and np.array_equal(read[:, 1], range(5))


def test_decimal_commas_are_seen_where_the_first_row_is_of_whole_numbers(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t;q_j;note\n0;0;1,5 or 2.5\n0,004;-1,25e1;x\n1;2;x\n")
    rows = np.concatenate(list(open_log(str(path)).chunks(["t", "q_j"])))
    assert rows.tolist() == [[0, 0], [0.004, -12.5], [1, 2]]
    path.write_text("t\tq_j\tdate\n0.5\t1\t1,5\n1.5\t2\t2,5\n")
    rows = np.concatenate(list(open_log(str(path)).chunks(["t", "q_j"])))
    assert rows.tolist() == [[0.5, 1], [1.5, 2]]


def test_utf_16_is_said(tmp_path):
    (tmp_path / "log.csv").write_bytes("t,q_j\n0,0\n".encode("utf-16"))
    with pytest.raises(LogError, match="is in UTF-16; save it in UTF-8"):
        open_log(str(tmp_path / "log.csv"))


@pytest.mark.parametrize("kind", [object, complex, bool])
def test_arrays_that_hold_no_real_numbers_are_named_with_their_type(tmp_path, kind):
    path = tmp_path / "log.npz"
    np.savez(path, t=np.arange(3.0), q_j=np.arange(3.0).astype(kind), note=np.array(["a"]))
    with pytest.raises(
        LogError, match=r"'q_j' is of type \w+ and shape \(3,\), not a column of real"
    ):
        check_columns(open_log(str(path)), ["t", "q_j"])


def test_logical_columns_of_parquet_are_refused_where_they_are_read(tmp_path):
    """They would be read as zeros and ones. Other columns of the file are read."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"t": [0.0, 1.0], "tau_j": [True, None], "enabled": [True, False]}
    parquet.write_table(arrow.table(columns), tmp_path / "log.parquet")
    log = open_log(str(tmp_path / "log.parquet"))
    check_columns(log, ["t"])
    with pytest.raises(LogError, match="'tau_j' is of type bool, not a column of real numbers"):
        check_columns(log, ["t", "tau_j"])
