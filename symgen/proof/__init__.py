"""Proof: judges of what is generated.

Knows all rooms up to tracing. Offers textbook dynamics in world axes, a law for every quantity,
bounds of rounding errors, and
plausible states to try functions at."""
