"""``symgen`` and ``python -m symgen``."""

import sys


def run() -> None:
    """The command line. Ctrl-C while it is still being loaded ends it as it does later."""
    try:
        from symgen.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing has been left half written\n")
        sys.exit(128 + 2)


if __name__ == "__main__":
    run()
