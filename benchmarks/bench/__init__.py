"""symgen beside Pinocchio C++ and CasADi's C, in one process: ``python -m benchmarks.bench`` (`make
bench`)."""
