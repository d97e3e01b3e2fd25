"""Numbers: arithmetic that means the same on every kind of scalar.

Knows only errors. Offers the scalar functions, the structural zero and numbers with names
(`scalar`), the table of operations (`operations`), dual and recorded numbers (`autodiff`),
correctly rounded constants and decimal reference numbers (`decimals`), the inline sine (`trig`) and
caches (`caching`)."""
