"""The backends of all languages but C, a module for each, imported when it is needed.

A backend has ``files(module)`` and ``checks(target, progress)``. Its row is in
`symgen.languages`."""
