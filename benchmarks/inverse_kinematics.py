"""The table of docs/howto/inverse-kinematics.md: ``python -m benchmarks.inverse_kinematics`` prints
microseconds of a UR5's inverse kinematics beside Pinocchio's C++. g++ takes one to two minutes."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pinocchio

import symgen
from benchmarks.bench.peers import DEFINES, includes

ROOT = Path(__file__).resolve().parents[1]
ROBOT = ROOT / "robots" / "ur5.urdf"


def main() -> None:
    """Print the table."""
    library = next(
        folder
        for folder in (Path(entry) / "cmeel.prefix/lib" for entry in sys.path)
        if (folder / "libpinocchio_default.so").exists()
    )
    with tempfile.TemporaryDirectory(prefix="symgen-ik-") as scratch:
        folder = Path(scratch)
        options = {"quantities": ["inverse_kinematics:flange"], "prefix": "arm"}
        symgen.generate(ROBOT, folder, ["c"], **options)
        sources = [str(p) for p in folder.glob("*.c") if not p.name.endswith("_selftest.c")]
        flags = ("-O2", f"-I{folder}")
        subprocess.run(["gcc", *flags, "-c", *sources], check=True, cwd=folder)
        own = (
            "-std=c++17",
            "-DNDEBUG",
            "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
            *DEFINES,
            *includes(),
            *flags,
        )
        linked = ("-lpinocchio_default", f"-L{library}")
        source = str(ROOT / "benchmarks" / "bench" / "inverse_kinematics.cpp")
        objects = [str(p) for p in folder.glob("*.o")]
        program = str(folder / "time")
        command = ["g++", *own, source, *objects, *linked, f"-Wl,-rpath,{library}", "-o", program]
        subprocess.run(command, check=True)
        print("| solver | us per solution | solved to 1e-6 |\n|---|---:|---:|", flush=True)
        (folder / "model.txt").write_text(_model())
        subprocess.run([program, str(folder / "model.txt")], check=True)


def _model() -> str:
    """The joints of the robot and its flange as Pinocchio reads them."""
    model = pinocchio.buildModelFromUrdf(str(ROBOT))
    rows = [
        (joint.shortname(), place)
        for joint, place in zip(model.joints[1:], model.jointPlacements[1:], strict=True)
    ]
    rows.append(("flange", model.frames[model.getFrameId("flange")].placement))
    numbers = [[*place.rotation.ravel(), *place.translation] for _, place in rows]
    return "".join(
        f"{name} {' '.join(repr(float(x)) for x in row)}\n"
        for (name, _), row in zip(rows, numbers, strict=True)
    )


if __name__ == "__main__":
    main()
