"""The command line: one file a command, loaded when it is asked for.

Knows all packages. Offers `main.main`; a command is a row of `main.COMMANDS` and the file of its
name."""
