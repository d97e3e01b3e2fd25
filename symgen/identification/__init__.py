"""Identification: inertial parameters and friction of a robot from a log of its motion.

Knows all rooms up to inspection. Offers `run.identify`, motions that excite a robot
(`excitation.excite`), and what is written of an estimate."""
