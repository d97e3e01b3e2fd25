"""The command ``symgen build``."""

from pathlib import Path
from typing import Any

import click

from symgen.cli.options import FILE, ROBOT, VERBOSE, folder, with_options
from symgen.cli.progress import progress, say
from symgen.jobs.options import NameOptions
from symgen.languages.c.options import COptions
from symgen.languages.release import Release
from symgen.native.compiler import PORTABLE_FAST
from symgen.options import rows
from symgen.tracing.options import FunctionOptions


@click.command()
@FILE
@click.option(
    "-o",
    "--out",
    "package_out",
    metavar="DIR",
    required=True,
    callback=folder,
    help="Folder for the package NAME and its wheel.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Do not fuse products and sums, so that results have the bits of the generated C.",
)
@click.option(
    "--native",
    is_flag=True,
    help="Use all instructions of this processor, which is faster. The wheel is called "
    "NAME-VERSION-1native-*.whl; importing it fails on a processor without these instructions.",
)
@click.option(
    "--cflags",
    metavar="FLAGS",
    default=None,
    show_default=" ".join(PORTABLE_FAST),
    help="Flags of the C compiler in place of those that --exact and --native set.",
)
@with_options(
    rows(COptions, only=("scalar", "batch", "chunk")),
    rows(NameOptions, Release, FunctionOptions),
    ROBOT,
    VERBOSE,
)
def build(
    file: str, package_out: Path, exact: bool, native: bool, cflags: str | None, **options: Any
) -> None:
    """Compile a robot's dynamics into a Python package: functions of one state or many.

    \b
    DIR gets
      NAME/                the package with its types and C sources: symgen verify DIR/NAME
                           proves these
      NAME-VERSION-*.whl   the same to be installed with pip
    Sine and cosine are inline, the vectors those of --batch auto, where functions have no tanh
    (--friction-width). The out folder of a job file is not touched.

    \b
    symgen build robots/ur5.urdf -o build/python --quantity regressor --quantity inverse_dynamics
    PYTHONPATH=build/python python -c "import ur5; print(ur5.regressor.__doc__)"
    """
    from symgen.inspection.report import generated
    from symgen.jobs.package import build as run

    with progress() as tell:
        module, loaded, paths = run(file, package_out, cflags, tell, exact, native, **options)
    say(loaded.notices)
    generated(module, paths)
