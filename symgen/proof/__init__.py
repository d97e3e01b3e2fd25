"""Independent references for generated functions.

Knows the packages up to tracing. Offers textbook dynamics in world axes, a reference for every
quantity, bounds of rounding errors, and test states."""
