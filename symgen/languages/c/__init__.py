"""C99: small, without heap or globals, clean under strict warnings."""

from typing import Final

from symgen.languages.c.options import COptions
from symgen.languages.language import Language
from symgen.numbers.operations import OPS

_LANGUAGE: Final = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Bool _Complex _Imaginary alignas alignof and and_eq asm bitand bitor bool catch
char8_t char16_t char32_t class co_await co_return co_yield compl concept consteval constinit
const_cast constexpr decltype delete dynamic_cast explicit export false friend mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast template this thread_local throw true try typeid typename typeof
typeof_unqual using virtual wchar_t xor xor_eq
"""
_FILES: Final = """
assert complex ctype errno fenv features float inttypes iso646 limits locale math setjmp signal
stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype all clean edit_cache help install m package package_source preinstall
rebuild_cache test
"""
_OURS: Final = """
selftest selftest_function selftest_step real info info_type joint_type regroup parameters
gamma_index sincos sincos_all sincos_angles angles trig
robot
"""

_MACROS: Final = """
alloca assert errno i386 linux mips offsetof setjmp stderr stdin stdout sun unix va_arg va_copy
va_end va_start
"""

_DEVICES: Final = """
aux com1 com2 com3 com4 com5 com6 com7 com8 com9 con lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9
nul prn
"""

KEYWORDS: Final = frozenset(_LANGUAGE.split())
"""The keywords of C and C++, up to C23 and C++20."""

STANDARD: Final = frozenset(_FILES.split()) | frozenset(_DEVICES.split())
"""C headers that a file of the same name would hide, targets that CMake keeps to itself, and names
of devices, which no file of Windows can have."""

MACROS: Final = frozenset(_MACROS.split())
"""Lower-case macros of compilers and headers, which no function of C++ can be called as."""

TAKEN: Final = frozenset(_OURS.split()) | frozenset(op.name for op in OPS.values() if not op.symbol)
"""What generated C calls something else."""


C: Final = Language(
    name="c",
    summary="C99 without heap or globals, with a self-test; also compiles as C++",
    main="{name}.h",
    keywords=KEYWORDS,
    standard=STANDARD,
    taken=TAKEN,
    options=COptions,
    refuse=COptions.check_functions,
    checker="checks",
    reporter="report",
)
