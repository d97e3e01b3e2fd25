"""The FMU of a robot as a row of `benchmarks.compared`: FMPy compiles it and reads accelerations."""

import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from symgen.languages import LANGUAGES
from symgen.languages.c.glue import FMU_FUNCTION
from symgen.languages.describe import FunctionDescription
from symgen.languages.external_runner import ExternalRunner
from symgen.languages.verification import VerificationTarget


def _run(
    target: VerificationTarget, folder: Path, functions: Sequence[FunctionDescription]
) -> None:
    """The accelerations of each state, in an instance of Model Exchange of its own. Raises
    OptionError for a robot that cannot be an FMU."""
    from fmpy import read_model_description
    from fmpy.build import build_platform_binary
    from fmpy.fmi3 import FMU3Model

    forward = tuple(f for f in target.module.functions if f.name == FMU_FUNCTION)
    choices = target.module.choices.changed(glue=("fmi",))
    module = replace(target.module, functions=forward, choices=choices)
    place = folder / f"{module.name}_fmu"
    for name, text in LANGUAGES["c"].files(module).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    build_platform_binary(place)
    described = read_model_description(str(place))
    data = (folder / f"{FMU_FUNCTION}.in").read_bytes()
    (count,) = struct.unpack_from("q", data)
    results = []
    for state in np.frombuffer(data, offset=8).reshape(count, -1):
        fmu = FMU3Model(
            guid=described.instantiationToken,
            unzipDirectory=str(place),
            modelIdentifier=described.modelExchange.modelIdentifier,
            instanceName=module.name,
        )
        fmu.instantiate()
        fmu.enterInitializationMode()
        fmu.setFloat64(range(1, len(state) + 1), state)
        fmu.exitInitializationMode()
        results += fmu.getFloat64(range(len(state) + 1, len(state) + module.dof + 1))
        fmu.terminate()
        fmu.freeInstance()
    np.array(results).tofile(folder / f"{FMU_FUNCTION}.out")


FMU_RUNNER: Final = ExternalRunner("the FMU", ("cmake",), _run, packages=("fmpy",))
