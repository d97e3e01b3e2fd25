"""The command ``symgen robots``."""

from pathlib import Path

import click

from symgen.cli.completion import naming
from symgen.cli.help import command
from symgen.cli.options import JSON, out, with_options
from symgen.reading.sources import example, examples


@command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=naming(tuple(examples())))
@out("DIR", "Copy the URDF files into this folder. Files of the same name are never replaced.")
@with_options(JSON)
def robots(name: str | None, out: str | None, as_json: bool) -> None:
    """List the example robots, or copy their files.

    With NAME, only that robot. Each line has the name of a robot and the path of its URDF file,
    which every command takes.

    \b
    symgen robots -o robots
    symgen check robots/ur5.urdf
    """
    from symgen import output
    from symgen.jobs.publish import write_new_files

    chosen = examples() if name is None else {name: example(name)}
    if out is not None:
        copies = {key: Path(out) / path.name for key, path in chosen.items()}
        write_new_files({copies[key]: path.read_bytes() for key, path in chosen.items()})
        chosen = copies
    if as_json:
        output.say(output.as_json({"robots": {key: str(path) for key, path in chosen.items()}}))
        return
    width = max(map(len, chosen))
    output.say("\n".join(f"{key:{width}}  {path}" for key, path in chosen.items()))
