"""The evidence of a generated folder: verdicts, and the files that hold them."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from symgen.errors import OptionError
from symgen.evidence.examinations import EXAMINATIONS, Examination, Material, Outcome, examination
from symgen.evidence.targets import stack_and_code
from symgen.jobs.manifest import NAME, changed_files, contained
from symgen.jobs.manifest_reader import read
from symgen.languages.c.options import COptions
from symgen.languages.module import Module
from symgen.native.compiler import compiler_version, workspace
from symgen.proof.bounds import ROUNDOFF
from symgen.render import render
from symgen.text import html

FORMAT: Final = 1
DATA: Final = "evidence.json"
"""The file of the data, which tells a folder of evidence from others."""

WORDS: Final = {True: "holds", False: "does not hold", None: "not run"}

examination("Stack, code and instructions")(stack_and_code)


@dataclass(frozen=True)
class Evidence:
    """The verdicts of the examinations of a module, with the files and tools."""

    module: Module
    digests: dict[str, str]
    verdicts: Sequence[tuple[Examination, Outcome]]

    @property
    def failed(self) -> list[str]:
        """The names of the examinations whose claims do not hold."""
        return [e.name for e, verdict in self.verdicts if verdict.holds is False]

    @property
    def tools(self) -> dict[str, str]:
        """The versions of the programs, by name."""
        names = sorted({tool for e, _ in self.verdicts for tool in e.tools if shutil.which(tool)})
        return {name: compiler_version([name]) for name in names}


def gathered(folder: Path, progress: Callable[[str], None] = lambda step: None) -> Evidence:
    """The evidence of a folder. Its code is compiled and run. Raises OptionError for a folder that
    was not generated, or whose files were changed."""
    module, hashes = read(folder)
    contents = contained(folder, hashes)
    bad = changed_files(contents, hashes)
    if bad or not any(name.endswith("_selftest.c") for name in contents):
        reason = f"changed or missing: {', '.join(bad)}" if bad else "there is no C"
        raise OptionError(f"{str(folder)!r}: {reason}; generate the folder again with --lang c")
    if (scalar := module[COptions].scalar) not in ROUNDOFF:
        raise OptionError(f"{str(folder)!r}: --scalar {scalar} is not examined yet; use float")
    c = {n: data for n, data in contents.items() if n.endswith((".c", ".h")) and "/" not in n}
    own = hashlib.sha256((folder / NAME).read_bytes()).hexdigest()
    verdicts = []
    for e in EXAMINATIONS:
        progress(e.name)
        with workspace() as copy:
            for name, data in c.items():
                (copy / name).write_bytes(data)
            verdicts.append((e, e.verdict(Material(module, copy))))
    return Evidence(module, {NAME: own} | hashes, verdicts)


def files(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The names and texts of the files: a page, data, and the output of each examination."""
    data = {
        "format": FORMAT,
        "module": evidence.module.name,
        "generator": f"symgen {evidence.module.version}",
        "tools": evidence.tools,
        "files": evidence.digests,
        "examinations": [
            {"name": e.name, "claim": e.claim, **asdict(verdict)}
            for e, verdict in evidence.verdicts
        ],
    }
    yield DATA, json.dumps(data, indent=1) + "\n"
    outputs = {e.name: artefact(e) for e, verdict in evidence.verdicts if verdict.output}
    for e, verdict in evidence.verdicts:
        if e.name in outputs:
            yield outputs[e.name], verdict.output
    yield (
        "index.html",
        render(
            "html/evidence.html.jinja",
            evidence=evidence,
            options=evidence.module.options,
            outputs=outputs,
            words=WORDS,
            html=lambda x: re.sub("`(.*?)`", r"<code>\1</code>", html(str(x))),
        ),
    )


def artefact(e: Examination) -> str:
    """The file of the output of an examination."""
    letters = "".join(x if x.isalnum() else "-" for x in e.name.lower())
    return "-".join(filter(None, letters.split("-"))) + ".txt"
