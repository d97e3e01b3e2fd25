"""Numbers: arithmetic that means the same on every kind of scalar.

Knows only errors. Offers the scalar functions and the structural zero (`scalar`), the table of
operations (`operations`), dual numbers (`dual`), numbers with names (`named`), correctly rounded
constants and decimal reference numbers (`exact`), and the inline sine (`trig`)."""
