"""Steps of a generated controller on random gains and inputs, NaN and resets among them:
``python -m fuzz.controller_steps FOLDER CONTROLLER SEED`` says what promise is broken.

A step returns 2 where an argument is outside its range and only there, 1 where a result is not
finite, 0 else. If it does not return 0, results are zero and the state is as before; if it does,
results and state are finite and forces within their limits."""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks.generated_controller import GeneratedController
from symgen.algorithms.controllers import (
    CONTROLLERS,
    QUATERNION_INPUTS,
    UNIT_TOLERANCE,
    VALID_RANGES,
)

STEPS: Final = 80
ODD: Final = (math.nan, math.inf, -math.inf, -1.0, 0.0, 1e30, 1e-30, -1e-30, 3.0)
"""Values that are drawn now and then: not finite, of the wrong sign, far too large or small."""
SCALES: Final = {"h": 0.002, "forget": 1.0}
"""The largest usual value of inputs where that is not 10."""


class Stepper:
    """A controller, and where its inputs have quaternions."""

    def __init__(self, folder: Path, controller: str, rng: Random) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        name = f"{manifest['prefix']}_{controller.replace(':', '_').lower()}"
        self.row = CONTROLLERS[controller.partition(":")[0]]
        self.one, self.rng = GeneratedController(folder, name), rng
        self.quaternions = _quaternions(manifest)
        self.given = dict[str, Any]()

    def drawn(self, key: str, size: int, odd: float) -> Any:
        """An input: usual values, now and then an odd one among them."""
        rng, most = self.rng, SCALES.get(key, 10.0)
        low = 0.0 if key in VALID_RANGES else -most
        values = [rng.uniform(low, most) for _ in range(size)]
        for start in self._quaternions_of(key):
            four = np.array([rng.gauss(0, 1) for _ in range(4)])
            values[start : start + 4] = four / np.linalg.norm(four)
        if rng.random() < odd:
            values[rng.randrange(size)] = rng.choice(ODD)
        return np.array(values, self.one.real)

    def _quaternions_of(self, key: str) -> list[int]:
        if key == "quat_ref":
            return [0]
        return self.quaternions if key in QUATERNION_INPUTS else []

    def valid(self) -> bool:
        """Whether all arguments are within their ranges."""
        for key, values in self.given.items():
            known = VALID_RANGES.get(key)
            if known and not all(known.contains(float(x)) for x in values):
                return False
            for start in self._quaternions_of(key):
                four = values[start : start + 4].astype(float)
                if not abs(four @ four - 1) <= UNIT_TOLERANCE:
                    return False
        return True

    def broken(self) -> Iterator[str]:
        """The promises that are broken in a run."""
        one, rng = self.one, self.rng
        self._new_gains(0.0)
        one.reset()
        for _ in range(STEPS):
            if rng.random() < 0.1:
                self._new_gains(0.3)
            if rng.random() < 0.1:
                one.reset()
                yield from self._after_reset()
            for key, size in one.input_sizes.items():
                self.given[key] = self.drawn(key, size, 0.05)
            before = one.lasting
            with np.errstate(all="ignore"):
                status = one.status(**self.given)
            yield from self._judged(status, before)

    def _new_gains(self, odd: float) -> None:
        gains = {key: self.drawn(key, n, odd) for key, n in self.one.gain_sizes.items()}
        self.one.set_gains(**gains)
        self.given |= gains

    def _after_reset(self) -> Iterator[str]:
        """The state at the start is that of the row."""
        at, lasting = 0, self.one.lasting
        for key, size in self.one.kept.items():
            how = self.row.start.get(key, 0.0)
            start = self.given[how] if isinstance(how, str) else self.row.initial_values(key, size)
            if not np.array_equal(lasting[at : at + size], np.array(start, self.one.real), True):
                yield f"reset leaves {key} as it was"
            at += size

    def _judged(self, status: int, before: Any) -> Iterator[str]:
        valid = self.valid()
        if status not in (0, 1, 2) or (status == 2) == valid:
            yield f"status {status} of arguments that are {'valid' if valid else 'not valid'}"
        results, lasting = np.concatenate([*self.one.results.values()]), self.one.lasting
        if status:
            if results.any() or not np.array_equal(before, lasting, True):
                yield f"a step of status {status} changes its results or its state"
        else:
            yield from self._sound(results, lasting)

    def _sound(self, results: Any, lasting: Any) -> Iterator[str]:
        """What a step that returns 0 promises."""
        if not np.isfinite(results).all():
            yield "a result is not finite but the status is 0"
        forces = next(iter(self.one.results.values()))
        if "limit" in self.given and (np.abs(forces) > self.given["limit"]).any():
            yield "a force is above its limit"
        if "P" in self.one.kept:
            yield from self._bounded(lasting)

    def _bounded(self, lasting: Any) -> Iterator[str]:
        """The covariance of least squares is positive, and its trace that of the start at most."""
        size = self.one.kept["P"]
        packed = lasting[len(lasting) - size :].astype(float)
        width = round((2 * size) ** 0.5 - 0.5)
        u = np.zeros((width, width))
        u[np.tril_indices(width)] = packed
        d = np.diag(u).copy()
        np.fill_diagonal(u, 1.0)
        start = self.row.start["P"]
        assert isinstance(start, float)
        trace = float((u * u * d[:, None]).sum())
        if (d < 0).any() or trace > width * start * 1.001:
            yield f"the trace of the covariance is {trace:.3g} and began as {width * start:g}"


def _quaternions(manifest: dict[str, Any]) -> list[int]:
    """Where the positions have quaternions."""
    return [
        row["index"]
        for row in manifest["joints"]
        if row["type"] in ("ball", "floating") and row["joint"].endswith(".qx")
    ]


def main(folder: str, controller: str, seed: str) -> int:
    """Prints the first promise that is broken."""
    stepper = Stepper(Path(folder), controller, Random(seed))
    trouble = next(stepper.broken(), None)
    if trouble is not None:
        print(f"{controller}: {trouble}")
    return int(trouble is not None)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
