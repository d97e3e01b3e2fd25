"""The command ``symgen evidence``."""

import sys
from pathlib import Path

import click

from symgen import output
from symgen.cli.help import command, option
from symgen.cli.options import FOLDER
from symgen.cli.progress import progress
from symgen.errors import OptionError
from symgen.text import shown


@command()
@FOLDER
@option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    required=True,
    help="Folder for the page index.html, evidence.json and the outputs of the programs.",
    section="Output",
)
def evidence(folder: Path, out: Path) -> None:
    """Examine generated C and write what was found as a folder with one page.

    DIR is a generated folder, or the job file that names it. The C in it is compiled and RUN with
    your permissions. Compilers, analysers, coverage, mutation and an emulator are used where they
    are installed; the page names those that are not. The exit status is 1 if a claim does not hold.

    \b
    symgen evidence build/ur5 -o build/ur5-evidence
    """
    from symgen.evidence.gathering import DATA, WORDS, files, gathered

    if out.is_dir() and any(out.iterdir()) and not (out / DATA).is_file():
        raise OptionError(
            f"--out '{shown(str(out))}': the folder has other files; give a new folder, or one "
            "that this command has written"
        )
    with progress() as tell:
        found = gathered(folder, tell)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files(found):
        (out / name).write_text(text, encoding="utf-8")
    for examination, verdict in found.verdicts:
        output.say(f"{WORDS[verdict.holds]:14} {examination.name}: {verdict.summary}")
    output.say(f"the page is {out / 'index.html'}")
    if found.failed:
        sys.exit(1)
