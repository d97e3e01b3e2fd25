"""The ROS 2 package of the UR5 with all controllers, built against mocks, and its driver."""

import subprocess
from pathlib import Path

import numpy as np

from tests.support.tools import generated

MOCKS = Path(__file__).resolve().parent / "ros2"
CONTROLLED = (
    *("gravity_compensation", "computed_torque", "joint_impedance", "momentum_observer"),
    *("adaptive_slotine_li", "recursive_least_squares", "cartesian_impedance:link6"),
)
OPTIONS = {
    "quantities": (*CONTROLLED, "gravity", "frame_pose:link6"),
    "glue": ("ros2",),
    "languages": ("c",),
}
TYPES = [
    "".join(word.capitalize() for word in name.replace(":", "_").split("_")) for name in CONTROLLED
]
N = 6


def package(**more):
    module, folder = generated("ur5", **OPTIONS, **more)
    return module, folder, folder / "ur5_controllers"


TOP = """cmake_minimum_required(VERSION 3.19)
project(top LANGUAGES C CXX)
set(BUILD_TESTING ON)
enable_testing()
include({mocks}/packages.cmake)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
    $<$<COMPILE_LANGUAGE:CXX>:-Wshadow> $<$<COMPILE_LANGUAGE:CXX>:-Wconversion> -Werror)
add_subdirectory({package} package)
add_executable(drive {mocks}/drive.cpp)
target_link_libraries(drive PRIVATE -Wl,--no-as-needed ur5_controllers)
"""


def driven(place, controller, lines):
    """The words of the answers to the lines, which the driver of a controller reads."""
    name = "".join(word.capitalize() for word in controller.split("_"))
    command = [place / "build/drive", f"ur5_controllers::{name}"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    answers = [line.split() for line in done.stdout.splitlines()]
    return dict(zip(lines, answers, strict=True)) if len({*lines}) == len(lines) else answers


def line(what, *arrays):
    """A line for the driver; arrays are separated by semicolons."""
    return f"{what} " + " ; ".join(" ".join(map(str, np.ravel(x))) for x in arrays)


def beginning(gains, *measured):
    """The lines up to activation, with names of joints that have a prefix."""
    joints = " ".join(f"left/joint{k + 1}" for k in range(N))
    numbers = [f"numbers {name} {' '.join(map(str, np.ravel(x)))}" for name, x in gains.items()]
    head = [f"joints {joints}", *numbers, "init", "configure"]
    return [*head, line("measured", np.ravel(measured)), "activate"]


def close(words, numbers, digits):
    return np.allclose(np.array(words, float), np.ravel(numbers), rtol=digits, atol=10 * digits)


LIMIT = np.full(N, 1000.0)
