"""Tracing: where mechanics and compiler meet.

Knows numbers, mechanics, reading, compiler and algorithms. Offers a robot with what stays open
until run time (`robot`), what is asked for (`wanted`), functions traced in their cheapest
formulations (`trace`), and algorithms run on any scalars (`running`)."""
