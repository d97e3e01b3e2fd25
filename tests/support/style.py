"""Checks of the style of English texts by the rules of docs/style.toml."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.tools import ROOT

RULES = ROOT / "docs" / "style.toml"

ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|al|approx|Fig|Eq|No|ch)\.")


@cache
def rules() -> dict[str, Any]:
    return tomllib.loads(RULES.read_text(encoding="utf-8"))


@cache
def phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(text, re.IGNORECASE), advice) for text, advice in rules()["phrases"].items()
    )


@dataclass(frozen=True)
class Finding:
    """A fault of style: the text and what to do."""

    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.text!r}: {self.advice}"


def prose(markdown: str) -> str:
    """The sentences of a page: without code, tables, comments, directives, formulas and targets of
    links. Headings and items of lists end in a full stop."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1\s*$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"\$[^$\n]+\$", "FORMULA", text)
    text = re.sub(r"^#+ (.*?)[.:]?$", r"\1.\n", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)(?:[-*]|\d+\.) +", r"\n\n", text, flags=re.MULTILINE)
    return text.replace("**", "").replace("*", "")


def sentences(text: str) -> Iterator[str]:
    """The sentences of prose, each on one line."""
    text = ABBREVIATIONS.sub(lambda m: m[0].replace(".", ""), text)
    for paragraph in re.split(r"\n\s*\n", text):
        line = " ".join(paragraph.split())
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z\"'(])", line):
            if re.search(r"[A-Za-z]{2}", sentence):
                yield sentence


def banned(text: str) -> list[Finding]:
    """The banned phrases of prose."""
    line = " ".join(text.split())
    return [
        Finding(line[max(0, m.start() - 25) : m.end() + 15], advice)
        for pattern, advice in phrases()
        for m in pattern.finditer(line)
    ]


def lengths(text: str) -> tuple[list[str], float]:
    """Sentences of prose with too many words, and the mean number of words."""
    found = [(len(s.split()), s) for s in sentences(text)]
    long = [s for n, s in found if n > rules()["limits"]["sentence"]]
    return long, sum(n for n, _ in found) / max(1, len(found))


def pages() -> dict[str, Path]:
    """Every Markdown page that a user or a contributor reads, by its path in the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return {path.relative_to(ROOT).as_posix(): path for path in sorted(found)}


def remaining() -> dict[str, int]:
    """The pages that are not rewritten yet, and how many banned phrases each has."""
    found: dict[str, int] = rules()["remaining"]
    return found


def faults(markdown: str) -> list[Finding]:
    """All faults of a page."""
    text = prose(markdown)
    long, mean = lengths(text)
    limit = rules()["limits"]["mean"]
    found = banned(text) + [Finding(x, "split this sentence") for x in long]
    found += [Finding(f"{mean:.1f} words per sentence", f"at most {limit}")] * (mean > limit)
    return found


# -- help texts ------------------------------------------------------------------------------------


def help_texts() -> dict[str, tuple[str, bool]]:
    """The help texts of the command line by where they first occur, and whether each is that of a
    command (else of an option). Examples, which are indented or begin with `symgen`, are left out."""
    import click

    from symgen.cli.main import COMMANDS, main

    context, found = click.Context(main), {}
    for name in COMMANDS:
        command = main.get_command(context, name)
        found[name] = (_without_examples(command.help or ""), True)
        for option in command.params:
            text = getattr(option, "help", None)
            if text and (text, False) not in found.values():
                found[f"{name} {option.opts[-1]}"] = (text, False)
    return found


def _without_examples(text: str) -> str:
    """The paragraphs of a command's help that are no blocks set as they stand."""
    kept = [p for p in re.split(r"\n\s*\n", text) if not re.match(r"\s*(\x08|\||symgen )", p)]
    return "\n\n".join(kept)


def fragments(text: str, is_command: bool) -> list[Finding]:
    """Sentences of a help text without a verb, or that begin as a part of a sentence."""
    verbs = frozenset(rules()["help"]["verbs"].split())
    found = []
    for sentence in sentences(text):
        first, *_ = words = re.findall(r"[A-Za-z']+", sentence)
        if first.lower() in rules()["help"]["fragments"]:
            found.append(Finding(sentence, "write a whole sentence, or a noun phrase"))
        elif is_command and not any(is_verb(word, verbs) for word in words):
            found.append(Finding(sentence, "a verb is missing"))
    return found


def is_verb(word: str, verbs: frozenset[str]) -> bool:
    """Whether a word is one of the verbs, or its third person, past or participle."""
    word = word.lower()
    stems = {word, re.sub(r"ies$|ied$", "y", word), word.removesuffix("s"), word.removesuffix("es")}
    stems |= {word.removesuffix("d"), word.removesuffix("ed"), word.removesuffix("ing")}
    stems |= {f"{word.removesuffix('ing')}e"}
    return bool(stems & verbs)
