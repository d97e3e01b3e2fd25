"""Inertial parameters and friction of a robot from a log of its motion."""
