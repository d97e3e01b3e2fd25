"""The command ``symgen build``."""

from pathlib import Path
from typing import Any

from symgen.cli.help import command, option
from symgen.cli.options import (
    FILE,
    FUNCTIONS,
    JSON,
    ROBOT,
    VERBOSE,
    folder,
    given,
    out,
    with_options,
)
from symgen.cli.progress import progress, say
from symgen.jobs.options import NameOptions
from symgen.languages.c.options import COptions, Release
from symgen.native.compiler import PORTABLE_FAST
from symgen.options import rows


@command()
@FILE
@out(
    "DIR",
    "Folder for the package NAME and its wheel.",
    name="package_out",
    required=True,
    callback=folder,
)
@option(
    "--exact",
    is_flag=True,
    help="Do not fuse products and sums, so that results have the bits of the generated C.",
    section="C code",
)
@option(
    "--native",
    is_flag=True,
    help="Use all instructions of this processor, which is faster. The wheel is called "
    "NAME-VERSION-1native-PLATFORM.whl; importing it fails on a processor without these "
    "instructions.",
    section="C code",
)
@option(
    "--cflags",
    metavar="FLAGS",
    default=None,
    show_default=" ".join(PORTABLE_FAST),
    help="Flags of the C compiler, instead of those that --exact and --native set.",
    section="C code",
    rare=True,
)
@with_options(
    rows(NameOptions, Release),
    JSON,
    FUNCTIONS,
    rows(COptions, only=("scalar", "batch", "chunk", "body_loops")),
    ROBOT,
    VERBOSE,
)
def build(
    file: str,
    package_out: Path,
    exact: bool,
    native: bool,
    cflags: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compile a robot's dynamics into a Python package with functions of one state or many.

    \b
    DIR contains afterwards
      NAME/                the package with type stubs and C sources
                           (symgen verify DIR/NAME checks them)
      NAME-VERSION-TAG.whl   a wheel of the package for pip install
    The out folder of a job file is not used.

    \b
    symgen build robots/ur5.urdf -o build/python --quantity regressor --quantity inverse_dynamics
    PYTHONPATH=build/python python -c "import ur5; print(ur5.regressor.__doc__)"
    """
    from symgen import output
    from symgen.inspection.command_reports import generation, operations
    from symgen.jobs.package import build as run

    with progress() as tell:
        module, loaded, paths = run(
            file, package_out, cflags, tell, exact, native, **given(options)
        )
    if as_json:
        data = {**operations(module).data} | output.written(paths, loaded.notices)
        output.say(output.as_json(data))
        return
    say(loaded.notices)
    generation(module, paths).print()
