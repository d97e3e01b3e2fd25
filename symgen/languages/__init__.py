"""Languages: `LANGUAGES` is their registry. Texts of files are in templates/, a folder for each.

Knows mechanics, tracing, proof and native code; offers `LANGUAGES`, the class `Language` of its
rows, and the `Module` that a language writes."""

import sys
from collections.abc import Callable, Sequence
from keyword import kwlist
from typing import Final

from symgen.errors import OptionError
from symgen.languages.c.options import COptions
from symgen.languages.language import Language, by_name, plugins
from symgen.languages.module import Module
from symgen.numbers.operations import OPS
from symgen.text import hint, shown


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS: Final = frozenset(op.name for op in OPS.values() if not op.symbol)
"""Names of mathematical functions that generated files call or define."""

C_KEYWORDS: Final = _words("""
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Bool _Complex _Imaginary alignas alignof and and_eq asm bitand bitor bool catch
char8_t char16_t char32_t class co_await co_return co_yield compl concept consteval constinit
const_cast constexpr decltype delete dynamic_cast explicit export false friend mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast template this thread_local throw true try typeid typename typeof
typeof_unqual using virtual wchar_t xor xor_eq
""")
"""The keywords of C and C++, up to C23 and C++20."""

C_HEADERS: Final = _words("""
assert complex ctype errno fenv features float inttypes iso646 limits locale math setjmp signal
stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype
""")
"""Headers that a file of the same name would hide."""

CMAKE_TARGETS: Final = _words("""
all clean edit_cache help install m package package_source preinstall rebuild_cache test
""")
"""Names of targets that CMake reserves."""

WINDOWS_DEVICES: Final = _words("""
aux com1 com2 com3 com4 com5 com6 com7 com8 com9 con lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9
nul prn
""")
"""Names of devices, which no file of Windows can have."""

C_MACROS: Final = _words("""
alloca assert errno i386 linux mips offsetof setjmp stderr stdin stdout sun unix va_arg va_copy
va_end va_start
""")
"""Lower-case macros of compilers and headers, which no function of C++ can be called as."""

C_TAKEN: Final = FUNCTIONS | _words("""
selftest selftest_function selftest_step real info info_type joint_type regroup parameters
gamma_index sincos sincos_all sincos_angles angles trig robot
""")
"""Names that generated C uses."""

PYTHON_KEYWORDS: Final = frozenset(kwlist)

PYTHON_BUILTINS: Final = _words("""
all any bool dict float globals int isinstance len list map max min next print range sorted str
tuple type zip
""")
"""Built-in functions and types, which a function of the same name would hide in its module."""

CUDA_TAKEN: Final = C_MACROS | _words("""
device finite_sum regular sine cosine sine_cosine std
""")
"""Names that generated CUDA uses."""

JAVASCRIPT_KEYWORDS: Final = _words("""
arguments await break case catch class const continue debugger default delete do else enum eval
export extends false finally for function if implements import in instanceof interface let new null
package private protected public return static super switch this throw true try typeof undefined
var void while with yield
""")

MATLAB_KEYWORDS: Final = _words("""
break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor
endfunction endif endparfor endswitch endwhile enumeration events for function global if methods
otherwise parfor persistent properties return spmd switch try until unwind_protect
unwind_protect_cleanup while
""")

RUST_KEYWORDS: Final = _words("""
abstract as async await become box break const continue crate do dyn else enum extern false final fn
for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct
super trait true try type typeof unsafe unsized use virtual where while yield
""")

RUST_CRATES_AND_ATTRIBUTES: Final = _words("""
alloc core libm proc_macro std test
allow automatically_derived bench cfg cfg_attr cold debugger_visualizer deny deprecated derive doc
expect export_name feature forbid global_allocator ignore inline instruction_set link link_name
link_section macro_export macro_use must_use no_builtins no_link no_main no_mangle no_std
non_exhaustive panic_handler path recursion_limit repr should_panic target_feature track_caller
type_length_limit used warn
build deps examples incremental
""")
"""Names of crates, attributes and folders of Cargo, which no crate can have."""


C: Final = Language(
    name="c",
    summary="C99 without heap or globals, with a self-test; also compiles as C++",
    main="{name}.h",
    keywords=C_KEYWORDS,
    reserved_module_names=C_HEADERS | CMAKE_TARGETS | WINDOWS_DEVICES,
    reserved_function_names=C_TAKEN,
    options=COptions,
    check_functions=COptions.check_functions,
    backend="symgen.languages.c.backend",
    checker="symgen.languages.c.checks",
    reporter="symgen.languages.c.report",
)

PYTHON: Final = Language(
    name="python",
    aliases=("py", "numpy"),
    summary="NumPy, one file, for one state or many at once",
    main="{name}.py",
    keywords=PYTHON_KEYWORDS,
    reserved_module_names=frozenset(sys.stdlib_module_names) | {"numpy"},
    reserved_function_names=PYTHON_BUILTINS | FUNCTIONS | {"np", "math", "gamma_index"},
)

CPP: Final = Language(
    name="cpp",
    aliases=("c++", "cxx"),
    summary="C++17 header: templates over float, double or autodiff types; arrays and Eigen",
    main="{name}_robot.hpp",
    keywords=C_KEYWORDS,
    reserved_function_names=_words("column_major detail joint_names nq nv parameters std type"),
)

RUST: Final = Language(
    name="rust",
    aliases=("rs",),
    summary="a no_std crate without unsafe code, generic over f32 and f64",
    main="{name}_rust/Cargo.toml",
    keywords=RUST_KEYWORDS,
    reserved_module_names=RUST_CRATES_AND_ATTRIBUTES,
    reserved_function_names=FUNCTIONS | {"finite", "real"},
)

JAVASCRIPT: Final = Language(
    name="javascript",
    aliases=("js",),
    summary="ES module on Float64Array, for Node.js and browsers",
    main="{name}.mjs",
    keywords=JAVASCRIPT_KEYWORDS,
    reserved_function_names=_words("sized room regular finite nq nv then"),
)

CUDA: Final = Language(
    name="cuda",
    summary="kernels for many states on a GPU, one thread per state; also compile for the CPU",
    main="{name}_cuda/{name}_cuda.h",
    keywords=C_KEYWORDS,
    reserved_function_names=CUDA_TAKEN,
)

MATLAB: Final = Language(
    name="matlab",
    aliases=("octave", "simulink"),
    summary="MATLAB and Octave functions, a MEX gateway to the C and a Simulink S-function",
    main="{name}_matlab/{name}_build.m",
    keywords=MATLAB_KEYWORDS,
    reserved_function_names=_words("joint_names parameters selftest"),
)

CASADI: Final = Language(
    name="casadi",
    summary="graphs of SX, and C with Jacobians for casadi.external and acados",
    main="{name}_casadi/__init__.py",
    keywords=C_KEYWORDS | PYTHON_KEYWORDS,
    reserved_module_names=frozenset({"casadi"}),
    reserved_function_names=C_TAKEN
    | PYTHON_BUILTINS
    | _words("ca external graph library gamma_index"),
)

JAX: Final = Language(
    name="jax",
    summary="pure functions for jit, vmap and grad; on CPUs also through compiled C",
    main="{name}_jax/__init__.py",
    keywords=C_KEYWORDS | PYTHON_KEYWORDS,
    reserved_module_names=frozenset({"jax"}),
    reserved_function_names=C_TAKEN
    | PYTHON_BUILTINS
    | _words("jnp math pure library gamma_index jax ctypes"),
)

TORCH: Final = Language(
    name="torch",
    summary="operators with gradients for autograd, vmap and torch.compile, on CPUs and GPUs",
    main="{name}_torch/__init__.py",
    keywords=C_KEYWORDS | PYTHON_KEYWORDS,
    reserved_module_names=frozenset({"torch"}),
    reserved_function_names=C_TAKEN
    | CUDA_TAKEN
    | PYTHON_BUILTINS
    | _words("ctypes inspect math library build cuda gamma_index torch")
    | _words("enumerate frozenset getattr iter staticmethod"),
)

LANGUAGES: Final[dict[str, Language]] = by_name(
    (C, PYTHON, CPP, RUST, JAVASCRIPT, CUDA, MATLAB, CASADI, JAX, TORCH, *plugins())
)
"""All languages by name, those of other distributions last."""

ALIASES: Final = {alias: row.name for row in LANGUAGES.values() for alias in row.aliases}
"""The names of languages by alias."""

DEFAULT_LANGUAGES: Final = ("c", "python")
"""The languages that are generated by default."""


def known_languages(names: Sequence[str]) -> list[str]:
    """The names of languages for names or aliases in any capitals, each once. Raises OptionError
    for an unknown one."""
    return list(dict.fromkeys(map(_language_name, names)))


def _language_name(text: str) -> str:
    name = ALIASES.get(text.lower(), text.lower())
    if name not in LANGUAGES:
        raise OptionError(
            f"no language is called '{shown(text)}'; {hint(text, LANGUAGES, len(LANGUAGES))}"
        )
    return name


def module_files(
    module: Module,
    languages: Sequence[str] = DEFAULT_LANGUAGES,
    progress: Callable[[str], None] = lambda step: None,
) -> dict[str, str]:
    """The files of a module in some languages and their reports, name to text. `progress` is called
    with each language. Raises SymgenError."""
    chosen = [LANGUAGES[name] for name in known_languages(languages)]
    texts: dict[str, str] = {}
    if module.is_looped:
        for name in (language.name for language in chosen if language.name != "c"):
            raise OptionError(
                f"--body-loops: only C has loops over the bodies, not {name}; use --lang c"
            )
    for k, language in enumerate(chosen):
        progress(f"writing code: language {k + 1} of {len(chosen)}, {language.name}")
        texts |= language.files(module)
    reports = [language.report(module, texts) for language in chosen]
    return {name: text for part in (texts, *reports) for name, text in part.items()}
