"""Robots on paper: quantities as SymPy expressions, straight from the tape or in closed form.

Knows all rooms up to jobs. Offers `symbolic.Symbolic`, the closed forms (`closed`), and programs of
replacements (`replacements`)."""
