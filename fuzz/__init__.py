"""A fuzzer of the command line: structure-aware, seeded, bounded in time (`make fuzz`).

An input (`case.Case`) is a command with the files that it reads, made by a family
(`families.FAMILIES`) from a seed and a number alone. It runs in a process forked from one that has
imported everything (`child.run`), under limits of memory and time. What came of it is judged by
`oracles.ORACLES`, and a share is run further (`follow.FOLLOW_UPS`): proved by ``symgen verify``,
run again as a real process, run again after a kill. A finding is written with the command that
reproduces it; `minimise` makes it small."""
