"""Logs: files of columns, which column is which, usable rows in SI units, samples, derivatives."""
