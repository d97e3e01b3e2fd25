"""ROS bags with joint states."""

import json

import numpy as np
import pytest

from benchmarks.simulated_logs import Recipe, simulated
from symgen.identification.data.open_log import open_log
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

rosbag2 = pytest.importorskip("rosbags.rosbag2", reason="needs rosbags: pip install 'symgen[ros]'")
ARM = robot_file("scara")


def columns():
    job = Job.of(ARM)
    return simulated(job, job.load(), Recipe(duration=3.0, rate=100.0), False)


def bag(folder, log, names, storage, twist=True):
    """A bag whose messages name the joints in another order every other time."""
    from rosbags.rosbag2 import StoragePlugin
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.LATEST)
    state, header, time = (
        store.types[name]
        for name in (
            "sensor_msgs/msg/JointState",
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
        )
    )
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    with rosbag2.Writer(folder / "bag", version=9, storage_plugin=plugin) as writer:
        topic = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for row, t in enumerate(log["t"].tolist()):
            order = names[::-1] if twist and row % 2 else names
            arrays = [np.array([log[f"{g}_{n}"][row] for n in order]) for g in ("q", "qd", "tau")]
            ns = round(t * 1e9) + 10**18
            stamp = time(ns // 10**9, ns % 10**9)
            message = state(header(stamp, ""), list(order), *arrays)
            writer.write(topic, ns, store.serialize_cdr(message, state.__msgtype__))
    return folder / "bag"


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_joint_states_of_a_bag_are_a_log(tmp_path, storage):
    log, names = columns(), list(Job.of(ARM).load().model.joint_names)
    path = bag(tmp_path, log, names, storage)
    opened = open_log(str(path))
    assert opened.rows == 300 and opened.names[:2] == ("t", f"position_{names[0]}")
    wanted = [f"{f}_{n}" for f in ("position", "velocity", "effort") for n in names]
    rows = np.concatenate(list(opened.chunks(wanted)))
    assert np.array_equal(
        rows, np.stack([log[f"{g}_{n}"] for g in ("q", "qd", "tau") for n in names], 1)
    )
    done = invoke("identify", ARM, path, "--json")
    assert done.exit_code == 0, done.output
    for name, row in json.loads(done.stdout)["parameters"].items():
        assert abs(row["estimate"] - row["prior"]) < 5 * row["standard_error"], name
    shown = invoke("log", path)
    assert shown.exit_code == 0 and "recorder: JointState" in shown.stdout


def test_a_folder_or_a_file_that_is_no_bag(tmp_path):
    for path in (tmp_path, tmp_path / "x.mcap"):
        if path != tmp_path:
            path.write_bytes(b"nothing")
        done = invoke("log", path)
        assert done.exit_code == 2 and "cannot be read as a ROS bag (" in done.stderr, done.output
