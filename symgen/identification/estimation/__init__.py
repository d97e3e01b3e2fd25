"""Weighted least squares from a log to an estimate with standard errors."""
