"""Numbers: arithmetic that means the same on every kind of scalar.

Knows no other room. Offers the scalar functions and the structural zero (`scalar`), the table of
operations (`operations`), dual numbers (`dual`), correctly rounded constants and decimal reference
numbers (`exact`), and the inline sine (`trig`)."""
