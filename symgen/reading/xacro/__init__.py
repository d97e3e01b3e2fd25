"""Expansion of xacro files: the sandboxed process, the search for packages, diagnostics."""
