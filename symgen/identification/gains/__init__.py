"""Torque constants of motors from runs with and without a known load."""
