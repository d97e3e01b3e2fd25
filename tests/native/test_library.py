"""A library that is loaded leaves the arithmetic of the process as it was."""

import numpy as np
import pytest

from symgen.native.library import Library


@pytest.mark.parametrize("flag", ["-O2", "-ffast-math", "-funsafe-math-optimizations", "-Ofast"])
def test_subnormal_numbers_stay(flag):
    text = "double twice(double x); double twice(double x) { return 2.0 * x; }"
    Library.build("double twice(double);", {"x.c": text}, [flag])
    smallest = np.nextafter(0.0, 1.0)
    assert smallest > 0.0 and smallest * 2.0 / 2.0 == smallest
