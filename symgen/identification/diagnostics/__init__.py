"""Faults of a log that fits show: signs, units, exchanged channels, delays, cut-off frequencies."""
