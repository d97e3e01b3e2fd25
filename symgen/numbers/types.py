"""Names of array types that all packages use."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
"""An array of doubles of any shape; the docstring of what takes or returns it gives the shape."""

AnyArray = NDArray[Any]
"""An array of entries of any type."""

DecimalArray = Any
"""An array of `decimal.Decimal` or of other numbers that NumPy has no type for."""
