"""symgen, a compiler for robot dynamics: from URDF to small, verified C and Python."""

__version__ = "0.1.0"
