"""Identification: inertial parameters and friction of a robot from a log of its motion.

Knows all packages up to inspection. Offers `estimation.run.identify`, motions that excite a robot
(`excitation.optimizer.excite`), and the files written of an estimate. Sub-packages, lowest first;
each imports only those before it: data, model, diagnostics, prediction, consistency, estimation,
gains, excitation, report."""
