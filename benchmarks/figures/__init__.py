"""Figures of the documentation: operation counts, stored measurements, and the pages that show
them.

`make figures` recounts operations (`counts`) and writes every marked figure of every page again
(`pages`) from the stored results. Times are not measured here: they come from the files that the
benchmarks wrote."""
