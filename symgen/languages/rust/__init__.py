"""Rust: a crate without the standard library, without unsafe code, generic over f32 and f64."""

from typing import Final

from symgen.languages.language import Language
from symgen.numbers.operations import OPS

_WORDS: Final = """
abstract as async await become box break const continue crate do dyn else enum extern false final fn
for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct
super trait true try type typeof unsafe unsized use virtual where while yield
"""

RUST: Final = Language(
    name="rust",
    aliases=("rs",),
    summary="a no_std crate without unsafe code, generic over f32 and f64",
    main="{name}_rust/Cargo.toml",
    keywords=frozenset(_WORDS.split()),
    taken=frozenset({"finite", "real", *(op.name for op in OPS.values() if not op.symbol)}),
)
