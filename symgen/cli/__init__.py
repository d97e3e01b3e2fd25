"""The command line. The file of a command is loaded when it is asked for.

Knows all packages. Offers `main.main`; a command is a row of `main.SECTIONS` and of
`main.MODULES`."""
