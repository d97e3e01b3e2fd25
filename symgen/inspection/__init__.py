"""Inspection: a robot and a module shown to people.

Knows all rooms up to jobs. Offers tables, the page of a robot, plots, closed forms by SymPy."""
