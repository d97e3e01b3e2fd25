"""JavaScript: one ES module on typed arrays, for Node.js and browsers."""

from typing import Final

from symgen.languages.language import Language

_WORDS: Final = """
arguments await break case catch class const continue debugger default delete do else enum eval
export extends false finally for function if implements import in instanceof interface let new null
package private protected public return static super switch this throw true try typeof undefined
var void while with yield
"""

JAVASCRIPT: Final = Language(
    name="javascript",
    aliases=("js",),
    summary="ES module on Float64Array, for Node.js and browsers",
    main="{name}.mjs",
    keywords=frozenset(_WORDS.split()),
    taken=frozenset({"sized", "room", "regular", "finite", "nq", "nv", "then"}),
)
