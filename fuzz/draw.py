"""Numbers, names and texts as files have them, and as no file should."""

from random import Random
from typing import Final

ODD_NUMBERS: Final = (
    *("0", "-0", "1e308", "-1e308", "1e309", "5e-324", "1e-200", "1e-12", "1e12", "1e39", "1e16"),
    *("nan", "inf", "-inf", "NaN", "Infinity", "", " ", "1,5", "0x10", "1_000", "1d3", "1e", "e5"),
    *("1 2", "1 2 3 4", "١٢", "½", "+1", "1.", ".5", " 1 ", "--1", "1e1000000000", "9" * 5000),
    *("1.79769e+308", "3.4e38", "1e-46", "3.14159", "1.5708", "1.570796326794896", "${pi}", "true"),
    *("0.1\n", "1;2", "None", "1e-320", "2147483648", "18446744073709551616", "-1", "1e-9"),
)
ODD_NAMES: Final = (
    *("int", "class", "main", "exit", "NaN", "nan", "_Exit", "sin", "arm", "link", "index", "div"),
    *("a b", "a.b", "a-b", "a/b", "../x", "..", ".", "/", "q", "tau", "self", "np", "lambda", "M"),
    *("'", '"', "<b>", "&amp;", "*/", "//", "\\", "%s", "%n", "{x}", "{{7*7}}", "{% x %}", "{#"),
    *("${x}", "$(arg x)", "$x", "`x`", "a\nb", "\t", "a" * 300, "é", "日本", "ſin", "ı", "İ"),
    *(":smile:", "[red]x[/red]", "[/]", "=", "a=b", ",", "a,b", "con", "nul", "__init__", "0"),
    *("9lives", "", " ", "-", "--help", "-o", "\x9b31mx", "\x85", "\u202eabc", "\u200b", "\u2028"),
    *("\u2066x", "\ufeff", "\ud800", "\x7f", "\U000e0001", "\U0001f600", "a\u0301", "??/", 'R"(x'),
    *("world", "floating_base", "base_link", "floating_base.qx", "link_x", "root", "-1", "1", "#"),
    *("a\\", '"""', "'''", "]]>", "--", "<!--", "\\u0000", "\\N{DIGIT ONE}", "restrict", "none"),
)
WORDS: Final = (
    "base",
    "arm",
    "hand",
    "wheel",
    "slide",
    "left",
    "right",
    "tool0",
    "a",
    "x",
    "leg_1",
)


def number(rng: Random, odd: float = 0.3) -> str:
    """A number as text, an odd one with the given chance."""
    if rng.random() < odd:
        return rng.choice(ODD_NUMBERS)
    return rng.choice(
        (str(rng.randrange(-3, 4)), f"{rng.uniform(-2, 2):.4g}", f"{rng.gauss(0, 1)!r}")
    )


def numbers(rng: Random, count: int, odd: float = 0.2) -> str:
    """Several numbers with spaces between."""
    return " ".join(number(rng, odd) for _ in range(count))


def name(rng: Random, odd: float = 0.4) -> str:
    """A name, an odd one with the given chance."""
    if rng.random() < odd:
        return rng.choice(ODD_NAMES)
    return rng.choice(WORDS) + rng.choice(("", "_1", "2"))


def text(rng: Random) -> str:
    """Anything that may stand where a text is read."""
    kind = rng.randrange(5)
    if kind == 0:
        return "".join(chr(rng.randrange(1, 0x3000)) for _ in range(rng.randrange(1, 12)))
    if kind == 1:
        return number(rng, 1.0)
    if kind == 2 and rng.random() < 0.2:
        return rng.choice("ax,=\u202e.") * rng.choice((400, 40_000))
    return name(rng, 1.0)


def argument(rng: Random) -> str:
    """A text that an operating system passes as an argument, and that is no path out of here."""
    made = text(rng).replace("\0", "").replace("/", "_").encode("utf-8", "ignore").decode()
    return made if made != ".." else "."
