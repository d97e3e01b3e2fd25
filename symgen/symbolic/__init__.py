"""Quantities of robots as SymPy expressions, from the expression graph or in closed form.

Knows the packages up to jobs. Offers `symbolic.Symbolic`, closed forms (`closed_form`), and
replacements as of `sympy.cse` (`symbolic_tape`)."""
