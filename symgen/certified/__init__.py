"""Certified bounds: ranges of results and bounds of their rounding errors that hold for all inputs
within given ranges.

Knows the compiler, tracing and the bounds of proof, and no language. Offers `certify`, the
`Certificate` of a function, and the options of ``--certify``."""
