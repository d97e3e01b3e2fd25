"""The command ``symgen view``."""

from pathlib import Path
from typing import Any

from symgen.cli.help import command
from symgen.cli.options import FILE, JSON, ROBOT, path_option, with_options
from symgen.cli.progress import progress, say_written


@command()
@FILE
@path_option("--motion", "FILE.csv", "Play a motion: columns t and q_JOINT, as excite writes them.")
@with_options(JSON, ROBOT)
def view(file: str, motion: Path | None, as_json: bool, **options: Any) -> None:
    """Show a robot in the browser, with sliders for its joints.

    The page is the same as that of symgen inspect --html. It is written to the folder for
    temporary files, and its path is printed. With --json no browser is opened.

    \b
    symgen view robots/panda.urdf
    symgen view robots/ur5.urdf --motion motion.csv
    """
    import tempfile
    import webbrowser

    from symgen import output
    from symgen.inspection.inspect_command import inspect_command

    page = Path(tempfile.mkdtemp(prefix="symgen-view-")) / "robot.html"
    with progress() as tell:
        tell("reading the robot")
        _, notices = inspect_command(file, options, tell, False, False, page, None, False, motion)
    say_written([page], notices, as_json, str(page))
    if not as_json and not webbrowser.open(page.as_uri()):
        output.say("no browser was found; open the file above in a browser", error=True)
