"""A language outside the package: Python on lists, with the standard library only."""

from keyword import kwlist

from symgen.languages.language import Language

LANGUAGE = Language(
    name="mathpy",
    summary="Python on lists, without NumPy",
    main="{name}_math.py",
    keywords=frozenset(kwlist),
    reserved_function_names=frozenset({"math", "sign"}),
    backend="symgen_mathpy.backend",
)
