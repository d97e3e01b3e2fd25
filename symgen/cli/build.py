"""The command ``symgen build``."""

from pathlib import Path
from typing import Any

import click

from symgen.cli.options import FILE, ROBOT, folder, with_options
from symgen.cli.progress import progress, say
from symgen.jobs.options import NameOptions
from symgen.languages.c.options import COptions
from symgen.languages.release import Release
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
    "--cflags",
    metavar="FLAGS",
    default="-O2 -march=native -ffp-contract=off",
    show_default=True,
    help="What the C compiler is told. With -ffp-contract=fast results come sooner and their last "
    "bits differ; without -march=native they run on other processors.",
)
@with_options(
    rows(COptions, only=("scalar", "batch", "chunk")),
    rows(NameOptions, Release, FunctionOptions),
    ROBOT,
)
def build(file: str, package_out: Path, cflags: str, **options: Any) -> None:
    """Compile a robot's dynamics into a Python package for many states at once.

    \b
    DIR gets
      NAME/                the package with its C sources: symgen verify DIR/NAME proves it
      NAME-VERSION-*.whl   the same to be installed with pip
    Sine and cosine are inline, the vectors those of --batch auto. The out folder of a job file is
    not touched.

    \b
    symgen build robots/ur5.urdf -o build/python --quantity regressor --quantity inverse_dynamics
    PYTHONPATH=build/python python -c "import ur5; print(ur5.regressor.__doc__)"
    """
    from symgen.inspection.report import generated
    from symgen.jobs.package import build as run

    with progress() as tell:
        module, loaded, paths = run(file, package_out, cflags, tell, **options)
    say(loaded.notices)
    generated(module, paths)
