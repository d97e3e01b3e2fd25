"""Help that fits the terminal: examples longer than a line are continued as a shell has it."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

import click

GO_ON: Final = " \\"
"""What ends a line of a command that goes on."""
INDENT: Final = "    "


class Formatter(click.HelpFormatter):
    """Click's, with long examples in several lines."""

    def write_text(self, text: str) -> None:
        """A text of paragraphs; one that begins with a backspace stands as it is."""
        room = self.width - self.current_indent
        super().write_text("\n\n".join(_fitted(part, room) for part in text.split("\n\n")))


def _fitted(paragraph: str, room: int) -> str:
    lines = paragraph.split("\n")
    if "\b" not in lines[0]:
        return paragraph
    return "\n".join([lines[0], *(piece for line in lines[1:] for piece in _pieces(line, room))])


def _pieces(line: str, room: int) -> Iterator[str]:
    """A line broken between words where it does not fit: of a command first the remark, then the
    command itself; of other lines below the last of their columns."""
    if len(line) <= room:
        yield line
        return
    command, gap, remark = line.partition("   ")
    if not line.startswith("symgen "):
        start = re.search(r"\S.*?\s{3,}(?=\S)|^\s*", line)
        yield from textwrap.wrap(line, room, subsequent_indent=" " * (start.end() if start else 0))
        return
    if gap:
        yield from _pieces(command.rstrip(), room)
        yield INDENT + remark.strip()
        return
    words = line.split(" ")
    now = words.pop(0)
    while words:
        longer = f"{now} {words[0]}"
        if now.strip() and len(longer) + len(GO_ON) * bool(words[1:]) > room:
            yield now.rstrip() + GO_ON
            longer = INDENT + words[0]
        now = longer
        words.pop(0)
    yield now


class HelpContext(click.Context):
    """A command that is run, with our help."""

    formatter_class = Formatter


def with_help(command: click.Command) -> click.Command:
    """The command with our help."""
    command.context_class = HelpContext
    return command
