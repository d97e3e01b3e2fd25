"""Rust: a crate without the standard library, without unsafe code, generic over f32 and f64."""

from typing import Final

from symgen.languages.language import Language
from symgen.numbers.operations import OPS

_WORDS: Final = """
abstract as async await become box break const continue crate do dyn else enum extern false final fn
for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct
super trait true try type typeof unsafe unsized use virtual where while yield
"""

_CRATES: Final = "alloc core libm proc_macro std test"

_ATTRIBUTES: Final = """
allow automatically_derived bench cfg cfg_attr cold debugger_visualizer deny deprecated derive doc
expect export_name feature forbid global_allocator ignore inline instruction_set link link_name
link_section macro_export macro_use must_use no_builtins no_link no_main no_mangle no_std
non_exhaustive panic_handler path recursion_limit repr should_panic target_feature track_caller
type_length_limit used warn
"""

_CARGO: Final = "build deps examples incremental"

RUST: Final = Language(
    name="rust",
    aliases=("rs",),
    summary="a no_std crate without unsafe code, generic over f32 and f64",
    main="{name}_rust/Cargo.toml",
    keywords=frozenset(_WORDS.split()),
    standard=frozenset(f"{_CRATES} {_ATTRIBUTES} {_CARGO}".split()),
    taken=frozenset({"finite", "real", *(op.name for op in OPS.values() if not op.symbol)}),
)
