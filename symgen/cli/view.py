"""The command ``symgen view``."""

from typing import Any

import click

from symgen.cli.options import FILE, ROBOT, with_options
from symgen.cli.progress import progress, say


@click.command()
@FILE
@with_options(ROBOT)
def view(file: str, **options: Any) -> None:
    """Show a robot in the browser: sliders move it, and numbers follow.

    It is the page that symgen inspect --html writes, in a file of the system's folder for temporary
    files, whose path is printed.

    \b
    symgen view robots/panda.urdf
    """
    import tempfile
    import webbrowser
    from pathlib import Path

    from symgen import output
    from symgen.inspection.looking import look

    page = Path(tempfile.mkdtemp(prefix="symgen-view-")) / "robot.html"
    with progress() as tell:
        tell("reading the robot")
        _, notices = look(file, options, tell, False, False, page, None, False)
    say(notices)
    output.say(str(page))
    if not webbrowser.open(page.as_uri()):
        output.say("no browser was found; open the file above in one", error=True)
