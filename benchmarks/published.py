"""Figures of publications that the documentation compares symgen with."""

from collections.abc import Mapping
from typing import Final

ECHEANDIA_VALIDITY: Final = {
    5: ("5.7e-14", "3.6e-15", "1.1e-13"),
    10: ("7.3e-12", "5.7e-14", "7.3e-12"),
    15: ("2.9e-11", "2.3e-13", "1.0e-12"),
}
"""Echeandia (2020), by the number of bodies: errors of C, of the rate of M, and of the Christoffel
symbols."""

ECHEANDIA_TIMES: Final = {"chain": (18, 122), "tree": (10, 33)}
"""Echeandia (2020), Table 3.2: µs for C and for the Christoffel symbols in C++, 20 bodies, a chain
and a tree with branching factor 2."""

ECHEANDIA_SYMBOLIC: Final = {5: (0.06, 0.25), 10: (0.18, 1.11), 15: (0.36, 2.13)}
"""Echeandia (2020), Table 3.3: seconds for symbolic M and Christoffel symbols in MATLAB."""

JOHANNESSEN_AGREEMENT: Final = {
    "pendulum": ("1.3e-12", "1.2e-12", "", "6.5e-13", ""),
    "ur5": ("4.4e-12", "1.0e-11", "4.4e-7", "1.4e-12", "7.9e-7"),
    "iiwa7": ("2.9e-12", "3.8e-12", "", "2.1e-12", ""),
    "snake16": ("2.5e-12", "2.2e-10", "", "6.5e-11", ""),
}
"""Johannessen et al. (2019), by robot: sums of absolute differences of gravity, C qd, inverse
dynamics, M and forward dynamics."""

JOHANNESSEN_OPERATIONS: Final[Mapping[str, tuple[str, tuple[int, int, int]]]] = {
    "gravity": ("gravity", (18, 199, 224)),
    "coriolis": ("C q̇", (79, 648, 572)),
    "inverse_dynamics": ("inverse dynamics", (110, 696, 710)),
    "mass_matrix": ("M", (34, 872, 1217)),
    "forward_dynamics": ("forward dynamics", (132, 1948, 2272)),
    "gravity_gradient": ("∂g", (29, 881, 2347)),
    "inverse_dynamics_derivatives": ("∂ inverse dynamics", (234, 4731, 16159)),
    "mass_matrix_gradient": ("∂M", (44, 4095, 11635)),
    "forward_dynamics_derivatives": ("∂ forward dynamics", (378, 13517, 40901)),
    "gravity_rate": ("d/dt g", (32, 491, 687)),
    "inverse_dynamics_rate": ("d/dt inverse dynamics", (219, 1807, 2029)),
    "mass_matrix_rate": ("d/dt M", (48, 2909, 11635)),
    "forward_dynamics_jvp": ("forward dynamics along a change", (290, 5828, 7218)),
}
"""Johannessen et al. (2019), by our quantity: the label of its row, and the operations for the
pendulum, the UR5 and the snake (for forward dynamics the better of their two)."""

GAROFALO: Final = {"microseconds": 244, "ratio": 0.71}
"""Garofalo, Ott, Albu-Schäffer (2013), 25 joints at 2.8 GHz: time of M, C and g, and the time with
rates relative to twice the time without."""
