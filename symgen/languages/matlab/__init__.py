"""MATLAB and Octave: a package of functions, a MEX gateway to the C, and a Simulink S-function."""

from typing import Final

from symgen.languages.language import Language

_WORDS: Final = """
break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor
endfunction endif endparfor endswitch endwhile enumeration events for function global if methods
otherwise parfor persistent properties return spmd switch try until unwind_protect
unwind_protect_cleanup while
"""

MATLAB: Final = Language(
    name="matlab",
    aliases=("octave", "simulink"),
    summary="MATLAB and Octave functions, a MEX gateway to the C and a Simulink S-function",
    main="{name}_matlab/{name}_build.m",
    keywords=frozenset(_WORDS.split()),
    taken=frozenset({"joint_names", "parameters", "selftest"}),
)
